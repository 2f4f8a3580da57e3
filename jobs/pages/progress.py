"""How far a job is, for its own page and for pages that show a job of their place."""

from typing import Any

from jobs.access import JobScope
from jobs.models import Job
from jobs.queries import job_reports
from jobs.services import kinds

CHIPS = {
    Job.State.QUEUED: "hollow",
    Job.State.RUNNING: "wait",
    Job.State.DONE: "ok",
    Job.State.CANCELLED: "back",
    Job.State.FAILED: "no",
}


def progress_context(job: Job, place: JobScope) -> dict[str, Any]:
    """What `jobs/progress.html` takes."""
    kind = kinds.find_kind(job.kind)
    is_faulty = job.state == Job.State.FAILED or (job.state == Job.State.DONE and job_reports.has_errors(job))
    return {
        "job": job,
        "place": place,
        "chip": CHIPS[Job.State(job.state)],
        "live": job.state in Job.LIVE,
        "can_go_on": place.may_change and job.state in (Job.State.CANCELLED, Job.State.FAILED),
        "percent": min(100.0, 100 * job.done / job.total) if job.total else None,
        "in_steps": kind is not None and kind.in_steps,
        "counts": job_reports.counts(job),
        "remarks": _remarks(job),
        "form": kind.form_link(job) if kind and is_faulty and place.may_change else None,
        "next": kind.next_link(job) if kind and job.state == Job.State.DONE else None,
    }


def _remarks(job: Job) -> list[tuple[str, int]]:
    kind = kinds.find_kind(job.kind)
    return job_reports.remarks(job, kind.remarks) if kind else []


def summary(job: Job) -> str:
    """How far a job is, or how it ended, in one line and in the words of its page."""
    kind = kinds.find_kind(job.kind)
    numbers = [] if kind and kind.in_steps else [(words, number) for _code, words, number in job_reports.counts(job)]
    parts = [f"{words}: {number}" for words, number in (*numbers, *_remarks(job))]
    return ", ".join([f"{job.title}: {job.get_state_display()}", *parts, *([job.error] if job.error else [])])
