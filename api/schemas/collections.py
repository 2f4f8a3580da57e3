"""Collections that models search, as they are sent and taken."""

from rest_framework import serializers as s

from predictions.services.collections import builder

QUERIES = (builder.UNIVERSALS, builder.NATIVE, builder.THREE, builder.SIX)
MOST_WORDS = 5000


class CollectionLine(s.Serializer):
    id = s.IntegerField()
    key = s.CharField()
    version = s.CharField()
    name = s.CharField()
    licence = s.CharField(allow_blank=True)
    stage = s.CharField(allow_null=True, help_text="Key of the stage it is made from; null: a file.")
    seed = s.IntegerField()
    entries = s.IntegerField()
    created_at = s.DateTimeField()


class CollectionWithQueries(CollectionLine):
    queries = s.DictField(child=s.IntegerField(), help_text="Number of queries by query set.")


class CollectionBuilt(CollectionWithQueries):
    left_out = s.DictField(child=s.DictField(child=s.IntegerField()),
                           help_text="Pictures without a query, by query set and reason.")  # fmt: skip


class QueryWords(s.Serializer):
    concept = s.CharField(max_length=200)
    country = s.CharField(max_length=120, required=False, allow_blank=True, help_text="Empty: the concept's own name.")
    language = s.CharField(max_length=35)
    words = s.CharField(max_length=500)


class NewCollection(s.Serializer):
    """Out of a stage's items. Stages are named by their keys."""

    stage = s.CharField(max_length=60)
    name = s.CharField(max_length=120)
    version = s.CharField(max_length=40, required=False)
    licence = s.CharField(max_length=120, required=False, allow_blank=True)
    of = s.ChoiceField(["", builder.KEPT], required=False, help_text="kept: all items that filters keep.")
    what = s.ChoiceField(["images", "texts"], required=False, help_text="What is searched; images without it.")
    queries = s.ListField(child=s.ChoiceField(QUERIES), required=False, max_length=len(QUERIES))
    asked_by = s.CharField(max_length=60, required=False, help_text="Stage whose items are queries.")
    labels_from = s.CharField(max_length=60, required=False, help_text="Stage in which labels are corrected.")
    renamed_by = s.CharField(max_length=60, required=False, help_text="Stage in which concepts are merged.")
    names_from = s.CharField(max_length=60, required=False, help_text="Stage with native names.")
    queries_from = s.CharField(max_length=60, required=False, help_text="Stage in which queries are written.")
    queries_by_models = s.BooleanField(required=False)
    languages = s.DictField(child=s.CharField(max_length=35), required=False, help_text="Country to language.")
    words = s.ListField(child=QueryWords(), required=False, max_length=MOST_WORDS)
    other_language = s.BooleanField(required=False, help_text="Candidates of other countries have another language.")
    seed = s.IntegerField(min_value=0, max_value=2**31, required=False)
