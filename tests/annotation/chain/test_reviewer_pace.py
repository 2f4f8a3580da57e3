"""Throughput of reviewers and waiting times, on the review page of those who run the benchmark."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Assignment
from annotation.pages.review_turns import Reader
from annotation.pages.reviewer_pace import pace_of
from annotation.queries.reviewer_pace import present_wait, reviewer_paces
from annotation.services.review import batches, reviews, second_draws, second_reviews
from annotation.services.review.batches import SampleSize
from people.models import User
from people.services.raters import rater_of
from tests.annotation.chain.factories import QUESTION, a_stage
from tests.annotation.chain.written_answers import write_answers
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], Client]
NOON = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)


@built_once
def answers(world: World) -> list[Annotation]:
    """Eight answers of Nour, sent one hour before noon."""
    stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
    return write_answers(stage, world.egypt, {rater_of(world.nour): 8}, NOON - timedelta(hours=1))[1]


def accept(answer: Annotation, user: User, at: datetime) -> int:
    return reviews.decide(answer.pk, user, "accept", at).pk


def test_decisions_per_day_and_the_median_wait_with_their_numbers(world: World, answers: list[Annotation]) -> None:
    for hours, answer in zip((0, 2, 25), answers, strict=False):  # waits of 1, 3 and 26 hours, on two days
        accept(answer, world.reviewer, NOON + timedelta(hours=hours))
    undone = accept(answers[3], world.reviewer, NOON)
    reviews.undo(undone, world.reviewer, NOON)
    accept(answers[4], world.mara, NOON - timedelta(days=40))
    [pace] = reviewer_paces(world.benchmark, NOON - timedelta(days=30), "UTC")
    assert (pace.name, pace.decided, pace.days, pace.per_day) == ("Reviewer", 3, 2, 1.5)
    assert pace.median_wait == 3 * 3600
    now = present_wait(world.benchmark, NOON + timedelta(hours=4))
    assert (now.n, now.median, now.longest) == (4, 5 * 3600, 5 * 3600)


def test_answers_accepted_after_a_sample_are_counted_apart(world: World, answers: list[Annotation]) -> None:
    stage = answers[0].assignment.campaign.stage
    batches.draw_samples(stage, world.reviewer, SampleSize(number=5), 0.2, 1, NOON)
    batch = stage.review_batches.get()
    for sampled in batch.sample.all():
        reviews.decide(sampled.annotation_id, world.reviewer, "accept", NOON)
    batches.accept_others(batch.pk, world.mara, NOON)
    paces = {pace.name: pace for pace in reviewer_paces(world.benchmark, NOON - timedelta(days=30), "UTC")}
    assert (paces["Reviewer"].decided, paces["Reviewer"].together) == (5, 0)
    mara = paces["Mara"]
    assert (mara.decided, mara.together, mara.per_day, mara.median_wait) == (0, 3, None, None), "none is not zero"
    reader = Reader(world.benchmark, world.owner, NOON, UTC, "en")
    assert {row.pace.name: row.wait for row in pace_of(reader).rows} == {"Reviewer": "1 hour", "Mara": ""}


def test_who_made_second_reviews_alone_is_listed(world: World, answers: list[Annotation]) -> None:
    second_draws.set_share(answers[0].assignment.campaign.stage, 100, 1, world.owner, NOON)
    accept(answers[0], world.reviewer, NOON)
    second_reviews.decide_round(answers[0].pk, "second", world.mara, "accept", NOON)
    paces = reviewer_paces(world.benchmark, NOON - timedelta(days=30), "UTC")
    assert [(pace.name, pace.decided, pace.seconds) for pace in paces] == [("Mara", 0, 1), ("Reviewer", 1, 0)]


def test_those_who_run_the_benchmark_see_it_and_reviewers_do_not(
    world: World, answers: list[Annotation], client_of: ClientOf
) -> None:
    Assignment.objects.filter(pk=answers[0].assignment_id).update(changed_at=timezone.now() - timedelta(hours=3))
    accept(answers[1], world.reviewer, timezone.now())
    path = f"/b/{world.benchmark.slug}/review/"
    text = client_of(world.mara).get(path).content.decode()
    assert "Median wait of an answer" in text and "7 answers wait now" in text
    assert "Median wait of an answer" not in client_of(world.reviewer).get(path).content.decode()


def test_equal_waits_are_stated_once(world: World, answers: list[Annotation], client_of: ClientOf) -> None:
    Assignment.objects.update(changed_at=timezone.now())
    text = client_of(world.mara).get(f"/b/{world.benchmark.slug}/review/").content.decode()
    assert f"{len(answers)} answers wait now, the longest for a moment." in text and "half of them" not in text
