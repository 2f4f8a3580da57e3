"""Second reviews that wait for a person, and conflicts that wait for a third one."""

from dataclasses import dataclass

from django.db.models import Count, F, Q, QuerySet

from annotation.models import SecondReview, SecondReviewShare
from annotation.queries.review_queue import REJECTED, reviewable
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.availability import is_available
from jobs.queries.read_once import read_once
from people.models import User

ANSWER = "first__annotation"
OF_CURRENT_ANSWERS = (
    Q(first__annotation__live=True)
    & (Q(first__annotation__counted=True) | Q(first__annotation__uncounted_because=REJECTED))
    & is_available("first__annotation__assignment__unit__item__")
)
"""Of second reviews: somebody can decide on the answer still. It is current, and its item can be used."""


def _valid(benchmark: Benchmark, user: User) -> QuerySet[SecondReview]:
    """Where the first decision still stands, on a current answer that this person may decide on. No query is made of it
    in a benchmark that draws no second reviews."""
    drawn = SecondReview.objects.filter(first__annotation__assignment__campaign__stage__benchmark=benchmark)
    if not read_once(("second reviews", benchmark.pk), drawn.exists):
        return SecondReview.objects.none()
    rows = SecondReview.objects.filter(OF_CURRENT_ANSWERS, first__undone_at=None, final=None)
    return rows.filter(first__annotation__in=reviewable(benchmark, user)).exclude(first__reviewer=user)


def waiting_seconds(benchmark: Benchmark, user: User) -> QuerySet[SecondReview]:
    """Those whose first decision somebody else made."""
    return _valid(benchmark, user).filter(decision="")


def waiting_conflicts(benchmark: Benchmark, user: User) -> QuerySet[SecondReview]:
    """Those whose two decisions differ, neither of them made by this person."""
    rows = _valid(benchmark, user).exclude(decision="").exclude(decision=F("first__decision"))
    return rows.exclude(reviewer=user)


@dataclass(frozen=True)
class SecondProgress:
    """First decisions of a stage that were drawn, those with a second one, and conflicts without a third.

    `drawn` less `decided` is what waits for a second decision: those on replaced answers wait for none.
    """

    percent: float
    drawn: int
    decided: int
    conflicts: int


def second_progress(stage: Stage) -> SecondProgress:
    """Of decisions that were not undone, and that have a second one or can have it. Two queries."""
    share = SecondReviewShare.objects.filter(stage=stage).first()
    rows = SecondReview.objects.filter(first__annotation__assignment__campaign__stage=stage)
    rows = rows.filter(Q(first__undone_at=None) | Q(final__isnull=False)).filter(~Q(decision="") | OF_CURRENT_ANSWERS)
    differ = Q(final=None) & ~Q(decision="") & ~Q(decision=F("first__decision")) & OF_CURRENT_ANSWERS
    counts = rows.aggregate(
        drawn=Count("pk"), decided=Count("pk", filter=~Q(decision="")), conflicts=Count("pk", filter=differ)
    )
    return SecondProgress(percent=share.percent if share else 0.0, **counts)
