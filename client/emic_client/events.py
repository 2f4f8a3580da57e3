"""What happens on the site, as an endless iterator: nothing is missed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

from .connection import Connection
from .jobs import Clock
from .resources import Event

Names = str | Sequence[str] | None


class EventFeed:
    """Events from a position on, the oldest first. `after` is where to begin the next time: behind the last event whose
    turn of the loop has ended. An event in whose turn the program stopped comes again."""

    def __init__(
        self, connection: Connection, query: dict[str, Any], poll: float, timeout: float | None, clock: Clock
    ) -> None:
        self._connection, self._query, self._poll = connection, query, poll
        self._timeout, self._clock = timeout, clock
        self.after: str = query["after"]

    def __iter__(self) -> Iterator[Event]:
        quiet_since = self._clock()
        while True:
            page = self._connection.get("/api/v1/events/", {**self._query, "after": self.after})
            for raw in page["results"]:
                event = Event.from_json(raw)
                yield event
                self.after = event.after or self.after  # an older site has one position for each page
            self.after = page["after"]
            if page["results"]:
                quiet_since = self._clock()
            if page["more"]:
                continue
            if self._timeout is not None and self._clock() - quiet_since >= self._timeout:
                return
            self._connection.pause(self._poll)


class Events:
    """The events of the benchmarks that the token's person works on. The site's /api/docs/ lists the verbs."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def now(self) -> str:
        """The position behind what has happened so far, for `follow(after=)`."""
        return str(self._connection.get("/api/v1/events/", {"after": "now", "page_size": 1})["after"])

    def follow(
        self, after: str = "now", *, benchmark: Names = None, verb: Names = None, poll: float = 2,
        timeout: float | None = None, clock: Clock = time.monotonic,
    ) -> EventFeed:  # fmt: skip
        """Events as they happen: `for event in emic.events.follow(verb="answer.submitted"): ...`. `after`: a position;
        "" begins with the first event of all. `benchmark`: slugs. `poll`: seconds between two looks. `timeout`: end
        when nothing has come for so many seconds. Raises Gone where the position is from before a backup was restored.
        """
        slugs = [benchmark] if isinstance(benchmark, str) else list(benchmark or ())
        query = {"after": after, "scope": [f"benchmark:{slug}" for slug in slugs], "verb": verb}
        return EventFeed(self._connection, query, poll, timeout, clock)
