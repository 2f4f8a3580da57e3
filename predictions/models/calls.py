"""What a run asks, unit by unit: calls, every attempt at them, and the replies that came."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

INCOMPLETE = "incomplete"
"""The reason of an answered call whose reply leaves some question without a readable answer: those it has count."""


class Reply(models.Model):
    """What a model said to a request, exactly; the cache. Committed once, it is never asked for again.

    `key` is the request key (predictions.requests.keys.request_key). Asking anew on purpose writes the next `number`;
    the highest is the one that is used. `request`: the messages as they were sent, images by their sha. `body`: see
    predictions.prompts.contract.Reply.
    """

    team = models.ForeignKey("people.Team", models.PROTECT, related_name="replies")
    key = models.CharField(max_length=64)
    number = models.PositiveSmallIntegerField(default=1)
    request = models.JSONField()
    body = models.JSONField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "key", "number"], name="reply_once")]

    def __str__(self) -> str:
        return f"reply {self.pk}"


class Call(models.Model):
    """One unit (or item) put to a model, once per repeat. Only an answered call has a value; one with the reason
    INCOMPLETE has some.

    A worker holds it by `lease_until` and proves it by `holder`. `replies`: ids, one for each request it took;
    `reason` is a code (predictions.texts.call_reasons has its sentence). `notes`: what the prompt noted when it read:
    the distribution over the codes, reasons given, and by which version of the rules ("reading"). `cost`: of its
    attempts, as far as it is known. `how`: which way of asking gave the answer ("logprobs", "guided", "schema",
    "text", "likelihood", "similarity", "boxes"): they are different measurements.
    """

    class State(models.TextChoices):
        PENDING = "pending", _("Waiting")
        RUNNING = "running", _("In progress")
        ANSWERED = "answered", _("Answered")
        NO_RESPONSE = "no_response", _("No response")
        REFUSED = "refused", _("Refused by the model")
        UNPARSEABLE = "unparseable", _("Unreadable reply")
        OUT_OF_RANGE = "out_of_range", _("Out of range")
        OVER_BUDGET = "over_budget", _("Not sent: budget exhausted")
        FAILED = "failed", _("Failed")

    run = models.ForeignKey("predictions.Run", models.PROTECT, related_name="calls", db_index=False)
    item = models.ForeignKey("benchmarks.Item", models.PROTECT, related_name="+")
    unit = models.ForeignKey("annotation.Unit", models.PROTECT, null=True, related_name="+", db_index=False)
    repeat = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=12, choices=State, default=State.PENDING)
    reason = models.CharField(max_length=40, blank=True)
    how = models.CharField(max_length=10, blank=True)
    order = models.JSONField(default=list, help_text="In which order what was shuffled was shown.")
    replies = models.JSONField(default=list)
    notes = models.JSONField(default=dict)
    cached = models.BooleanField(default=False, help_text="Every reply was there before; nothing was asked.")
    attempts_made = models.PositiveSmallIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    annotation = models.ForeignKey("annotation.Annotation", models.PROTECT, null=True, related_name="+", db_index=False)
    holder = models.CharField(max_length=40, blank=True)
    lease_until = models.DateTimeField(null=True)
    asked_at = models.DateTimeField(null=True, help_text="While it runs: when its request went out, if it costs money.")
    not_before = models.DateTimeField(null=True, help_text="When it may be asked again.")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "item", "unit", "repeat"], nulls_distinct=False, name="call_once"),
            models.CheckConstraint(
                name="running_call_has_lease", condition=~Q(state="running") | Q(lease_until__isnull=False)
            ),
            models.CheckConstraint(
                name="ended_call_has_reason",
                condition=Q(state__in=["pending", "running", "answered"]) | ~Q(reason=""),
            ),
        ]
        indexes = [
            models.Index(fields=["run", "state", "id"], name="call_of_run"),
            models.Index(fields=["unit"], name="call_unit"),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} ({self.state})"


class Attempt(models.Model):
    """One request that went out, whatever came of it: for a call, or for what `scope` names. Never changed."""

    class Outcome(models.TextChoices):
        REPLY = "reply", _("A reply")
        RATE_LIMIT = "rate_limit", _("Too many requests")
        TRANSIENT = "transient", _("Server error")
        TIMEOUT = "timeout", _("No reply in time")
        CONNECTION = "connection", _("Connection failed")
        NOT_ALLOWED = "not_allowed", _("Authentication failed")
        PERMANENT = "permanent", _("Request rejected")
        LOST = "lost", _("Interrupted")

    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="attempts")
    scope = models.CharField(
        max_length=60, blank=True, default="", db_default="", help_text='Of no call: what it was for, "image-order:7".'
    )
    number = models.PositiveSmallIntegerField()
    part = models.PositiveSmallIntegerField(default=0, help_text="Which of the call's requests; 0 for a lost one.")
    at = models.DateTimeField()
    seconds = models.FloatField(null=True, help_text="Null: unknown, for the worker stopped before the reply came.")
    outcome = models.CharField(max_length=12, choices=Outcome)
    status = models.PositiveSmallIntegerField(null=True, help_text="Of HTTP.")
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True, help_text="US dollars; null: unknown.")
    prices = models.ForeignKey("predictions.Prices", models.PROTECT, null=True, related_name="+")
    provider_id = models.CharField(max_length=120, blank=True)
    error = models.CharField(max_length=500, blank=True)
    reply = models.ForeignKey(Reply, models.PROTECT, null=True, related_name="attempts")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["call", "number"], name="attempt_once"),
            models.UniqueConstraint(fields=["scope", "number"], condition=Q(call=None), name="attempt_of_scope_once"),
            models.CheckConstraint(
                name="attempt_of_call_or_scope",
                condition=Q(call__isnull=False, scope="") | (Q(call=None) & ~Q(scope="")),
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.scope or f'call {self.call_id}'}"
