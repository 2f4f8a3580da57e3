"""How many answers there are of those wanted: every page says the same, and leaves out what nobody can use any more."""

import re

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Campaign, Slot
from annotation.queries.progress import Progress, progress_of, usable_progress
from annotation.services.campaigns import lifecycle
from benchmarks.models import Benchmark, Item, Stage
from tests.benchmarks.test_board import answer, board
from tests.chains.link_client import text_of
from tests.personas import World

pytestmark = pytest.mark.django_db
COUNT = re.compile(r"(\d+) of (\d+)")


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Egypt has answered three of five items."""
    Benchmark.objects.filter(pk=world.benchmark.pk).update(is_public=True)
    world.add_items(5)
    campaign = lifecycle.create(world.stage, "Round 1", world.mara, {world.egypt: 1})
    lifecycle.open_campaign(campaign, world.mara, timezone.now())
    row = campaign.cohorts.get()
    for slot in row.slots.order_by("pk")[:3]:
        answer(world, row, world.nour, slot)
    return campaign


def shown(world: World, campaign: Campaign) -> dict[str, tuple[str, ...]]:
    """Given and wanted, as each page says it first."""
    pages = {
        "home": (world.client(world.tarek), "/work/"),
        "sheet": (world.client(world.tarek), f"/work/{campaign.pk}/"),
        "list": (world.client(world.mara), "/benchmarks/"),
        "public page": (Client(), f"/public/{world.benchmark.slug}/"),
        "campaigns": (world.client(world.mara), f"/b/{world.benchmark.slug}/campaigns/"),
        "campaign": (world.client(world.mara), f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/"),
        "cohort": (world.client(world.manager), f"/cohorts/{world.egypt.pk}/"),
    }
    texts = {name: text_of(client.get(url).content.decode()) for name, (client, url) in pages.items()}
    texts["board"] = board(world)["Egypt"][world.stage.key]
    found = {name: COUNT.search(text) for name, text in texts.items()}
    return {name: match.groups() if match else (texts[name],) for name, match in found.items()}


def answered(campaign: Campaign, n: int) -> list[int]:
    slots = Slot.objects.filter(cohort__campaign=campaign, submitted=1).order_by("pk")[:n]
    return [slot.unit.item_id for slot in slots.select_related("unit")]


def test_every_page_leaves_out_withdrawn_and_dropped_items(world: World, campaign: Campaign) -> None:
    assert set(shown(world, campaign).values()) == {("3", "5")}
    withdrawn, dropped = answered(campaign, 2)
    Item.objects.filter(pk=withdrawn).update(withdrawn_at=timezone.now())
    Item.objects.filter(pk=dropped).update(intake=Item.Intake.DROPPED)
    counts = shown(world, campaign)
    assert set(counts.values()) == {("1", "3")}, counts
    Item.objects.filter(pk=withdrawn).update(withdrawn_at=None)
    assert set(shown(world, campaign).values()) == {("2", "4")}, "a restored item counts again"


def test_a_waiting_item_counts_where_the_stage_assigns_it(world: World, campaign: Campaign) -> None:
    Item.objects.filter(pk__in=answered(campaign, 1)).update(intake=Item.Intake.WAITING)
    assert set(shown(world, campaign).values()) == {("2", "4")}
    Stage.objects.filter(pk=world.stage.pk).update(assign_waiting=True)
    assert set(shown(world, campaign).values()) == {("3", "5")}


def test_the_sums_of_an_answer_are_corrected_alike(world: World, campaign: Campaign) -> None:
    row = campaign.cohorts.get()
    Item.objects.filter(pk__in=answered(campaign, 1)).update(withdrawn_at=timezone.now())
    assert usable_progress(row.pk, Progress(3, 5)) == progress_of([row.pk])[row.pk] == Progress(2, 4)
