"""The next action of the overview where a page makes the items of a stage, or items wait and nobody has joined."""

import pytest
from django.utils import timezone

from annotation.models import Campaign
from annotation.services.campaigns.chain_opening import StageOpening, open_chain
from annotation.services.queue.slot_creation import create_missing_slots
from benchmarks.models import Item
from people.models import CohortMember
from tests.benchmarks.test_next_actions import from_recipe, open_first, shown, visit
from tests.personas import World, make_items
from tests.samples import assign

pytestmark = pytest.mark.django_db


def test_an_open_stage_that_a_page_fills_leads_to_that_page(world: World) -> None:
    benchmark = from_recipe(world, "caire-universal")
    generated = benchmark.stages.get(key="generated")
    open_chain(benchmark, [StageOpening(generated.pk, {world.egypt.pk: 1})], world.mara, timezone.now())
    page = visit(world, world.mara, benchmark).page
    assert "Items come from the page “Make images”." in page and "Items come from the page “Linked entities”." in page
    assert "“Generated pictures” has no items" not in shown(world, world.mara, benchmark), "there is no sentence yet"
    Item.objects.create(stage=benchmark.stages.get(key="prompts"), key="eg/dance", text="Dance in Egypt")
    action = shown(world, world.mara, benchmark)
    assert "“Generated pictures” has no items yet. They are made of “Prompts”, on the page “Make images”." in action
    link = visit(world, world.mara, benchmark)
    link.follow("Make images")
    assert "Generated pictures" in link.page and "Link check" not in link.page, "links bring their pictures"
    opening = world.client(world.mara).get(f"/b/{benchmark.slug}/chain/open/").content.decode()
    assert "None yet: they come from the page “Contact sheets”" in opening
    assert "has no items yet" not in shown(world, world.reviewer)
    make_items(generated, 1)
    assert "has no items yet" not in shown(world, world.mara, benchmark)


def test_pictures_that_a_page_shows_are_imported_before_the_page_is_opened(world: World) -> None:
    benchmark = from_recipe(world, "caire-universal")
    pick = benchmark.stages.get(key="pick")
    open_chain(benchmark, [StageOpening(pick.pk, {world.egypt.pk: 1})], world.mara, timezone.now())
    Item.objects.create(stage=benchmark.stages.get(key="prompts"), key="eg/dance", text="Dance in Egypt")
    action = shown(world, world.mara, benchmark)
    assert "“Photographs to search” has no items yet. “Picture picking” shows them." in action
    link = visit(world, world.mara, benchmark)
    link.follow("Import items")
    make_items(benchmark.stages.get(key="photographs"), 1)
    assert "“Picture picking” has no items yet." in shown(world, world.mara, benchmark)


@pytest.mark.parametrize(("stage", "source"), [("specific-concepts", "specific-proposals"), ("link-check", "specific")])
def test_stages_of_links_lead_to_the_links_once_there_is_what_is_linked(world: World, stage: str, source: str) -> None:
    benchmark = from_recipe(world, "caire-universal")
    stages = {row.key: row for row in benchmark.stages.all()}
    opened = (stages[stage], stages["specific-proposals"])
    open_chain(benchmark, [StageOpening(row.pk, {world.egypt.pk: 1}) for row in opened], world.mara, timezone.now())
    name = f"“{stages[stage].name}” has no items yet."
    assert name not in shown(world, world.mara, benchmark)
    [item] = make_items(stages[source], 1)
    if source == "specific-proposals":
        assert name not in shown(world, world.mara, benchmark), "no concept is named yet"
        campaign = stages[source].campaigns.get()
        create_missing_slots(campaign)
        row = campaign.cohorts.get()
        assign(row, world.nour, row.slots.get(unit__item=item), code="3")
    assert "on the page “Linked entities”" in shown(world, world.mara, benchmark)


def test_items_that_wait_for_people_lead_to_the_cohorts_before_a_fact_is_decided(world: World) -> None:
    world.add_items(3)
    open_first(world)
    world.stage.items.filter(pk=world.items[0].pk).update(intake="waiting")
    assert "1 candidate waits for a fact." in shown(world, world.mara)
    CohortMember.objects.update(left_at=timezone.now())
    action = shown(world, world.mara)
    assert "Nobody has joined a cohort yet. Items wait for people." in action and "View the cohorts" in action
    assert "Nobody has joined" not in shown(world, world.reviewer)
    Campaign.objects.update(state=Campaign.State.PAUSED)
    assert "Items wait for people" not in shown(world, world.mara), "it is open for models or imports"
