"""Who is given what, and what is said when there is nothing."""

from datetime import date, timedelta

import pytest

from annotation.models import Assignment, CampaignCohort, Exclusion, Participation, Rating, Slot, Tally
from annotation.services.answers import submit
from annotation.services.campaigns import lifecycle
from annotation.services.queue import next_work
from annotation.services.queue.next_work import Work
from people.models import CohortMember, Consent, ConsentVersion, Rater
from tests.annotation.queue.factories import NOON, a_cohort, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db


def reason(work: Work) -> str:
    assert work.current is None
    assert work.no_work is not None
    return work.no_work.reason


def work_through(person: Rater, seat: CampaignCohort) -> list[int]:
    work, unit_ids = next_work.get_or_claim_work(person, seat, NOON), []
    while work.current:
        unit_ids.append(work.current.unit_id)
        work = rate(work.current, at=NOON).work
    return unit_ids


def test_a_person_works_until_nothing_is_left_and_meets_no_unit_twice() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=5, target=1))
    person = a_person(seat.cohort)
    seen = work_through(person, seat)
    assert len(set(seen)) == len(seen) == 5
    assert Rating.objects.filter(counted=True).count() == 5
    assert set(Slot.objects.values_list("reserved", "submitted", "open")) == {(0, 1, False)}
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "cohort_full"


def test_one_in_hand_one_ahead_and_asking_again_gives_the_same() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=5))
    person = a_person(seat.cohort)
    first = next_work.get_or_claim_work(person, seat, NOON)
    again = next_work.get_or_claim_work(person, seat, NOON)
    assert first.current and first.prefetched
    assert (first.current, first.prefetched) == (again.current, again.prefetched)
    after = rate(first.current, at=NOON).work
    assert after.current == first.prefetched
    assert after.prefetched not in (None, first.current, first.prefetched)


def test_none_is_taken_ahead_when_others_would_go_without() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    one, two = a_person(seat.cohort), a_person(seat.cohort)
    assert next_work.get_or_claim_work(one, seat, NOON).prefetched  # alone, with two open
    work = next_work.get_or_claim_work(two, seat, NOON)
    assert work.current and work.prefetched is None


def test_the_order_comes_from_the_seed_and_not_from_the_items() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=30))
    by_position = list(Slot.objects.filter(cohort=seat).order_by("position").values_list("unit_id", flat=True))
    assert sorted(by_position) != by_position
    assert list(Slot.objects.order_by("position").values_list("position", flat=True)) == list(range(1, 31))


def test_different_people_are_asked_until_the_target_is_met() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=4, target=2))
    people = [a_person(seat.cohort) for _ in range(3)]
    assert [len(work_through(person, seat)) for person in people] == [4, 4, 0]
    assert reason(next_work.get_or_claim_work(people[2], seat, NOON)) == "cohort_full"


def test_where_nothing_is_asked_yet_nobody_is_thanked_for_everything() -> None:
    """A stage whose items are made of an earlier one's answers begins with none."""
    seat = get_campaign_cohort(an_open_campaign(items=1))
    Slot.objects.filter(cohort=seat).delete()
    Tally.objects.filter(cohort=seat).update(wanted=0)
    assert reason(next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON)) == "nothing_yet"


def test_done_with_everything_while_others_are_missing() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2, target=2))
    person = a_person(seat.cohort)
    work_through(person, seat)
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "all_done"


def test_all_reserved_says_until_when() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    one, two = a_person(seat.cohort), a_person(seat.cohort)
    assignment = next_work.get_or_claim_work(one, seat, NOON).current
    work = next_work.get_or_claim_work(two, seat, NOON + timedelta(minutes=5))
    assert assignment and reason(work) == "all_reserved"
    assert work.no_work and work.no_work.until == assignment.lease_until == NOON + timedelta(minutes=30)


def test_a_place_whose_time_is_over_is_given_on_without_waiting_for_the_worker() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    one, two = a_person(seat.cohort), a_person(seat.cohort)
    assignment = next_work.get_or_claim_work(one, seat, NOON).current
    work = next_work.get_or_claim_work(two, seat, NOON + timedelta(minutes=31))
    assert assignment and work.current and work.current.unit_id == assignment.unit_id
    assert Assignment.objects.get(pk=assignment.pk).state == "released"


