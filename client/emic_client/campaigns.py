"""Campaigns: created, opened, paused and closed, and how far their cohorts are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .connection import Connection
from .remote_object import RemoteList, RemoteObject
from .resources import CampaignRecord, CohortProgress


class Campaign(RemoteObject[CampaignRecord]):
    """A campaign as it was when it was last asked for: `data` has all that the site says of it.

    `state`: draft, open, paused or closed.
    """

    def __init__(self, connection: Connection, path: str, raw: Mapping[str, Any]) -> None:
        super().__init__(connection, path, CampaignRecord, raw)

    def __repr__(self) -> str:
        return f"<Campaign {self.id} {self.data.name!r}: {self.state}>"

    def open(self) -> Campaign:
        """Begin to assign work. Raises Refused with every reason."""
        return self._act("open")

    def pause(self) -> Campaign:
        """Assign no new work; what people have begun they may finish."""
        return self._act("pause")

    def resume(self) -> Campaign:
        """Assign work again."""
        return self._act("resume")

    def close(self) -> Campaign:
        """End it."""
        return self._act("close")

    def progress(self) -> list[CohortProgress]:
        """How far each cohort is."""
        return [CohortProgress.from_json(row) for row in self._connection.get(f"{self.path}progress/")["cohorts"]]

    def add_cohort(self, cohort: int, wanted: int) -> Campaign:
        """Ask one more cohort, by its number, for so many answers to each item."""
        self._connection.post(f"{self.path}cohorts/", {"cohort": cohort, "wanted": wanted})
        return self.refresh()


class Campaigns(RemoteList[Campaign]):
    """The campaigns of a benchmark."""

    def __init__(self, connection: Connection, path: str) -> None:
        super().__init__(connection, f"{path}campaigns/")

    def create(self, stage: str, *, cohorts: Mapping[str, int], **options: Any) -> Campaign:
        """A draft of one stage, by its key. `cohorts`: label, and how many answers are wanted of each item. `options`:
        name, summary, opens_on, closes_on, conditions, instructions (language to text)."""
        body = {"stage": stage, "cohorts": {str(name): wanted for name, wanted in cohorts.items()}, **options}
        return self._object(self._connection.post(self._path, body))

    def get(self, campaign_id: int) -> Campaign:
        return self._get(campaign_id)

    def _object(self, raw: Mapping[str, Any]) -> Campaign:
        return Campaign(self._connection, self._path, raw)
