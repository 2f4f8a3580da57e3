"""Samples per author, and the acceptance of an author's other answers once the sample is decided.

Locks, in this order: the batch, the participations of its author in the stage, assignments. A single decision takes the
last two, so it comes either before the acceptance, which then leaves its answer alone, or after it.
"""

import math
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotation.models import Annotation, Assignment, ItemContributor, Review, ReviewBatch, SampledAnswer
from annotation.queries.review_batches import (
    open_batches,
    other_answers,
    sample_counts,
    waiting_by_author,
)
from annotation.services.derivation import outbox
from annotation.services.review import decision_listeners
from annotation.services.transactions import in_transaction
from benchmarks.models import FormerJudge, Stage
from jobs.models import Event, record
from jobs.queries.statements import fetch
from people.models import User

LEAST = 5  # answers in a sample, where the author has as many
STEP = 500  # answers that are held in memory at a time
MOST_PER_PRESS = 20_000  # answers; after these, the next press goes on
State = Assignment.State

LOCK_AUTHOR = """SELECT p.id FROM annotation_participation p JOIN annotation_campaigncohort cc ON cc.id = p.cohort_id
  JOIN annotation_campaign c ON c.id = cc.campaign_id WHERE p.rater_id = %s AND c.stage_id = %s
  ORDER BY p.id FOR NO KEY UPDATE OF p"""
WAIT_AGAIN = """UPDATE annotation_assignment a SET state = 'submitted', changed_at = an.submitted_at
  FROM annotation_annotation an
  WHERE a.id = ANY(%s) AND a.state = 'accepted' AND an.assignment_id = a.id AND an.live"""


class BatchRefused(Exception):
    """Nothing was written; `reason` says why.

    nothing: no author has answers to draw from. large_enough: each author has a sample of that size. replaced: a
    larger sample was drawn. undecided: the sample is not decided. above: more of it was rejected than the limit
    permits. own: the reviewer's own answers. not_yours: only who accepted, and those who run the benchmark, undo.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class SampleSize:
    """Answers per author, as a number or in percent of what waits; at least `LEAST`."""

    number: int = 0
    percent: float = 0.0

    def of(self, population: int) -> int:
        wanted = self.number or math.ceil(self.percent * population / 100 - 1e-9)
        return min(population, max(LEAST, wanted))


@dataclass(frozen=True)
class DrawResult:
    """`unchanged`: authors whose sample was as large already."""

    authors: int
    answers: int
    unchanged: int


@dataclass(frozen=True)
class AcceptResult:
    """`left`: authors whose samples passed and who wait for another press."""

    authors: int = 0
    answers: int = 0
    left: int = 0


@in_transaction
def draw_samples(
    stage: Stage,
    reviewer: User,
    size: SampleSize,
    limit: float,
    seed: int,
    at: datetime,
    *,
    authors: Collection[int] | None = None,
) -> DrawResult:
    """Draw a sample for each author with waiting answers, or for some. A larger sample contains the one before."""
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)  # two draws at once would draw twice
    waiting = waiting_by_author(stage, reviewer)
    before = {batch.author_id: batch for batch in open_batches(stage)}
    drawn = answers = unchanged = 0
    for author in sorted(waiting if authors is None else waiting.keys() & set(authors)):
        batch = _draw(stage, reviewer, author, waiting[author], before.get(author), size, limit, seed, at)
        drawn, unchanged = drawn + (batch is not None), unchanged + (batch is None)
        answers += batch.drawn if batch else 0
    if not drawn:
        raise BatchRefused("large_enough" if unchanged else "nothing")
    data: dict[str, Any] = {"authors": drawn, "answers": answers, "seed": seed, "limit": limit}
    record(reviewer, "review.samples_drawn", scope=stage.benchmark.scope, target=f"stage:{stage.pk}", **data)
    return DrawResult(drawn, answers, unchanged)


def _draw(
    stage: Stage,
    reviewer: User,
    author: int,
    waiting: Sequence[int],
    before: ReviewBatch | None,
    size: SampleSize,
    limit: float,
    seed: int,
    at: datetime,
) -> ReviewBatch | None:
    """None where the author's sample is as large as was asked for."""
    members = list(before.sample.values_list("annotation", flat=True)) if before else []
    others = sorted(set(waiting) - set(members))
    population = len(members) + len(others)
    wanted = size.of(population)
    if wanted <= len(members):
        return None
    rng = random.Random(f"{seed}:{author}")  # noqa: S311  (a sample, not a secret)
    sample = [*members, *rng.sample(others, wanted - len(members))]
    if before is not None:
        ReviewBatch.objects.filter(pk=before.pk).update(replaced_at=at)
    batch = ReviewBatch.objects.create(
        stage=stage, author_id=author, seed=seed, drawn=len(sample), population=population, limit=limit, at=at,
        by=reviewer,
    )  # fmt: skip
    SampledAnswer.objects.bulk_create((SampledAnswer(batch=batch, annotation_id=pk) for pk in sample), batch_size=STEP)
    return batch


