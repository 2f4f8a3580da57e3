"""What the people's tables need not keep: ended sessions, failed sign-ins, old letters and confirmations."""

from datetime import datetime, timedelta

from axes.models import AccessAttempt
from django.contrib.sessions.models import Session

from people.models import EmailConfirmation
from people.services import outgoing
from people.services.limits import password_limit, sign_in_limit

LOCK_DAYS = 30  # of failed sign-ins as axes counts them


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
    }
