"""How many decisions of reviewers are made a second time, as it is sent and taken."""

from rest_framework import serializers as s


class SecondReviewShare(s.Serializer):
    percent = s.FloatField(
        min_value=0, max_value=100, help_text="Of first decisions. A higher one adds to those drawn."
    )


class SecondReviewProgress(SecondReviewShare):
    """Of decisions that were not undone."""

    drawn = s.IntegerField()
    decided = s.IntegerField(help_text="With a second decision.")
    conflicts = s.IntegerField(help_text="The two differ, and nobody has decided a third time.")
