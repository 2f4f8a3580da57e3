"""What a local model computes about the items of a stage, as long as somebody wants it."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

SCORE, OBJECTS, LABELS, TEXT_VECTOR = "clip_score", "objects", "object_labels", "text_vector"
BASE_SIMILARITY = "base_similarity"
KEYS = {
    SCORE: (SCORE,), OBJECTS: (OBJECTS, LABELS), TEXT_VECTOR: (TEXT_VECTOR,), BASE_SIMILARITY: (BASE_SIMILARITY,),
}  # fmt: skip
"""Keys of the facts that a request writes, by what it asks for."""


class FactRequest(models.Model):
    """A wish that every item of a stage has a fact, also those that arrive later. It owns one run of task `facts`.

    A request that the model fails is paused with the reason and goes on when a person retries it. See
    docs/explanation/intake.md.
    """

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        PAUSED = "paused", _("Paused")
        CANCELLED = "cancelled", _("Cancelled")

    stage = models.ForeignKey("benchmarks.Stage", models.PROTECT, related_name="fact_requests")
    what = models.CharField(max_length=40, help_text="See KEYS.")
    endpoint = models.ForeignKey("predictions.Endpoint", models.PROTECT, related_name="fact_requests")
    model = models.CharField(max_length=200, help_text="As the endpoint calls it.")
    options = models.JSONField(default=dict, help_text="words: where an item's text is. threshold: of an object.")
    run = models.OneToOneField("predictions.Run", models.PROTECT, related_name="fact_request")
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    reason = models.CharField(max_length=20, blank=True, help_text="Why it is paused: a code.")
    message = models.TextField(blank=True, help_text="What the model said of the failure.")
    changed_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stage", "what"],
                condition=models.Q(state__in=["active", "paused"]),
                name="fact_request_once",
                violation_error_message=_("This stage has a request for this fact already."),
            ),
            models.CheckConstraint(
                name="fact_request_paused_says_why", condition=~models.Q(state="paused") | ~models.Q(reason="")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.what} of stage {self.stage_id}"


class FactFailure(models.Model):
    """An item of which a request found no fact: its picture cannot be read. Removed when somebody retries it."""

    request = models.ForeignKey(FactRequest, models.PROTECT, related_name="failures")
    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="fact_failures")
    message = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["request", "item"], name="fact_failure_once")]

    def __str__(self) -> str:
        return f"no {self.request_id} of item {self.item_id}"