def test_opening_the_page_again_renews_a_reservation_that_is_half_over() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=2))
    rater, other = a_person(seat.cohort), a_person(seat.cohort)
    first = next_work.get_or_claim_work(rater, seat, NOON)
    assert first.current and first.prefetched
    next_work.get_or_claim_work(rater, seat, NOON + timedelta(minutes=14))
    leases = Assignment.objects.filter(rater=rater).values_list("lease_until", flat=True)
    assert set(leases.all()) == {NOON + timedelta(minutes=30)}
    next_work.get_or_claim_work(rater, seat, NOON + timedelta(minutes=20))
    assert set(leases.all()) == {NOON + timedelta(minutes=50)}
    assert next_work.get_or_claim_work(other, seat, NOON + timedelta(minutes=31)).current is None


def test_only_members_of_the_cohort() -> None:
    campaign = an_open_campaign()
    seat = get_campaign_cohort(campaign)
    stranger = a_person(a_cohort(campaign.stage.benchmark.team))
    member = a_person(seat.cohort)
    assert reason(next_work.get_or_claim_work(stranger, seat, NOON)) == "not_a_member"
    assert next_work.get_or_claim_work(member, seat, NOON).current


def test_leaving_stops_new_work_and_keeps_the_answer_in_hand() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    CohortMember.objects.filter(user=person.user).update(left_at=NOON)
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "not_a_member"
    assert hand
    done = rate(hand, at=NOON)
    assert (done.annotation.live, done.annotation.uncounted_because) == (True, "not_a_member")
    assert reason(done.work) == "not_a_member"


def test_somebody_switched_off_gets_nothing() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    assert person.user
    person.user.is_active = False
    person.user.save()
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "not_a_member"


def test_consent_to_the_version_in_force() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    team = seat.cohort.team
    first = ConsentVersion.objects.create(team=team, number=1, published_at=NOON)
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "no_consent"
    Consent.objects.create(user=person.user, version=first, language="en")
    assert next_work.get_or_claim_work(person, seat, NOON).current
    ConsentVersion.objects.create(team=team, number=2)  # a draft asks for nothing
    assert next_work.get_or_claim_work(person, seat, NOON).current
    ConsentVersion.objects.create(team=team, number=3, published_at=NOON)
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "no_consent"


def test_withdrawing_consent_stops_new_work_and_keeps_the_answer_in_hand() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    version = ConsentVersion.objects.create(team=seat.cohort.team, number=1, published_at=NOON)
    consent = Consent.objects.create(user=person.user, version=version, language="en")
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    consent.withdrawn_at = NOON
    consent.save()
    assert hand and rate(hand, at=NOON).annotation.uncounted_because == "no_consent"
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "no_consent"


def test_a_new_consent_text_stops_new_work_and_what_was_begun_under_the_older_one_counts() -> None:
    seat = get_campaign_cohort(an_open_campaign())
    person = a_person(seat.cohort)
    first = ConsentVersion.objects.create(team=seat.cohort.team, number=1, published_at=NOON)
    Consent.objects.create(user=person.user, version=first, language="en")
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    ConsentVersion.objects.create(team=seat.cohort.team, number=2, published_at=NOON)
    given = rate(hand, at=NOON) if hand else None
    assert given and given.annotation.counted
    assert reason(given.work) == "no_consent"


def test_the_excluded_are_told_so() -> None:
    campaign = an_open_campaign()
    seat = get_campaign_cohort(campaign)
    person, other = a_person(seat.cohort), a_person(seat.cohort)
    Exclusion.objects.create(benchmark=campaign.stage.benchmark, rater=person, reason="r", by=other.user)
    assert reason(next_work.get_or_claim_work(person, seat, NOON)) == "excluded"
    assert next_work.get_or_claim_work(other, seat, NOON).current


def test_a_pause_lets_people_finish_and_gives_nothing_new() -> None:
    campaign = an_open_campaign()
    seat = get_campaign_cohort(campaign)
    busy, idle = a_person(seat.cohort), a_person(seat.cohort)
    hand = next_work.get_or_claim_work(busy, seat, NOON).current
    lifecycle.pause(campaign, None)
    assert reason(next_work.get_or_claim_work(idle, seat, NOON)) == "campaign_paused"
    assert next_work.get_or_claim_work(busy, seat, NOON).current == hand
    assert hand and reason(rate(hand, at=NOON).work) == "campaign_paused"
    lifecycle.resume(campaign, None, NOON)
    assert next_work.get_or_claim_work(idle, seat, NOON).current


