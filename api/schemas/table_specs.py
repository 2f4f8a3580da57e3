"""Tables that a researcher composes, as they are sent and taken."""

from rest_framework import serializers as s

KINDS = ["agreement", "models", "ranking", "distribution", "coverage", "accuracy"]


class TableSpecLine(s.Serializer):
    key = s.CharField(help_text="As in tables/<key>/.")
    name = s.CharField()
    kind = s.CharField()
    stage = s.CharField()
    field = s.CharField(allow_blank=True, help_text="Key of the question.")
    rows = s.CharField(allow_blank=True)
    measure = s.CharField(allow_blank=True)
    options = s.DictField()
    version = s.IntegerField()


class TableSpecChange(s.Serializer):
    name = s.CharField(max_length=120, required=False, allow_blank=True)
    stage = s.CharField(max_length=60, required=False)
    field = s.CharField(max_length=60, required=False, allow_blank=True)
    rows = s.CharField(max_length=80, required=False, allow_blank=True, help_text="cohort, concept, context.<name> …")
    measure = s.CharField(max_length=20, required=False, allow_blank=True)
    first = s.CharField(max_length=60, required=False, allow_blank=True, help_text="Answer by which side A wins.")
    second = s.CharField(max_length=60, required=False, allow_blank=True, help_text="Answer by which side B wins.")
    key = s.CharField(max_length=80, required=False, help_text="Column of the items that says what is right.")


class NewTableSpec(TableSpecChange):
    kind = s.ChoiceField(KINDS)
    stage = s.CharField(max_length=60)