@in_transaction
def accept_others(batch_id: int, reviewer: User, at: datetime) -> int:
    """Accept what else of the author waited at the draw and waits still; the number of answers. Again: 0.

    What somebody decided, returned or took back in the meantime is left alone. Raises BatchRefused.
    """
    batch = _lock_batch(batch_id)
    if batch.accepted_at is not None:
        return 0
    if batch.replaced_at is not None:
        raise BatchRefused("replaced")
    _check_not_author(batch, reviewer)
    fetch(LOCK_AUTHOR, [batch.author_id, batch.stage_id])
    counts = sample_counts([batch.pk]).get(batch.pk)
    if counts is None or not counts.is_done:
        raise BatchRefused("undecided")
    if not counts.passes(batch.limit):
        raise BatchRefused("above")
    accepted = sum(_accept_step(batch, reviewer, step, at) for step in _steps(batch, reviewer))
    ReviewBatch.objects.filter(pk=batch.pk).update(accepted_at=at, accepted_by=reviewer)
    _record_batch(batch, reviewer, "review.batch_accepted", accepted)
    return accepted


def accept_passed(stage: Stage, reviewer: User, at: datetime) -> AcceptResult:
    """Accept the others of every author whose sample passed, each author in a transaction of their own.

    Stopped anywhere, another press goes on with the authors that are left.
    """
    batches = list(open_batches(stage).exclude(author__user=reviewer).order_by("pk"))
    counts = sample_counts([batch.pk for batch in batches])
    passed = [batch for batch in batches if batch.pk in counts and counts[batch.pk].passes(batch.limit)]
    authors = answers = 0
    for place, batch in enumerate(passed):
        if answers >= MOST_PER_PRESS:
            return AcceptResult(authors, answers, len(passed) - place)
        try:
            accepted = accept_others(batch.pk, reviewer, at)
        except BatchRefused:
            continue  # decided otherwise since the page was shown
        authors, answers = authors + 1, answers + accepted
    return AcceptResult(authors, answers)


@in_transaction
def undo_acceptance(batch_id: int, user: User, at: datetime, *, runs: bool = False) -> int:
    """Take back what the acceptance of a batch accepted, and nothing else; the number of answers. Again: 0.

    By who accepted, or by somebody who `runs` the benchmark; never by the author. Raises BatchRefused.
    """
    batch = _lock_batch(batch_id)
    if batch.accepted_at is None:
        return 0
    if batch.accepted_by_id != user.pk and not runs:
        raise BatchRefused("not_yours")
    _check_not_author(batch, user)
    fetch(LOCK_AUTHOR, [batch.author_id, batch.stage_id])
    undone = 0
    while step := _reviews_of(batch, user):
        undone += _undo_step(batch, user, step, at)
    newer = open_batches(batch.stage).filter(author=batch.author_id).exists()
    ReviewBatch.objects.filter(pk=batch.pk).update(
        accepted_at=None, accepted_by=None, replaced_at=at if newer else None
    )
    _record_batch(batch, user, "review.batch_undone", undone)
    return undone


