"""Outgoing mail: one row for each letter, written in the transaction of its cause and sent by the worker."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class OutMail(models.Model):
    """A letter to one address. `next_at` is when to try next; while it is being sent, when another worker may try.

    `site` is the address under which the site was asked, for links that are made when the letter is sent.
    `reply` is the mail server's last answer, or a code of `people.queries.mail_status.FAULTS`.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("Waiting")
        SENDING = "sending", _("Waiting")
        ACCEPTED = "accepted", _("Accepted by the mail server")
        RETRY = "retry", _("Retrying")
        FAILED = "failed", _("Rejected by the mail server")
        BOUNCED = "bounced", _("Bounced")
        SUPPRESSED = "suppressed", _("Not sent")
        NO_SERVER = "no_server", _("No mail server is set up")

    class Kind(models.TextChoices):
        INVITATION = "invitation", _("Invitation")
        CONFIRMATION = "confirmation", _("Confirmation of an address")
        PASSWORD = "password", _("New password")
        MESSAGE = "message", _("Message to a cohort")
        TEST = "test", _("Test e-mail")
        NOTICE = "notice", _("Notice about programs")
        NONE = "none", _("Nothing to send")

    PENDING = (State.QUEUED, State.SENDING, State.RETRY)
    SECRET = (Kind.INVITATION, Kind.CONFIRMATION, Kind.PASSWORD)  # they hold a link that opens a door

    to = models.CharField(max_length=254)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=12, choices=Kind)
    language = models.CharField(max_length=12, blank=True)
    subject = models.CharField(max_length=300, blank=True)
    body = models.TextField(blank=True)
    site = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True)
    message_id = models.CharField(max_length=200)
    reply = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    scope = models.CharField(max_length=60, blank=True)
    target = models.CharField(max_length=80, blank=True)
    at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(
                fields=["next_at"],
                condition=models.Q(state__in=["queued", "sending", "retry"]),
                name="out_mail_pending",
            ),
            models.Index(fields=["target"], name="out_mail_target"),
            models.Index(fields=["to", "kind"], name="out_mail_to"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} ({self.state})"
