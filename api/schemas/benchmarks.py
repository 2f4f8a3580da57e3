"""Benchmarks as they are sent and taken."""

from rest_framework import serializers as s

SLUG = r"^[-a-zA-Z0-9_]+$"


class BenchmarkLine(s.Serializer):
    id = s.IntegerField()
    slug = s.CharField()
    name = s.CharField()
    team = s.CharField(help_text="Slug of its team.")
    purpose = s.CharField(allow_blank=True)
    recipe = s.CharField(allow_blank=True, help_text="The paper's recipe it was made from.")
    recipe_version = s.CharField(allow_blank=True)
    citation = s.CharField(allow_blank=True)
    licence = s.CharField(allow_blank=True)
    answers_by_api = s.BooleanField(help_text="Whether people may answer by programs.")
    is_public = s.BooleanField(help_text="Whether everybody may see its public page.")
    created_at = s.DateTimeField()
    agreement = s.CharField(help_text="Address of its agreement.")
    tables = s.CharField(help_text="Address of its tables.")
    campaigns = s.CharField(help_text="Address of its campaigns.")
    runs = s.CharField(help_text="Address of its runs.")
    items = s.CharField(help_text="Address of its items.")
    annotations = s.CharField(help_text="Address of its answers.")
    ratings = s.CharField(help_text="Address of the codes of its answers.")
    outcomes = s.CharField(help_text="Address of what rules decided.")
    reviews = s.CharField(help_text="Address of what reviewers decided.")


class NewBenchmark(s.Serializer):
    """One of `recipe`, `saved_recipe`, `file` and `question` says what it is made from."""

    team = s.RegexField(SLUG, max_length=50, help_text="Slug of the team that owns it.")
    name = s.CharField(max_length=120)
    slug = s.RegexField(
        r"^[-a-z0-9_]+$", max_length=50, required=False, help_text="Without it one is made of the name."
    )
    recipe = s.RegexField(SLUG, max_length=60, required=False, help_text="Key of a published recipe, such as 3xcm.")
    saved_recipe = s.IntegerField(
        min_value=1, max_value=2**53, required=False, help_text="Number of a recipe that the team keeps."
    )
    file = s.DictField(
        required=False, help_text="A composed benchmark: the content of a recipe file. The team keeps it as a recipe."
    )
    question = s.CharField(
        max_length=300, required=False, help_text="A blank benchmark with this question, on five points."
    )


class BenchmarkChange(s.Serializer):
    name = s.CharField(max_length=120, required=False)
    purpose = s.CharField(max_length=2000, allow_blank=True, required=False)
    citation = s.CharField(max_length=2000, allow_blank=True, required=False)
    licence = s.CharField(max_length=120, allow_blank=True, required=False)
    answers_by_api = s.BooleanField(required=False)
    is_public = s.BooleanField(required=False, help_text="Only an owner may change it.")
