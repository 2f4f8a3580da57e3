"""Stages of a benchmark: the runs whose answers they judge, and how many decisions are made a second time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .connection import Connection
from .errors import NotFound, Problem
from .resources import SecondReviews, StageInput


class Stage:
    """A stage as the site sent it: `raw` has its sheet and the rest."""

    def __init__(self, connection: Connection, path: str, raw: Mapping[str, Any]) -> None:
        self._connection = connection
        self.raw = raw
        self.key: str = raw["key"]
        self.path = f"{path}{self.key}/"

    def __repr__(self) -> str:
        return f"<Stage {self.key}>"

    def inputs(self) -> list[StageInput]:
        """The runs whose answers this stage may judge; `chosen` are those that it does. Empty where it judges none."""
        raw = self._connection.get(f"{self.path}inputs/")
        return [StageInput.from_json(row) for row in raw["runs"]]

    def choose_inputs(self, chosen: Iterable[StageInput | str]) -> list[StageInput]:
        """Judge the answers of these runs and of no others. Raises Refused for a run that is none of `inputs`, Conflict
        where the stage judges nothing."""
        ids = [one if isinstance(one, str) else one.id for one in chosen]
        raw = self._put("inputs/", {"chosen": ids})
        return [StageInput.from_json(row) for row in raw["runs"]]

    def second_reviews(self) -> SecondReviews:
        """How many decisions are made a second time, and how far that is. Needs the scope `export`."""
        return SecondReviews.from_json(self._connection.get(f"{self.path}second-reviews/"))

    def set_second_reviews(self, percent: float) -> SecondReviews:
        """A higher share adds to what was drawn. Needs the scopes `write` and `export`."""
        return SecondReviews.from_json(self._put("second-reviews/", {"percent": percent}))

    def _put(self, name: str, body: Mapping[str, Any]) -> Any:
        """What is there now is replaced, unless somebody else changed it in between. Raises Stale."""
        tag = self._connection.request("GET", f"{self.path}{name}").headers["ETag"]
        reply = self._connection.request("PUT", f"{self.path}{name}", headers={"If-Match": tag}, json=dict(body))
        return reply.json()


class Stages:
    """The stages of a benchmark, in their order."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = f"{path}stages/"

    def __iter__(self) -> Iterator[Stage]:
        for raw in self._connection.pages(self._path):
            yield Stage(self._connection, self._path, raw)

    def list(self) -> list[Stage]:
        return list(self)

    def get(self, key: str) -> Stage:
        """By its key. Raises NotFound."""
        if not key or not key.replace("-", "").replace("_", "").isalnum():
            raise NotFound(f"There is no stage {key!r}.", Problem(status=404))
        return Stage(self._connection, self._path, self._connection.get(f"{self._path}{key}/"))
