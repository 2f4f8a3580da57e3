"""Doing the work: claim by lease, go in steps, say how far, stop when asked, go on after a kill.

A worker holds a job by its lease and proves it by the number of its attempt: every step is written only if the
job is still running under that number. A worker that was thought dead and wakes up writes nothing.
"""

import errno
import logging
from collections import Counter
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, models, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from jobs.models import REFUSED, Job
from jobs.services import kinds
from jobs.services.job_context import (
    LEASE,
    RESEND,
    JobCancelled,
    JobContext,
    JobFailed,
    LeaseLost,
    Requeue,
    SiteFailure,
)
from jobs.services.lifecycle import notify_workers, record_end

log = logging.getLogger(__name__)

MOST_ATTEMPTS = 10
MOST_AT_ONCE = 500
FULL = (errno.ENOSPC, errno.EDQUOT)


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
                raise SiteFailure(_("This version of Emic does not support this job."))
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
        except Exception as error:
            _close(job, Job.State.FAILED, _describe(error))
            raise
        else:
            _close(job, Job.State.DONE)


def _describe(error: Exception) -> str:
    """In words for the person who started the work, of what its kind has no words for."""
    if isinstance(error, OSError) and error.errno in FULL:
        return _("The disk is full. Free some space, then resume.")
    return _("Internal error; see the log. Resume the job to try again.")


def requeue_stalled(at: datetime) -> int:
    """Send again what was never received, and what a lost worker held."""
    lost = Q(state=Job.State.RUNNING, lease_until__lt=at)
    _end_lost(lost & Q(cancel_asked=True), Job.State.CANCELLED, at)
    _end_lost(
        lost & Q(attempts__gte=F("given_back") + MOST_ATTEMPTS),
        Job.State.FAILED,
        at,
        f"The work stopped {MOST_ATTEMPTS} times without saying why. Perhaps the machine has too little memory.",
    )
    unheard = Q(state=Job.State.QUEUED) & (
        Q(lease_until__lt=at) | Q(lease_until=None, created_at__lt=at - timedelta(seconds=30))
    )
    sent = 0
    # One that is asked to stop while this goes on is ended by the next look: queued, it would wait for ever.
    waiting = Job.objects.filter(lost | unheard, cancel_asked=False)
    for job_id in waiting.order_by("pk").values_list("pk", flat=True)[:MOST_AT_ONCE]:
        with transaction.atomic():
            mine = waiting.filter(pk=job_id).update(state=Job.State.QUEUED, lease_until=at + RESEND)
        if mine and notify_workers(job_id):
            sent += 1
        elif mine:  # no broker: the next look tries again, not the one in five minutes
            Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(lease_until=None)
    return sent


def _end_lost(lost: Q, state: Job.State, at: datetime, error: str = "") -> None:
    """End work whose worker is gone: whoever waits for its end hears of it as of any other."""
    for job in Job.objects.filter(lost).order_by("pk")[:MOST_AT_ONCE]:
        result = {key: value for key, value in job.result.items() if key != REFUSED}
        with transaction.atomic():
            mine = Job.objects.filter(lost, pk=job.pk)
            if mine.update(state=state, error=error, finished_at=at, lease_until=None, result=result):
                record_end(job, state)


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
    with transaction.atomic():
        if running.update(state=state, error=error, finished_at=timezone.now(), lease_until=None, result=result):
            record_end(job, state)
