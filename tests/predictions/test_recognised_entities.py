"""CulturalVQA's text model that is given the entities of a picture: they travel from the item to its question."""

import pytest
from django.utils import timezone

from annotation.models import Annotation, Campaign
from annotation.services.campaigns import lifecycle
from annotation.services.review import reviews
from benchmarks.models import Item
from benchmarks.services.benchmarks import create_from_recipe
from papers.culturalvqa.prompts.questions import LLM_ENTITIES
from people.models import Cohort
from people.services.raters import rater_of
from predictions.services.runs import answer_runs
from tests.annotation.chain.factories import answer, claim_sheet, process_derivations
from tests.personas import World, stand_in
from tests.predictions.model_server import Act, Server
from tests.predictions.request_helpers import a_plan, an_endpoint, drive_run, start_run, states

pytestmark = pytest.mark.django_db
WRITTEN = {"familiarity": "familiar", "question": "What are these lamps called?", "answer": "Fanous"}


def a_round(world: World, benchmark, key: str, cohort: Cohort) -> Campaign:
    new_campaign = lifecycle.create(benchmark.stages.get(key=key), key, world.owner, {cohort: 1}, seed=1)
    lifecycle.open_campaign(new_campaign, world.owner, timezone.now())
    new_campaign.refresh_from_db()
    return new_campaign


def test_llm_entities_asks_with_the_entities_of_the_picture(world: World, scripted_server: Server) -> None:
    scripted_server.answer_by(lambda asked: Act(text="Fanous"))
    benchmark = create_from_recipe(world.team, "culturalvqa", "VQA", "vqa", world.owner)
    known = {"entities": "oil lamp|Ramadan lantern", "facet": "rituals"}
    questions = benchmark.stages.get(key="questions")
    rows = ({"key": "lamp", "context": known}, {"key": "street", "context": {"facet": "food"}})
    stand_in([Item.objects.create(stage=questions, origin="Egypt", concept="Lamp", **row) for row in rows])
    writing = a_round(world, benchmark, "questions", world.egypt)
    for _number in range(2):
        answer(claim_sheet(rater_of(world.nour), writing, world.egypt), **WRITTEN)
    for given in Annotation.objects.all():
        reviews.decide(given.pk, world.reviewer, "accept", timezone.now())
    process_derivations()

    derived = Item.objects.filter(stage__key="answers").order_by("key")
    assert [one.context["entities"] for one in derived] == ["oil lamp|Ramadan lantern", None]
    plan = a_plan(
        a_round(world, benchmark, "answers", world.egypt), an_endpoint(world, scripted_server.base_url), LLM_ENTITIES
    )
    assert answer_runs.estimate(plan).missing_input == {"no_entities": 1}, "the picture that nothing was recognised in"
    run = drive_run(start_run(world, plan))
    assert states(run) == {"answered": 1, "failed": 1}
    [request] = scripted_server.asked
    assert "oil lamp, Ramadan lantern" in request.text
