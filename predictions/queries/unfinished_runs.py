"""Runs of answers whose answers are not all there."""

from django.db.models import QuerySet

from annotation.models import Campaign
from benchmarks.models import Benchmark
from predictions.models import Run

State = Run.State
UNFINISHED = (State.RUNNING, State.FAILED, State.PAUSED, State.DRAFT)
"""Nothing goes on in the last three before a person does something."""


def unfinished_runs(benchmark: Benchmark) -> "QuerySet[Run]":
    """Those that count, in campaigns that take answers; in the order in which they were planned. A run that a person
    stopped for good is finished."""
    rows = Run.objects.filter(benchmark=benchmark, task=Run.Task.ANSWERS, withdrawn_at=None, endpoint__isnull=False)
    rows = rows.filter(campaign__state__in=(Campaign.State.OPEN, Campaign.State.PAUSED))
    return rows.filter(state__in=UNFINISHED).order_by("pk")
