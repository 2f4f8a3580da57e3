"""Answers that are wanted in all: the cohorts share them, each item gets exactly so many, and no more by any way."""

from itertools import groupby
from operator import itemgetter

import pytest
from django.db.models import Sum

from annotation.models import Annotation, Outcome, Slot
from annotation.queries.unit_completion import complete_units
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.queue import next_work, recount, slot_creation
from benchmarks.models import Item
from tests.annotation.chain.factories import (
    ANSWER,
    GOOD,
    RULE,
    a_benchmark,
    a_stage,
    answer,
    claim_sheet,
    create_open_campaign,
    items,
    process_derivations,
)
from tests.annotation.queue.factories import NOON, a_cohort, a_person, an_open_campaign
from tests.personas import stand_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def counters_stay_true(db: None) -> object:
    yield
    assert list(recount.iter_differences()) == []


def wanted_by_unit() -> set[int]:
    return set(Slot.objects.values("unit").annotate(n=Sum("wanted")).values_list("n", flat=True))


def test_cohorts_share_the_answers_and_each_item_gets_so_many_in_all() -> None:
    stage = a_stage(a_benchmark(), "pairs", ANSWER, target_in_all=True)
    items(stage, 8)
    cohorts = [a_cohort(stage.benchmark.team, label) for label in ("Brazil", "Egypt")]
    campaign = create_open_campaign(stage, *cohorts, target=3)
    assert wanted_by_unit() == {3}
    shares = Slot.objects.order_by("unit", "share").values_list("unit", "share")
    assert {tuple(share for _unit, share in rows) for _of, rows in groupby(shares, key=itemgetter(0))} == {(1, 2)}
    for cohort in cohorts:
        place = campaign.cohorts.select_related("campaign__stage", "cohort").get(cohort=cohort)
        for _person in range(3):
            person = a_person(cohort)
            while assignment := next_work.get_or_claim_work(person, place, NOON).current:
                answer(assignment, answer="yes")
    assert Annotation.objects.filter(counted=True).count() == Annotation.objects.count() == 24
    assert len(complete_units(set(Slot.objects.values_list("unit", flat=True)))) == 8


def test_an_item_is_judged_once_every_cohort_has_given_its_share() -> None:
    rule = {"acceptance": "by_rule", "acceptance_rule": RULE}
    stage = a_stage(a_benchmark(), "rate", GOOD, target_in_all=True, **rule)
    items(stage, 1)
    cohorts = [a_cohort(stage.benchmark.team, label) for label in ("Brazil", "Egypt")]
    campaign = create_open_campaign(stage, *cohorts, target=3)
    for slot in Slot.objects.select_related("cohort__cohort"):
        assert not Outcome.objects.exists()
        cohort = slot.cohort.cohort
        for _person in range(slot.wanted):
            answer(claim_sheet(a_person(cohort), campaign, cohort), good="1")
        process_derivations()
    outcome = Outcome.objects.get()
    assert (outcome.state, outcome.answers) == ("accepted", 3)


def test_a_paused_campaign_still_waits_for_its_answers_and_a_closed_one_does_not() -> None:
    campaign = an_open_campaign(items=1)
    units = set(Slot.objects.values_list("unit", flat=True))
    assert complete_units(units) == set()
    lifecycle.pause(campaign, None)
    assert complete_units(units) == set(), "its answers are still to come"
    lifecycle.close(campaign, None, NOON)
    assert complete_units(units) == units


def test_neither_cohort_bears_all() -> None:
    """Who gets the odd answer of an item is drawn, so enough items are needed that chance gives some to each."""
    stage = a_stage(a_benchmark(), "pairs", ANSWER, target_in_all=True)
    items(stage, 64)
    cohorts = [a_cohort(stage.benchmark.team, label) for label in ("Brazil", "Egypt")]
    campaign = create_open_campaign(stage, *cohorts, target=3)
    for cohort in cohorts:
        assert set(campaign.cohorts.get(cohort=cohort).slots.values_list("share", flat=True)) == {1, 2}


def test_fewer_answers_than_cohorts_and_a_cohort_that_joins_later_ask_for_no_more() -> None:
    stage = a_stage(a_benchmark(), "pairs", ANSWER, target_in_all=True)
    first, *_others = items(stage, 6)
    cohorts = [a_cohort(stage.benchmark.team, label) for label in ("Brazil", "Egypt", "India")]
    campaign = create_open_campaign(stage, *cohorts[:2], target=1)
    assert Slot.objects.count() == 6 and wanted_by_unit() == {1}
    unit = Slot.objects.get(unit__item=first).unit_id
    assert complete_units({unit}) == set()
    lifecycle.add_cohort(campaign, cohorts[2], 1, None)
    assert wanted_by_unit() == {1} and Slot.objects.count() == 6
    stand_in(Item.objects.bulk_create(Item(stage=stage, key=f"late-{n}") for n in range(12)))
    lifecycle.add_slots(campaign)
    slot_creation.create_missing_slots(campaign)
    assert wanted_by_unit() == {1} and Slot.objects.count() == 18


def test_an_item_that_comes_back_has_the_shares_it_had_and_the_target_does_not_change_meanwhile() -> None:
    stage = a_stage(a_benchmark(), "pairs", ANSWER, target_in_all=True)
    [item] = items(stage, 1)
    cohorts = [a_cohort(stage.benchmark.team, label) for label in ("Brazil", "Egypt")]
    campaign = create_open_campaign(stage, *cohorts, target=3)
    for withdrawn, total in ((NOON, 0), (None, 3)):
        Item.objects.filter(pk=item.pk).update(withdrawn_at=withdrawn)
        slot_creation.create_missing_slots(campaign)
        assert wanted_by_unit() == {total}
    with pytest.raises(CampaignRefused) as refused:
        lifecycle.change_target(campaign.cohorts.select_related("campaign__stage")[0], 4, None)
    assert refused.value.reasons == ["target_in_all"]
