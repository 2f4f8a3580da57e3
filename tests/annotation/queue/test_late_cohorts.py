"""A cohort joins a campaign that is open: it gets all the work, the others keep theirs, and nothing overshoots."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection

from annotation.models import CampaignCohort, Slot
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.queue import next_work, recount
from benchmarks.models import Item
from people.models import Cohort, Rater, Team
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


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def test_a_cohort_that_joins_later_gets_every_item_and_the_others_keep_their_work() -> None:
    campaign = an_open_campaign(items=4, target=2, labels=("Egypt",))
    first = get_campaign_cohort(campaign)
    assignment = next_work.get_or_claim_work(a_person(first.cohort), first, NOON).current
    assert assignment
    before = list(Slot.objects.filter(cohort=first).order_by("pk").values())
    row = lifecycle.add_cohort(campaign, a_cohort(campaign.stage.benchmark.team, "Brazil"), 3, None)
    assert list(Slot.objects.filter(cohort=first).order_by("pk").values()) == before
    assert [(one.cohort.label, one.wanted) for one in lifecycle.progress(campaign)] == [("Brazil", 12), ("Egypt", 8)]
    person = a_person(row.cohort)
    work = next_work.get_or_claim_work(person, row, NOON)
    answers = 0
    while work.current:
        answers += 1
        work = rate(work.current, at=NOON).work
    assert answers == 4, "one person answers each item once"
    assert rate(assignment, at=NOON).annotation.counted


def test_own_items_and_conditions_bound_what_a_late_cohort_gets() -> None:
    stage = a_stage(0)
    stage.own_items_only = True
    stage.save()
    add_items(stage, 3)
    Item.objects.filter(pk__in=[item.pk for item in add_items(stage, 2)]).update(origin="Brazil")
    add_items(stage, 1, condition="generated")
    Item.objects.filter(condition="generated").update(origin="Brazil")
    campaign = lifecycle.create(stage, "C", None, {a_cohort(stage.benchmark.team, "Egypt"): 1}, ["natural"])
    lifecycle.open_campaign(campaign, None, NOON)
    row = lifecycle.add_cohort(campaign, a_cohort(stage.benchmark.team, "Brazil"), 1, None)
    assert row.slots.count() == 2


def test_a_cohort_joins_a_draft_without_slots_and_a_paused_campaign_stays_paused() -> None:
    stage = a_stage(2)
    team = stage.benchmark.team
    campaign = lifecycle.create(stage, "C", None, {a_cohort(team): 1})
    late = lifecycle.add_cohort(campaign, a_cohort(team), 1, None)
    assert not Slot.objects.exists()
    lifecycle.open_campaign(campaign, None, NOON)
    assert late.slots.count() == 2
    lifecycle.pause(campaign, None)
    later = lifecycle.add_cohort(campaign, a_cohort(team), 1, None)
    campaign.refresh_from_db()
    assert campaign.state == "paused" and later.slots.count() == 2
    assert next_work.get_or_claim_work(a_person(later.cohort), later, NOON).no_work


def test_a_cohort_is_refused_twice_from_another_team_with_no_target_or_when_the_campaign_is_closed() -> None:
    campaign = an_open_campaign(items=1)
    team, asked = campaign.stage.benchmark.team, campaign.cohorts.get().cohort
    other = a_cohort(Team.objects.create(name="Other", slug="other"))

    def reason(cohort: Cohort, target: int = 1) -> list[str]:
        with pytest.raises(CampaignRefused) as refused:
            lifecycle.add_cohort(campaign, cohort, target, None)
        return refused.value.reasons

    assert reason(asked) == ["cohort_is_asked"]
    assert reason(other) == ["cohort_of_another_team"]
    assert reason(a_cohort(team), 0) == ["target_too_small"]
    lifecycle.close(campaign, None, NOON)
    assert reason(a_cohort(team)) == ["is_closed"]
    assert CampaignCohort.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_people_answer_while_cohorts_join() -> None:
    """Four threads answer for the first cohort while four more cohorts join: every answer has its place."""
    campaign = an_open_campaign(items=12, target=2)
    first = get_campaign_cohort(campaign)
    people = [a_person(first.cohort) for _ in range(4)]
    joining = [a_cohort(campaign.stage.benchmark.team) for _ in range(4)]

    def answer(person: Rater) -> None:
        work = next_work.get_or_claim_work(person, first, NOON)
        while work.current:
            work = rate(work.current, at=NOON).work

    def run(step: Callable[[], object]) -> None:
        try:
            step()
        finally:
            connection.close()

    steps: list[Callable[[], object]] = [partial(answer, person) for person in people]
    steps += [partial(lifecycle.add_cohort, campaign, cohort, 2, None) for cohort in joining]
    with ThreadPoolExecutor(len(steps)) as pool:
        list(pool.map(run, steps))
    assert set(Slot.objects.filter(cohort=first).values_list("submitted", "reserved")) == {(2, 0)}
    assert {row.slots.count() for row in campaign.cohorts.all()} == {12}
