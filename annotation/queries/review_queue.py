"""Answers that wait for a reviewer, and how far the review of a stage is."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Exists, JSONField, OuterRef, Q, QuerySet, Subquery

from annotation.models import Annotation, Assignment, ItemContributor, SampledAnswer
from annotation.models.answers import CONSENT_WITHDRAWN
from benchmarks.models import Benchmark, FormerJudge, Stage
from benchmarks.queries.availability import is_available
from people.models import Rater, User

State = Assignment.State
REJECTED = "rejected"
MOST = 1000  # waiting answers that are counted
OF_USABLE_ITEMS = is_available("assignment__unit__item__")
"""Of answers: those to items that are withdrawn, dropped or waiting are put to no reviewer while they are so."""


def reviewable(benchmark: Benchmark | OuterRef, reviewer: User) -> QuerySet[Annotation]:
    """People's answers in by-review stages that this person may decide on: never their own, nor on what they had a
    part in, nor on a later revision of what they judged. A model's are decided on by nobody: it corrects nothing, and
    nothing is made of them."""
    mine = ItemContributor.objects.filter(item=OuterRef("assignment__unit__item"), rater__user=reviewer)
    rows = Annotation.objects.filter(
        assignment__campaign__stage__benchmark=benchmark,
        assignment__campaign__stage__acceptance=Stage.Acceptance.BY_REVIEW,
        rater__kind=Rater.Kind.PERSON,
    )
    rows = rows.exclude(uncounted_because=CONSENT_WITHDRAWN)
    judged = FormerJudge.objects.filter(item=OuterRef("assignment__unit__item"), user=reviewer)
    return rows.filter(~Exists(mine), ~Exists(judged)).exclude(rater__user=reviewer)


def waiting_answers(benchmark: Benchmark | OuterRef, reviewer: User) -> QuerySet[Annotation]:
    """What waits for a decision, the longest waiting first."""
    rows = reviewable(benchmark, reviewer).filter(OF_USABLE_ITEMS, live=True, counted=True)
    return rows.filter(assignment__state=State.SUBMITTED).order_by("assignment__changed_at", "pk")


class _NumberAndFirst(Subquery):
    """How many rows a query of one column has, also one that is cut off, and the least value."""

    template = "(SELECT jsonb_build_array(count(*), min(value)) FROM (%(subquery)s) AS counted(value))"
    output_field = JSONField()


def count_waiting_answers(benchmarks: Sequence[Benchmark], reviewer: User) -> Mapping[int, tuple[int, datetime]]:
    """How many wait, MOST at most, and since when the longest waiting does; without benchmarks in which none waits. One
    query."""
    waiting = waiting_answers(OuterRef("pk"), reviewer)
    counted = _NumberAndFirst(waiting.order_by("assignment__changed_at").values("assignment__changed_at")[:MOST])
    rows = Benchmark.objects.filter(pk__in=[benchmark.pk for benchmark in benchmarks]).annotate(waiting=counted)
    counts = rows.values_list("pk", "waiting")
    return {pk: (n, datetime.fromisoformat(oldest)) for pk, (n, oldest) in counts if n}


def in_sample() -> Exists:
    """Whether an answer is in a sample whose author's other answers wait for it."""
    open_samples = SampledAnswer.objects.filter(batch__replaced_at=None, batch__accepted_at=None)
    return Exists(open_samples.filter(annotation__assignment=OuterRef("assignment")))


def next_after(benchmark: Benchmark, reviewer: User, annotation_id: int) -> int | None:
    """The answer that waits longest of those that came after this one; else of all but this one. Samples first."""
    rows = waiting_answers(benchmark, reviewer).exclude(pk=annotation_id)
    sampled = rows.filter(in_sample())
    if sampled.exists():
        rows = sampled
    since = Annotation.objects.filter(pk=annotation_id).values_list("submitted_at", flat=True).first()
    later = rows.filter(submitted_at__gte=since).first() if since else None
    found = later or rows.first()
    return found.pk if found else None


@dataclass(frozen=True)
class ReviewCounts:
    """How far the answers of a by-review stage are. `waiting` counts everybody's, also the reviewer's own."""

    waiting: int = 0
    returned: int = 0
    accepted: int = 0
    rejected: int = 0

    @property
    def answered(self) -> int:
        return self.waiting + self.returned + self.accepted + self.rejected

    @property
    def percent(self) -> float:
        return 100 * (self.accepted + self.rejected) / self.answered if self.answered else 0.0


def review_counts(stages: Iterable[Stage]) -> dict[int, ReviewCounts]:
    """By stage, from the states of people's assignments. Answers that do not count, and were not rejected, are left
    out; so are those to items that nobody can use any more, as on the board."""
    people = Annotation.objects.filter(OF_USABLE_ITEMS, live=True, rater__kind=Rater.Kind.PERSON)
    rows = people.filter(assignment__campaign__stage__in=[stage.pk for stage in stages])
    rows = rows.filter(Q(counted=True) | Q(uncounted_because=REJECTED))
    counts: dict[int, Counter[str]] = {}
    grouped = rows.values_list("assignment__campaign__stage", "assignment__state").annotate(n=Count("pk"))
    for stage, state, n in grouped.order_by():
        counts.setdefault(stage, Counter())[state] = n
    return {
        stage: ReviewCounts(found[State.SUBMITTED], found[State.RETURNED], found[State.ACCEPTED], found[State.REJECTED])
        for stage, found in counts.items()
    }