def test_one_cohort_can_be_paused_alone() -> None:
    campaign = an_open_campaign(labels=("Egypt", "Brazil"))
    egypt, brazil = campaign.cohorts.order_by("pk")
    first, second = a_person(egypt.cohort), a_person(brazil.cohort)
    lifecycle.pause_cohort(egypt, None)
    assert reason(next_work.get_or_claim_work(first, egypt, NOON)) == "cohort_paused"
    assert next_work.get_or_claim_work(second, brazil, NOON).current
    lifecycle.pause_cohort(egypt, None, paused=False)
    assert next_work.get_or_claim_work(first, egypt, NOON).current


def test_dates_are_those_of_the_persons_own_day() -> None:
    campaign = an_open_campaign()
    seat = get_campaign_cohort(campaign)
    local, east, cohort_east = (a_person(seat.cohort) for _ in range(3))
    assert east.user
    east.user.time_zone = "Pacific/Kiritimati"  # fourteen hours ahead: there it is tomorrow
    east.user.save()
    campaign.opens_on = date(2026, 3, 2)
    campaign.save()
    assert reason(next_work.get_or_claim_work(local, seat, NOON)) == "not_started"
    assert next_work.get_or_claim_work(east, seat, NOON).current
    seat.cohort.time_zone = "Pacific/Kiritimati"
    seat.cohort.save()
    assert next_work.get_or_claim_work(cohort_east, seat, NOON).current


def test_after_the_last_day_nothing_new_is_given() -> None:
    campaign = an_open_campaign()
    seat = get_campaign_cohort(campaign)
    person = a_person(seat.cohort)
    campaign.closes_on = NOON.date()
    campaign.save()
    assert next_work.get_or_claim_work(person, seat, NOON).current
    late = a_person(seat.cohort)
    assert reason(next_work.get_or_claim_work(late, seat, NOON + timedelta(days=1))) == "ended"


def test_the_cursor_passes_what_a_person_had_and_nothing_else() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=20, target=2))
    person = a_person(seat.cohort)
    work_through(person, seat)
    cursor = Participation.objects.get(rater=person).cursor
    assert Slot.objects.filter(position__lt=cursor).count() == 20
    other = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(other, seat, NOON).current
    assert hand and hand.slot and hand.slot.position == 1


def test_a_slot_that_opens_again_is_found_by_people_whose_cursor_has_passed() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=4, target=1))
    first, second = a_person(seat.cohort), a_person(seat.cohort)
    hand = next_work.get_or_claim_work(first, seat, NOON).current
    assert hand
    assert len(work_through(second, seat)) == 2  # the other two are held by the first
    submit.skip(hand.pk, first, "unknown", "", NOON)
    found = next_work.get_or_claim_work(second, seat, NOON).current
    assert found and found.unit_id == hand.unit_id


def test_two_cohorts_asked_about_the_same_unit_count_apart() -> None:
    campaign = an_open_campaign(items=2, labels=("Egypt", "Brazil"), has_target=False)
    egypt, brazil = campaign.cohorts.order_by("pk")
    both = a_person(egypt.cohort, brazil.cohort)
    assert len(work_through(both, egypt)) == 2
    assert work_through(both, brazil) == []  # no unit twice to one person, whichever way they come
    assert len(work_through(a_person(brazil.cohort), brazil)) == 2


def test_a_place_whose_time_ends_at_this_moment_is_offered_and_given_at_it() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1))
    first, second = a_person(seat.cohort), a_person(seat.cohort)
    hand = next_work.get_or_claim_work(first, seat, NOON).current
    assert hand and hand.lease_until
    before, end = hand.lease_until - timedelta(microseconds=1), hand.lease_until
    assert next_work.no_work_reason(second, seat, before) == next_work.NoWork("all_reserved", end)
    assert next_work.get_or_claim_work(second, seat, before).current is None
    assert next_work.no_work_reason(second, seat, end) is None
    taken = next_work.get_or_claim_work(second, seat, end).current
    assert taken and taken.unit_id == hand.unit_id


def test_a_place_that_was_lost_and_that_another_person_filled_is_no_work() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1, target=1))
    first, second = a_person(seat.cohort), a_person(seat.cohort)
    hand = next_work.get_or_claim_work(first, seat, NOON).current
    assert hand and hand.lease_until
    late = hand.lease_until
    taken = next_work.get_or_claim_work(second, seat, late).current
    assert taken and taken.unit_id == hand.unit_id
    rate(taken, at=late)
    assert next_work.no_work_reason(first, seat, late) == next_work.NoWork("cohort_full")
    assert reason(next_work.get_or_claim_work(first, seat, late)) == "cohort_full"
