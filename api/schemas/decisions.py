"""Decisions on answers and on who counts, as they are sent and taken."""

from rest_framework import serializers as s

BIG = 2**53


class NewReview(s.Serializer):
    annotation = s.IntegerField(min_value=1, max_value=BIG)
    decision = s.ChoiceField(["accept", "return", "reject"])
    reason = s.CharField(max_length=40, required=False, allow_blank=True, help_text="Code; needed but for accept.")
    comment = s.CharField(max_length=2000, required=False, allow_blank=True)
    turn = s.ChoiceField(["first", "second", "third"], required=False, help_text="first without it.")


class ReviewDone(s.Serializer):
    annotation = s.IntegerField()
    decision = s.CharField()
    turn = s.CharField()
    review = s.IntegerField(allow_null=True, help_text="Number of a first decision.")


class ExclusionLine(s.Serializer):
    id = s.IntegerField()
    rater = s.CharField(help_text="Pseudonym; name of a model.")
    reason = s.CharField()
    at = s.DateTimeField()
    lifted_at = s.DateTimeField(allow_null=True, help_text="Null: the answers do not count.")


class NewExclusion(s.Serializer):
    rater = s.CharField(max_length=200, help_text="Pseudonym; name of a model.")
    reason = s.CharField(max_length=500)


class ExclusionChange(s.Serializer):
    lifted = s.BooleanField(help_text="true: the answers count again where their places are free.")
