"""Events in an order in which a reader who remembers the last one misses none.

A number is taken before its transaction ends, so a reader by number passes what is committed late. The feed orders by
the transaction and then the number, and shows only transactions that are older than every one still running: none of
them can add an event any more.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

ROWS = """
SELECT id, at, verb, scope, target, data, xact::text FROM jobs_event
WHERE scope = ANY(%(scopes)s) AND verb = ANY(%(verbs)s) AND (xact, id) > (%(xact)s::text::xid8, %(id)s)
  AND xact < pg_snapshot_xmin(pg_current_snapshot())
ORDER BY xact, id LIMIT %(limit)s
"""
NOW = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
EPOCH = "SELECT system_identifier::text FROM pg_control_system()"


@dataclass(frozen=True)
class FeedPosition:
    """Behind which event a reader is: its transaction and its number."""

    xact: str = "0"
    id: int = 0


@dataclass(frozen=True)
class FeedEvent:
    id: int
    at: datetime
    verb: str
    scope: str
    target: str
    data: dict[str, Any]
    position: FeedPosition


def read_events(scopes: Collection[str], verbs: Collection[str], after: FeedPosition, limit: int) -> list[FeedEvent]:
    """The next events of these scopes and verbs, the oldest first."""
    params: dict[str, Any] = {
        "scopes": [*scopes],
        "verbs": [*verbs],
        "xact": after.xact,
        "id": after.id,
        "limit": limit,
    }
    with connection.cursor() as cursor:
        cursor.execute(ROWS, params)
        rows = cursor.fetchall()
    return [
        FeedEvent(pk, at, verb, scope, target, _object(data), FeedPosition(xact, pk))
        for pk, at, verb, scope, target, data, xact in rows
    ]


def _object(data: Any) -> dict[str, Any]:
    """Of a raw query JSON comes as text."""
    return dict(json.loads(data) if isinstance(data, str) else data)


def current_position() -> FeedPosition:
    """Behind all events that can be read now."""
    return FeedPosition(_value(NOW), 0)


def feed_epoch() -> str:
    """Of the database cluster: a backup that is restored into another one counts transactions anew."""
    return _value(EPOCH)


def _value(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return str(cursor.fetchone()[0])
