"""Long work with progress."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

REFUSED = "refused"  # in the result of a job


class Job(models.Model):
    """One piece of long work. The row is the truth; a queue message only says 'look at row n'.

    `scope` says to what it belongs ("benchmark:12"); the app that made it decides who may see it.
    `cursor` is where to go on after a stop; `lease_until` says that a worker has it in hand until then.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        CANCELLED = "cancelled", _("Cancelled")
        FAILED = "failed", _("Failed")

    LIVE = (State.QUEUED, State.RUNNING)

    kind = models.CharField(max_length=40)
    title = models.CharField(max_length=200)
    scope = models.CharField(max_length=60, db_index=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    params = models.JSONField(default=dict)
    cursor = models.JSONField(default=dict)
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    cancel_asked = models.BooleanField(default=False)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0, help_text="How often it was taken up: which worker has it now.")
    given_back = models.PositiveIntegerField(default=0, help_text="How often a worker gave it back: no loss.")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["state", "lease_until"], name="job_live")]
        constraints = [
            models.CheckConstraint(
                name="job_finished_has_time",
                condition=models.Q(state__in=["queued", "running"]) | models.Q(finished_at__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} ({self.state})"


class JobRow(models.Model):
    """What became of one row of the work: the report a person reads afterwards."""

    class Outcome(models.TextChoices):
        CREATED = "created", _("Added")
        UNCHANGED = "unchanged", _("Already exists")
        UPDATED = "updated", _("Updated")
        ERROR = "error", _("Rejected")

    job = models.ForeignKey(Job, models.PROTECT, related_name="rows")
    number = models.PositiveIntegerField()
    name = models.CharField(max_length=300)
    outcome = models.CharField(max_length=10, choices=Outcome)
    reason = models.CharField(max_length=40, blank=True)
    message = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="job_row_once")]
        indexes = [models.Index(fields=["job", "outcome", "number"], name="job_row_outcome")]

    def __str__(self) -> str:
        return f"{self.number} {self.name}: {self.outcome}"
