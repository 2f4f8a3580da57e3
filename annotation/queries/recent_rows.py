"""Rows that a process reads anew only every `PLACE_SECONDS`: what sheets show, never what decides."""

import time
from typing import Any

from django.conf import settings
from django.db import connection

from jobs.queries.statements import fetch

MOST_ROWS = 512


class RecentRows:
    """The single row of a statement for each id, as this process read it last.

    What a transaction may take back is not kept.
    """

    def __init__(self, sql: str) -> None:
        """`sql` takes `%(id)s` and gives one row."""
        self._sql = sql
        self._rows: dict[int, tuple[float, tuple[Any, ...]]] = {}

    def fetch(self, pk: int) -> tuple[Any, ...]:
        now = time.monotonic()
        read_at, row = self._rows.get(pk, (float("-inf"), ()))
        if now - read_at < settings.PLACE_SECONDS:
            return row
        row = fetch(self._sql, {"id": pk})[0]
        if not connection.in_atomic_block:
            if len(self._rows) >= MOST_ROWS:
                self._rows.clear()
            self._rows[pk] = (now, row)
        return row
