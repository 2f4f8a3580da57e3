"""Doing the work: claim by lease, go in steps, say how far, stop when asked, go on after a kill.

A worker holds a job by its lease and proves it by the number of its attempt: every step is written only if the
job is still running under that number. A worker that was thought dead and wakes up writes nothing.

Work that takes hours goes in slices: between two of them it gives the worker back, so that others get their turn.
"""

import logging
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from jobs.models import REFUSED, Job, JobRow
from jobs.services import kinds
from jobs.services.bulk import insert_rows
from jobs.services.lifecycle import notify_workers

log = logging.getLogger(__name__)

LEASE = timedelta(seconds=settings.JOB_LEASE_SECONDS)
RESEND = timedelta(minutes=5)
MOST_ATTEMPTS = 10
SLICE_SECONDS = 60.0
CHECK_SECONDS = 0.5
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

    def others_wait(self) -> bool:
        """Whether other work has been sent, or is due, and nobody does it: then a slice ends when its time is up."""
        waiting = Job.objects.filter(state=Job.State.QUEUED).exclude(pk=self.job.pk)
        return waiting.filter(Q(lease_until=None) | Q(lease_until__lt=timezone.now() + RESEND)).exists()

    def _write(self, **values: Any) -> None:
        running = Job.objects.filter(pk=self.job.pk, state=Job.State.RUNNING, attempts=self.job.attempts)
        if not running.update(lease_until=timezone.now() + LEASE, **values):
            raise LeaseLost
        for name, value in values.items():
            setattr(self.job, name, value)


class TimeSlice:
    """A slice of long work: when it is over, and others wait, the worker is given back."""

    def __init__(self, work: JobContext) -> None:
        self._work, self._until = work, time.monotonic() + SLICE_SECONDS

    def is_over(self) -> None:
        """Between two steps. Raises Requeue."""
        if time.monotonic() >= self._until and self._work.others_wait():
            raise Requeue


def claim(job_id: int, at: datetime) -> Job | None:
    """Take a job that waits, or whose worker is gone. One of any number of claimers gets it."""
    free = Q(state=Job.State.QUEUED) | Q(state=Job.State.RUNNING, lease_until__lt=at)
    taken = (
        Job.objects.filter(free, pk=job_id)
        .filter(cancel_asked=False)
        .update(
            state=Job.State.RUNNING,
            lease_until=at + LEASE,
            attempts=F("attempts") + 1,
            started_at=Coalesce("started_at", models.Value(at)),
        )
    )
    return Job.objects.select_related("created_by").get(pk=job_id) if taken else None


def run(job_id: int) -> None:
    """Do a job, or leave it alone if somebody else has it. Database trouble leaves it to the next claimer."""
    job = claim(job_id, timezone.now())
    if job is None:
        return
    work = JobContext(job, Counter(job.result.get("counts", {})))
    with translation.override(getattr(job.created_by, "language", "") or "en"):
        try:
            kind = kinds.find_kind(job.kind)
            if kind is None:
                raise SiteFailure(_("This version of Emic does not know how to do this work."))
            work.check()
            kind.run(work)
        except JobCancelled:
            _close(job, Job.State.CANCELLED)
        except Requeue as requeue:
            _requeue(job, requeue.wait, timezone.now())
        except JobFailed as problem:
            _close(job, Job.State.FAILED, str(problem), refused=not isinstance(problem, SiteFailure))
        except LeaseLost:
            log.warning("job %s: another worker has taken over", job_id)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            _close(job, Job.State.FAILED, _("Something went wrong in Emic itself. It is in the log; try to go on."))
            raise
        else:
            _close(job, Job.State.DONE)


def requeue_stalled(at: datetime) -> int:
    """Send again what was never received, and what a lost worker held."""
    Job.objects.filter(state=Job.State.RUNNING, lease_until__lt=at, cancel_asked=True).update(
        state=Job.State.CANCELLED, finished_at=at
    )
    lost = Q(state=Job.State.RUNNING, lease_until__lt=at)
    Job.objects.filter(lost, attempts__gte=F("given_back") + MOST_ATTEMPTS).update(
        state=Job.State.FAILED,
        finished_at=at,
        error=f"The work stopped {MOST_ATTEMPTS} times without saying why. Perhaps the machine has too little memory.",
    )
    unheard = Q(state=Job.State.QUEUED) & (
        Q(lease_until__lt=at) | Q(lease_until=None, created_at__lt=at - timedelta(seconds=30))
    )
    sent = 0
    for job_id in Job.objects.filter(lost | unheard).order_by("pk").values_list("pk", flat=True)[:500]:
        with transaction.atomic():
            mine = Job.objects.filter(lost | unheard, pk=job_id).update(state=Job.State.QUEUED, lease_until=at + RESEND)
        if mine and notify_workers(job_id):
            sent += 1
        elif mine:  # no broker: the next look tries again, not the one in five minutes
            Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(lease_until=None)
    return sent


def _requeue(job: Job, wait: timedelta | None, at: datetime) -> None:
    """What asked to stop meanwhile is stopped here, for nobody else would look."""
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)
    with transaction.atomic():
        again = running.filter(cancel_asked=False).update(
            state=Job.State.QUEUED, lease_until=at + (RESEND if wait is None else wait), given_back=F("given_back") + 1
        )
        if again and wait is None:
            transaction.on_commit(lambda: notify_workers(job.pk))
    if not again:
        _close(job, Job.State.CANCELLED)


def _close(job: Job, state: Job.State, error: str = "", *, refused: bool = False) -> None:
    """`refused`: it failed for a reason that the person who started it can act on."""
    running = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)
    result = {key: value for key, value in job.result.items() if key != REFUSED} | ({REFUSED: True} if refused else {})
    running.update(state=state, error=error, finished_at=timezone.now(), lease_until=None, result=result)
