"""What filters drop is offered to nobody; what waits only where the stage says so; what is kept again comes last."""

import random
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Campaign, CampaignCohort, Slot
from annotation.queries.coverage import CoverageFilter, coverage_page
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.queue import leases, next_work, recount, slot_creation
from benchmarks.models import Item, ItemFact, Stage
from benchmarks.rules.filters import FilterState
from benchmarks.services.intake import by_hand, filter_versions, judge_job
from jobs.services import runner
from people.models import Rater, User
from tests.annotation.queue.factories import (
    NOON,
    a_cohort,
    a_person,
    a_stage,
    an_open_campaign,
    get_campaign_cohort,
    rate,
)
from tests.annotation.queue.test_races import run_together

pytestmark = pytest.mark.django_db(transaction=True)
SCORE: dict[str, Any] = {"key": "score", "kind": "fact", "params": {"key": "clip_score", "least": 23}}


@pytest.fixture(autouse=True)
def counters_stay_true(transactional_db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []


@pytest.fixture
def user() -> User:
    return User.objects.create(email="researcher@example.org", name="R")


@pytest.fixture
def campaign() -> Campaign:
    return an_open_campaign(items=4, target=1)


def fact(item: Item, score: float) -> None:
    ItemFact.objects.create(item=item, key="clip_score", value=score, source="clip", version=str(score))


def carry_out(stage: Stage, *definition: Any) -> None:
    job = filter_versions.set_filters(stage, definition, None)
    runner.run(job.pk if job else judge_job.start(stage, None).pk)


def items_of(campaign: Campaign) -> list[Item]:
    return list(campaign.stage.items.order_by("pk"))


def work_through(person: Rater, seat: CampaignCohort) -> list[int]:
    """The items that this person is offered until there is nothing, all answered."""
    offered, work = [], next_work.get_or_claim_work(person, seat, timezone.now())
    while work.current:
        offered.append(work.current.unit.item_id)
        work = rate(work.current).work
    return offered


def reason(person: Rater, seat: CampaignCohort) -> str:
    work = next_work.get_or_claim_work(person, seat, timezone.now())
    assert work.current is None and work.no_work
    return work.no_work.reason


def test_a_dropped_and_a_waiting_item_are_offered_to_nobody(campaign: Campaign) -> None:
    seat, (good, low, waits, other) = get_campaign_cohort(campaign), items_of(campaign)
    for item, score in ((good, 23), (low, 22), (other, 30)):
        fact(item, score)
    carry_out(campaign.stage, SCORE)
    waits.refresh_from_db()
    assert waits.intake == "waiting"
    assert set(work_through(a_person(seat.cohort), seat)) == {good.pk, other.pk}
    assert set(Slot.objects.filter(unit__item__in=[low, waits]).values_list("wanted", "open")) == {(0, False)}


def test_waiting_items_are_offered_where_the_stage_assigns_them(campaign: Campaign, user: User) -> None:
    seat, person = get_campaign_cohort(campaign), a_person(get_campaign_cohort(campaign).cohort)
    carry_out(campaign.stage, SCORE)
    assert next_work.get_or_claim_work(person, seat, timezone.now()).current is None
    assert filter_versions.set_assign_waiting(campaign.stage, True, user)
    assert not filter_versions.set_assign_waiting(campaign.stage, True, user)
    work = next_work.get_or_claim_work(person, seat, timezone.now())
    assert work.current and rate(work.current).annotation.counted
    filter_versions.set_assign_waiting(campaign.stage, False, user)
    slots = Slot.objects.all()
    assert [slot.wanted for slot in slots] == [slot.reserved + slot.submitted for slot in slots], "only places in use"
    assert sum(slot.wanted for slot in slots) == 3  # answered, in progress, prefetched


def test_an_item_kept_again_is_at_the_end_of_the_queue_and_passed_by_no_cursor(campaign: Campaign, user: User) -> None:
    seat, every = get_campaign_cohort(campaign), items_of(campaign)
    person = a_person(seat.cohort)
    first = Slot.objects.order_by("position").first()
    assert first
    by_hand.decide(first.unit.item, FilterState.DROPPED, "Blurred", user, timezone.now())
    assert len(work_through(person, seat)) == len(every) - 1
    assert reason(person, seat) in ("cohort_full", "all_done")
    by_hand.decide(first.unit.item, FilterState.KEPT, "Sharp after all", user, timezone.now())
    moved = Slot.objects.get(pk=first.pk)
    assert moved.open and moved.position == max(Slot.objects.values_list("position", flat=True))
    assert work_through(person, seat) == [first.unit.item_id]


def test_an_answer_that_is_in_progress_when_its_item_is_dropped_is_kept(campaign: Campaign, user: User) -> None:
    seat = get_campaign_cohort(campaign)
    person, other = a_person(seat.cohort), a_person(seat.cohort)
    current = next_work.get_or_claim_work(person, seat, timezone.now()).current
    assert current
    by_hand.decide(current.unit.item, FilterState.DROPPED, "Blurred", user, timezone.now())
    slot = Slot.objects.get(pk=current.slot_id)
    assert (slot.wanted, slot.reserved, slot.open) == (1, 1, False)
    assert list(recount.iter_differences()) == []
    annotation = rate(current).annotation
    assert annotation.counted and Annotation.objects.filter(pk=annotation.pk).exists()
    assert current.unit.item_id not in work_through(other, seat)


def test_a_place_that_comes_back_of_a_dropped_item_is_given_to_nobody(campaign: Campaign, user: User) -> None:
    seat = get_campaign_cohort(campaign)
    current = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON).current
    assert current
    by_hand.decide(current.unit.item, FilterState.DROPPED, "Blurred", user, timezone.now())
    leases.release_expired(NOON + timedelta(days=1))
    slot = Slot.objects.get(pk=current.slot_id)
    assert (slot.wanted, slot.reserved, slot.open) == (0, 0, False)
    assert current.unit.item_id not in work_through(a_person(seat.cohort), seat)


