"""A skip is taken back in the first seconds, and what was skipped may be answered later."""

from datetime import timedelta
from typing import Any

import pytest

from annotation.models import Assignment, CampaignCohort, Slot, Tally
from annotation.services.answers import drafts, submit, undo_and_conflicts
from annotation.services.campaigns import lifecycle
from annotation.services.queue import next_work, recount
from jobs.models import Event
from people.models import CohortMember, Rater
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db
SOON = NOON + timedelta(seconds=20)
LATE = NOON + timedelta(seconds=31)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def skip_sheet(person: Rater, seat: CampaignCohort) -> Assignment:
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    drafts.save(hand.pk, person, {"relevance": "3"}, 0, NOON)
    submit.skip(hand.pk, person, "unknown", "", NOON)
    return hand


def test_it_is_in_hand_again_with_its_place_and_what_was_written() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    person = a_person(seat.cohort)
    hand = skip_sheet(person, seat)
    work = undo_and_conflicts.undo_skip(hand.pk, person, SOON)
    assert work.current and work.current.pk == hand.pk and work.current.draft.answers == {"relevance": "3"}
    hand.refresh_from_db()
    assert (hand.state, hand.in_hand, hand.skip_reason) == ("reserved", True, "")
    assert next_work.get_or_claim_work(person, seat, SOON).current == hand
    assert sum(Tally.objects.values_list("skipped", flat=True)) == 0
    assert Event.objects.filter(verb="assignment.skip_undone").count() == 1
    assert rate(hand, at=SOON).annotation.counted


def test_it_is_too_late_after_the_grace_time_and_nobody_elses() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    person = a_person(seat.cohort)
    hand = skip_sheet(person, seat)
    with pytest.raises(submit.AssignmentStateError) as refused:
        undo_and_conflicts.undo_skip(hand.pk, person, LATE)
    assert refused.value.reason == "too_late"
    with pytest.raises(submit.AssignmentStateError):
        undo_and_conflicts.undo_skip(hand.pk, a_person(seat.cohort), SOON)
    hand.refresh_from_db()
    assert hand.state == "skipped"


def test_it_is_taken_back_until_the_end_of_the_last_second(settings: Any) -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    person = a_person(seat.cohort)
    hand = skip_sheet(person, seat)
    last = NOON + timedelta(seconds=settings.UNDO_SECONDS)
    with pytest.raises(submit.AssignmentStateError):
        undo_and_conflicts.undo_skip(hand.pk, person, last + timedelta(microseconds=1))
    assert undo_and_conflicts.undo_skip(hand.pk, person, last).current == hand


def test_twice_is_once_and_an_answer_is_no_skip() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    person = a_person(seat.cohort)
    hand = skip_sheet(person, seat)
    undo_and_conflicts.undo_skip(hand.pk, person, SOON)
    with pytest.raises(submit.AssignmentStateError):
        undo_and_conflicts.undo_skip(hand.pk, person, SOON)
    rate(hand, at=SOON)
    with pytest.raises(submit.AssignmentStateError):
        undo_and_conflicts.undo_skip(hand.pk, person, SOON)


def test_a_place_that_another_has_taken_is_not_taken_twice() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1, target=1))
    person, other = a_person(seat.cohort), a_person(seat.cohort)
    hand = skip_sheet(person, seat)
    assert next_work.get_or_claim_work(other, seat, NOON).current
    work = undo_and_conflicts.undo_skip(hand.pk, person, SOON)
    assert work.current and work.current.pk == hand.pk  # it is shown, and answered late
    done = rate(hand, at=SOON)
    assert (done.annotation.counted, done.annotation.uncounted_because) == (False, "surplus")


def test_a_unit_that_this_skip_retired_is_asked_for_again() -> None:
    campaign = an_open_campaign(items=1, target=2)
    campaign.stage.retire_after_skips = 1
    campaign.stage.save()
    seat = get_campaign_cohort(campaign)
    person = a_person(seat.cohort)
    hand = skip_sheet(person, seat)
    assert Slot.objects.get().retired
    undo_and_conflicts.undo_skip(hand.pk, person, SOON)
    slot = Slot.objects.get()
    assert (slot.retired, slot.wanted, slot.reserved) == (False, 2, 1)


def test_a_limit_is_not_passed_by_it() -> None:
    campaign = an_open_campaign(items=3)
    seat = get_campaign_cohort(campaign)
    CampaignCohort.objects.filter(pk=seat.pk).update(most_per_person=1)
    person = a_person(seat.cohort)
    hand = skip_sheet(person, get_campaign_cohort(campaign))
    undo_and_conflicts.undo_skip(hand.pk, person, SOON)
    assert list(Assignment.objects.filter(rater=person, state="reserved")) == [hand]
    assert rate(hand, at=SOON).annotation.counted


def test_in_a_pause_it_is_shown_and_after_leaving_it_is_not() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=3))
    person = a_person(seat.cohort)
    hand = skip_sheet(person, seat)
    lifecycle.pause_cohort(seat, None)
    assert undo_and_conflicts.undo_skip(hand.pk, person, SOON).current == hand
    gone = a_person(seat.cohort)
    lifecycle.pause_cohort(seat, None, paused=False)
    theirs = skip_sheet(gone, get_campaign_cohort(seat.campaign))
    CohortMember.objects.filter(user=gone.user).update(left_at=NOON)
    with pytest.raises(submit.AssignmentStateError) as refused:
        undo_and_conflicts.undo_skip(theirs.pk, gone, SOON)
    assert refused.value.reason == "not_a_member"
