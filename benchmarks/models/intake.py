from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class FilterVersion(models.Model):
    """One state of the filters of a stage. A version never changes: another definition is the next version."""

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="filter_versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField(default=list, help_text="See benchmarks.rules.filters.registry.")
    seen = models.JSONField(default=dict, help_text="What was measured when the limits were chosen.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["stage", "number"]
        constraints = [models.UniqueConstraint(fields=["stage", "number"], name="filter_version_once")]

    def __str__(self) -> str:
        return f"Filters {self.number} of {self.stage_id}"


class FilterResult(models.Model):
    """What one filter of a version says of an item; with the key `by_hand` what a person decided.

    `value`: the measured value or the duplicate; of a waiting result what it waits for. A decision by hand is at most
    one row of an item. It names the version at which it was made and holds for later ones.
    """

    class State(models.TextChoices):
        KEPT = "kept", _("Kept")
        DROPPED = "dropped", _("Dropped")
        WAITING = "waiting", _("Waiting")

    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="filter_results")
    version = models.ForeignKey(FilterVersion, models.PROTECT, related_name="results")
    key = models.CharField(max_length=60)
    state = models.CharField(max_length=8, choices=State)
    value = models.JSONField(null=True)
    limit = models.JSONField(null=True)
    reason = models.CharField(max_length=500, blank=True, help_text="A code; a sentence where a person decided.")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "version", "key"], name="filter_result_once"),
            models.UniqueConstraint(
                fields=["item"], condition=models.Q(key="by_hand"), name="filter_result_by_hand_once"
            ),
        ]
        indexes = [models.Index(fields=["version", "key", "state"], name="filter_result_state")]

    def __str__(self) -> str:
        return f"{self.key} of item {self.item_id}: {self.state}"
