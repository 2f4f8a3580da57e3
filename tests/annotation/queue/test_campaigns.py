"""A campaign's life, also while people work in it."""

from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta

import pytest
from django.db import connection
from django.http import Http404
from django.test.utils import CaptureQueriesContext

from annotation.access import assignment_for, campaign_for, open_work_for
from annotation.models import Annotation, Assignment, Campaign, Slot, Tally
from annotation.queries.answers import watermark
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.queue import leases, next_work, recount
from annotation.tasks import fill_open_campaigns
from benchmarks.models import Item, Stage
from jobs.models import Event
from people.models import CohortMember
from tests.annotation.queue.factories import (
    NOON,
    a_cohort,
    a_person,
    a_stage,
    add_items,
    an_open_campaign,
    get_campaign_cohort,
    rate,
)

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(minutes=31)


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def test_opening_says_everything_that_is_missing() -> None:
    stage = a_stage(0)
    empty = lifecycle.create(stage, "Empty", None, {})
    empty.closes_on = NOON.date() - timedelta(days=1)
    empty.save()
    with pytest.raises(CampaignRefused) as refused:
        lifecycle.open_campaign(empty, None, NOON)
    assert refused.value.reasons == ["no_cohorts", "no_items", "closes_before_it_opens"]
    add_items(stage, 1)
    whole = lifecycle.create(stage, "Whole", None, {a_cohort(stage.benchmark.team): 2})
    lifecycle.open_campaign(whole, None, NOON)
    with pytest.raises(CampaignRefused):
        lifecycle.open_campaign(whole, None, NOON)


def test_cohorts_of_another_team_and_targets_below_one_are_refused() -> None:
    stage, other = a_stage(1), a_stage(1)
    with pytest.raises(CampaignRefused):
        lifecycle.create(stage, "C", None, {a_cohort(other.benchmark.team): 1})
    with pytest.raises(CampaignRefused):
        lifecycle.create(stage, "C", None, {a_cohort(stage.benchmark.team): 0})


def test_slots_are_the_items_of_the_conditions_for_each_cohorts_own_label() -> None:
    stage = a_stage(3)
    add_items(stage, 2, condition="generated")
    gone = Item.objects.filter(condition="natural").first()
    gone.images.all().delete()
    gone.delete()
    egypt, brazil = (a_cohort(stage.benchmark.team, label) for label in ("Egypt", "Brazil"))
    campaign = lifecycle.create(stage, "C", None, {egypt: 2, brazil: 3}, ["natural"])
    lifecycle.open_campaign(campaign, None, NOON)
    rows = Slot.objects.values_list("cohort__cohort__label", "unit__target", "wanted", "unit__item__condition")
    assert sorted(set(rows)) == [("Brazil", "Brazil", 3, "natural"), ("Egypt", "Egypt", 2, "natural")]
    assert Slot.objects.count() == 4
    assert [one.wanted for one in lifecycle.progress(campaign)] == [6, 4]


def test_items_that_come_later_get_slots_and_withdrawn_ones_lose_theirs() -> None:
    campaign = an_open_campaign(items=2, target=2)
    seat = get_campaign_cohort(campaign)
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand
    add_items(campaign.stage, 3)
    assert fill_open_campaigns() == 3
    assert fill_open_campaigns() == 0
    assert Slot.objects.filter(position__gt=10**15).count() == 3
    Item.objects.filter(pk=hand.unit.item_id).update(withdrawn_at=NOON)
    fill_open_campaigns()
    assert list(Slot.objects.filter(pk=hand.slot_id).values_list("wanted", "reserved")) == [(1, 1)]
    assert rate(hand, at=NOON).annotation.counted
    assert lifecycle.progress(campaign)[0].wanted == 4 * 2, "what belongs to a withdrawn item is left out"


@pytest.mark.parametrize("in_all", [False, True])
def test_a_campaign_that_lacks_nothing_costs_one_look_and_no_lock(in_all: bool) -> None:
    """However many cohorts it has, also where some of them have no part in an item."""
    stage = a_stage(3, has_target=not in_all)
    Stage.objects.filter(pk=stage.pk).update(target_in_all=in_all)
    stage.refresh_from_db()
    cohorts = [a_cohort(stage.benchmark.team, label) for label in ("Egypt", "Brazil", "India")]
    campaign = lifecycle.create(stage, "C", None, dict.fromkeys(cohorts, 1))
    lifecycle.open_campaign(campaign, None, NOON)
    for new, slots in ((0, 0), (2, 2 if in_all else 6), (0, 0)):
        add_items(stage, new)
        with CaptureQueriesContext(connection) as queries:
            assert fill_open_campaigns() == slots
        statements = [query["sql"] for query in queries]
        assert new or (len(statements) == 3 and not [sql for sql in statements if "FOR NO KEY" in sql]), statements


