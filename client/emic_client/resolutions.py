"""What holds where answers disagreed, and how a person settles an item in dispute."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from .connection import Connection
from .resources import ResolutionRecord


class Resolution:
    """A decision as it was when it was last asked for."""

    def __init__(self, connection: Connection, path: str, raw: Mapping[str, Any], tag: str = "*") -> None:
        self._connection = connection
        self._list_path = path
        self._tag = tag
        self.data = ResolutionRecord.from_json(raw)
        self.path = f"{path}{self.data.id}/"

    @property
    def id(self) -> int:
        return self.data.id

    def __repr__(self) -> str:
        return f"<Resolution {self.id} of {self.data.field} of {self.data.item}, version {self.data.version}>"

    def change(self, answers: Mapping[str, Any], **options: Any) -> Resolution | None:
        """Decide otherwise, as its author: the next version. Raises Refused, Conflict and Stale."""
        body = {"answers": dict(answers), "client_key": uuid.uuid4().hex, **options}
        reply = self._connection.request("PATCH", self.path, headers={"If-Match": self._tag}, json=body)
        return _settled(self._connection, self._list_path, reply)

    def withdraw(self) -> Resolution:
        """Take it back, as its author, within seconds: the item is in hand again. Raises Conflict later."""
        self.data = ResolutionRecord.from_json(self._connection.post(f"{self.path}withdraw/"))
        return self


class Resolutions:
    """What holds where answers of a benchmark disagreed. To settle needs the scope `answer`, to read `export`."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = f"{path}resolutions/"
        self._campaigns = f"{path}campaigns/"

    def claim(self, campaign: int) -> dict[str, Any]:
        """Take an item in dispute, or the one in hand: its `id` is the assignment, with its `item` and `sheet`. Raises
        Conflict where there is none."""
        claim: dict[str, Any] = self._connection.post(f"{self._campaigns}{int(campaign)}/claims/")
        current: dict[str, Any] = claim["current"]
        return current

    def settle(self, assignment: int, answers: Mapping[str, Any], **options: Any) -> Resolution | None:
        """Answer an item in dispute that you have claimed: `decision`, `reason`, and another answer where you give one.
        None: the answer waits for a review, or does not count. `options`: language, confirmed."""
        body = {"assignment": assignment, "answers": dict(answers), "client_key": uuid.uuid4().hex, **options}
        return _settled(self._connection, self._path, self._connection.request("POST", self._path, json=body))

    def get(self, resolution_id: int) -> Resolution:
        """Also one that does not hold any more."""
        reply = self._connection.request("GET", f"{self._path}{int(resolution_id)}/")
        return Resolution(self._connection, self._path, reply.json(), reply.headers["ETag"])

    def iter(self) -> Iterator[Resolution]:
        """Those that hold, oldest first."""
        for raw in self._connection.pages(self._path):
            yield Resolution(self._connection, self._path, raw)

    def __iter__(self) -> Iterator[Resolution]:
        return self.iter()

    def list(self) -> list[Resolution]:
        return list(self)


def _settled(connection: Connection, path: str, reply: Any) -> Resolution | None:
    line = reply.json()["resolution"]
    return Resolution(connection, path, line, reply.headers["ETag"]) if line else None
