"""Offline packs: several places for one person, kept longer, given back like all others, and never too many."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db.models import F

from annotation.models import Assignment, CampaignCohort, SheetVersion, Slot
from annotation.queries.packs import packs_in
from annotation.services.answers import submit
from annotation.services.answers.submit import Submission
from annotation.services.campaigns import lifecycle, membership_end
from annotation.services.queue import leases, next_work, packs, recount
from annotation.services.queue.packs import PackRefused, pack_refusal
from benchmarks.models import Stage
from jobs.models import Event
from people.models import CohortMember, Rater
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate
from tests.annotation.queue.test_races import run_together

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> Iterator[None]:
    yield
    assert list(recount.iter_differences()) == []
    assert not Slot.objects.filter(wanted__lt=F("reserved") + F("submitted")).exists()


def seat_of(items: int = 60, target: int = 1) -> CampaignCohort:
    return get_campaign_cohort(an_open_campaign(items=items, target=target))


def sent(assignment: Assignment, key: str, at: Any, code: str = "4", **how: Any) -> submit.SubmitResult:
    submission = Submission(raw={"relevance": code}, client_key=key, from_pack=True, **how)
    return submit.submit(assignment.pk, assignment.rater, submission, at)


def take(person: Rater, seat: CampaignCohort) -> int:
    return len(packs.take_pack(person, seat, NOON))


def refused(person: Rater, seat: CampaignCohort, at: Any = NOON) -> str:
    with pytest.raises(PackRefused) as refusal:
        packs.take_pack(person, seat, at)
    return refusal.value.reason


def test_a_pack_is_twenty_places_for_a_day_and_leaves_alone_what_is_in_hand() -> None:
    seat = seat_of(items=90)
    person = a_person(seat.cohort)
    work = next_work.get_or_claim_work(person, seat, NOON)
    pack = packs.take_pack(person, seat, NOON)
    assert len(pack) == 20 and {row.lease_until for row in pack} == {NOON + 24 * HOUR}
    again = next_work.get_or_claim_work(person, seat, NOON)
    assert (again.current, again.prefetched) == (work.current, work.prefetched)
    assert not {row.pk for row in pack} & {row.pk for row in (work.current, work.prefetched) if row}
    assert packs_in([seat.campaign])[seat.pk].n == 20
    assert Event.objects.get(verb="pack.taken").data == {"count": 20}


def test_asked_twice_it_is_the_same_pack() -> None:
    seat = seat_of()
    person = a_person(seat.cohort)
    first = packs.take_pack(person, seat, NOON)
    assert packs.take_pack(person, seat, NOON + HOUR) == first
    assert Event.objects.filter(verb="pack.taken").count() == 1


@pytest.mark.parametrize(("items", "target", "size"), [(30, 1, 10), (10, 3, 10), (2, 1, 0), (5, 1, 1)])
def test_a_pack_is_at_most_a_third_of_the_places_that_are_open(items: int, target: int, size: int) -> None:
    seat = seat_of(items, target)
    person = a_person(seat.cohort)
    if not size:
        assert refused(person, seat) == "pack_few_open"
        assert not Assignment.objects.exists()
    else:
        assert len(packs.take_pack(person, seat, NOON)) == size


def test_the_hours_are_a_setting_of_the_campaign_and_none_means_no_pack() -> None:
    seat = seat_of()
    lifecycle.set_pack_hours(seat.campaign, 6, None)
    assert packs.take_pack(a_person(seat.cohort), seat, NOON)[0].lease_until == NOON + 6 * HOUR
    lifecycle.set_pack_hours(seat.campaign, 0, None)
    assert refused(a_person(seat.cohort), seat) == "pack_off"
    assert lifecycle.clone(seat.campaign, None, "Copy").pack_hours == 0


def test_limits_bind_a_pack_and_a_pack_takes_room_of_them() -> None:
    seat = seat_of(items=90)
    lifecycle.set_limits(seat, 6, None, None)
    person = a_person(seat.cohort)
    rate(next_work.get_or_claim_work(person, seat, NOON).current, at=NOON)  # type: ignore[arg-type]
    assert len(packs.take_pack(person, seat, NOON)) == 3  # one is answered, two are in hand and ahead
    work = next_work.get_or_claim_work(person, seat, NOON)
    rate(work.current, at=NOON)  # type: ignore[arg-type]
    rate(next_work.get_or_claim_work(person, seat, NOON).current, at=NOON)  # type: ignore[arg-type]
    nothing = next_work.get_or_claim_work(person, seat, NOON).no_work
    assert nothing is not None and nothing.reason == "in_pack"
    assert packs.give_back(person, seat, NOON) == 3
    assert next_work.get_or_claim_work(person, seat, NOON).current is not None


def test_what_is_given_back_is_open_to_others_and_the_rest_stays() -> None:
    seat = seat_of(items=30)
    person, other = a_person(seat.cohort), a_person(seat.cohort)
    pack = packs.take_pack(person, seat, NOON)
    assert packs.give_back(person, seat, NOON, [pack[0].pk, pack[1].pk]) == 2
    assert packs.give_back(other, seat, NOON, [pack[2].pk]) == 0  # a stranger's id gives nothing back
    assert packs.pack_of(person, seat, NOON) == pack[2:]
    assert packs.give_back(person, seat, NOON) == 8
    assert packs.give_back(person, seat, NOON) == 0
    assert not Assignment.objects.filter(state="reserved").exists() and not Assignment.objects.filter(packed=True)
    assert [event.data for event in Event.objects.filter(verb="pack.given_back").order_by("pk")] == [
        {"count": 2}, {"count": 8},
    ]  # fmt: skip


def test_the_sweep_gives_a_pack_back_when_its_time_is_over_and_not_before() -> None:
    seat = seat_of(items=30)
    person = a_person(seat.cohort)
    pack = packs.take_pack(person, seat, NOON)
    assert leases.release_expired(NOON + 23 * HOUR) == 0
    assert leases.release_expired(NOON + 24 * HOUR) == len(pack) == 10
    assert packs.pack_of(person, seat, NOON + 24 * HOUR) == []
    assert Slot.objects.filter(open=True).count() == 30


def test_answers_of_a_pack_count_and_take_nothing_more() -> None:
    seat = seat_of(items=30)
    person = a_person(seat.cohort)
    pack = packs.take_pack(person, seat, NOON)
    results = [sent(row, f"key-{row.pk}", NOON + 5 * HOUR) for row in pack]
    assert all(done.annotation.counted and done.work.current is None for done in results)
    assert not Assignment.objects.filter(state="reserved").exists()
    repeated = sent(pack[0], f"key-{pack[0].pk}", NOON + 6 * HOUR)
    assert repeated.repeated and repeated.annotation == results[0].annotation


def test_answers_after_the_reservation_count_where_a_place_is_free_and_else_wait() -> None:
    seat = seat_of(items=30)
    person, other = a_person(seat.cohort), a_person(seat.cohort)
    pack = packs.take_pack(person, seat, NOON)
    late = NOON + 25 * HOUR
    leases.release_expired(late)
    assert sent(pack[0], "free", late).annotation.counted
    Slot.objects.filter(pk=pack[1].slot_id).update(urgent=True)
    taken = next_work.get_or_claim_work(other, seat, late).current
    assert taken is not None and taken.slot_id == pack[1].slot_id
    surplus = sent(pack[1], "full", late).annotation
    assert (surplus.counted, surplus.uncounted_because) == (False, "surplus")


def test_seconds_of_answers_that_arrive_together_are_kept() -> None:
    seat = seat_of(items=90)
    pack = packs.take_pack(a_person(seat.cohort), seat, NOON)
    for number, row in enumerate(pack):
        shown = NOON + number * timedelta(minutes=20)
        sent(row, f"k{number}", NOON + 20 * HOUR, shown_at=shown, active_seconds=900 if number else 9999)
    seconds = sorted(row.annotations.get().active_seconds for row in pack)
    assert seconds == [900] * 19 + [3600]  # five hours of work in all, none of them longer than one


def test_seconds_of_a_pack_are_kept_when_the_line_is_back_with_its_last_answer() -> None:
    seat = seat_of(items=90)
    pack = packs.take_pack(a_person(seat.cohort), seat, NOON)
    minute = timedelta(minutes=1)
    for number, row in enumerate(pack):
        sent(row, f"k{number}", NOON + 20 * minute, shown_at=NOON + number * minute, active_seconds=55)
    assert [row.annotations.get().active_seconds for row in pack] == [55] * 20


def test_answers_of_a_pack_take_no_more_time_than_passed() -> None:
    """A browser may say what it likes: three hours in each of them, all within the two that there were."""
    seat = seat_of(items=90)
    pack = packs.take_pack(a_person(seat.cohort), seat, NOON)
    for number, row in enumerate(pack):
        shown = NOON + number * timedelta(seconds=1)
        sent(row, f"k{number}", NOON + 2 * HOUR, shown_at=shown, active_seconds=3 * 3600)
    assert sum(row.annotations.get().active_seconds for row in pack) <= 2 * 3600 + 1


def test_a_skip_out_of_a_pack_hands_the_item_on() -> None:
    seat = seat_of(items=30)
    person = a_person(seat.cohort)
    pack = packs.take_pack(person, seat, NOON)
    assert submit.skip(pack[0].pk, person, "unknown", "", NOON, from_pack=True) == submit.NO_NEXT
    assert packs.pack_of(person, seat, NOON) == pack[1:]
    undone = next_work.get_or_claim_work(person, seat, NOON)
    assert undone.current is not None and undone.current.pk not in {row.pk for row in pack}


def test_an_undone_answer_of_a_pack_is_in_hand_and_the_pack_stays() -> None:
    seat = seat_of(items=30)
    person = a_person(seat.cohort)
    next_work.get_or_claim_work(person, seat, NOON)
    pack = packs.take_pack(person, seat, NOON)
    sent(pack[0], "first", NOON)
    work = submit.undo(pack[0].pk, person, NOON)
    assert work.current is not None and work.current.pk == pack[0].pk and not work.current.packed
    assert packs.pack_of(person, seat, NOON) == pack[1:]


def test_whoever_leaves_or_meets_a_close_gives_their_pack_back() -> None:
    seat = seat_of(items=30)
    leaver, other = a_person(seat.cohort), a_person(seat.cohort)
    first = packs.take_pack(leaver, seat, NOON)
    packs.take_pack(other, seat, NOON)
    member = CohortMember.objects.get(user=leaver.user)
    assert leaver.user is not None
    membership_end.end_membership_and_release(member, leaver.user, NOON)
    assert packs.pack_of(leaver, seat, NOON) == [] and refused(leaver, seat) == "not_a_member"
    kept = sent(first[0], "left", NOON).annotation
    assert (kept.counted, kept.uncounted_because) == (False, "not_a_member")
    lifecycle.close(seat.campaign, None, NOON)
    assert not Assignment.objects.filter(state="reserved").exists()
    assert refused(other, seat) == "campaign_closed"


def test_a_pause_takes_no_pack_away_and_gives_none() -> None:
    seat = seat_of(items=30)
    holder, other = a_person(seat.cohort), a_person(seat.cohort)
    pack = packs.take_pack(holder, seat, NOON)
    lifecycle.pause(seat.campaign, None)
    assert packs.pack_of(holder, seat, NOON) == pack
    assert refused(other, seat) == "campaign_paused"
    assert sent(pack[0], "paused", NOON).annotation.counted


@pytest.mark.parametrize("stop", ["campaign", "cohort", "share", "day"])
def test_who_has_a_pack_gets_that_one_also_where_no_new_work_is_given(stop: str) -> None:
    seat = seat_of(items=30)
    holder = a_person(seat.cohort)
    pack = packs.take_pack(holder, seat, NOON)
    if stop == "campaign":
        lifecycle.pause(seat.campaign, None)
    elif stop == "cohort":
        lifecycle.pause_cohort(seat, None, paused=True)
    else:
        assert sent(pack.pop(0), "first", NOON).annotation.counted
        lifecycle.set_limits(seat, *((1, None) if stop == "share" else (None, 1)), None)
    assert packs.take_pack(holder, seat, NOON) == pack
    assert packs.give_back(holder, seat, NOON) == len(pack)
    reasons = {"campaign": "campaign_paused", "cohort": "cohort_paused", "share": "own_share_done", "day": "day_done"}
    assert refused(holder, seat) == reasons[stop]


def test_who_is_let_out_does_not_get_their_pack_again() -> None:
    seat = seat_of(items=30)
    holder = a_person(seat.cohort)
    packs.take_pack(holder, seat, NOON)
    CohortMember.objects.filter(user=holder.user).update(left_at=NOON)
    assert Assignment.objects.filter(rater=holder, packed=True, state="reserved").exists()
    assert refused(holder, seat) == "not_a_member"
    assert packs.pack_of(holder, seat, NOON) == []


VERDICTS = {"kind": "verdicts", "from": ["rate"]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"derivation": {"kind": "disagree", "from": ["rate"]}}, "pack_disputes"),
        ({"derivation": VERDICTS}, "pack_follows"),
        ({"staffing": Stage.Staffing.CONTRIBUTORS}, "pack_own"),
        ({"coverage": {"stop_when_full": True}}, "pack_cells"),
    ],
)
def test_stages_with_live_rules_offer_no_pack_and_say_why(change: dict[str, Any], reason: str) -> None:
    seat = seat_of(items=30)
    person = a_person(seat.cohort)
    assert pack_refusal(seat.campaign) is None
    for name, value in change.items():
        setattr(seat.campaign.stage, name, value)
    assert refused(person, seat) == reason
    assert not Assignment.objects.exists()


PICTURE = {"fields": [{"key": "found", "kind": "picture", "label": {"en": "A picture"}, "config": {}}]}


def test_a_question_for_a_picture_offers_no_pack() -> None:
    seat = seat_of(items=30)
    stage = seat.campaign.stage
    seat.campaign.sheet_version = SheetVersion.objects.create(stage=stage, major=2, minor=0, definition=PICTURE)
    assert refused(a_person(seat.cohort), seat) == "pack_uploads"


@pytest.mark.django_db(transaction=True)
def test_two_people_at_once_never_take_more_than_a_third_of_what_the_other_left() -> None:
    seat = seat_of(items=30)
    people = [a_person(seat.cohort) for _n in range(4)]
    sizes = run_together(*(partial(take, person, seat) for person in people))
    assert sorted(sizes, reverse=True) == [10, 6, 4, 3]
    assert len(set(Assignment.objects.values_list("slot_id", flat=True))) == sum(sizes)


@pytest.mark.django_db(transaction=True)
def test_one_person_who_asks_twice_at_once_has_one_pack() -> None:
    seat = seat_of(items=30)
    person = a_person(seat.cohort)
    packs_taken = run_together(*[lambda: packs.take_pack(person, seat, NOON)] * 3)
    assert packs_taken[0] == packs_taken[1] == packs_taken[2]
    assert Assignment.objects.count() == 10