def test_a_sheet_is_frozen_at_the_opening_and_words_make_a_minor_version() -> None:
    stage = a_stage(1)
    cohort = a_cohort(stage.benchmark.team)
    first = lifecycle.create(stage, "1", None, {cohort: 1})
    lifecycle.open_campaign(first, None, NOON)
    stage.sheet = deepcopy(stage.sheet)
    stage.sheet["fields"][0]["label"]["en"] = "How much does it matter?"
    stage.save()
    second = lifecycle.clone(first, None, "2")
    stage.sheet["fields"][0]["config"]["points"].pop()
    stage.save()
    third = lifecycle.clone(first, None, "3")
    versions = [(one.sheet_version.major, one.sheet_version.minor) for one in (first, second, third)]
    assert versions == [(1, 0), (1, 1), (2, 0)]
    first.refresh_from_db()
    assert len(first.sheet_version.definition["fields"][0]["config"]["points"]) == 5


def test_a_wrong_sheet_is_refused() -> None:
    stage = a_stage(1)
    stage.sheet = {"fields": [{"key": "x", "kind": "no such kind"}]}
    stage.save()
    with pytest.raises(CampaignRefused) as refused:
        lifecycle.create(stage, "C", None, {a_cohort(stage.benchmark.team): 1})
    assert refused.value.reasons == ["sheet_wrong"]


def test_a_clone_asks_the_same_of_the_same_people_and_shares_no_answers() -> None:
    campaign = an_open_campaign(items=2, target=3)
    lifecycle.set_instructions(campaign, {"en": "Look."}, None)
    seat = get_campaign_cohort(campaign)
    hand = next_work.get_or_claim_work(a_person(seat.cohort), seat, NOON).current
    assert hand
    rate(hand, at=NOON)
    copy = lifecycle.clone(campaign, None, "Round 2")
    assert (copy.state, copy.name) == ("draft", "Round 2")
    assert lifecycle.current_instructions(copy) == {"en": "Look."}
    assert list(copy.cohorts.values_list("cohort_id", "target_answers")) == [(seat.cohort_id, 3)]
    lifecycle.open_campaign(copy, None, NOON)
    assert [one.submitted for one in lifecycle.progress(copy)] == [0]


def test_instructions_get_a_version_only_when_they_change() -> None:
    campaign = an_open_campaign()
    first = lifecycle.set_instructions(campaign, {"en": "One", "ar": " "}, None)
    assert lifecycle.set_instructions(campaign, {"en": "One"}, None) == first
    assert lifecycle.set_instructions(campaign, {"en": "Two"}, None).number == first.number + 1


def test_a_higher_target_opens_slots_again() -> None:
    campaign = an_open_campaign(items=3, target=1)
    seat = get_campaign_cohort(campaign)
    first, second = a_person(seat.cohort), a_person(seat.cohort)
    work = next_work.get_or_claim_work(first, seat, NOON)
    while work.current:
        work = rate(work.current, at=NOON).work
    assert next_work.get_or_claim_work(second, seat, NOON).current is None
    lifecycle.change_target(seat, 2, None)
    assert next_work.get_or_claim_work(second, seat, NOON).current
    assert next_work.get_or_claim_work(first, seat, NOON).current is None
    assert lifecycle.progress(campaign)[0].wanted == 6


def test_a_higher_target_counts_waiting_answers_first() -> None:
    seat = get_campaign_cohort(an_open_campaign(items=1, target=1))
    one, two = a_person(seat.cohort), a_person(seat.cohort)
    late = next_work.get_or_claim_work(one, seat, NOON).current
    leases.release_expired(LATER)
    assignment = next_work.get_or_claim_work(two, seat, LATER).current
    assert late and assignment
    rate(late, at=LATER)
    rate(assignment, at=LATER)
    assert Annotation.objects.filter(counted=True).count() == 1
    lifecycle.change_target(seat, 2, None)
    assert Annotation.objects.filter(counted=True).count() == 2
    assert not Slot.objects.get().open


def test_a_closed_campaign_refuses_another_target_limits_pauses_and_packs() -> None:
    """A page that was loaded before the campaign closed would count answers beyond the target afterwards."""
    campaign = an_open_campaign(items=1, target=1)
    seat = get_campaign_cohort(campaign)
    one, two = a_person(seat.cohort), a_person(seat.cohort)
    late = next_work.get_or_claim_work(one, seat, NOON).current
    leases.release_expired(LATER)
    assignment = next_work.get_or_claim_work(two, seat, LATER).current
    assert late and assignment
    rate(late, at=LATER)
    rate(assignment, at=LATER)
    lifecycle.close(campaign, None, LATER)
    deeds: list[Callable[[], None]] = [
        lambda: lifecycle.change_target(seat, 2, None),
        lambda: lifecycle.set_limits(seat, 5, None, None),
        lambda: lifecycle.pause_cohort(seat, None),
        lambda: lifecycle.set_pack_hours(seat.campaign, 3, None),
    ]
    events = Event.objects.count()
    for deed in deeds:
        with pytest.raises(CampaignRefused) as refused:
            deed()
        assert refused.value.reasons == ["is_closed"]
    assert Annotation.objects.filter(counted=True).count() == 1 and Event.objects.count() == events
    seat.refresh_from_db()
    assert (seat.target_answers, seat.most_per_person, seat.paused) == (1, None, False)


