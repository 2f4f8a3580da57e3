"""Who did what, and when."""

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from psycopg.types.json import Jsonb


class Event(models.Model):
    """Who did what, when. Append-only: the database refuses updates and deletes (migration 0002)."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    verb = models.CharField(max_length=60)
    scope = models.CharField(max_length=60, blank=True)
    target = models.CharField(max_length=80, blank=True)
    data = models.JSONField(default=dict)
    implied = models.BooleanField(default=False, help_text="Done by the system as an effect of something else.")
    address = models.GenericIPAddressField(null=True, help_text="Where the request came from, where that is recorded.")

    class Meta:
        indexes = [models.Index(fields=["scope", "-id"], name="event_scope")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.verb} {self.target}"


def record(
    actor: Any,
    verb: str,
    *,
    scope: str = "",
    target: str = "",
    implied: bool = False,
    client_address: Any = None,
    **data: Any,
) -> Event:
    """Write one event. `actor` is a user or None for the system; `client_address` is where the request came from."""
    return Event.objects.create(
        actor=actor, verb=verb, scope=scope, target=target, implied=implied, address=client_address, data=data
    )


# The same within a statement that writes more than the event; its values by `event_params`.
INSERT = """INSERT INTO jobs_event (at, actor_id, verb, scope, target, data, implied)
  VALUES (%(event_at)s, %(actor)s, %(verb)s, %(scope)s, %(target)s, %(event_data)s, false)"""


def event_params(actor_id: int | None, verb: str, *, scope: str, target: str, **data: Any) -> dict[str, Any]:
    """Values of `INSERT`. `actor_id` is of a user, or None for the system."""
    return {
        "event_at": timezone.now(), "actor": actor_id, "verb": verb, "scope": scope,
        "target": target, "event_data": Jsonb(data),
    }  # fmt: skip
