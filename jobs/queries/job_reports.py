"""Reading jobs and their reports."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from jobs.models import REFUSED, Job, JobRow

PAGE = 100


def recent(scope: str, kind: str, most: int = 10) -> QuerySet[Job]:
    return Job.objects.filter(scope=scope, kind=kind).select_related("created_by").order_by("-pk")[:most]


def site_failures(since: datetime) -> QuerySet[Job]:
    """Jobs that failed because of the site, newest first. A file that was refused is no failure of the site."""
    failed = Job.objects.filter(state=Job.State.FAILED, finished_at__gte=since)
    return failed.exclude(result__contains={REFUSED: True}).order_by("-finished_at")


def counts(job: Job) -> list[tuple[str, str, int]]:
    """Outcome, its words, how many rows: kept by the worker, so no row is counted here."""
    stored_counts = job.result.get("counts", {})
    return [
        (outcome.value, str(outcome.label), stored_counts[outcome.value])
        for outcome in JobRow.Outcome
        if stored_counts.get(outcome.value)
    ]


def has_errors(job: Job) -> bool:
    """Whether rows were rejected."""
    return bool(job.result.get("counts", {}).get(JobRow.Outcome.ERROR))


def remarks(job: Job, labels: Mapping[str, Any]) -> list[tuple[str, int]]:
    """Label of a reason, how many rows were taken with it."""
    stored_remarks = job.result.get("remarks", {})
    return [(str(label), stored_remarks[reason]) for reason, label in labels.items() if stored_remarks.get(reason)]


def page(job: Job, *, only_errors: bool, after: int) -> tuple[list[JobRow], int | None]:
    """One page of the report, and the number to go on after; None at the end."""
    rows = JobRow.objects.filter(job=job, number__gt=after).order_by("number")
    if only_errors:
        rows = rows.filter(outcome=JobRow.Outcome.ERROR)
    next_rows = list(rows[: PAGE + 1])
    return next_rows[:PAGE], next_rows[PAGE - 1].number if len(next_rows) > PAGE else None


def stream(job: Job, *, only_errors: bool) -> Iterator[tuple[int, str, str, str, str]]:
    """Every row, page by page: constant memory, and no cursor left open while somebody reads slowly."""
    after: int | None = 0
    while after is not None:
        rows, after = page(job, only_errors=only_errors, after=after)
        for row in rows:
            yield row.number, row.name, row.outcome, row.reason, row.message
