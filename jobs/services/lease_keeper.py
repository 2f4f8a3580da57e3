"""Keeps the lease of a job while its worker waits for one long statement of the database."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error, connection
from django.utils import timezone

from jobs.models import Job
from jobs.services.job_context import LEASE, JobContext

log = logging.getLogger(__name__)


@contextmanager
def kept_lease(work: JobContext) -> Iterator[None]:
    """A thread with a connection of its own renews the lease, for a transaction that is open hides what it writes.

    The transaction must not write the job's row: it would wait for the thread, or fail.
    """
    over = threading.Event()
    thread = threading.Thread(target=_renew, args=(work.job.pk, work.job.attempts, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _renew(job_id: int, attempts: int, over: threading.Event) -> None:
    try:
        while not over.wait(LEASE.total_seconds() / 4):
            running = Job.objects.filter(pk=job_id, state=Job.State.RUNNING, attempts=attempts)
            running.update(lease_until=timezone.now() + LEASE)
    except Error:  # the worker finds out by its own next step
        log.exception("job %s: its lease could not be renewed", job_id)
    finally:
        connection.close()
