"""A single decision and *Accept the others* at the same moment: whichever holds the author's lock first, wins."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.models import Annotation, Assignment, Review, ReviewBatch
from annotation.queries.review_batches import other_answers
from annotation.services.queue import recount
from annotation.services.review import batches, reviews
from annotation.services.review.batches import SampleSize
from annotation.services.review.reviews import ReviewRefused
from people.models import User
from people.services.raters import rater_of
from tests.annotation.chain.factories import QUESTION, a_stage
from tests.annotation.chain.written_answers import write_answers
from tests.annotation.queue.test_targets import in_the_background, wait_until, waiting
from tests.personas import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def batch(world: World) -> Iterator[ReviewBatch]:
    """Seven answers of Nour, of which the five of the sample were accepted."""
    stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
    write_answers(stage, world.egypt, {rater_of(world.nour): 7})
    batches.draw_samples(stage, world.reviewer, SampleSize(number=5), 0.2, 1, timezone.now())
    batch = ReviewBatch.objects.get()
    for sampled in batch.sample.all():
        reviews.decide(sampled.annotation_id, world.reviewer, "accept", timezone.now())
    yield batch
    assert list(recount.iter_differences()) == []


def others(world: World, batch: ReviewBatch) -> list[Annotation]:
    return list(other_answers(world.benchmark, world.reviewer, batch))


def reject(annotation: Annotation, reviewer: User) -> None:
    reviews.decide(annotation.pk, reviewer, "reject", timezone.now(), reason="rules")


def states(annotations: list[Annotation]) -> list[str]:
    return [Assignment.objects.get(pk=annotation.assignment_id).state for annotation in annotations]


def test_a_decision_between_the_press_and_its_commit_wins(world: World, batch: ReviewBatch) -> None:
    first, second = others(world, batch)
    accepted: list[int] = []
    with transaction.atomic():
        reject(second, world.mara)
        thread = in_the_background(
            lambda: accepted.append(batches.accept_others(batch.pk, world.reviewer, timezone.now()))
        )
        wait_until(lambda: waiting() > 0)
    thread.join()
    assert accepted == [1] and states([first, second]) == ["accepted", "rejected"]
    assert Review.objects.get(annotation=second).reviewer == world.mara


def test_a_decision_after_the_acceptance_is_refused(world: World, batch: ReviewBatch) -> None:
    first, second = others(world, batch)
    refused: list[str] = []

    def decide_late() -> None:
        with pytest.raises(ReviewRefused) as error:
            reject(second, world.mara)
        refused.append(error.value.reason)

    with transaction.atomic():
        assert batches.accept_others(batch.pk, world.reviewer, timezone.now()) == 2
        thread = in_the_background(decide_late)
        wait_until(lambda: waiting() > 0)
    thread.join()
    assert refused == ["decided"] and states([first, second]) == ["accepted", "accepted"]


def test_two_presses_at_once_accept_once(world: World, batch: ReviewBatch) -> None:
    second: list[int] = []
    with transaction.atomic():
        assert batches.accept_others(batch.pk, world.reviewer, timezone.now()) == 2
        thread = in_the_background(lambda: second.append(batches.accept_others(batch.pk, world.mara, timezone.now())))
        wait_until(lambda: waiting() > 0)
    thread.join()
    assert second == [0] and Review.objects.filter(batch=batch).count() == 2
