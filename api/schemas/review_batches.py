"""Samples of authors' answers, as they are sent and taken."""

from rest_framework import serializers as s


class NewReviewBatches(s.Serializer):
    """As the form of the page."""

    stage = s.CharField(max_length=60, help_text="Key of a stage that is accepted by review.")
    size = s.IntegerField(required=False, help_text="Answers of each author, or percent of what waits; 5 without it.")
    unit = s.ChoiceField(["answers", "percent"], required=False, help_text="What `size` is; answers without it.")
    limit = s.FloatField(
        required=False, help_text="Percent of a sample that may be refused where the rest is accepted; 10 without it.",
    )  # fmt: skip
    author = s.CharField(max_length=64, required=False, help_text="Pseudonym; every author without it.")
    seed = s.IntegerField(required=False, help_text="The same seed and the same answers give the same sample.")


class ReviewBatchesDrawn(s.Serializer):
    authors = s.IntegerField()
    answers = s.IntegerField()
    unchanged = s.IntegerField(help_text="Authors whose sample was as large already.")
    seed = s.IntegerField()


class ReviewBatchLine(s.Serializer):
    id = s.IntegerField()
    stage = s.CharField()
    author = s.CharField(help_text="Pseudonym.")
    state = s.CharField(
        help_text="open; passed: the others may be accepted; above: too many were refused; empty; accepted; replaced."
    )
    drawn = s.IntegerField(help_text="Answers in the sample.")
    population = s.IntegerField(help_text="Answers that it was drawn from.")
    seed = s.IntegerField()
    limit = s.FloatField(help_text="Share, from 0 to 1.")
    accepted = s.IntegerField(help_text="Of the sample, as the next two.")
    refused = s.IntegerField(help_text="Rejected, or returned to the author.")
    undecided = s.IntegerField()
    at = s.DateTimeField()
    accepted_at = s.DateTimeField(allow_null=True, help_text="When the others were accepted.")


class ReviewBatchDone(ReviewBatchLine):
    answers = s.IntegerField(help_text="That were accepted, or wait again.")


class SampledAnswerLine(s.Serializer):
    annotation = s.IntegerField(help_text="The current version, which a review is about.")
    sampled = s.IntegerField(help_text="The version that was drawn.")
    item = s.CharField()
    state = s.CharField(help_text="Of the assignment: submitted while it waits.")
