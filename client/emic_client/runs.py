"""Runs of models: planned without a request, created, started, and awaited with a progress bar."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from .campaigns import Campaign
from .connection import Connection
from .errors import EmicError
from .jobs import Clock, Job
from .remote_object import RemoteList, RemoteObject
from .resources import RunCost, RunPlan, RunRecord

ENDED = frozenset({"done", "failed", "cancelled", "paused"})


class RunFailed(EmicError):
    """A run ended without being done, or paused; `run.data.stopped_because` says why."""

    def __init__(self, run: Run, message: str) -> None:
        super().__init__(message)
        self.run = run


class Run(RemoteObject[RunRecord]):
    """A run as it was when it was last asked for: `data` has all that the site says of it.

    `state`: draft, running, paused, cancelled, done or failed.
    """

    def __init__(self, connection: Connection, path: str, raw: Mapping[str, Any]) -> None:
        super().__init__(connection, path, RunRecord, raw)

    def __repr__(self) -> str:
        return f"<Run {self.id} of {self.data.model}: {self.state}>"

    def start(self) -> Run:
        """Send the requests. Raises Refused where that is not possible."""
        return self._act("start")

    def pause(self) -> Run:
        """Send no more requests."""
        return self._act("pause")

    def resume(self) -> Run:
        """Go on where it stopped."""
        return self._act("resume")

    def stop(self) -> Run:
        """End it; its answers stay and count."""
        return self._act("stop")

    def withdraw(self) -> Run:
        """Keep it, and count it nowhere."""
        return self._act("withdraw")

    def restore(self) -> Run:
        """Count it again after `withdraw`."""
        return self._act("restore")

    def cost(self) -> RunCost:
        """How far it is, and what it cost so far."""
        return RunCost.from_json(self._connection.get(f"{self.path}cost/"))

    def calls(self) -> Iterator[dict[str, Any]]:
        """Each call with its requests, replies and answers. Needs the scope `export`."""
        yield from self._connection.pages(f"{self.path}calls/")

    def wait(
        self, timeout: float | None = None, poll: float = 2, *, strict: bool = True, clock: Clock = time.monotonic
    ) -> Run:
        """Wait for the end, with a progress bar. Raises WaitTimeout; RunFailed where it failed, was stopped or paused,
        unless `strict` is off."""
        self.refresh()
        if self.state not in ENDED and self.data.job is not None:
            job = Job(self._connection, self._connection.get(f"/api/v1/jobs/{self.data.job}/"))
            job.wait(timeout, poll, strict=False, clock=clock)
            self.refresh()
        if strict and self.state != "done":
            reason = self.data.stopped_because or "Start it first." * (self.state == "draft")
            raise RunFailed(self, f"The run of {self.data.model} is {self.state}. {reason}".strip())
        return self


class Runs(RemoteList[Run]):
    """The runs of models over a benchmark."""

    def __init__(self, connection: Connection, path: str) -> None:
        super().__init__(connection, f"{path}runs/")
        self._plan_path = f"{path}runs:plan/"

    def plan(self, campaign: str | int | Campaign, *, endpoint: str | int, **options: Any) -> RunPlan:
        """What a run would ask, exactly, and what it would cost. Nothing is sent to a model. Parameters as `create`."""
        return RunPlan.from_json(self._connection.post(self._plan_path, body_of(campaign, endpoint, options)))

    def create(self, campaign: str | int | Campaign, *, endpoint: str | int, **options: Any) -> Run:
        """A run that waits to be started. `campaign`: it, its number, or a stage, whose latest campaign is asked.
        `endpoint`: name or number. `options`: model, prompt, budget, repeats, seed, sample, conditions, targets,
        confirmed (how many units cannot be asked, as the plan said), and what else /api/docs/ lists."""
        raw = self._connection.post(self._path, body_of(campaign, endpoint, options))
        return self._object(raw)

    def get(self, run_id: int) -> Run:
        return self._get(run_id)

    def _object(self, raw: Mapping[str, Any]) -> Run:
        return Run(self._connection, self._path, raw)


def body_of(campaign: str | int | Campaign, endpoint: str | int, options: Mapping[str, Any]) -> dict[str, Any]:
    """
    >>> body_of("relevance", "practice", {"budget": "1.00"})
    {'stage': 'relevance', 'endpoint_name': 'practice', 'budget': '1.00'}
    >>> body_of(3, 7, {})
    {'campaign': 3, 'endpoint': 7}
    """
    body: dict[str, Any] = {"stage": campaign} if isinstance(campaign, str) else {}
    if not isinstance(campaign, str):
        body["campaign"] = campaign if isinstance(campaign, int) else campaign.id
    body["endpoint_name" if isinstance(endpoint, str) else "endpoint"] = endpoint
    return {**body, **options}
