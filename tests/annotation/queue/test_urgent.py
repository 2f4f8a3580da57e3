"""Units brought to the front: handed out before all others, by the same rules, and lost by no cursor."""

from datetime import timedelta

import pytest

from annotation.models import Assignment, CampaignCohort, Participation, Slot
from annotation.services.answers import submit
from annotation.services.campaigns import lifecycle
from annotation.services.queue import leases, next_work, recount, units
from annotation.services.queue.next_work import Work
from jobs.models import Event
from people.models import Rater
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(hours=1)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def open_work(person: Rater, seat: CampaignCohort) -> Work:
    return next_work.get_or_claim_work(person, seat, NOON)


def last_slots(seat: CampaignCohort, n: int = 1) -> list[int]:
    return list(Slot.objects.filter(cohort=seat).order_by("-position").values_list("pk", flat=True)[:n])


def test_an_urgent_unit_comes_first_then_the_order_goes_on() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=10))
    [urgent] = last_slots(seat)
    first = Slot.objects.order_by("position").first()
    assert units.prioritise(seat.campaign, [urgent], None) == 1
    work = open_work(a_person(seat.cohort), seat)
    assert work.current and work.prefetched and first
    assert (work.current.slot_id, work.prefetched.slot_id) == (urgent, first.pk)
    assert Event.objects.get(verb="units.brought_forward").data["slots"] == [urgent]


def test_several_urgent_units_keep_the_order_that_they_had() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=8))
    last = list(Slot.objects.filter(cohort=seat).order_by("position")[4:])
    for slot, position in zip(last, [slot.position for slot in reversed(last)], strict=True):
        Slot.objects.filter(pk=slot.pk).update(position=position)
    urgent = [slot.pk for slot in reversed(last)]  # the order of the positions is not that of the ids
    assert units.prioritise(seat.campaign, [urgent[2], urgent[0], urgent[3], urgent[1]], None) == 4
    positions = dict(Slot.objects.filter(pk__in=urgent).values_list("position", "pk"))
    assert len(positions) == 4 and [positions[position] for position in sorted(positions)] == urgent
    person, handed_out = a_person(seat.cohort), []
    work = open_work(person, seat)
    while work.current and len(handed_out) < 4:
        handed_out.append(work.current.slot_id)
        work = rate(work.current, at=NOON).work
    assert handed_out == urgent


def test_units_that_are_urgent_already_are_no_change_and_keep_their_place() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=6))
    first, second, usual = last_slots(seat, 3)
    for slot in (first, second):
        assert units.prioritise(seat.campaign, [slot], None) == 1
    positions = dict(Slot.objects.values_list("pk", "position"))
    assert units.prioritise(seat.campaign, [first], None) == 0
    assert units.prioritise(seat.campaign, [usual], None, urgent=False) == 0
    assert dict(Slot.objects.values_list("pk", "position")) == positions
    assert Event.objects.filter(verb__in=("units.brought_forward", "units.put_in_line")).count() == 2
    assert units.prioritise(seat.campaign, [first, usual], None) == 1
    work = open_work(a_person(seat.cohort), seat)
    assert work.current and work.prefetched
    assert (work.current.slot_id, work.prefetched.slot_id) == (first, second), "the new one is behind both"
    positions = dict(Slot.objects.values_list("pk", "position"))
    assert units.prioritise(seat.campaign, [first, usual], None, urgent=False) == 2
    assert dict(Slot.objects.values_list("pk", "position")) == positions, "it stays where it was put"


def test_several_units_put_last_keep_the_order_that_they_had() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=8))
    first = list(Slot.objects.filter(cohort=seat).order_by("position")[:4])
    for slot, position in zip(first, [slot.position for slot in reversed(first)], strict=True):
        Slot.objects.filter(pk=slot.pk).update(position=position)
    units.put_last(seat.campaign, [slot.pk for slot in first], None)
    assert last_slots(seat, 4) == [slot.pk for slot in first], "the last of them is the last of all"


def test_what_is_put_last_comes_last_and_back_behind_no_cursor() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=6))
    slots = list(Slot.objects.filter(cohort=seat).order_by("position"))
    before = units.put_last(seat.campaign, [slots[0].pk, slots[1].pk], None)
    assert set(before) == {slots[0].pk, slots[1].pk} and last_slots(seat, 2) == [slots[1].pk, slots[0].pk]
    person = a_person(seat.cohort)
    work = open_work(person, seat)
    assert work.current and work.current.slot_id == slots[2].pk
    units.put_back(seat.campaign, before, None)
    asked = set()
    while work.current:
        asked.add(work.current.slot_id)
        work = rate(work.current, at=NOON).work
    assert asked == {slot.pk for slot in slots}, "a person who was past their places is asked for all of them"


