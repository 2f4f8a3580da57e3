"""Keeps the lease of a job while its worker waits for one long statement of the database."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection
from django.utils import timezone

from jobs.models import Job
from jobs.services.job_context import LEASE, JobCancelled, JobContext

LOOK_SECONDS = 1.0
log = logging.getLogger(__name__)


class LeaseKeeper:
    """Renews the lease of a job from a thread, and looks whether somebody asked to stop the job."""

    def __init__(self, work: JobContext) -> None:
        self._job_id, self._attempts = work.job.pk, work.job.attempts
        self._over, self._cancelled = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def check(self) -> None:
        """Raises JobCancelled, about a second after it was asked for."""
        if self._cancelled.is_set():
            raise JobCancelled

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _renew(self) -> None:
        due = time.monotonic() + LEASE.total_seconds() / 4
        running = Job.objects.filter(pk=self._job_id, state=Job.State.RUNNING, attempts=self._attempts)
        try:
            while not self._over.wait(LOOK_SECONDS):
                if time.monotonic() >= due:
                    running.update(lease_until=timezone.now() + LEASE)
                    due = time.monotonic() + LEASE.total_seconds() / 4
                if running.filter(cancel_asked=True).exists():
                    self._cancelled.set()
        except Error:  # the worker finds out by its own next step
            log.exception("job %s: its lease could not be renewed", self._job_id)
        finally:
            connection.close()


@contextmanager
def kept_lease(work: JobContext) -> Iterator[LeaseKeeper]:
    """A thread with a connection of its own renews the lease, for a transaction that is open hides what it writes.

    The transaction must not write the job's row: it would wait for the thread, or fail.
    """
    keeper = LeaseKeeper(work)
    keeper.start()
    try:
        yield keeper
    finally:
        keeper.stop()
