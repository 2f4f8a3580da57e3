"""A unit that enough people of one cohort skipped is asked of nobody else there, until it is brought back."""

from datetime import timedelta

import pytest

from annotation.models import Campaign, CampaignCohort, Slot
from annotation.services.answers import submit, undo_and_conflicts
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, next_work, recount, units
from benchmarks.models import Item
from jobs.models import Event
from people.models import Rater
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def retiring_campaign(after: int, items: int = 1, target: int = 5, labels: tuple[str, ...] = ("",)) -> Campaign:
    campaign = an_open_campaign(items=items, target=target, labels=labels)
    campaign.stage.retire_after_skips = after
    campaign.stage.save()
    return campaign


def skips(seat: CampaignCohort, person: Rater | None = None) -> Rater:
    person = person or a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    submit.skip(hand.pk, person, "unknown", "", NOON)
    return person


def test_it_is_retired_by_the_last_of_as_many_people_and_not_before() -> None:
    campaign = retiring_campaign(after=2)
    seat = get_campaign_cohort(campaign)
    skips(seat)
    assert Slot.objects.get().open
    skips(seat)
    slot = Slot.objects.get()
    assert slot.retired and not slot.open and slot.wanted == 0
    assert lifecycle.progress(campaign)[0].wanted == 0
    nothing = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON).no_work
    assert nothing and nothing.reason in ("all_done", "cohort_full")
    assert Event.objects.get(verb="unit.retired").data == {"slot": slot.pk, "skips": 2}


def test_an_undone_skip_brings_a_unit_back_only_where_it_was_the_one_that_retired_it() -> None:
    seat = get_campaign_cohort(retiring_campaign(2))
    people = [a_person(seat.cohort) for _number in range(3)]
    hands = [next_work.get_or_claim_work(person, seat, NOON).current for person in people]
    for hand, person in zip(hands, people, strict=True):
        assert hand
        submit.skip(hand.pk, person, "unknown", "", NOON)
    for hand, person, retired in zip(reversed(hands), reversed(people), (True, False, False), strict=True):
        assert hand
        undo_and_conflicts.undo_skip(hand.pk, person, NOON)
        assert Slot.objects.get().retired is retired


def test_a_stage_without_the_rule_retires_nothing_and_another_cohort_goes_on() -> None:
    free = get_campaign_cohort(an_open_campaign(items=1, target=5))
    for _ in range(4):
        skips(free)
    assert Slot.objects.get(cohort=free).open
    one, two = retiring_campaign(after=1, labels=("A", "B")).cohorts.order_by("pk")
    skips(one)
    assert Slot.objects.get(cohort=one).retired and Slot.objects.get(cohort=two).open


def test_places_in_use_stay_and_do_not_open_again_when_given_back() -> None:
    seat = get_campaign_cohort(retiring_campaign(after=1))
    holder, answered = a_person(seat.cohort), a_person(seat.cohort)
    assert next_work.get_or_claim_work(holder, seat, NOON).current
    done = next_work.get_or_claim_work(answered, seat, NOON).current
    assert done
    rate(done, at=NOON)
    skips(seat)
    assert (Slot.objects.get().wanted, Slot.objects.get().open) == (2, False)
    leases.release_expired(NOON + timedelta(hours=1))
    slot = Slot.objects.get()
    assert (slot.wanted, slot.submitted, slot.open) == (1, 1, False)
    lifecycle.change_target(seat, 9, None)
    assert not Slot.objects.get().open


def test_brought_back_it_waits_for_as_many_skips_again() -> None:
    campaign = retiring_campaign(after=2)
    seat = get_campaign_cohort(campaign)
    skips(seat), skips(seat)
    assert units.unretire(campaign, [Slot.objects.get().pk], None) == 1
    assert Slot.objects.get().open and lifecycle.progress(campaign)[0].wanted == 5
    skips(seat)
    assert Slot.objects.get().open
    skips(seat)
    assert Slot.objects.get().retired
    assert units.unretire(campaign, [0], None) == 0


def test_answer_to_a_retired_item_counts_when_the_item_is_restored() -> None:
    campaign = retiring_campaign(after=1)
    seat = get_campaign_cohort(campaign)
    late_one = a_person(seat.cohort)
    late = next_work.get_or_claim_work(late_one, seat, NOON).current
    leases.release_expired(NOON + timedelta(hours=1))
    skips(seat)
    assert late
    annotation = rate(late, at=NOON).annotation
    assert (annotation.counted, annotation.uncounted_because) == (False, "surplus")
    units.unretire(campaign, [Slot.objects.get().pk], None)
    annotation.refresh_from_db()
    assert annotation.counted and Slot.objects.get().submitted == 1


def test_a_withdrawn_item_stays_closed_and_opens_when_it_comes_back() -> None:
    campaign = an_open_campaign(items=1, target=2)
    seat = get_campaign_cohort(campaign)
    person = a_person(seat.cohort)
    assert next_work.get_or_claim_work(person, seat, NOON).current
    Item.objects.update(withdrawn_at=NOON)
    lifecycle.add_slots(campaign)
    leases.release_expired(NOON + timedelta(hours=1))
    assert (Slot.objects.get().wanted, Slot.objects.get().open) == (0, False)
    lifecycle.change_target(seat, 3, None)
    assert not Slot.objects.get().open
    Item.objects.update(withdrawn_at=None)
    lifecycle.add_slots(campaign)
    assert (Slot.objects.get().wanted, Slot.objects.get().open) == (3, True)
