"""The coverage matrix: what is there, what is missing, who could fill it; and the buttons beside it."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import (
    Annotation,
    Campaign,
    CampaignCohort,
    ItemContributor,
    Outcome,
    Participation,
    RuleVersion,
    Slot,
    Unit,
)
from annotation.queries import coverage
from annotation.queries.coverage import CoverageFilter
from annotation.queries.coverage_gap import describe_gap
from annotation.services.answers import exclusions, submit
from annotation.services.answers.submit import Submission
from annotation.services.campaigns import lifecycle
from annotation.services.queue import recount, units
from annotation.services.queue.next_work import get_or_claim_work
from annotation.services.review import reviews
from benchmarks.models import Item
from people.models import Consent
from people.services.raters import rater_of
from tests.personas import World


def page_of(world: World, **params: object) -> str:
    query = "&".join(f"{key}={value}" for key, value in params.items())
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/coverage/?{query}")
    assert reply.status_code == 200
    return reply.content.decode()


def place_of(campaign: Campaign, label: str = "Egypt") -> CampaignCohort:
    return campaign.cohorts.select_related("cohort", "campaign__stage").get(cohort__label=label)


def rates(world: World, campaign: Campaign, user: object, most: int = 99) -> list[int]:
    """Until there is nothing; the slots that were answered."""
    rater = rater_of(user)  # type: ignore[arg-type]
    work = get_or_claim_work(rater, place_of(campaign), timezone.now())
    slot_ids: list[int] = []
    while work.current and len(slot_ids) < most:
        sent = Submission(raw={"relevance": "4"}, client_key=f"{rater.pk}-{work.current.pk}")
        slot_ids.append(work.current.slot_id or 0)
        work = submit.submit(work.current.pk, rater, sent, timezone.now()).work
    return slot_ids


def member_counts(campaign: Campaign, slots: list[int] | None = None) -> dict[str, int]:
    place = place_of(campaign)
    slots = slots or list(Slot.objects.filter(cohort=place).values_list("pk", flat=True))
    return {one.key: one.n for one in describe_gap(place, slots, timezone.now()).groups}


def test_cells_say_what_was_counted_of_what_was_asked(world: World, campaign: Campaign) -> None:
    rates(world, campaign, world.nour)
    rows = coverage.coverage_page(campaign, CoverageFilter(by="item"))
    assert [place.cohort.label for place in rows.cohorts] == ["Brazil", "Egypt"] and rows.total == 6
    assert {(row.cells[1].counted, row.cells[1].asked) for row in rows.rows if row.cells[1]} == {(1, 2)}
    grouped = coverage.coverage_page(campaign, CoverageFilter(by="concept", concept="wedding"))
    assert [(row.name, row.part) for row in grouped.rows] == [("wedding", "Egypt")]
    cell = grouped.rows[0].cells[1]
    assert cell and (cell.units, cell.counted, cell.asked, cell.style, cell.step) == (2, 2, 4, "part", 10)


def test_rows_are_chosen_by_condition_concept_and_by_what_is_missing(world: World, campaign: Campaign) -> None:
    rates(world, campaign, world.nour), rates(world, campaign, world.tarek)
    assert coverage.coverage_page(campaign, CoverageFilter(by="item", condition="generated")).total == 2
    assert coverage.coverage_page(campaign, CoverageFilter(by="item", show="missing")).total == 6  # Brazil owes all
    for place in Slot.objects.filter(cohort=place_of(campaign, "Brazil")):
        Slot.objects.filter(pk=place.pk).update(submitted=1)
    assert coverage.coverage_page(campaign, CoverageFilter(by="item", show="missing")).total == 0
    assert "No rows match." in page_of(world, show="holes")


def test_a_withdrawn_item_is_no_row_and_pages_hold_fifty(world: World, campaign: Campaign) -> None:
    world.add_items(60)
    lifecycle.add_slots(campaign)
    Item.objects.filter(pk=world.items[0].pk).update(withdrawn_at=timezone.now())
    first = coverage.coverage_page(campaign, CoverageFilter(by="item"))
    second = coverage.coverage_page(campaign, CoverageFilter(by="item", page=2))
    assert (len(first.rows), len(second.rows), first.total, first.pages) == (50, 15, 65, 2)
    html = page_of(world, by="item", page=2)
    assert "Page 2 of 2" in html and "Earlier rows" in html and "More rows" not in html


def test_gap_lists_eligible_members_and_why_others_are_not(world: World, campaign: Campaign) -> None:
    place = place_of(campaign)
    at = timezone.now()
    assert member_counts(campaign) == {"new": 2}
    [slot] = rates(world, campaign, world.nour, most=1)
    assert member_counts(campaign) == {"room": 1, "new": 1}
    assert member_counts(campaign, [slot]) == {"new": 1, "had": 1}
    Participation.objects.update(last_seen_at=at - timedelta(days=8))
    assert member_counts(campaign) == {"idle": 1, "new": 1}
    Participation.objects.update(last_seen_at=at)
    lifecycle.set_limits(place, None, 1, None)
    assert member_counts(campaign) == {"day": 1, "new": 1}
    lifecycle.set_limits(place, 1, None, None)
    assert member_counts(campaign) == {"share": 1, "new": 1}
    Consent.objects.filter(user=world.tarek).update(withdrawn_at=at)
    assert member_counts(campaign) == {"share": 1, "consent": 1}
    exclusions.exclude(world.benchmark, rater_of(world.nour), "All threes.", world.owner, at)
    assert member_counts(campaign) == {"consent": 1, "excluded": 1}


def test_one_person_has_room_and_two_have(world: World, campaign: Campaign) -> None:
    place = place_of(campaign)
    slots = list(Slot.objects.filter(cohort=place).values_list("pk", flat=True))
    assert [one.words for one in describe_gap(place, slots, timezone.now()).groups] == ["have not started"]
    rates(world, campaign, world.nour, most=1)
    told = [one.words for one in describe_gap(place, slots, timezone.now()).groups]
    assert told == ["is available", "has not started"]


def test_holes_that_are_not_listed_are_told_of(world: World, campaign: Campaign, monkeypatch: Any) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(opened_at=timezone.now() - timedelta(days=8))
    assert "largest of" not in page_of(world, by="item", show="holes", concept="wedding")
    monkeypatch.setattr("annotation.views.coverage.OTHERS", 2)
    html = page_of(world, by="item")
    assert "The 2 largest of 12." in html and "show=holes" in html
    assert '<i class="hole" aria-hidden="true"></i>' in html, "the key has no numbers that read like counts"


def test_an_opened_cell_tells_the_items_origin_from_its_cohort(world: World, campaign: Campaign) -> None:
    item = coverage.coverage_page(campaign, CoverageFilter(by="concept", concept="wedding")).rows[0].item
    html = page_of(world, by="concept", concept="wedding", row=item, cohort=place_of(campaign).pk)
    assert "items from <bdi>Egypt</bdi>" in html


def test_a_stage_for_others_leaves_out_who_had_a_part(world: World, campaign: Campaign) -> None:
    world.benchmark.stages.update(staffing="others")
    for item in world.items:
        ItemContributor.objects.create(item=item, rater=rater_of(world.nour))
    assert member_counts(campaign) == {"new": 1, "authors": 1}
    world.benchmark.stages.update(staffing="contributors")
    assert member_counts(campaign) == {"new": 1, "others": 1}


def test_skips_are_told_with_their_reasons_and_set_aside_units_come_back(world: World, campaign: Campaign) -> None:
    world.benchmark.stages.update(retire_after_skips=1)
    work = get_or_claim_work(rater_of(world.nour), place_of(campaign), timezone.now())
    assert work.current and work.current.slot
    item, place = work.current.slot.unit.item_id, place_of(campaign)
    submit.skip(work.current.pk, rater_of(world.nour), "unknown", "", timezone.now())
    params = {"campaign": campaign.pk, "by": "item", "row": item, "cohort": place.pk}
    html = page_of(world, **params)
    assert "1 item was retired" in html and "I do not know what it shows" in html and "; 1 retired" in html
    assert "Reopen retired items" in html
    deed = {**params, "act": "bring_back"}
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/coverage/action/", deed, follow=True)
    assert "1 item was reopened." in reply.content.decode()
    assert not Slot.objects.filter(retired=True).exists()
    assert list(recount.iter_differences()) == []


def test_gap_is_prioritised_and_returned_to_the_queue(world: World, campaign: Campaign) -> None:
    place, item = place_of(campaign), world.items[4]
    params = {"campaign": campaign.pk, "by": "item", "row": item.pk, "cohort": place.pk, "show": "missing"}
    address = f"/b/{world.benchmark.slug}/coverage/action/"
    reply = world.client(world.mara).post(address, {**params, "act": "hurry"})
    assert reply["Location"].endswith("#hole") and "show=missing" in reply["Location"]
    assert Slot.objects.get(urgent=True).unit.item_id == item.pk
    assert "Remove priority" in page_of(world, **params)
    world.client(world.mara).post(address, {**params, "act": "calm"})
    assert not Slot.objects.filter(urgent=True).exists()
    for user in (world.reviewer, world.manager, world.nour, world.rival):
        assert world.client(user).post(address, {**params, "act": "hurry"}).status_code == 404
    assert world.client(world.mara).post(address, {**params, "act": "__init__"}).status_code == 404
    assert world.client(world.mara).post(address, {**params, "act": "hurry", "campaign": "x"}).status_code == 404


def test_a_character_that_no_key_can_have_is_left_out_of_a_list(world: World, campaign: Campaign) -> None:
    typed = f"\x00{world.items[1].key}\nno\x00such"
    posted = {"campaign": campaign.pk, "act": "keys", "keys": typed}
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/coverage/action/", posted)
    assert reply.status_code == 400 and "Line 2: “nosuch” is not an item" in reply.content.decode()


def test_a_list_of_items_is_taken_whole_or_each_wrong_line_is_named(world: World, campaign: Campaign) -> None:
    address = f"/b/{world.benchmark.slug}/coverage/action/"
    typed = f"{world.items[1].key}\n\nno-such-item\n{world.items[2].key}"
    reply = world.client(world.mara).post(address, {"campaign": campaign.pk, "act": "keys", "keys": typed})
    html = reply.content.decode()
    assert reply.status_code == 400 and "Line 3: “no-such-item” is not an item of this campaign." in html
    assert "no-such-item\n" in html and not Slot.objects.filter(urgent=True).exists()
    sent = {"campaign": campaign.pk, "act": "keys", "keys": typed.replace("no-such-item", "")}
    assert "4 items are prioritised." in world.client(world.mara).post(address, sent, follow=True).content.decode()
    assert Slot.objects.filter(urgent=True).count() == 4  # two items, two cohorts
    lifecycle.close(campaign, None, timezone.now())
    assert units.prioritise(campaign, [], None) == 0
    assert "is closed" in world.client(world.mara).post(address, sent, follow=True).content.decode()


def test_reviewers_look_and_managers_of_a_cohort_do_not(world: World, campaign: Campaign) -> None:
    address = f"/b/{world.benchmark.slug}/coverage/?by=item&row={world.items[0].pk}&cohort={place_of(campaign).pk}"
    html = world.client(world.reviewer).get(address).content.decode()
    assert "Available people" in html and "Prioritise" not in html and "Invite people" not in html
    for user in (world.manager, world.nour, world.rival, world.stranger):
        assert world.client(user).get(address).status_code == 404
    assert "Invite people" in world.client(world.team_admin).get(address).content.decode()


def test_a_benchmark_without_an_opened_campaign_says_what_to_do(world: World) -> None:
    assert "No campaign was opened yet." in page_of(world)


def test_the_newest_campaign_that_has_items_is_shown_first(world: World, campaign: Campaign) -> None:
    later = Campaign.objects.create(
        stage=campaign.stage, name="Opened ahead", sheet_version=campaign.sheet_version, opened_at=timezone.now(),
        state=Campaign.State.OPEN,
    )  # fmt: skip
    assert f'<option value="{campaign.pk}" selected>' in page_of(world)
    page = page_of(world, campaign=later.pk)
    assert "This campaign has no items yet." in page and "Remove a filter" not in page


@pytest.mark.parametrize("query", ["page=0", "page=9999999999999", "by=x&show=y", "row=-1&cohort=x", "concept=%27"])
def test_nonsense_in_the_address_shows_the_whole(world: World, campaign: Campaign, query: str) -> None:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/coverage/?{query}")
    assert reply.status_code == 200 and reply.content.decode().count('role="rowheader"') == 4


def test_nothing_is_a_gap_in_the_first_minute(world: World, campaign: Campaign) -> None:
    looks = {
        cell.style for row in coverage.coverage_page(campaign, CoverageFilter()).rows for cell in row.cells if cell
    }
    assert looks == {"part"} and "No rows match." in page_of(world, show="holes")
    week = timezone.now() + timedelta(days=7, minutes=1)
    looks = {
        cell.style
        for row in coverage.coverage_page(campaign, CoverageFilter(), week).rows
        for cell in row.cells
        if cell
    }
    assert looks == {"hole"}, "nobody answered in a week"


def test_with_a_last_day_a_gap_is_less_than_a_fifth_of_what_is_due(world: World, campaign: Campaign) -> None:
    rates(world, campaign, world.nour, 1)  # one answer of twelve in Egypt
    begins = timezone.now()
    campaign.closes_on = begins.date() + timedelta(days=9)
    campaign.save()

    def egypt(day: float) -> list[str]:
        rows = coverage.coverage_page(campaign, CoverageFilter(by="item"), begins + timedelta(days=day)).rows
        return sorted({row.cells[1].style for row in rows if row.cells[1]})

    assert egypt(0) == egypt(1) == ["part"], "of two answers not one is due yet"
    assert egypt(6) == ["hole", "part"], "an item without any answer, once one is due"
    assert coverage.due_share(campaign, begins + timedelta(days=5)) == pytest.approx(0.5, abs=0.06)
    assert coverage.due_share(campaign, begins + timedelta(days=30)) == 1.0
    campaign.state = "closed"
    assert coverage.due_share(campaign, begins) == 1.0


def test_a_cell_is_complete_only_when_its_items_are_accepted(world: World, campaign: Campaign) -> None:
    stage = campaign.stage
    stage.acceptance = "by_review"
    stage.save()
    rates(world, campaign, world.nour), rates(world, campaign, world.tarek)

    def cell() -> coverage.CoverageCell:
        found = coverage.coverage_page(campaign, CoverageFilter(by="concept", concept="wedding")).rows[0].cells[1]
        assert found is not None
        return found

    assert (cell().counted, cell().asked, cell().accepted, cell().units, cell().style) == (4, 4, 0, 2, "part")
    page = page_of(world, concept="wedding")
    assert "✓</a>" not in page and "0 of 2 accepted" in page and "0 of 2 items accepted" in page
    for at, answer in enumerate(Annotation.objects.filter(assignment__unit__item__concept="wedding").order_by("pk")):
        if at:  # the first one waits; the other answer about its item is enough
            reviews.decide(answer.pk, world.reviewer, "accept", timezone.now())
    assert cell().accepted == 2 and "✓</a>" in page_of(world, concept="wedding")
    row = coverage.coverage_page(campaign, CoverageFilter(by="concept", concept="wedding")).rows[0]
    opened = page_of(world, concept="wedding", row=row.item, cohort=place_of(campaign).pk)
    assert "Items accepted: 2 of 2." in opened


def test_a_rule_that_rejects_an_item_leaves_its_cell_open(world: World, campaign: Campaign) -> None:
    stage = campaign.stage
    stage.acceptance = "by_rule"
    stage.save()
    rates(world, campaign, world.nour), rates(world, campaign, world.tarek)
    rule = RuleVersion.objects.create(stage=stage, number=1, definition={})
    units = Unit.objects.filter(item__concept="wedding", target="Egypt").order_by("pk")
    for unit, state in zip(units, ("accepted", "rejected"), strict=True):
        Outcome.objects.create(
            campaign=campaign, unit=unit, rule_version=rule, state=state, answers=2, at=timezone.now()
        )
    cell = coverage.coverage_page(campaign, CoverageFilter(by="concept", concept="wedding")).rows[0].cells[1]
    assert cell and (cell.counted, cell.accepted, cell.units, cell.style) == (4, 1, 2, "part")
    assert coverage.coverage_page(campaign, CoverageFilter(by="concept", concept="wedding", show="missing")).total == 1
