"""What holds where people's answers disagree."""

from django.db import models
from django.db.models import Q


class Resolution(models.Model):
    """The answer that settles one question of a unit. What people answered stays as it is, and so does agreement.

    `answer` is null where the question cannot be decided; `chosen_annotation` is the answer that was chosen, and null
    where another one was given. It is live as long as `annotation`, the answer to the item in dispute, holds; a later
    one is the next version.
    """

    unit = models.ForeignKey("annotation.Unit", models.PROTECT, related_name="resolutions", db_index=False)
    field = models.CharField(max_length=60)
    code = models.CharField(max_length=120, blank=True)
    answer = models.JSONField(null=True)
    chosen_annotation = models.ForeignKey(
        "annotation.Annotation", models.PROTECT, null=True, related_name="+", db_index=False
    )
    annotation = models.ForeignKey("annotation.Annotation", models.PROTECT, related_name="resolutions")
    reason = models.TextField()
    by = models.ForeignKey("people.Rater", models.PROTECT, related_name="+", db_index=False)
    at = models.DateTimeField()
    version = models.PositiveSmallIntegerField()
    live = models.BooleanField(default=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["unit", "field", "version"], name="resolution_version_once"),
            models.UniqueConstraint(fields=["unit", "field"], condition=Q(live=True), name="resolution_live_once"),
            models.CheckConstraint(
                name="resolution_chosen_has_answer", condition=Q(chosen_annotation=None) | Q(answer__isnull=False)
            ),
            models.CheckConstraint(
                name="resolution_live_or_ended",
                condition=Q(live=True, ended_at=None) | Q(live=False, ended_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"resolution of {self.field} of unit {self.unit_id}, version {self.version}"
