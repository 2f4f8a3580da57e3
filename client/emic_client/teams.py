"""Teams and their cohorts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .connection import Connection
from .errors import NotFound, Problem
from .resources import Cohort, TeamRecord


class Cohorts:
    """The cohorts of a team."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def create(self, label: str, **options: Any) -> Cohort:
        """Needs the scope `admin`. `options`: names, country, languages, direction, time_zone."""
        return Cohort.from_json(self._connection.post(self._path, {"label": label, **options}))

    def get(self, cohort_id: int) -> Cohort:
        return Cohort.from_json(self._connection.get(f"{self._path}{int(cohort_id)}/"))

    def __iter__(self) -> Iterator[Cohort]:
        for raw in self._connection.pages(self._path):
            yield Cohort.from_json(raw)

    def list(self) -> list[Cohort]:
        return list(self)


class Team:
    """A team: `team.cohorts` are its cohorts."""

    def __init__(self, connection: Connection, raw: Mapping[str, Any]) -> None:
        self.data = TeamRecord.from_json(raw)
        self.cohorts = Cohorts(connection, f"/api/v1/teams/{self.data.slug}/cohorts/")

    def __repr__(self) -> str:
        return f"<Team {self.slug}>"

    @property
    def slug(self) -> str:
        return self.data.slug

    @property
    def name(self) -> str:
        return self.data.name


class Teams:
    """The teams of the token's person."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def __iter__(self) -> Iterator[Team]:
        for raw in self._connection.pages("/api/v1/teams/"):
            yield Team(self._connection, raw)

    def list(self) -> list[Team]:
        return list(self)

    def get(self, slug: str) -> Team:
        """Raises NotFound."""
        for team in self:
            if team.slug == slug:
                return team
        raise NotFound(f"There is no team {slug!r}.", Problem(status=404))