def undo_press(stage: Stage, accepted_at: datetime, user: User, at: datetime, *, runs: bool = False) -> int:
    """Take back what one press accepted for several authors; the number of answers. Each author is one transaction."""
    batches = ReviewBatch.objects.filter(stage=stage, accepted_at=accepted_at).exclude(author__user=user)
    if not runs:
        batches = batches.filter(accepted_by=user)
    return sum(undo_acceptance(pk, user, at, runs=runs) for pk in batches.order_by("pk").values_list("pk", flat=True))


def _lock_batch(batch_id: int) -> ReviewBatch:
    rows = ReviewBatch.objects.select_related("stage__benchmark", "author")
    return rows.select_for_update(of=("self",), no_key=True).get(pk=batch_id)


def _check_not_author(batch: ReviewBatch, user: User) -> None:
    if batch.author.user_id == user.pk:
        raise BatchRefused("own")


def _steps(batch: ReviewBatch, reviewer: User) -> Iterator[list[Annotation]]:
    """Answers whose assignments are locked, at most `STEP` at a time."""
    rows = other_answers(batch.stage.benchmark, reviewer, batch).select_related("assignment__unit")
    locked = rows.select_for_update(of=("assignment",), no_key=True)
    while step := list(locked[:STEP]):
        yield step


def _accept_step(batch: ReviewBatch, reviewer: User, answers: Sequence[Annotation], at: datetime) -> int:
    """After it these answers wait no longer, so the next step has others."""
    Review.objects.bulk_create(
        Review(annotation=answer, reviewer=reviewer, decision=Review.Decision.ACCEPT, batch=batch, at=at)
        for answer in answers
    )
    assignments = [answer.assignment_id for answer in answers]
    Assignment.objects.filter(pk__in=assignments).update(state=State.ACCEPTED, changed_at=at)
    _note(batch, reviewer, "answer.accepted", answers)
    return len(answers)


def _reviews_of(batch: ReviewBatch, user: User) -> list[Review]:
    """The next of what the batch accepted; not of items that this person had a part in, as with single decisions."""
    rows = Review.objects.filter(batch=batch, undone_at=None, annotation__live=True)
    mine = ItemContributor.objects.filter(rater__user=user).values("item")
    rows = rows.exclude(annotation__assignment__unit__item__in=mine)
    judged = FormerJudge.objects.filter(user=user).values("item")
    rows = rows.exclude(annotation__assignment__unit__item__in=judged)
    return list(rows.select_related("annotation__assignment__unit").order_by("pk")[:STEP])


def _undo_step(batch: ReviewBatch, user: User, reviews: Sequence[Review], at: datetime) -> int:
    answers = [review.annotation for review in reviews]
    assignments = sorted(answer.assignment_id for answer in answers)
    list(Assignment.objects.select_for_update(no_key=True).filter(pk__in=assignments).order_by("pk").values("pk"))
    Review.objects.filter(pk__in=[review.pk for review in reviews], undone_at=None).update(undone_at=at)
    fetch(WAIT_AGAIN, [assignments])
    _note(batch, user, "answer.review_undone", answers)
    return len(answers)


def _note(batch: ReviewBatch, actor: User, verb: str, answers: Sequence[Annotation]) -> None:
    """What is made of these items follows; each answer has its event, marked as implied by the press."""
    outbox.mark_items_due({answer.assignment.unit.item_id for answer in answers})
    decision_listeners.notify(batch.stage_id)
    scope = batch.stage.benchmark.scope
    Event.objects.bulk_create(
        Event(
            actor=actor, verb=verb, scope=scope, target=f"assignment:{answer.assignment_id}", implied=True,
            data={"batch": batch.pk, "version": answer.version},
        )
        for answer in answers
    )  # fmt: skip


def _record_batch(batch: ReviewBatch, actor: User, verb: str, answers: int) -> None:
    data: dict[str, Any] = {"answers": answers, "stage": batch.stage_id}
    record(actor, verb, scope=batch.stage.benchmark.scope, target=f"batch:{batch.pk}", **data)