def test_an_imported_item_that_is_dropped_gets_no_slot(campaign: Campaign) -> None:
    carry_out(campaign.stage, SCORE)
    late = Item.objects.create(stage=campaign.stage, key="late", intake="dropped")
    slot_creation.create_missing_slots(campaign)
    assert not Slot.objects.filter(unit__item=late).exists()


def test_a_campaign_of_which_everything_is_dropped_is_not_opened() -> None:
    stage = a_stage(2)
    for item in stage.items.all():
        fact(item, 1)
    carry_out(stage, SCORE)
    campaign = lifecycle.create(stage, "Round", None, {a_cohort(stage.benchmark.team): 1}, seed=1)
    with pytest.raises(CampaignRefused) as refused:
        lifecycle.open_campaign(campaign, None, NOON)
    assert "no_items" in refused.value.reasons


def test_coverage_counts_what_the_filters_keep(campaign: Campaign) -> None:
    good, low, *_rest = items_of(campaign)
    fact(good, 30)
    fact(low, 1)
    carry_out(campaign.stage, SCORE)
    matrix = coverage_page(campaign, CoverageFilter(by="item"))
    assert [row.part for row in matrix.rows] == [good.key]


@pytest.mark.parametrize("seed", [1, 2])
def test_filters_that_change_while_people_work_never_overshoot(seed: int) -> None:
    """Twelve people rate while the limit goes up and down; afterwards all counters are true."""
    campaign = an_open_campaign(items=24, target=2)
    for number, item in enumerate(items_of(campaign)):
        fact(item, number)
    seat, dice = get_campaign_cohort(campaign), random.Random(seed)
    people = [a_person(seat.cohort) for _ in range(12)]

    def change() -> list[int]:
        for _ in range(6):
            limit = {**SCORE["params"], "least": dice.choice([0, 8, 16, 30])}
            carry_out(campaign.stage, {**SCORE, "params": limit})
        return []

    deeds: list[Callable[[], list[int]]] = [change, *(partial(work_through, person, seat) for person in people)]
    run_together(*deeds)
    carry_out(campaign.stage, {**SCORE, "params": {**SCORE["params"], "least": 8}})
    slot_creation.create_missing_slots(campaign)
    assert list(recount.iter_differences()) == []
    for person in people:
        work_through(person, seat)
    rows = dict(Slot.objects.values_list("unit__item_id", "submitted"))
    kept = set(campaign.stage.items.filter(intake="kept").values_list("pk", flat=True))
    assert len(kept) == 16 and all(rows[pk] == 2 for pk in kept)
    assert not Slot.objects.filter(submitted__gt=2).exists()
