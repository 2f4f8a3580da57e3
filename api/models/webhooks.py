"""Where the site tells programs what happened: addresses of teams, and what was sent to each."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Webhook(models.Model):
    """An address that is told of events of a benchmark, or of all benchmarks of a team.

    Secrets are encrypted as those of endpoints are. `position_*` is behind which event of the feed it is, in the
    database of `epoch`; `busy_until` says that a worker sends to it; `rest_until` that it failed and is left alone.
    """

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        OFF = "off", _("Switched off")
        FAILED = "failed", _("Switched off after failures")

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="webhooks")
    benchmark = models.ForeignKey("benchmarks.Benchmark", models.PROTECT, null=True, related_name="webhooks")
    url = models.CharField(max_length=500)
    verbs = ArrayField(models.CharField(max_length=40), default=list)
    secret = models.TextField(editable=False)
    old_secret = models.TextField(blank=True, editable=False)
    old_secret_until = models.DateTimeField(null=True)
    state = models.CharField(max_length=8, choices=State, default=State.ACTIVE)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)
    epoch = models.CharField(max_length=40)
    position_xact = models.CharField(max_length=20, default="0")
    position_id = models.BigIntegerField(default=0)
    busy_until = models.DateTimeField(null=True)
    rest_until = models.DateTimeField(null=True)
    last_tried_at = models.DateTimeField(null=True)
    failures = models.PositiveIntegerField(default=0, help_text="Since the last success.")
    failing_since = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state", "last_tried_at"], name="webhook_turn")]

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def scope(self) -> str:
        return f"benchmark:{self.benchmark_id}" if self.benchmark_id else f"team:{self.team_id}"


class WebhookDelivery(models.Model):
    """A message for one webhook, sent until the receiver takes it. `message_id` is the same at every attempt, so that
    a receiver knows a repetition. `data` of a batch grows until it is first sent."""

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        DELIVERED = "delivered", _("Delivered")
        FAILED = "failed", _("Given up")

    webhook = models.ForeignKey(Webhook, models.PROTECT, related_name="deliveries", db_index=False)
    event = models.BigIntegerField(null=True, help_text="Number of the event; of a batch the first.")
    message_id = models.CharField(max_length=40, unique=True)
    type = models.CharField(max_length=40)
    about = models.CharField(max_length=80, blank=True, help_text="What a batch is of, as kind:number.")
    data = models.JSONField(default=dict)
    happened_at = models.DateTimeField()
    due_at = models.DateTimeField(help_text="When it was to be sent first.")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Of this round; a new round begins anew.")
    next_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event", "type"], name="webhook_event_once"),
        ]
        indexes = [
            models.Index(fields=["webhook", "next_at"], condition=Q(state="waiting"), name="webhook_due"),
            models.Index(fields=["webhook", "type", "about", "-id"], name="webhook_batch"),
            models.Index(fields=["created_at"], name="webhook_delivery_age"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.message_id} ({self.state})"


class WebhookAttempt(models.Model):
    """One request to a receiver: its status, or why there is none (`error`, a code of the sender)."""

    delivery = models.ForeignKey(WebhookDelivery, models.PROTECT, related_name="log")
    at = models.DateTimeField()
    status = models.PositiveSmallIntegerField(null=True)
    seconds = models.FloatField()
    error = models.CharField(max_length=20, blank=True)

    def __str__(self) -> str:
        return f"{self.status or self.error} at {self.at:%Y-%m-%d %H:%M}"
