"""Every published recipe can be composed in the browser: its forms, sent to empty stages, make the same chain again.

What is compared is what a recipe file says: stages, sheets, derivations, filters, gates, calibration, groups,
conditions of models, and the published tables.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from benchmarks.models import Benchmark, Stage
from benchmarks.queries.model_conditions import named_conditions
from benchmarks.recipes.contract import Recipe
from benchmarks.recipes.recipe_json import content_digest, file_text, recipe_to_json
from benchmarks.recipes.registry import RECIPES
from benchmarks.rules.displays import default_pictures
from benchmarks.services.recipes.saved_recipes import read_file, recipe_content
from predictions.prompts.registry import prompt
from tests.annotation.composer.test_form import read, without_empty
from tests.forms import inputs_of
from tests.personas import World

pytestmark = pytest.mark.django_db
EMPTY: dict[str, Any] = {
    "name": "Empty", "display": "image", "pictures": "one", "sheet": {"fields": []}, "skip_reasons": [],
    "has_target": True, "target_answers": 3, "target_in_all": False, "acceptance": "on_submit", "acceptance_rule": {},
    "review_reasons": [], "derivation": {}, "staffing": "anyone", "own_items_only": False, "layout": {},
    "retire_after_skips": None, "instructions": {}, "filters": [], "assign_waiting": False, "coverage": {},
}  # fmt: skip
NO_CONDITION = {"name": {"en": "X"}, "prompt": "sheet", "setting": "x", "needs": [], "judge": False, "options": {}}
OWN = ("key", "name", "summary")


def benchmark_of(client: Client, world: World, recipe: str, slug: str) -> Benchmark:
    form = {"recipe": recipe, "name": slug, "slug": slug, "team": world.team.pk, "question": ""}
    assert client.post("/benchmarks/new/", form).status_code == 302
    return Benchmark.objects.get(slug=slug)


def inputs(client: Client, url: str) -> dict[str, list[str]]:
    posted: dict[str, list[str]] = {}
    for name, value in inputs_of(client.get(url).content.decode()):
        posted.setdefault(name, []).append(value)
    return posted


def publish_as(client: Client, model: Stage, empty: Stage) -> None:
    """Send the form of one stage to another, and publish it; then its filters, one form each."""
    of_model, of_empty = (f"/b/{stage.benchmark.slug}/stages/{stage.pk}/" for stage in (model, empty))
    posted = {**inputs(client, of_model), "seen": inputs(client, of_empty)["seen"], "act": ["publish"]}
    response = client.post(of_empty, posted)
    assert response.status_code == 302, response.content.decode()[:3000]
    for rule in model.filters:
        form = inputs(client, f"{of_model}filters/edit/?filter={rule['key']}")
        number = inputs(client, f"{of_empty}filters/edit/?kind={rule['kind']}")["number"]
        del form["filter"]
        response = client.post(f"{of_empty}filters/edit/", {**form, "kind": [rule["kind"]], "number": number})
        assert response.status_code == 302, response.content.decode()
    if model.assign_waiting:
        client.post(f"{of_empty}filters/action/", {"do": "assign"})


def ask_as(client: Client, model: Benchmark, empty: Benchmark) -> None:
    """Remove every way of asking models, then send the forms of the other benchmark's."""
    mine, others = (f"/b/{benchmark.slug}/predictions/conditions/" for benchmark in (empty, model))
    conditions = [condition.key for condition in named_conditions(model)]
    for key in conditions:
        assert client.post(mine, {"do": "remove", "condition": key}).status_code == 302
    assert not named_conditions(empty)
    for key in conditions:
        client.post(mine, {"do": "restore", "condition": key})
        Benchmark.objects.get(pk=empty.pk).own_conditions.filter(key=key).update(**NO_CONDITION)
        response = client.post(f"{mine}edit/", inputs(client, f"{others}edit/?condition={key}"))
        assert response.status_code == 302, key


def comparable(content: dict[str, Any]) -> dict[str, Any]:
    """By place, without what belongs to a benchmark alone and without empty parts; sheets as they are read."""
    plain = json.loads(json.dumps({key: value for key, value in content.items() if key not in (*OWN, "version")}))
    for condition in plain.get("model_conditions", ()):  # in English, and as it is not by itself
        condition["name"] = condition["name"]["en"]
        usual = {option.key: option.default for option in prompt(condition["prompt"]).options}
        options = condition.get("options", {}).items()
        condition["options"] = {key: value for key, value in options if value != usual[key]}
    for stage in plain["stages"]:
        stage["sheet"] = read(stage["sheet"])
    return dict(places(without_empty(plain)))


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in pairs:
        yield from places(inner, f"{path}.{name}")
    if not isinstance(value, dict | list):
        yield path, value


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.key)
def test_a_recipe_taken_apart_into_forms_and_published_again_is_the_same_chain(world: World, recipe: Recipe) -> None:
    client = world.client(world.mara)
    model = benchmark_of(client, world, recipe.key, "model")
    again = benchmark_of(client, world, recipe.key, "again")
    again.stages.update(**EMPTY)
    assert not again.stages.exclude(derivation={}, sheet={"fields": []}).exists()
    for stage, empty in zip(model.stages.all(), again.stages.all(), strict=True):
        publish_as(client, stage, empty)
    ask_as(client, model, again)
    saved = recipe_content(again, "Again", "")
    assert comparable(saved) == comparable(recipe_content(model, "Again", ""))
    published = recipe_to_json(recipe) | {"published": recipe.key}
    if recipe.cohorts:
        published["label_set"] = recipe.own_label_set
    for stage in published["stages"]:  # what the recipe leaves to the display
        stage.setdefault("pictures", default_pictures(stage["display"]))
    assert comparable(saved) == comparable(published)
    assert content_digest(read_file(file_text(saved, 1).encode())) == content_digest(saved)
