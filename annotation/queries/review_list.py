"""Answers of a benchmark as a reviewer asks for them: by state, stage, campaign, cohort, author and reason.

A page begins behind a key (the moment of the last change and the number of the answer), not behind a count. A decision
takes its answer out of the list, and the next page still begins where the last one ended.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.db.models import Count, Q, QuerySet

from annotation.models import Annotation, Assignment, CampaignCohort
from annotation.queries.review_queue import OF_USABLE_ITEMS, REJECTED, in_sample, reviewable
from annotation.queries.second_reviews import ANSWER, waiting_conflicts, waiting_seconds
from benchmarks.models import Benchmark, Stage
from people.models import Cohort, User

State = Assignment.State
STATES = (State.SUBMITTED, State.RETURNED, State.ACCEPTED, State.REJECTED)
SECOND, CONFLICT = "second", "conflict"  # decided answers that wait for a second or a third decision
OLDEST_FIRST = (
    State.SUBMITTED,
    State.RETURNED,
    SECOND,
    CONFLICT,
)  # what waits; of decided answers the newest come first
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LARGEST_MOMENT = 10**17  # microseconds, the year 5138


@dataclass(frozen=True)
class ReviewFilter:
    """What a reviewer wants to see; 0 and "" stand for all. `author` is a rater, -1 one who is not here."""

    state: str = State.SUBMITTED
    stage: int = 0
    campaign: int = 0
    cohort: int = 0
    author: int = 0
    reason: str = ""
    sample: bool = False


def moment_key(at: datetime) -> str:
    """A moment as a whole number, for addresses and forms: microseconds since 1970."""
    return str((at - EPOCH) // timedelta(microseconds=1))


def moment_of(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


@dataclass(frozen=True)
class PageKey:
    """The place of an answer in the list."""

    at: datetime
    pk: int

    @classmethod
    def of(cls, answer: Annotation) -> "PageKey":
        return cls(answer.assignment.changed_at, answer.pk)

    @classmethod
    def parse(cls, moment: int, pk: int) -> "PageKey | None":
        """The key that `str` wrote; None where there is none."""
        return cls(moment_of(moment), pk) if moment and pk else None

    def __str__(self) -> str:
        return f"{moment_key(self.at)}-{self.pk}"


@dataclass(frozen=True)
class AnswerPage:
    answers: list[Annotation]
    has_earlier: bool
    has_later: bool


def matching_answers(benchmark: Benchmark, reviewer: User, wanted: ReviewFilter) -> QuerySet[Annotation]:
    """In whatever state and for whatever reason they were decided: these two are counted beside each other."""
    rows = reviewable(benchmark, reviewer).filter(OF_USABLE_ITEMS, live=True)
    rows = rows.filter(Q(counted=True) | Q(uncounted_because=REJECTED))
    if wanted.stage:
        rows = rows.filter(assignment__campaign__stage=wanted.stage)
    if wanted.campaign:
        rows = rows.filter(assignment__campaign=wanted.campaign)
    if wanted.cohort:
        rows = rows.filter(cohort=wanted.cohort)
    if wanted.author:
        rows = rows.filter(rater=wanted.author)
    return rows


def in_state(
    rows: QuerySet[Annotation], wanted: ReviewFilter, benchmark: Benchmark, reviewer: User
) -> QuerySet[Annotation]:
    """What waits for a second decision of this person is in no other state of their list: they are not to see the
    first."""
    seconds = waiting_seconds(benchmark, reviewer).values(ANSWER)
    if wanted.state == SECOND:
        rows = rows.filter(pk__in=seconds)
    elif wanted.state == CONFLICT:
        rows = rows.filter(pk__in=waiting_conflicts(benchmark, reviewer).values(ANSWER))
    else:
        rows = rows.filter(assignment__state=wanted.state).exclude(pk__in=seconds)
    if wanted.sample:
        rows = rows.filter(in_sample())
    if wanted.reason:
        rows = rows.filter(reviews__reason=wanted.reason, reviews__undone_at=None)
    return rows


def has_waiting_sample(rows: QuerySet[Annotation]) -> bool:
    return rows.filter(in_sample(), assignment__state=State.SUBMITTED).exists()


def count_by_state(rows: QuerySet[Annotation], benchmark: Benchmark, reviewer: User) -> dict[str, int]:
    """Of the states of the list; each answer is counted where `in_state` has it. Conflicts are counted twice."""
    seconds = Q(pk__in=waiting_seconds(benchmark, reviewer).values(ANSWER))
    counted = rows.exclude(seconds).order_by().values_list("assignment__state").annotate(n=Count("pk"))
    numbers = {str(state): n for state, n in counted}
    conflicts = rows.filter(pk__in=waiting_conflicts(benchmark, reviewer).values(ANSWER))
    more = {SECOND: rows.filter(seconds).count(), CONFLICT: conflicts.count()}
    return {state: numbers.get(state, 0) for state in STATES} | more


def load_page(
    rows: QuerySet[Annotation], state: str, size: int, *, after: PageKey | None = None, before: PageKey | None = None
) -> AnswerPage:
    """At most `size` answers behind or in front of a key. Where too few are left in front of it: the first page."""
    ascending = state in OLDEST_FIRST
    if before is not None:
        page = list(_behind(rows, before, ascending=not ascending)[: size + 1])
        if len(page) > size:
            return AnswerPage(page[size - 1 :: -1], has_earlier=True, has_later=True)
        after = None
    page = list(_behind(rows, after, ascending=ascending)[: size + 1])
    earlier = _behind(rows, PageKey.of(page[0]), ascending=not ascending) if page else rows
    return AnswerPage(page[:size], after is not None and earlier.exists(), len(page) > size)


def _behind(rows: QuerySet[Annotation], key: PageKey | None, *, ascending: bool) -> QuerySet[Annotation]:
    if key is not None:
        side = "gt" if ascending else "lt"
        same = Q(**{"assignment__changed_at": key.at, f"pk__{side}": key.pk})
        rows = rows.filter(Q(**{f"assignment__changed_at__{side}": key.at}) | same)
    sign = "" if ascending else "-"
    return rows.order_by(f"{sign}assignment__changed_at", f"{sign}pk")


def cohorts_of(stages: Collection[Stage]) -> list[Cohort]:
    """Cohorts that a campaign of these stages asks."""
    asked = CampaignCohort.objects.filter(campaign__stage__in=stages).values("cohort")
    return list(Cohort.objects.filter(pk__in=asked).order_by("label"))


def authors_of(benchmark: Benchmark, reviewer: User) -> list[int]:
    """Raters whose answers this person may decide on."""
    rows = reviewable(benchmark, reviewer).filter(live=True).order_by().values_list("rater", flat=True)
    return list(rows.distinct())
