"""Samples, second reviews and the agreement of reviewers, on a phone and from right to left."""

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from annotation.models import ReviewBatch
from annotation.services.review import batches, reviews, second_draws, second_reviews
from annotation.services.review.batches import SampleSize
from people.models import User
from people.services.raters import rater_of
from tests.annotation.chain.factories import QUESTION, a_stage
from tests.annotation.chain.written_answers import write_answers
from tests.browser.conftest import PHONE
from tests.browser.test_rating import find_violations
from tests.personas import World

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def decide_samples(world: World) -> None:
    """Four authors: one accepted, one above the limit, one passed, one waiting; some second reviews, one conflict."""
    stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
    authors = [rater_of(user) for user in world.add_annotators(world.egypt, 4)]
    write_answers(stage, world.egypt, dict.fromkeys(authors, 12))
    at = timezone.now()
    second_draws.set_share(stage, 100, 1, world.owner, at)
    batches.draw_samples(stage, world.reviewer, SampleSize(number=5), 0.1, 1, at)
    drawn = list(ReviewBatch.objects.order_by("pk"))
    for place, batch in enumerate(drawn[:3]):
        for number, sampled in enumerate(batch.sample.order_by("pk")):
            decision = "reject" if place == 1 and number < 2 else "accept"
            reviews.decide(sampled.annotation_id, world.reviewer, decision, at, reason="rules")
            if place == 1 and number < 4:
                decision = "accept" if number else "reject"
                second_reviews.decide_round(sampled.annotation_id, "second", world.owner, decision, at, reason="rules")
    batches.accept_others(drawn[0].pk, world.reviewer, at)


@pytest.mark.parametrize("name", ["phone", "arabic"])
def test_samples_and_second_reviews_in_a_narrow_window_and_from_right_to_left(
    open_as: Callable[..., Page], world: World, shot: Callable[..., None], name: str
) -> None:
    decide_samples(world)
    if name == "arabic":
        User.objects.filter(pk=world.mara.pk).update(language="ar")
    page = open_as(world.mara, **(PHONE if name == "phone" else {}))
    width = 390 if name == "phone" else 1280
    for path in ("samples/", "agreement/", "?state=second", "?state=conflict"):
        page.goto(f"/b/{world.benchmark.slug}/review/{path}")
        shot(page, f"review-{path.strip('/?')}-{name}", full_page=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert find_violations(page) == "", path
    expect(page.locator(".answer")).to_have_count(1)