def test_what_is_put_back_reaches_who_is_past_its_place_though_others_are_not() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=10))
    slots = list(Slot.objects.filter(cohort=seat).order_by("position"))
    beginner, ahead = a_person(seat.cohort), a_person(seat.cohort)
    open_work(beginner, seat)
    before = units.put_last(seat.campaign, [slots[2].pk, slots[3].pk], None)
    work = open_work(ahead, seat)
    units.put_back(seat.campaign, before, None)
    asked = set()
    while work.current:
        asked.add(work.current.slot_id)
        work = rate(work.current, at=NOON).work
    assert asked == {slot.pk for slot in slots[2:]}, "all but what the beginner holds"


def test_it_goes_to_as_many_people_as_were_asked_for_and_to_nobody_twice() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=10, target=2))
    urgent = last_slots(seat, 2)
    units.prioritise(seat.campaign, urgent, None)
    people = [a_person(seat.cohort) for _ in range(3)]
    works = [open_work(person, seat) for person in people]
    given = [{work.current.slot_id, work.prefetched.slot_id} for work in works if work.current and work.prefetched]
    assert given[:2] == [set(urgent)] * 2 and not given[2] & set(urgent)


def test_one_that_reopens_or_becomes_urgent_late_is_before_every_cursor() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=20))
    first, second = a_person(seat.cohort), a_person(seat.cohort)
    early, late = last_slots(seat, 2)
    units.prioritise(seat.campaign, [early], None)
    hand = open_work(first, seat).current
    assert hand and hand.slot_id == early
    work = open_work(second, seat)  # walks past what is taken
    assert work.current and work.prefetched
    work = rate(work.current, at=NOON).work
    assert Participation.objects.get(rater=second).urgent_cursor == 0  # nothing urgent was open: nothing was walked
    submit.skip(hand.pk, first, "unknown", "", NOON)
    units.prioritise(seat.campaign, [late], None)
    assert work.current
    work = rate(work.current, at=NOON).work  # the one ahead comes into hand, an urgent one ahead
    assert work.current and work.prefetched and work.prefetched.slot_id in (early, late)
    work = rate(work.current, at=NOON).work
    assert {work.current.slot_id, work.prefetched.slot_id} == {early, late}  # type: ignore[union-attr]


def test_when_the_hurry_is_taken_away_nobody_loses_the_unit() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=5))
    person = a_person(seat.cohort)
    urgent = last_slots(seat, 2)
    units.prioritise(seat.campaign, urgent, None)
    hand = open_work(person, seat).current
    leases.release_expired(LATER)
    assert hand and units.prioritise(seat.campaign, urgent, None, urgent=False) == 2
    slot_ids = []
    work = open_work(person, seat)
    while work.current:
        slot_ids.append(work.current.slot_id)
        work = rate(work.current, at=NOON).work
    assert len(slot_ids) == len(set(slot_ids)) == 5


def test_people_who_had_every_urgent_unit_walk_them_once() -> None:
    """The cursor among urgent slots moves past those a person had, also while others still owe answers to them."""
    seat = get_campaign_cohort(an_open_campaign(items=30, target=3))
    units.prioritise(seat.campaign, last_slots(seat, 20), None)
    person = a_person(seat.cohort)
    work = open_work(person, seat)
    for _ in range(22):
        assert work.current
        work = rate(work.current, at=NOON).work
    place = Participation.objects.get(rater=person)
    passed = Slot.objects.filter(urgent=True, position__lt=place.urgent_cursor)
    # 2 minutes behind the clock, as every cursor: what became urgent just now is looked at again
    assert passed.count() in (0, 20) and place.urgent_cursor > 0


def test_nothing_of_another_campaign_is_touched() -> None:
    seat, other = get_campaign_cohort(an_open_campaign(items=2)), get_campaign_cohort(an_open_campaign(items=2))
    assert units.prioritise(seat.campaign, last_slots(other, 2), None) == 0
    assert units.unretire(seat.campaign, last_slots(other, 2), None) == 0
    assert not Slot.objects.filter(urgent=True).exists() and not Event.objects.filter(verb__startswith="units").exists()


def test_recount_finds_an_urgent_slot_that_a_cursor_passed() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=4))
    person = a_person(seat.cohort)
    open_work(person, seat)
    [urgent] = last_slots(seat)
    units.prioritise(seat.campaign, [urgent], None)
    Participation.objects.update(urgent_cursor=2**62)
    assert [one.check for one in recount.iter_differences()] == ["urgent cursor past work never had"]
    recount.repair()
    assert Participation.objects.get().urgent_cursor == Slot.objects.get(pk=urgent).position


def test_a_paused_campaign_hands_out_nothing_urgent_either() -> None:
    campaign = an_open_campaign(items=3)
    seat = get_campaign_cohort(campaign)
    units.prioritise(campaign, last_slots(seat), None)
    lifecycle.pause(campaign, None)
    assert open_work(a_person(seat.cohort), seat).current is None and not Assignment.objects.exists()
