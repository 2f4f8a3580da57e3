"""What a person says about themselves."""

from django.db import transaction

from jobs.models import record
from people.models import User


@transaction.atomic
def change(user: User, *, name: str, language: str, time_zone: str) -> None:
    """`user` may already carry the new values, as a bound form leaves it: what was there is read from the database."""
    new = {"name": name, "language": language, "time_zone": time_zone}
    before = User.objects.filter(pk=user.pk).values(*new).get()
    changed = [key for key in new if before[key] != new[key]]
    User.objects.filter(pk=user.pk).update(**new)
    if changed:
        record(user, "person.changed", target=f"user:{user.pk}", fields=changed)


@transaction.atomic
def speak(user: User, language: str) -> None:
    """The language of the interface."""
    User.objects.filter(pk=user.pk).update(language=language)
    record(user, "person.changed", target=f"user:{user.pk}", fields=["language"])
