"""Whose answers count. Nothing is lost: what is excluded stays, and can come back."""

from datetime import timedelta

import pytest

from annotation.models import Annotation, Exclusion, Rating, Slot
from annotation.services.answers import exclusions
from annotation.services.queue import leases, next_work, recount
from jobs.models import Event
from people.models import Rater, User
from tests.annotation.queue.factories import NOON, a_person, an_open_campaign, get_campaign_cohort, rate

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(minutes=31)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


@pytest.fixture
def actor(db: None) -> User:
    user = a_person().user
    assert user
    return user


def submits(rater: Rater, seat: object) -> Annotation:
    hand = next_work.get_or_claim_work(rater, seat, NOON).current  # type: ignore[arg-type]
    assert hand
    return rate(hand, at=NOON).annotation


def test_an_excluded_raters_places_open_again(actor: User) -> None:
    campaign = an_open_campaign(items=4)
    seat = get_campaign_cohort(campaign)
    bad, good = a_person(seat.cohort), a_person(seat.cohort)
    theirs, others = submits(bad, seat), submits(good, seat)
    exclusions.exclude(campaign.stage.benchmark, bad, "Always the same key", actor, NOON)
    theirs.refresh_from_db()
    others.refresh_from_db()
    assert (theirs.live, theirs.counted, theirs.uncounted_because) == (True, False, "excluded")
    assert others.counted
    assert list(Rating.objects.filter(counted=True).values_list("rater_id", flat=True)) == [good.pk]
    assert Slot.objects.filter(open=True).count() >= 2  # the answered one, and what they held
    found = {next_work.get_or_claim_work(good, seat, NOON).current}
    assert None not in found
    event = Event.objects.get(verb="rater.excluded")
    assert event.data["answers"] == 1 and event.data["exclusion"] == bad.exclusions.get().pk
    assert "same key" not in str(event.data), "events are for ever: what was said of a person is in the exclusion alone"


def test_excluding_twice_is_excluding_once_and_needs_a_reason(actor: User) -> None:
    campaign = an_open_campaign()
    rater = a_person(get_campaign_cohort(campaign).cohort)
    with pytest.raises(ValueError):
        exclusions.exclude(campaign.stage.benchmark, rater, " ", actor, NOON)
    first = exclusions.exclude(campaign.stage.benchmark, rater, " One\n", actor, NOON)
    assert exclusions.exclude(campaign.stage.benchmark, rater, "Two", actor, NOON) == first
    assert Exclusion.objects.get().reason == "One"


def test_a_waiting_answer_takes_the_place(actor: User) -> None:
    campaign = an_open_campaign(items=1)
    seat = get_campaign_cohort(campaign)
    late, quick = a_person(seat.cohort), a_person(seat.cohort)
    assignment = next_work.get_or_claim_work(late, seat, NOON).current
    leases.release_expired(LATER)
    counted = submits(quick, seat)
    assert assignment
    surplus = rate(assignment, at=LATER).annotation
    exclusions.exclude(campaign.stage.benchmark, quick, "r", actor, LATER)
    surplus.refresh_from_db()
    counted.refresh_from_db()
    assert (surplus.counted, counted.counted) == (True, False)
    assert not Slot.objects.get().open


def test_late_work_of_the_excluded_is_kept_and_not_counted(actor: User) -> None:
    campaign = an_open_campaign()
    seat = get_campaign_cohort(campaign)
    rater = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(rater, seat, NOON).current
    exclusions.exclude(campaign.stage.benchmark, rater, "r", actor, NOON)
    assert hand
    kept = rate(hand, at=NOON).annotation
    assert (kept.live, kept.counted, kept.uncounted_because) == (True, False, "excluded")


def test_lifting_counts_again_where_places_are_free(actor: User) -> None:
    campaign = an_open_campaign(items=2)
    seat = get_campaign_cohort(campaign)
    rater, other = a_person(seat.cohort), a_person(seat.cohort)
    first, second = submits(rater, seat), submits(rater, seat)
    exclusions.exclude(campaign.stage.benchmark, rater, "r", actor, NOON)
    taken = submits(other, seat)
    leases.release_expired(LATER)
    assert exclusions.lift_exclusion(campaign.stage.benchmark, rater, actor, LATER) == 1
    for one in (first, second):
        one.refresh_from_db()
    same = first if first.assignment.unit_id == taken.assignment.unit_id else second
    back = second if same is first else first
    assert (same.counted, same.uncounted_because) == (False, "surplus")
    assert (back.counted, back.uncounted_because) == (True, "")
    assert exclusions.lift_exclusion(campaign.stage.benchmark, rater, actor, LATER) == 0
    assert next_work.get_or_claim_work(rater, seat, LATER).current is None  # had both


def test_other_benchmarks_are_not_concerned(actor: User) -> None:
    campaign, other_campaign = an_open_campaign(), an_open_campaign()
    rater = a_person(get_campaign_cohort(campaign).cohort, get_campaign_cohort(other_campaign).cohort)
    submits(rater, get_campaign_cohort(campaign))
    elsewhere = submits(rater, get_campaign_cohort(other_campaign))
    exclusions.exclude(campaign.stage.benchmark, rater, "r", actor, NOON)
    elsewhere.refresh_from_db()
    assert elsewhere.counted
