"""Sets of labels, as they are sent and taken."""

from rest_framework import serializers as s

from benchmarks.rules.label_sets.contract import MOST_LABELS, MOST_LETTERS

KINDS = ["countries", "regions", "cultures", "religions", "languages", "other"]


class LabelLine(s.Serializer):
    text = s.CharField(max_length=MOST_LETTERS, help_text="As people and models read it.")
    key = s.CharField(max_length=MOST_LETTERS, required=False, help_text="Made of the text without it.")
    names = s.DictField(child=s.CharField(max_length=MOST_LETTERS), required=False, help_text="By language.")
    country = s.CharField(max_length=2, required=False, allow_blank=True)
    continent = s.CharField(max_length=60, required=False, allow_blank=True)
    region = s.CharField(max_length=120, required=False, allow_blank=True)
    values_zone = s.CharField(max_length=60, required=False, allow_blank=True)
    western = s.BooleanField(required=False, allow_null=True)
    aliases = s.ListField(child=s.CharField(max_length=MOST_LETTERS), required=False, max_length=50)
    about = s.DictField(child=s.CharField(allow_blank=True, max_length=2000), required=False)


class LabelSetLine(s.Serializer):
    id = s.IntegerField()
    key = s.CharField()
    version = s.IntegerField()
    name = s.CharField()
    kind = s.CharField()
    source = s.CharField(allow_blank=True)
    licence = s.CharField(allow_blank=True)
    created_at = s.DateTimeField()


class LabelSetSerializer(LabelSetLine):
    labels = LabelLine(many=True)


class NewLabelSet(s.Serializer):
    """A new set by `name`, or the next version of one by `key`. The same content again makes no version."""

    name = s.CharField(max_length=80, required=False)
    key = s.SlugField(max_length=80, required=False, help_text="Of a set of the team.")
    kind = s.ChoiceField(KINDS, required=False)
    source = s.CharField(max_length=300, required=False, allow_blank=True)
    licence = s.CharField(max_length=120, required=False, allow_blank=True)
    labels = s.ListField(child=LabelLine(), min_length=1, max_length=MOST_LABELS)
