"""What becomes of a letter while the worker sends it. Each change is one conditional update, so two workers never
send the same letter at once; a letter whose worker died is tried again, with the same Message-ID."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from people.models import OutMail

RETRY_AFTER = tuple(timedelta(minutes=m) for m in (1, 5, 30, 120, 360, 720, 1440))
SENDING_LEASE = timedelta(minutes=5)
BUSY = timedelta(seconds=30)  # longer than one letter takes, shorter than anybody waits
BODY_DAYS, ROW_DAYS, NONE_DAYS = 30, 365, 1
State = OutMail.State


def due_filter(at: datetime) -> Q:
    return Q(state__in=OutMail.PENDING, next_at__lte=at)


def is_busy(at: datetime) -> bool:
    """Whether another worker sends now: one is enough, and a silent mail server must not hold them all."""
    return OutMail.objects.filter(state=State.SENDING, next_at__gt=at, changed_at__gt=at - BUSY).exists()


@transaction.atomic
def claim(at: datetime) -> OutMail | None:
    """The letter that waits longest, marked as being sent; None if nothing is due."""
    waiting = OutMail.objects.select_for_update(skip_locked=True).filter(due_filter(at))
    mail = waiting.order_by("next_at", "pk").first()
    if mail is None:
        return None
    mail.state, mail.attempts = State.SENDING, mail.attempts + 1
    mail.next_at, mail.changed_at = at + SENDING_LEASE, at
    mail.save(update_fields=["state", "attempts", "next_at", "changed_at"])
    return mail


def accept(mail: OutMail, reply: str, at: datetime) -> None:
    """The server took the letter. A link in it is deleted from the row."""
    _close(mail, State.ACCEPTED, reply, at)


def fail(mail: OutMail, reply: str, at: datetime) -> None:
    """The server refused the letter for good."""
    _close(mail, State.FAILED, reply, at)


def suppress(mail: OutMail, at: datetime, *, kind: str = "") -> None:
    """The letter is not needed, or there is nobody to send it to."""
    mail.kind = kind or mail.kind
    OutMail.objects.filter(pk=mail.pk).update(kind=mail.kind, body="")
    _close(mail, State.SUPPRESSED, "not_needed", at)


def no_server(mail: OutMail, at: datetime) -> None:
    _close(mail, State.NO_SERVER, "", at)


def _close(mail: OutMail, state: str, reply: str, at: datetime) -> None:
    values: dict[str, object] = {"state": state, "reply": reply[:300], "next_at": None, "changed_at": at}
    if mail.kind in OutMail.SECRET:
        values["body"] = ""
    OutMail.objects.filter(pk=mail.pk).update(**values)


def postpone(mail: OutMail, reply: str, at: datetime) -> None:
    """Try again later; after the last try the letter has failed."""
    if mail.attempts > len(RETRY_AFTER):
        fail(mail, reply, at)
        return
    OutMail.objects.filter(pk=mail.pk).update(
        state=State.RETRY, reply=reply[:300], next_at=at + RETRY_AFTER[mail.attempts - 1], changed_at=at
    )


def postpone_all(reply: str, at: datetime) -> int:
    """The server is away: whatever is due counts as tried and waits, so that nobody waits for it letter by letter."""
    waiting = OutMail.objects.filter(due_filter(at), state__in=(State.QUEUED, State.RETRY))
    changed = 0
    for attempts, delay in reversed(list(enumerate(RETRY_AFTER))):
        changed += waiting.filter(attempts=attempts).update(
            state=State.RETRY, attempts=attempts + 1, reply=reply[:300], next_at=at + delay, changed_at=at
        )
    exhausted = waiting.filter(attempts__gte=len(RETRY_AFTER))
    exhausted.filter(kind__in=OutMail.SECRET).update(body="")
    return changed + exhausted.update(state=State.FAILED, reply=reply[:300], next_at=None, changed_at=at)


def suppress_target(target: str, at: datetime) -> int:
    """Letters of a cause that was taken back are not sent any more. One that is on its way stays on its way."""
    waiting = OutMail.objects.filter(target=target, state__in=(State.QUEUED, State.RETRY))
    return waiting.update(state=State.SUPPRESSED, reply="not_needed", body="", next_at=None, changed_at=at)


def delete_old(at: datetime) -> int:
    """Nightly: texts after 30 days, rows after a year, requests for unknown addresses after a day."""
    closed = OutMail.objects.exclude(state__in=OutMail.PENDING)
    closed.filter(changed_at__lt=at - timedelta(days=BODY_DAYS)).exclude(body="").update(body="")
    unknown = Q(kind=OutMail.Kind.NONE, at__lt=at - timedelta(days=NONE_DAYS))
    old = Q(changed_at__lt=at - timedelta(days=ROW_DAYS))
    deleted, _by_model = closed.filter(unknown | old).delete()
    return deleted
