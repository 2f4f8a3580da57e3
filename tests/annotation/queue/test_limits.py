"""How much one person may answer: in all, and on a day of the cohort. Work in hand and late goes through."""

from datetime import UTC, datetime, timedelta

import pytest

from annotation.models import Assignment, Campaign, CampaignCohort, Tally
from annotation.services.answers import submit
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.queue import leases, next_work, recount
from annotation.services.queue.next_work import Work
from jobs.models import Event
from people.models import Cohort, Rater, User
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def seat_with_limits(in_all: int | None = None, a_day: int | None = None, items: int = 10) -> CampaignCohort:
    seat = get_campaign_cohort(an_open_campaign(items=items))
    lifecycle.set_limits(seat, in_all, a_day, None)
    return seat


def rates(person: Rater, seat: CampaignCohort, at: datetime = NOON, most: int = 99) -> tuple[int, Work]:
    """Until there is nothing."""
    work, n_rated = next_work.get_or_claim_work(person, seat, at), 0
    while work.current and n_rated < most:
        work, n_rated = rate(work.current, at=at).work, n_rated + 1
    return n_rated, work


def test_a_share_is_given_exactly_and_others_go_on() -> None:
    seat = seat_with_limits(in_all=4)
    person = a_person(seat.cohort)
    given, work = rates(person, seat)
    assert given == 4 and work.no_work and work.no_work.reason == "own_share_done"
    assert not work.prefetched and not person.assignments.filter(state="reserved").exists()
    assert rates(a_person(seat.cohort), seat)[0] == 4


def test_a_day_ends_at_midnight_of_the_cohort() -> None:
    seat = seat_with_limits(a_day=3)
    Cohort.objects.filter(pk=seat.cohort_id).update(time_zone="Asia/Tokyo")
    person = a_person(seat.cohort)
    given, work = rates(person, seat)  # 21:00 in Tokyo
    assert given == 3 and work.no_work and work.no_work.reason == "day_done"
    assert work.no_work.until == datetime(2026, 3, 1, 15, tzinfo=UTC)
    assert rates(person, seat, NOON + timedelta(hours=2))[0] == 0
    assert rates(person, seat, NOON + timedelta(hours=3))[0] == 3


def test_a_correction_takes_nothing_of_the_day() -> None:
    """Only first versions are counted: who corrects yesterday's answers today has the whole day left."""
    seat = seat_with_limits(a_day=3)
    person = a_person(seat.cohort)
    assert rates(person, seat)[0] == 3
    tomorrow = NOON + timedelta(days=1)
    for answered in person.assignments.filter(state="submitted").order_by("pk")[:2]:
        submit.reopen(answered, person, tomorrow)
        assert rate(answered, "2", at=tomorrow).annotation.version == 2
    assert rates(person, seat, tomorrow)[0] == 3


