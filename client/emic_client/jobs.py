"""Long work on the site: awaited with a progress bar, stopped and resumed, and what became of each row."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .connection import Connection
from .errors import EmicError, WaitTimeout

OVER = frozenset({"done", "cancelled", "failed"})
LONG_POLL = 30  # seconds, where nobody watches a bar
Clock = Callable[[], float]


@dataclass(frozen=True)
class JobReportRow:
    """What became of one row. `number` is as a person counts: the head of a table is row 1."""

    number: int
    name: str
    outcome: str
    reason: str
    message: str


class JobFailed(EmicError):
    """The job failed or was cancelled; `job.error` says why."""

    def __init__(self, job: Job, message: str) -> None:
        super().__init__(message)
        self.job = job


class ImportRefused(JobFailed):
    """The file could not be read, or some of its rows were rejected: `rows` says which and why. The others are in."""

    def __init__(self, job: Job, message: str, rows: list[JobReportRow]) -> None:
        super().__init__(job, message)
        self.rows = rows


class Job:
    """A job as it was when it was last asked for."""

    def __init__(self, connection: Connection, data: Mapping[str, Any]) -> None:
        self._connection = connection
        self._load(data)

    def __repr__(self) -> str:
        return f"<Job {self.id} {self.title!r}: {self.state}>"

    def _load(self, data: Mapping[str, Any]) -> None:
        self.raw = data
        self.id: int = data["id"]
        self.kind: str = data["kind"]
        self.title: str = data["title"]
        self.state: str = data["state"]
        self.done: int = data["done"]
        self.total: int | None = data["total"]
        self.error: str = data["error"]
        self.counts: dict[str, int] = dict(data["counts"])
        self.notes: list[str] = list(data["notes"])

    @property
    def path(self) -> str:
        return f"/api/v1/jobs/{self.id}/"

    @property
    def is_over(self) -> bool:
        return self.state in OVER

    @property
    def summary(self) -> str:
        """How far it is or how it ended, in the words of its page. A site of an earlier version writes none.

        >>> Job(None, {**EXAMPLE, "summary": "Import of a.csv: Done, Added: 12, Rejected: 1"}).summary
        'Import of a.csv: Done, Added: 12, Rejected: 1'
        """
        return str(self.raw.get("summary") or f"{self.title}: {self.state}")

    def refresh(self, wait: int = 0) -> Job:
        """Ask again; with `wait`, the site answers when the job is over, or after so many seconds."""
        query = {"wait": wait} if wait else None
        self._load(self._connection.get(self.path, query, timeout=wait + 30.0))
        return self

    def wait(
        self, timeout: float | None = None, poll: float = 2, *, strict: bool = True, clock: Clock = time.monotonic
    ) -> Job:
        """Wait for the end, with a progress bar. Raises WaitTimeout, JobFailed, and ImportRefused for an import with
        rejected rows, unless `strict` is off."""
        until = None if timeout is None else clock() + timeout
        with progress_bar(self) as bar:
            while not self.is_over:
                left = LONG_POLL if until is None else until - clock()
                if left <= 0:
                    raise WaitTimeout(f"{self.title} is not over after {timeout} seconds: {self.done} of {self.total}.")
                seconds = LONG_POLL if bar.disable else max(1, round(poll))
                began = clock()
                self.refresh(wait=max(1, min(seconds, LONG_POLL, round(left))))
                bar.total = self.total
                bar.update(self.done - bar.n)
                if not self.is_over and clock() - began < 0.5:  # many wait at the site, so that it answered at once
                    self._connection.pause(poll)
        return self._check(strict)

    def _check(self, strict: bool) -> Job:
        is_import = self.kind.startswith("import")
        if self.state != "done":
            message = self.error or f"{self.title} was {self.state}."
            raise ImportRefused(self, message, []) if is_import else JobFailed(self, message)
        if strict and is_import and self.counts.get("error"):
            rows = [row for row, _number in zip(self.rows("error"), range(1000), strict=False)]
            lines = [f"row {row.number} ({row.name}): {row.message}" for row in rows[:5]]
            more = [f"and {self.counts['error'] - 5} more"] if self.counts["error"] > 5 else []
            message = "\n".join([f"{self.summary}. Rejected:", *lines, *more])
            raise ImportRefused(self, message, rows)
        return self

    def rows(self, outcome: str | None = None) -> Iterator[JobReportRow]:
        """What became of each row; `outcome` is created, unchanged, updated or error."""
        names = JobReportRow.__dataclass_fields__
        for row in self._connection.pages(f"{self.path}rows/", {"outcome": outcome, "page_size": 1000}):
            yield JobReportRow(**{name: row[name] for name in names})

    def cancel(self) -> Job:
        """Stop; what is done stays."""
        self._load(self._connection.post(f"{self.path}cancel/"))
        return self

    def resume(self) -> Job:
        """Go on where it stopped."""
        self._load(self._connection.post(f"{self.path}resume/"))
        return self


EXAMPLE: dict[str, Any] = {
    "id": 1, "kind": "import_items", "title": "Import of a.csv", "state": "done", "done": 13, "total": 13, "error": "",
    "counts": {}, "notes": [],
}  # fmt: skip


class Jobs:
    """The jobs of the benchmarks and teams that the token's person may see."""

    def __init__(self, connection: Connection, **filters: Any) -> None:
        self._connection = connection
        self._filters = filters

    def __iter__(self) -> Iterator[Job]:
        return self.iter()

    def iter(self, **filters: Any) -> Iterator[Job]:
        """Oldest first; narrowed by benchmark, kind and state."""
        for data in self._connection.pages("/api/v1/jobs/", {**self._filters, **filters}):
            yield Job(self._connection, data)

    def list(self, **filters: Any) -> list[Job]:
        return list(self.iter(**filters))

    def get(self, job_id: int) -> Job:
        return Job(self._connection, self._connection.get(f"/api/v1/jobs/{job_id}/"))


def is_quiet() -> bool:
    """Whether nobody watches: stderr is no terminal and this is no notebook, or EMIC_QUIET=1."""
    is_watched = sys.stderr.isatty() or "ipykernel" in sys.modules
    return os.environ.get("EMIC_QUIET") == "1" or not is_watched


def progress_bar(job: Job) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=job.total, initial=job.done, desc=job.title, unit=" rows", disable=is_quiet(), leave=True)
