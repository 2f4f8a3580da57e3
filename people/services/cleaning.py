"""What the people's tables need not keep: ended sessions, failed sign-ins, old letters and confirmations, and addresses
of people who never joined."""

from datetime import datetime, timedelta

from axes.models import AccessAttempt
from django.contrib.sessions.models import Session
from django.db.models import Q

from jobs.services import uploads
from people.models import EmailConfirmation, Invitation
from people.services import outgoing
from people.services.inviting import invite_import
from people.services.limits import password_limit, sign_in_limit

LOCK_DAYS = 30  # of failed sign-ins as axes counts them
UNUSED_DAYS = 30  # after which nobody asks any more who was meant by a link that nobody used


def clean_up(at: datetime) -> dict[str, int]:
    """Delete what has ended. Returns how many rows of each kind went."""
    sessions, _by_model = Session.objects.filter(expire_date__lt=at).delete()
    attempts, _by_model = AccessAttempt.objects.filter(attempt_time__lt=at - timedelta(days=LOCK_DAYS)).delete()
    confirmations, _by_model = EmailConfirmation.objects.filter(expires_at__lt=at).delete()
    return {
        "sessions": sessions,
        "attempts": attempts,
        "confirmations": confirmations,
        "failed_sign_ins": sign_in_limit.delete_old(at),
        "password_requests": password_limit.delete_old(at),
        "letters": outgoing.delete_old(at),
        "invited": _forget_invited(at - timedelta(days=UNUSED_DAYS)),
        "lists": invite_import.forget_lists(at - uploads.KEEP),
    }


def _forget_invited(before: datetime) -> int:
    """Empty address and note of links that ended unused before this moment; the link and its end stay."""
    ended = Invitation.objects.filter(Q(expires_at__lt=before) | Q(revoked_at__lt=before), used_at=None)
    return ended.exclude(email="", note="").update(email="", note="")
