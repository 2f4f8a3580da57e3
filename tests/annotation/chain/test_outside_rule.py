"""An answered item is never withdrawn by a changed filter, limit or draw; a separate press withdraws it."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Annotation
from annotation.services.derivation import outbox
from annotation.services.derivation.derived_items import rederive_stage
from annotation.services.queue import recount
from annotation.services.review import reviews
from benchmarks.models import Item, ItemFact, Stage
from benchmarks.rules.filters import FilterState
from benchmarks.services.intake import by_hand, filter_versions
from jobs.models import Event
from jobs.services import runner
from people.models import Rater, Team, User
from tests.annotation.chain.factories import (
    ANSWER,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    live_items,
    process_derivations,
)
from tests.annotation.queue.factories import a_cohort, a_person
from tests.personas import World

pytestmark = pytest.mark.django_db
KEPT: dict[str, Any] = {"from": ["candidates"], "of": "kept"}
PROMOTED: dict[str, Any] = {"kind": "promote", "params": {"text": "item.key"}, **KEPT}
DRAWN: dict[str, Any] = {"kind": "sample", "params": {"text": "item.key", "n": 3}, "seed": 5, **KEPT}


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create(email="researcher@example.org", name="R")


def least(score: float) -> dict[str, Any]:
    return {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": score}}


def limit(stage: Stage, score: float) -> None:
    job = filter_versions.set_filters(stage, [least(score)], None)
    assert job is not None
    runner.run(job.pk)
    process_derivations()


def candidates(*scores: float, team: Team | None = None, **derivation: Any) -> tuple[Stage, Stage]:
    """Candidates with these scores, of which those from 23 are kept, and a stage that takes them."""
    benchmark = a_benchmark(team)
    first = a_stage(benchmark, "candidates", ANSWER)
    later = a_stage(benchmark, "questions", ANSWER, derivation=derivation or PROMOTED)
    for item, score in zip(items(first, len(scores)), scores, strict=True):
        ItemFact.objects.create(item=item, key="clip_score", value=score, source="clip")
    limit(first, 23)
    return first, later


def answer_one(stage: Stage) -> Item:
    """Somebody answers one item of the stage, whichever the queue offers first."""
    cohort = a_cohort(stage.benchmark.team)
    campaign = create_open_campaign(stage, cohort)
    return answer(claim_sheet(a_person(cohort), campaign, cohort), answer="Tea").assignment.unit.item


def keys(stage: Stage) -> set[str]:
    return {item.text for item in live_items(stage)}


def outside(stage: Stage) -> set[str]:
    return set(stage.items.filter(outside_since__isnull=False, withdrawn_at=None).values_list("text", flat=True))


def test_a_raised_limit_withdraws_what_nobody_answered_and_leaves_what_somebody_did() -> None:
    first, later = candidates(24, 24, 30)
    item = answer_one(later)
    ItemFact.objects.filter(item__key=item.text).update(value=24)
    dropped = {fact.item.key for fact in ItemFact.objects.filter(value=24)}
    limit(first, 25)
    assert keys(later) == ({"candidates-000", "candidates-001", "candidates-002"} - dropped) | {item.text}
    assert outside(later) == {item.text} and len(dropped) > 1
    assert Annotation.objects.get().counted
    limit(first, 24)
    assert outside(later) == set() and len(keys(later)) == 3, "the rule takes it again"


def test_an_item_dropped_by_hand_stays_in_later_stages_too(user: User) -> None:
    first, later = candidates(30, 30)
    item = answer_one(later)
    for candidate in first.items.all():
        by_hand.decide(candidate, FilterState.DROPPED, "No", user, timezone.now())
    process_derivations()
    assert keys(later) == outside(later) == {item.text}


def test_an_answer_further_on_in_the_chain_keeps_what_it_is_made_of() -> None:
    first, later = candidates(24, 24)
    last = a_stage(first.benchmark, "last", ANSWER, derivation={**PROMOTED, "from": ["questions"]})
    rederive_stage(last)
    process_derivations()
    item = answer_one(last)
    limit(first, 25)
    assert keys(last) == {item.text} and len(live_items(later)) == 1 and outside(later) == {item.text}


def test_a_smaller_draw_leaves_what_is_answered_and_a_larger_one_takes_it_again() -> None:
    first, later = candidates(30, 30, 30, 30, **DRAWN)
    cohort = a_cohort(first.benchmark.team)
    campaign = create_open_campaign(later, cohort)
    person = a_person(cohort)
    drawn = keys(later)
    while work := claim_sheet(person, campaign, cohort):
        answer(work, answer="Tea")
    redraw(later, 1)
    assert keys(later) == drawn and len(outside(later)) == 2
    redraw(later, 3)
    assert keys(later) == drawn and outside(later) == set()


def test_a_smaller_draw_withdraws_what_nobody_answered() -> None:
    _first, later = candidates(30, 30, 30, 30, **DRAWN)
    redraw(later, 1)
    assert len(keys(later)) == 1 and outside(later) == set()


def redraw(stage: Stage, n: int) -> None:
    stage.derivation = {**DRAWN, "params": {**DRAWN["params"], "n": n}}
    stage.save()
    rederive_stage(stage)
    process_derivations()


def test_a_withdrawn_or_rejected_source_still_withdraws_what_is_answered(user: User) -> None:
    first, later = candidates(30)
    item = answer_one(later)
    limit(first, 40)
    assert outside(later) == {item.text}
    first.items.update(withdrawn_at=timezone.now(), withdrawn_because="person")
    outbox.mark_items_due(list(first.items.values_list("pk", flat=True)))
    process_derivations()
    assert keys(later) == set()


def test_a_rejected_question_withdraws_its_answered_item() -> None:
    benchmark = a_benchmark()
    ask = a_stage(benchmark, "ask", ANSWER, acceptance="by_review")
    items(ask, 1)
    reply = a_stage(benchmark, "reply", ANSWER, derivation={
        "kind": "promote", "from": ["ask"], "params": {"text": "answer"}})  # fmt: skip
    answer_one(ask)
    question = Annotation.objects.get()
    reviewer = User.objects.create(email="reviewer@example.org", name="V")
    review = reviews.decide(question.pk, reviewer, "accept", timezone.now())
    process_derivations()
    answer_one(reply)
    reviews.undo(review.pk, reviewer, timezone.now())
    process_derivations()
    assert live_items(reply) == []


def test_the_page_of_the_stage_counts_them_and_a_press_withdraws_them(world: World) -> None:
    first, later = candidates(24, 24, team=world.team)
    cohort = a_cohort(world.team)
    campaign = create_open_campaign(later, cohort)
    person = a_person(cohort)
    assert isinstance(person, Rater) and person.user is not None
    world.give_consent(world.team, person.user)
    item = answer(claim_sheet(person, campaign, cohort), answer="Tea").assignment.unit.item
    limit(first, 25)
    first.benchmark.roles.create(user=world.mara, name="researcher")
    client: Client = world.client(world.mara)
    address = f"/b/{first.benchmark.slug}/stages/{later.pk}/"
    page = client.get(address).content.decode()
    assert "1 item is outside the present rule" in page and "Withdraw 1 item" in page
    listed = client.get(f"/b/{first.benchmark.slug}/items/?stage=questions&rule=outside").content.decode()
    assert item.key in listed and "1 item" in listed
    for other in (world.stranger, world.rival, world.nour, world.reviewer):
        assert world.client(other).post(f"{address}outside/").status_code == 404
    assert client.get(f"{address}outside/").status_code == 405 and keys(later) == {item.text}
    reply = client.post(f"{address}outside/", follow=True).content.decode()
    assert "1 item was withdrawn." in reply and "outside the present rule" not in reply
    process_derivations()
    assert keys(later) == set() and Event.objects.filter(verb="items.outside_withdrawn").count() == 1
    client.post(f"{address}outside/")
    assert Event.objects.filter(verb="items.outside_withdrawn").count() == 1, "twice changes nothing"
    limit(first, 24)
    assert keys(later) == {"candidates-000", "candidates-001"}, "the rule takes it again"
