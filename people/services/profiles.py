"""What a person says about themselves."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from jobs.models import record
from people.models import User

PASSWORD_MAIL_MINUTES = 5


@transaction.atomic
def change(user: User, *, name: str, language: str, time_zone: str) -> None:
    """`user` may already carry the new values, as a bound form leaves it: what was there is read from the database."""
    new = {"name": name, "language": language, "time_zone": time_zone}
    before = User.objects.filter(pk=user.pk).values(*new).get()
    changed = [key for key in new if before[key] != new[key]]
    User.objects.filter(pk=user.pk).update(**new)
    if changed:
        record(user, "person.changed", target=f"user:{user.pk}", fields=changed)


def claim_mail_turn(user: User, at: datetime) -> bool:
    """Take the turn for a password mail: one in five minutes, however many ask at once."""
    waited = Q(password_mailed_at=None) | Q(password_mailed_at__lte=at - timedelta(minutes=PASSWORD_MAIL_MINUTES))
    return bool(User.objects.filter(waited, pk=user.pk).update(password_mailed_at=at))


@transaction.atomic
def set_language(user: User, language: str) -> None:
    """The language of the interface."""
    User.objects.filter(pk=user.pk).update(language=language)
    record(user, "person.changed", target=f"user:{user.pk}", fields=["language"])