@pytest.mark.parametrize("zone", ["", "Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_a_person_who_moves_their_clock_begins_no_new_day(zone: str) -> None:
    seat = seat_with_limits(a_day=1)
    Cohort.objects.filter(pk=seat.cohort_id).update(time_zone="America/Sao_Paulo")
    person = a_person(seat.cohort)
    assert rates(person, seat, datetime(2026, 3, 1, 2, tzinfo=UTC))[0] == 1  # 23:00 of the day before
    assert rates(person, seat, datetime(2026, 3, 1, 4, tzinfo=UTC))[0] == 1
    User.objects.filter(pk=person.user_id).update(time_zone=zone)
    for hour in (9, 10, 11, 12, 22, 26):
        at = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hour)
        assert rates(person, seat, at)[0] == 0
    assert rates(person, seat, datetime(2026, 3, 2, 4, tzinfo=UTC))[0] == 1


def test_both_limits_at_once_and_the_reason_that_lasts() -> None:
    seat = seat_with_limits(in_all=3, a_day=2)
    person = a_person(seat.cohort)
    assert rates(person, seat)[0] == 2
    given, work = rates(person, seat, NOON + timedelta(days=1))
    assert given == 1 and work.no_work and work.no_work.reason == "own_share_done"


def test_what_is_in_hand_is_finished_when_a_limit_falls_on_it() -> None:
    seat = seat_with_limits()
    person = a_person(seat.cohort)
    _given, work = rates(person, seat, most=3)
    lifecycle.set_limits(seat, 2, None, None)
    work = next_work.get_or_claim_work(person, seat, NOON)
    assert work.current is not None
    done = rate(work.current, at=NOON)
    assert done.annotation.counted
    assert done.work.current is None and done.work.no_work and done.work.no_work.reason == "own_share_done"


def test_late_work_within_the_limit_counts() -> None:
    seat = seat_with_limits()
    person = a_person(seat.cohort)
    late = next_work.get_or_claim_work(person, seat, NOON).current
    leases.release_expired(NOON + timedelta(hours=1))
    assert late
    lifecycle.set_limits(seat, 1, None, None)
    other = seat_with_limits()  # another campaign's answers are no part of it
    rates(person, other, most=1)
    assert rate(late, at=NOON).annotation.counted
    assert next_work.get_or_claim_work(person, seat, NOON).no_work.reason == "own_share_done"  # type: ignore[union-attr]


def test_an_undone_answer_gives_its_share_back_and_a_skip_costs_none() -> None:
    seat = seat_with_limits(in_all=2)
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    submit.skip(hand.pk, person, "unknown", "", NOON)
    given, work = rates(person, seat)
    assert given == 2 and work.no_work
    last = person.assignments.filter(state="submitted").latest("pk")
    assert submit.undo(last.pk, person, NOON).current == last
    assert rates(person, seat)[0] == 1


def test_a_limit_below_one_is_refused_and_a_change_is_recorded() -> None:
    seat = seat_with_limits(in_all=5, a_day=2)
    with pytest.raises(CampaignRefused):
        lifecycle.set_limits(seat, 0, None, None)
    assert Event.objects.get(verb="campaign.limits_changed").data["a_day"] == 2
    copy = get_campaign_cohort(lifecycle.clone(seat.campaign, None, "Again"))
    assert (copy.most_per_person, copy.most_per_day) == (5, 2)
    lifecycle.set_limits(seat, None, None, None)
    assert rates(a_person(seat.cohort), seat)[0] == 10


def test_a_paused_cohort_gives_no_new_work_but_lets_people_finish() -> None:
    seat = seat_with_limits()
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    Cohort.objects.filter(pk=seat.cohort_id).update(paused_at=NOON)
    assert hand and next_work.get_or_claim_work(person, seat, NOON).current == hand
    done = rate(hand, at=NOON)
    assert done.annotation.counted and done.work.no_work and done.work.no_work.reason == "cohort_paused"


def skip_sheets(person: Rater, seat: CampaignCohort, count: int) -> list[Assignment]:
    """Sheets that were handed on, and are still open in other windows."""
    for _time in range(count):
        hand = next_work.get_or_claim_work(person, seat, NOON).current
        assert hand
        submit.skip(hand.pk, person, "unknown", "", NOON)
    return list(person.assignments.filter(state="skipped").order_by("pk"))


def submit_late(late: Assignment) -> tuple[bool, str]:
    annotation = rate(late, at=NOON).annotation
    return annotation.counted, annotation.uncounted_because


def count_submitted(seat: CampaignCohort) -> int:
    return sum(Tally.objects.filter(cohort=seat).values_list("submitted", flat=True))


@pytest.mark.parametrize("limits", [(1, None), (None, 1)])
def test_skipping_first_and_answering_later_gets_nobody_past_a_limit(limits: tuple[int | None, int | None]) -> None:
    seat = seat_with_limits(*limits)
    person = a_person(seat.cohort)
    first, *others = skip_sheets(person, seat, 4)
    assert next_work.get_or_claim_work(person, seat, NOON).current
    assert submit_late(first) == (False, "surplus")  # what is in hand has the one place that is left
    assert rates(person, seat)[0] == 1
    assert [submit_late(one) for one in others] == [(False, "surplus")] * 3
    assert count_submitted(seat) == 1


def test_late_work_counts_as_far_as_there_is_room() -> None:
    seat = seat_with_limits(in_all=2)
    person = a_person(seat.cohort)
    late = skip_sheets(person, seat, 4)
    person.assignments.filter(state="reserved").update(lease_until=NOON)
    leases.release_expired(NOON)
    assert [submit_late(one)[0] for one in late] == [True, False, False, False]  # the next has come into hand
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand and rate(hand, at=NOON).annotation.counted
    assert count_submitted(seat) == 2


def test_what_waits_for_room_waits_though_it_is_changed_or_taken_back() -> None:
    seat = seat_with_limits(a_day=1)
    person = a_person(seat.cohort)
    first, second = skip_sheets(person, seat, 2)
    person.assignments.filter(state="reserved").update(lease_until=NOON)
    leases.release_expired(NOON)
    assert (submit_late(first), submit_late(second)) == ((True, ""), (False, "surplus"))
    submit.undo(second.pk, person, NOON)
    assert submit_late(second) == (False, "surplus")
    tomorrow = NOON + timedelta(days=1)
    submit.reopen(second.pk, person, tomorrow)
    assert not rate(second, "2", at=tomorrow).annotation.counted


@pytest.mark.parametrize("state", ["skipped", "released"])
@pytest.mark.parametrize("stop", ["campaign", "cohort", "everywhere", "last day"])
def test_what_was_handed_on_is_kept_in_a_pause_and_does_not_count(stop: str, state: str) -> None:
    seat = seat_with_limits()
    person, other = a_person(seat.cohort), a_person(seat.cohort)
    [late] = skip_sheets(person, seat, 1)
    hand = next_work.get_or_claim_work(other, seat, NOON).current
    assert hand
    if state == "released":
        late = next_work.get_or_claim_work(person, seat, NOON).current  # type: ignore[assignment]
        person.assignments.filter(state="reserved").update(lease_until=NOON)
        leases.release_expired(NOON)
    match stop:
        case "campaign":
            lifecycle.pause(seat.campaign, None)
        case "cohort":
            CampaignCohort.objects.filter(pk=seat.pk).update(paused=True)
        case "everywhere":
            Cohort.objects.filter(pk=seat.cohort_id).update(paused_at=NOON)
        case _:
            Campaign.objects.update(closes_on=NOON.date() - timedelta(days=1))
    assert submit_late(late) == (False, "surplus")
    assert submit_late(hand) == (True, "")  # whoever holds a place finishes
