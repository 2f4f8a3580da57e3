"""Open stages without items: the board and the next action say what makes them, and lead there."""

import pytest

from annotation.models import Campaign
from benchmarks.models import Item, ItemFact
from people.models import Rater
from predictions.models import Endpoint, Run
from tests.benchmarks.test_next_actions import from_recipe, open_first, shown, visit
from tests.chains.link_client import text_of
from tests.personas import World, make_items

pytestmark = pytest.mark.django_db


def test_an_import_that_open_stages_wait_for_is_named(world: World) -> None:
    """3XCM: concepts have items, but no picture of a search was imported, from which all later stages follow."""
    benchmark = from_recipe(world, "3xcm")
    stages = {stage.key: stage for stage in benchmark.stages.all()}
    make_items(stages["concepts"], 2)
    for key in ("concepts", "look-alikes", "labels"):
        open_first(world, stage=stages[key])
    action = shown(world, world.mara, benchmark)
    assert "“Pictures of searches” has no items yet." in action
    assert "These stages wait for them: “De-duplication”, “Multi-concept labelling”." in action
    page = visit(world, world.mara, benchmark)
    page.follow("Import items")
    assert "stage=images" in page.path
    Campaign.objects.filter(stage__in=[stages["look-alikes"], stages["labels"]]).update(state="closed")
    assert "Pictures of searches" not in shown(world, world.mara, benchmark), "nobody is asked there any more"
    Campaign.objects.update(state="open")
    make_items(stages["images"], 1)
    assert "has no items yet" not in shown(world, world.mara, benchmark)


def test_pairs_that_an_encoder_finds_lead_to_its_run(world: World) -> None:
    benchmark = from_recipe(world, "3xcm")
    stages = {stage.key: stage for stage in benchmark.stages.all()}
    open_first(world, stage=stages["merges"])
    make_items(stages["images"], 1)
    stuck = "Stuck: needs an encoder run over “Concepts”"
    assert stuck not in text_of(visit(world, world.mara, benchmark).page), "there are no words yet"
    items = make_items(stages["concepts"], 2)
    Item.objects.filter(stage=stages["concepts"]).update(concept="train")
    assert "“Concept-merge confirmation” needs an encoder run over “Concepts”." in shown(world, world.mara, benchmark)
    page = visit(world, world.mara, benchmark)
    assert page.page.count(stuck) == 1, "in the cell of the cohort"
    Endpoint.objects.create(team=world.team, name="Here", kind=Endpoint.Kind.OPEN_CLIP)
    page.follow("Compute facts")
    assert "what=text_vector" in page.path and 'name="words" value="concept"' in page.page, "the words are concepts"
    benchmark.roles.create(user=world.reviewer, name="reviewer")
    reviewed = visit(world, world.reviewer, benchmark).page
    assert stuck in text_of(reviewed) and "what=text_vector" not in reviewed, "the link is for who may start it"
    ItemFact.objects.create(item=items[0], key="text_vector", value=[1, 0], source="tiny")
    page = visit(world, world.mara, benchmark)
    assert "needs an encoder run" not in text_of(page.page) and "Follows “Concepts”" in text_of(page.page)


def test_a_stage_that_corrects_proposals_leads_to_asking_a_model(world: World) -> None:
    benchmark = from_recipe(world, "3xcm")
    stages = {stage.key: stage for stage in benchmark.stages.all()}
    open_first(world, stage=stages["labels"])
    make_items(stages["images"], 1)
    stuck = "Stuck: no model was asked in “Labels by a model”"
    assert stuck not in text_of(visit(world, world.mara, benchmark).page), "there are no pictures to ask about"
    make_items(stages["tagging"], 2)
    action = shown(world, world.mara, benchmark)
    assert "“Multi-concept labelling” waits for what a model says in “Labels by a model”." in action
    page = visit(world, world.mara, benchmark)
    assert stuck in text_of(page.page)
    page.follow("Ask models")
    campaign, model = (
        open_first(world, stage=stages["tagging"]),
        Rater.objects.create(kind="model", name="Tagger", team=world.team),
    )
    Run.objects.create(benchmark=benchmark, rater=model, campaign=campaign, task=Run.Task.ANSWERS)
    page = visit(world, world.mara, benchmark)
    assert stuck not in text_of(page.page) and "waits for what a model says" not in text_of(page.page)
