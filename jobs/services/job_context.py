"""What the work of a job gets from its runner: progress, the lease, cancellation, and the errors that end it.

Work that takes hours goes in slices: between two of them it gives the worker back, so that others get their turn.
"""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from jobs.models import Job, JobRow
from jobs.services.bulk import insert_rows

LEASE = timedelta(seconds=settings.JOB_LEASE_SECONDS)
RESEND = timedelta(minutes=5)
SLICE_SECONDS = 60.0
CHECK_SECONDS = 0.5
BEAT_SECONDS = 5.0
Line = TypeVar("Line")
ROW_TYPES = {"number": "int", "name": "text", "outcome": "text", "reason": "text", "message": "text"}


class JobCancelled(Exception):
    """Somebody asked to stop. What is committed stays."""


class LeaseLost(Exception):
    """Another worker has the job now. Nothing more may be written."""


class Requeue(Exception):
    """The slice is over, and the work is not: it is queued again, behind what waits by now. With `wait` not before
    that time has gone by, as far as the beat is exact."""

    def __init__(self, wait: timedelta | None = None) -> None:
        super().__init__()
        self.wait = wait


class JobFailed(Exception):
    """The work cannot go on; the message is for the person who started it, who can act on it: a file to correct, say.
    It does not count among the failures of the site."""


class SiteFailure(JobFailed):
    """The work cannot go on because of the site, such as a full disk: its admins read of it on the status page."""


@dataclass
class JobContext:
    """What a kind's `run` gets. Call `step` inside the transaction that holds the step's own rows."""

    job: Job
    counts: Counter[str] = field(default_factory=Counter)
    check_due: float = 0.0
    """When to look next for a cancellation, on the monotonic clock."""
    beat_due: float = 0.0
    """When `keep_lease` writes next, on the same clock."""

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.job.params)

    @property
    def cursor(self) -> dict[str, Any]:
        return dict(self.job.cursor)

    def expect(self, total: int) -> None:
        """How much there is to do, once it is known."""
        self._write(total=total)

    def note(self, sentence: str) -> None:
        """Something that belongs to no row, for the job's page."""
        notes = [*self.job.result.get("notes", []), sentence]
        self._write(result={**self.job.result, "notes": notes})

    def remember(self, **values: Any) -> None:
        """What those who read the result of this kind of job need."""
        self._write(result={**self.job.result, **values})

    def step(self, *, done: int, cursor: dict[str, Any], rows: Iterable[JobRow] = ()) -> None:
        """Write progress, and report rows; the lease is renewed. Raises LeaseLost.

        A step that is done twice (its commit was lost on the way) reports each row once.
        """
        new_rows = list(rows)
        written = [{"job_id": self.job.pk, **{name: getattr(row, name) for name in ROW_TYPES}} for row in new_rows]
        insert_rows(JobRow._meta.db_table, {"job_id": "bigint", **ROW_TYPES}, written, extra="ON CONFLICT DO NOTHING")
        self.counts.update(row.outcome for row in new_rows)
        remarks = Counter(self.job.result.get("remarks", {}))
        remarks.update(row.reason for row in new_rows if row.reason and row.outcome != JobRow.Outcome.ERROR)
        result = {**self.job.result, "counts": dict(self.counts), "remarks": dict(remarks)}
        self._write(done=done, cursor=cursor, result=result)
        self.check_due = 0.0

    def check(self) -> None:
        """Between rows: raises JobCancelled if somebody asked to stop. Looks twice a second, and after each step."""
        now = time.monotonic()
        if now < self.check_due:
            return
        self.check_due = now + CHECK_SECONDS
        if Job.objects.filter(pk=self.job.pk, cancel_asked=True).exists():
            raise JobCancelled

    def beat(self) -> None:
        """In long stretches without a step: keeps the lease. Raises JobCancelled, LeaseLost."""
        self.check()
        self._write()

    def keep_lease(self) -> None:
        """As `beat`, but at most every five seconds: for each block of a file, or each row."""
        if time.monotonic() >= self.beat_due:
            self.beat()

    def with_heartbeat(self, rows: Iterator[Line]) -> Iterator[Line]:
        """The rows, with a beat every 5,000 of them."""
        for count, row in enumerate(rows):
            if count % 5000 == 0:
                self.beat()
            yield row

    def has_waiting_jobs(self) -> bool:
        """Whether other work has been sent, or is due, and nobody does it: then a slice ends when its time is up."""
        waiting = Job.objects.filter(state=Job.State.QUEUED).exclude(pk=self.job.pk)
        return waiting.filter(Q(lease_until=None) | Q(lease_until__lt=timezone.now() + RESEND)).exists()

    def _write(self, **values: Any) -> None:
        running = Job.objects.filter(pk=self.job.pk, state=Job.State.RUNNING, attempts=self.job.attempts)
        if not running.update(lease_until=timezone.now() + LEASE, **values):
            raise LeaseLost
        self.beat_due = time.monotonic() + BEAT_SECONDS
        for name, value in values.items():
            setattr(self.job, name, value)


class TimeSlice:
    """A slice of long work: when it is over, and others wait, the worker is given back."""

    def __init__(self, work: JobContext) -> None:
        self._work, self._until = work, time.monotonic() + SLICE_SECONDS

    def is_over(self) -> None:
        """Between two steps. Raises Requeue."""
        if time.monotonic() >= self._until and self._work.has_waiting_jobs():
            raise Requeue
