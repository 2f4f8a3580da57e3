"""Starting, stopping and going on. The row is the truth; the message to the worker only says 'look at row n'."""

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs.connections.broker import dispatch
from jobs.models import Job, record

IMPORTS = "import_"
"""How kinds of work begin that read a file of a person."""


class CannotResume(Exception):
    """Only work that was stopped or failed can go on."""


def start(
    kind: str, title: str, *, scope: str, actor: Any, params: dict[str, Any] | None = None, inline: bool = False
) -> Job:
    """Queue work. It is sent when the transaction around it commits; with `inline` the caller runs it at once."""
    job = Job.objects.create(kind=kind, title=title[:200], scope=scope, created_by=actor, params=params or {})
    record(actor, "job.started", scope=scope, target=f"job:{job.pk}", kind=kind)
    if not inline:
        transaction.on_commit(lambda: notify_workers(job.pk))
    return job


def request_cancel(job: Job, actor: Any) -> None:
    """A waiting job is cancelled at once, a running one between two steps. A finished one is left alone."""
    with transaction.atomic():
        current = Job.objects.select_for_update().get(pk=job.pk)
        if current.state == Job.State.QUEUED:
            current.state, current.finished_at = Job.State.CANCELLED, timezone.now()
            record_end(job, current.state)
        elif current.state != Job.State.RUNNING or current.cancel_asked:
            return
        current.cancel_asked = True
        current.save(update_fields=["state", "finished_at", "cancel_asked"])
        record(actor, "job.cancel_asked", scope=job.scope, target=f"job:{job.pk}")


def record_end(job: Job, state: str) -> None:
    """That work has ended, and an import with it. Needs the transaction that writes the state."""
    facts = {"scope": job.scope, "target": f"job:{job.pk}", "kind": job.kind, "state": str(state)}
    record(None, "job.finished", implied=True, **facts)
    if job.kind.startswith(IMPORTS):
        record(None, "import.finished", implied=True, **facts)


def resume(job: Job, actor: Any) -> None:
    """Go on from the cursor, with no lost worker counted. Raises CannotResume if it is waiting, running or done."""
    stopped = Job.objects.filter(pk=job.pk, state__in=(Job.State.CANCELLED, Job.State.FAILED))
    with transaction.atomic():
        changed = stopped.update(
            state=Job.State.QUEUED, cancel_asked=False, error="", finished_at=None, lease_until=None,
            given_back=F("attempts"),
        )  # fmt: skip
        if not changed:
            raise CannotResume
        record(actor, "job.resumed", scope=job.scope, target=f"job:{job.pk}")
        transaction.on_commit(lambda: notify_workers(job.pk))


def notify_workers(job_id: int) -> bool:
    """Tell the workers. Without a broker the row stays queued and the beat sends it again."""
    return dispatch("jobs.run", job_id)
