"""Items as they are taken, and what became of each row of a batch."""

from rest_framework import serializers as s

from api.schemas.people import BatchProblem
from benchmarks.services.item_batches import MOST_FACT_ROWS, MOST_ROWS

KEY = 200
SHA256 = r"^[0-9a-f]{64}$"


class ItemContent(s.Serializer):
    """As the columns of a manifest."""

    concept = s.CharField(max_length=120, required=False, allow_blank=True)
    country = s.CharField(max_length=120, required=False, allow_blank=True, help_text="Country or cohort, as origin.")
    origin = s.CharField(max_length=120, required=False, allow_blank=True)
    condition = s.CharField(max_length=60, required=False, allow_blank=True)
    text = s.CharField(max_length=20_000, required=False, allow_blank=True)
    alt = s.CharField(max_length=300, required=False, allow_blank=True, help_text="The picture in words.")
    source = s.CharField(max_length=500, required=False, allow_blank=True)
    licence = s.CharField(max_length=120, required=False, allow_blank=True)
    role = s.CharField(
        max_length=30, required=False, allow_blank=True, help_text="Which picture, of items with several."
    )
    context = s.DictField(required=False, help_text="What else is known of the item, by name.")


class NewItemRow(ItemContent):
    key = s.CharField(max_length=KEY, help_text="Name of the item in its stage. A known key adds no second item.")
    picture = s.RegexField(SHA256, required=False, help_text="SHA-256 of a picture that the team has.")
    file = s.CharField(max_length=500, required=False, help_text="The name of the picture's file.")
    facts = s.DictField(required=False, help_text="Facts of the item, by key.")


class NewItems(s.Serializer):
    stage = s.CharField(max_length=60, required=False, help_text="Key; without it the first stage that takes imports.")
    rows = s.ListField(child=NewItemRow(), min_length=1, max_length=MOST_ROWS)
    complete = s.BooleanField(required=False, help_text="Fill in what known items lack.")
    correct_facts = s.BooleanField(required=False, help_text="A fact that differs replaces the earlier one.")


class ItemRowResult(s.Serializer):
    index = s.IntegerField(help_text="Of the row, from 0.")
    status = s.IntegerField(help_text="201 new, 200 changed or known, 404 and 422 refused.")
    id = s.IntegerField(required=False, help_text="Of the item.")
    outcome = s.CharField(help_text="created, updated, unchanged or error.")
    note = s.CharField(required=False, help_text="What a report of an import says of the row.")
    problem = BatchProblem(required=False)


class ItemRowResults(s.Serializer):
    results = ItemRowResult(many=True)


class ItemFactLine(s.Serializer):
    key = s.CharField()
    value = s.JSONField(allow_null=True)
    source = s.CharField(help_text="Who found it: import, a filter, a detector, a judge.")
    version = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()


class ItemFacts(s.Serializer):
    facts = ItemFactLine(many=True, help_text="The newest of one key holds.")


class FactValues(s.Serializer):
    facts = s.DictField(help_text="By key; what is not named stays. A value that differs holds from now on.")


class FactRow(FactValues):
    key = s.CharField(max_length=KEY, help_text="Of the item.")


class FactRows(s.Serializer):
    stage = s.CharField(max_length=60, required=False, help_text="Key; without it the first stage that takes imports.")
    rows = s.ListField(child=FactRow(), min_length=1, max_length=MOST_FACT_ROWS)
