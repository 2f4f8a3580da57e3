"""What holds where answers disagreed, as it is sent, and the decision of whoever settles it, as it is taken."""

from rest_framework import serializers as s

from api.schemas.answers import NewSubmission

BIG = 2**53


class ResolutionLine(s.Serializer):
    id = s.IntegerField()
    item = s.CharField()
    target = s.CharField(allow_blank=True)
    field = s.CharField()
    code = s.CharField(allow_blank=True)
    answer = s.JSONField(allow_null=True, help_text="Null: it cannot be decided.")
    chosen_annotation = s.IntegerField(allow_null=True, help_text="Null: another answer was given.")
    annotation = s.IntegerField(help_text="That settled it.")
    reason = s.CharField(allow_blank=True)
    by = s.CharField(help_text="Pseudonym.")
    at = s.DateTimeField()
    version = s.IntegerField()
    ended_at = s.DateTimeField(allow_null=True, help_text="Null: it holds.")


class ResolutionChange(NewSubmission):
    """All answers of the sheet of the item in dispute: `decision`, `reason`, and another answer where one is given."""


class NewResolution(NewSubmission):
    assignment = s.IntegerField(min_value=1, max_value=BIG, help_text="Of the item in dispute, as it was claimed.")


class ResolutionDone(s.Serializer):
    annotation = s.IntegerField()
    counted = s.BooleanField()
    uncounted_because = s.CharField(allow_blank=True)
    repeated = s.BooleanField(help_text="The key was known: nothing was written.")
    resolution = ResolutionLine(
        allow_null=True, help_text="Null: nothing is settled; the answer waits for a review, or does not count."
    )
