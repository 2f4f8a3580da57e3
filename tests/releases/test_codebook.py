"""What the codebook says of where the items come from, of the instructions, and of the benchmark itself."""

import json
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Campaign, InstructionText
from benchmarks.models import Stage
from releases.services.exports import export
from tests.annotation.chain.factories import answer, claim_sheet, create_open_campaign, create_question_stages
from tests.annotation.queue.factories import a_person
from tests.evaluation.data import an_open_campaign
from tests.personas import World
from tests.releases.test_export_members import a_user, files, lines

pytestmark = pytest.mark.django_db
PARTS = {
    "pairs": [{"do": "Name the dish", "dont": "Food", "why": "Be precise"}],
    "materials": [{"key": "m1", "title": "On food", "kind": "reading", "body": "Read.", "seconds": 5}],
    "quiz": [
        {
            "key": "q1",
            "question": "Which?",
            "options": [{"code": "a", "label": "A", "right": True}, {"code": "b", "label": "B", "right": False}],
        }
    ],
    "pass": 1,
}


def load_codebook(stage: Stage, *campaigns: Campaign) -> dict[str, Any]:
    book: dict[str, Any] = json.loads(files(stage, *campaigns)["codebook.json"])
    return book


def test_it_says_that_a_stage_is_derived_and_how() -> None:
    ask, reply, cohort = create_question_stages()
    asked = load_codebook(ask, create_open_campaign(ask, cohort))["stage"]["items"]
    assert asked == {"derived": False, "meaning": "The items were imported."}
    items_info = load_codebook(reply, create_open_campaign(reply, cohort))["stage"]["items"]
    assert (items_info["derived"], items_info["kind"], items_info["params"]) == (
        True,
        "promote",
        reply.derivation["params"],
    )
    assert items_info["from"] == [{"key": "ask", "name": ask.name}]
    assert items_info["meaning"].startswith("Each accepted answer")


def test_it_calls_a_pseudonym_text() -> None:
    ask, _reply, cohort = create_question_stages("by_review")
    campaign = create_open_campaign(ask, cohort)
    answer(claim_sheet(a_person(cohort), campaign, cohort), question="What is it?", answer="Tea")
    contents = files(ask, campaign)
    book = json.loads(contents["codebook.json"])
    types = {column["name"]: column["type"] for column in book["columns"]}
    assert (types["rater"], types["annotation"]) == ("text", "int8")
    assert isinstance(lines(contents["ratings.jsonl"])[0]["rater"], str)
    reviews = {column["name"]: column["type"] for column in book["further"]["reviews"]["columns"]}
    assert (reviews["author"], reviews["reviewer"]) == ("text", "text")


def test_it_has_pairs_materials_and_quiz_of_the_instructions(world: World) -> None:
    world.add_items(1)
    campaign = an_open_campaign(world)
    version = campaign.instruction_versions.get()
    InstructionText.objects.create(version=version, language="ar", cohort=world.egypt, body="انظر", parts=PARTS)
    [instructions] = load_codebook(world.stage, campaign)["instructions"]
    texts = {(text["language"], text["cohort"]): text for text in instructions["texts"]}
    own = texts["ar", world.egypt.label]
    assert own["body"] == "انظر" and {name: own[name] for name in PARTS} == PARTS
    plain = texts["en", None]
    assert (plain["pairs"], plain["materials"], plain["quiz"], plain["pass"]) == ([], [], [], 0)


@pytest.mark.parametrize(
    ("name", "called"), [("Rating", "rating"), ("Judge the dish!", "judge-the-dish"), ("تقييم", "relevance")]
)
def test_the_archive_is_called_as_the_stage_is_called_now(world: World, name: str, called: str) -> None:
    world.add_items(1)
    Stage.objects.filter(pk=world.stage.pk).update(name=name, key="relevance")
    world.stage.refresh_from_db()
    at = timezone.now()
    file, pieces = export(world.stage, [an_open_campaign(world)], "csv", a_user("Researcher"), at)
    assert file == f"{world.benchmark.slug}-{called}-{at:%Y%m%d-%H%M}.zip"
    assert b"".join(pieces)
