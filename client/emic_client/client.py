"""Where a program begins: one site, and what it has."""

from __future__ import annotations

from typing import Any

from .benchmarks import Benchmarks
from .connection import Connection
from .events import Events
from .jobs import Jobs
from .teams import Teams
from .webhooks import Webhooks


class Emic:
    """A site. The token comes from EMIC_TOKEN unless it is given; it is never shown.

    with Emic("https://emic.example.org") as emic: ...
    """

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 30.0, retries: int = 4) -> None:
        self._connection = Connection(url, token, timeout=timeout, retries=retries)
        self.benchmarks = Benchmarks(self._connection)
        self.jobs = Jobs(self._connection)
        self.teams = Teams(self._connection)
        self.events = Events(self._connection)
        self.webhooks = Webhooks(self._connection)

    def __repr__(self) -> str:
        return f"Emic({self._connection.url!r})"

    def __enter__(self) -> Emic:
        return self

    def __exit__(self, *_error: Any) -> None:
        self.close()

    def close(self) -> None:
        self._connection.close()
