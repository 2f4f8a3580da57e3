"""Samples of an author's answers, and the acceptance of the others."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class ReviewBatch(models.Model):
    """A random sample of one author's waiting answers in a stage; one row per author and draw.

    Once the sample is decided, the author's other answers that waited at `at` may be accepted together. A larger sample
    contains the smaller one and replaces it. An acceptance that was undone leaves the batch as it was before.
    """

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="review_batches", db_index=False)
    author = models.ForeignKey("people.Rater", models.PROTECT, related_name="+")
    seed = models.BigIntegerField(
        help_text="Of the draw; with the ids of the waiting answers it gives the sample again."
    )
    drawn = models.PositiveIntegerField(help_text="Answers in the sample.")
    population = models.PositiveIntegerField(help_text="Answers that it was drawn from, those of the sample included.")
    limit = models.FloatField(
        help_text="The highest rejected share of the sample with which the others may be accepted."
    )
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    replaced_at = models.DateTimeField(null=True)
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stage", "author"],
                condition=Q(replaced_at=None, accepted_at=None),
                name="review_batch_open_once",
            ),
            models.CheckConstraint(name="review_batch_limit_is_share", condition=Q(limit__gte=0, limit__lte=1)),
            models.CheckConstraint(name="review_batch_is_part", condition=Q(drawn__gte=1, drawn__lte=F("population"))),
            models.CheckConstraint(
                name="review_batch_accepted_by",
                condition=Q(accepted_at=None, accepted_by=None)
                | Q(accepted_at__isnull=False, accepted_by__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["stage", "author", "at"], name="review_batch_of_stage")]

    def __str__(self) -> str:
        return f"{self.drawn} of {self.population} answers of {self.author_id}"


class SampledAnswer(models.Model):
    """An answer in a sample. A later version of it does not take its place: the decision on this version counts, or the
    first one after it."""

    batch = models.ForeignKey(ReviewBatch, models.PROTECT, related_name="sample", db_index=False)
    annotation = models.ForeignKey("annotation.Annotation", models.PROTECT, related_name="samples")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "annotation"], name="sampled_answer_once")]

    def __str__(self) -> str:
        return f"annotation {self.annotation_id} in batch {self.batch_id}"