def test_a_lower_target_keeps_what_is_reserved_or_submitted() -> None:
    campaign = an_open_campaign(items=3, target=3)
    seat = get_campaign_cohort(campaign)
    people = [a_person(seat.cohort) for _ in range(2)]
    hands = [next_work.get_or_claim_work(person, seat, NOON).current for person in people]
    assert hands[0] and hands[1] and hands[0].slot_id == hands[1].slot_id
    lifecycle.change_target(seat, 1, None)
    shared = Slot.objects.get(pk=hands[0].slot_id)
    assert (shared.wanted, shared.reserved) == (2, 2)
    leases.release_expired(LATER)  # given back, the places over the target go
    shared.refresh_from_db()
    assert (shared.wanted, shared.reserved, shared.open) == (1, 0, True)
    assert lifecycle.progress(campaign)[0].wanted == 3


def test_closing_gives_places_back_and_ends_the_claims() -> None:
    campaign = an_open_campaign(items=5)
    seat = get_campaign_cohort(campaign)
    person = a_person(seat.cohort)
    work = next_work.get_or_claim_work(person, seat, NOON)
    assert work.current and work.prefetched
    lifecycle.close(campaign, None, NOON)
    assert set(Assignment.objects.values_list("state", flat=True)) == {"released"}
    nothing = next_work.get_or_claim_work(person, seat, NOON).no_work
    assert nothing and nothing.reason == "campaign_closed"
    with pytest.raises(CampaignRefused):
        lifecycle.resume(campaign, None, NOON)


def test_progress_and_watermark_follow_every_change() -> None:
    campaign = an_open_campaign(items=2, target=2)
    seat = get_campaign_cohort(campaign)
    person = a_person(seat.cohort)
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    before = watermark(campaign.stage.benchmark)
    assert hand
    rate(hand, at=NOON)
    assert watermark(campaign.stage.benchmark) > before
    [row] = lifecycle.progress(campaign)
    assert (row.wanted, row.submitted, row.skipped, row.reserved, row.percent) == (4, 1, 0, 1, 25)
    assert Tally.objects.count() == 16


def test_access_is_by_cohort_and_by_ownership() -> None:
    campaign = an_open_campaign()
    seat = get_campaign_cohort(campaign)
    person, stranger = a_person(seat.cohort), a_person()
    hand = next_work.get_or_claim_work(person, seat, NOON).current
    assert hand and person.user and stranger.user
    assert assignment_for(person.user, hand.pk) == hand
    assert open_work_for(person.user, campaign.pk) == seat
    assert campaign_for(person.user, campaign.stage.benchmark, campaign.pk) == campaign
    with pytest.raises(Http404):
        assignment_for(stranger.user, hand.pk)
    with pytest.raises(Http404):
        open_work_for(stranger.user, campaign.pk)
    with pytest.raises(Http404):
        campaign_for(person.user, a_stage(0).benchmark, campaign.pk)
    draft = lifecycle.clone(campaign, None, "Draft")
    with pytest.raises(Http404):
        open_work_for(person.user, draft.pk)
    Campaign.objects.filter(pk=draft.pk).update(state=Campaign.State.CLOSED)
    with pytest.raises(Http404):  # it was discarded, and never open
        open_work_for(person.user, draft.pk)
    lifecycle.close(campaign, None, NOON)
    assert open_work_for(person.user, campaign.pk) == seat


@pytest.mark.parametrize("left", [0, 1])
def test_who_changed_cohorts_is_let_in_by_the_one_they_are_in_now(left: int) -> None:
    campaign = an_open_campaign(labels=("Egypt", "Brazil"))
    seats = list(campaign.cohorts.order_by("pk"))
    person = a_person(*(seat.cohort for seat in seats))
    assert person.user
    CohortMember.objects.filter(user=person.user, cohort=seats[left].cohort).update(left_at=NOON)
    assert open_work_for(person.user, campaign.pk) == seats[1 - left]
    CohortMember.objects.filter(user=person.user).update(left_at=NOON)
    assert open_work_for(person.user, campaign.pk) in seats, "who left all of them learns why"
