"""Ways to ask models are written in the browser: own wording, a variant of their own, a place in the chain."""

import pytest

from annotation.services.derivation.run_choice import prompt_variants
from benchmarks.models import BenchmarkCondition, Stage
from benchmarks.queries.model_conditions import model_conditions
from benchmarks.recipes.contract import ModelCondition
from benchmarks.services.recipes.saved_recipes import recipe_content
from predictions.queries.model_conditions import OfferedCondition, condition_names, offered_conditions
from tests.chains.link_client import text_of
from tests.personas import SHEET, World
from tests.samples import open_campaign

pytestmark = pytest.mark.django_db
WORDED = "Look at this.\n\n{shown}\n\n{questions}\n\nThink of {target}. {output}"


def pages(world: World) -> tuple[str, str]:
    page = f"/b/{world.benchmark.slug}/predictions/conditions/"
    return page, f"{page}edit/"


def posted(**changed: str) -> dict[str, str]:
    usual = {"prompt": "sheet", "name": "In our words", "stage": "relevance", "setting": "own", "o-wording": WORDED}
    return {**usual, **changed}


def test_own_wording_makes_a_second_condition(world: World) -> None:
    world.add_items(1)
    open_campaign(world, world.egypt)
    Stage.objects.create(benchmark=world.benchmark, key="later", name="Later", position=1, display="image", sheet=SHEET)
    mara, (page, edit) = world.client(world.mara), pages(world)
    assert "Models are not asked here." not in mara.get(page).content.decode()
    form = mara.get(f"{edit}?stage=relevance").content.decode()
    assert "{questions}" in form and "The default wording, to copy from" in form
    assert mara.post(edit, posted()).status_code == 302
    offers = offered_conditions(world.benchmark)
    assert [offer.condition.key for offer in offers] == ["relevance", "in-our-words", "later"]
    own = offers[1].condition
    assert own.options == {"wording": WORDED} and own.setting == "own" and offers[1].is_ready
    assert "In our words" in mara.get(f"/b/{world.benchmark.slug}/predictions/ask/").content.decode()
    assert "own" in prompt_variants([world.benchmark.stages.get(key="relevance")])
    row = text_of(mara.get(page).content.decode())
    assert "your own wording" in row
    saved = recipe_content(world.benchmark, "Kept", "")["model_conditions"]
    assert [condition["key"] for condition in saved] == ["relevance", "in-our-words", "later"]


def test_it_is_changed_under_its_key_removed_and_restored(world: World) -> None:
    mara, (page, edit) = world.client(world.mara), pages(world)
    assert "model_conditions" not in recipe_content(world.benchmark, "Kept", "")
    mara.post(edit, posted())
    mara.post(edit, posted(condition="in-our-words", name="In other words", **{"o-wording": ""}))
    row = BenchmarkCondition.objects.get()
    assert (row.key, row.name, row.options) == ("in-our-words", {"en": "In other words"}, {})
    mara.post(page, {"do": "remove", "condition": "relevance"})
    assert [way.key for way in model_conditions(world.benchmark)] == ["in-our-words"]
    mara.post(page, {"do": "restore", "condition": "relevance"})
    assert [way.key for way in model_conditions(world.benchmark)] == ["relevance", "in-our-words"]
    assert mara.post(page, {"do": "remove", "condition": "ghost"}).status_code == 404


@pytest.mark.parametrize(("changed", "words"), [
    ({"setting": ""}, "has this variant at the same stage"),
    ({"o-wording": "{shown} {questions} {output} {nobody}"}, "nobody"),
    ({"name": ""}, "required"),
    ({"stage": "ghost"}, "valid choice"),
])  # fmt: skip
def test_what_cannot_be_asked_is_refused_in_place(world: World, changed: dict[str, str], words: str) -> None:
    reply = world.client(world.mara).post(pages(world)[1], posted(**changed))
    assert reply.status_code == 400 and words in text_of(reply.content.decode())
    assert not BenchmarkCondition.objects.exists()


@pytest.mark.parametrize("who", ["reviewer", "nour", "team_admin", "stranger", "rival"])
def test_only_those_who_work_on_the_benchmark_see_and_write_them(world: World, who: str) -> None:
    client, (page, edit) = world.client(getattr(world, who)), pages(world)
    assert [client.get(page).status_code, client.get(edit).status_code] == [404, 404]
    assert client.post(edit, posted()).status_code == 404
    assert client.post(page, {"do": "remove", "condition": "relevance"}).status_code == 404
    assert not BenchmarkCondition.objects.exists()


def test_ways_of_one_name_are_told_apart_by_their_stages() -> None:
    digit, other = {"en": "The number alone", "ar": "الرقم وحده"}, {"en": "The nearest sentence"}
    offers = [
        OfferedCondition(ModelCondition(key, name, stage, "sheet"), Stage(key=stage, name=stage.title()), None, None)
        for key, name, stage in (
            ("r-digit", digit, "relevance"),
            ("s-digit", digit, "specific"),
            ("near", other, "relevance"),
        )
    ]
    assert condition_names(offers) == {
        "r-digit": {"en": "The number alone (Relevance)", "ar": "الرقم وحده (Relevance)"},
        "s-digit": {"en": "The number alone (Specific)", "ar": "الرقم وحده (Specific)"},
        "near": other,
    }
