"""Runs of answers whose answers are not all there, and calls without an answer in runs that are done."""

from collections.abc import Sequence

from django.db.models import QuerySet

from annotation.models import Campaign
from benchmarks.models import Benchmark
from predictions.models import Call, Run
from predictions.queries.progress import MISSING, in_states

State = Run.State
UNFINISHED = (State.RUNNING, State.FAILED, State.PAUSED, State.DRAFT)
"""Nothing goes on in the last three before a person does something."""


def unfinished_runs(benchmark: Benchmark) -> "QuerySet[Run]":
    """Those that count, in campaigns that take answers; in the order in which they were planned. A run that a person
    stopped for good is finished."""
    return asking_runs([benchmark]).filter(state__in=UNFINISHED).order_by("pk")


def failed_calls(benchmark: Benchmark) -> "QuerySet[Call]":
    """Those of runs that are done, in campaigns that take answers: they can be asked again. What lacked an input, or
    waited as its run was stopped, was never asked."""
    return failed_of(asking_runs([benchmark]).filter(state=State.DONE))


def failed_of(runs: "QuerySet[Run] | Sequence[Run]") -> "QuerySet[Call]":
    return Call.objects.filter(in_states([Call.State.FAILED]), run__in=runs).exclude(MISSING).order_by()


def asking_runs(benchmarks: Sequence[Benchmark]) -> "QuerySet[Run]":
    """Runs of answers that count, in campaigns that take answers."""
    rows = Run.objects.filter(
        benchmark__in=benchmarks, task=Run.Task.ANSWERS, withdrawn_at=None, endpoint__isnull=False
    )
    return rows.filter(campaign__state__in=(Campaign.State.OPEN, Campaign.State.PAUSED))
