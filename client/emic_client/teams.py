"""Teams, their cohorts, and their service accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .connection import Connection
from .errors import NotFound, Problem
from .resources import Cohort, ServiceAccount, ServiceToken, TeamRecord


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


class ServiceAccounts:
    """The service accounts of a team. Everything here needs the scope `admin` of an admin of the team."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path

    def create(self, name: str) -> ServiceAccount:
        """It has no role yet: an owner of a benchmark gives it one."""
        return ServiceAccount.from_json(self._connection.post(self._path, {"name": name}))

    def create_token(self, account: int | ServiceAccount, name: str, **options: Any) -> ServiceToken:
        """A token whose text is told once, as `token`. `options`: days, scopes, benchmarks (numbers)."""
        number = account if isinstance(account, int) else account.id
        return ServiceToken.from_json(self._connection.post(f"{self._path}{number}/tokens/", {"name": name, **options}))

    def tokens(self, account: int | ServiceAccount) -> list[ServiceToken]:
        """Those that are active."""
        number = account if isinstance(account, int) else account.id
        return [ServiceToken.from_json(raw) for raw in self._connection.pages(f"{self._path}{number}/tokens/")]

    def __iter__(self) -> Iterator[ServiceAccount]:
        for raw in self._connection.pages(self._path):
            yield ServiceAccount.from_json(raw)

    def list(self) -> list[ServiceAccount]:
        return list(self)


class Team:
    """A team: `team.cohorts` are its cohorts, `team.service_accounts` its programs."""

    def __init__(self, connection: Connection, raw: Mapping[str, Any]) -> None:
        self.data = TeamRecord.from_json(raw)
        self.cohorts = Cohorts(connection, f"/api/v1/teams/{self.data.slug}/cohorts/")
        self.service_accounts = ServiceAccounts(connection, f"/api/v1/teams/{self.data.slug}/service-accounts/")

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
