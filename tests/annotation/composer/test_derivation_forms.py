"""The source of a stage as a form: no recipe needs JSON there, and a form sent as it is drawn changes nothing."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from annotation.composer.actions import fill_keys
from annotation.composer.controls import Control, Languages
from annotation.composer.form_parser import parse_form
from annotation.composer.stage_context import StageContext
from annotation.composer.stage_settings import sections
from benchmarks.recipes.contract import Recipe, StageSpec
from benchmarks.recipes.registry import RECIPES
from tests.forms import inputs_of

DERIVED = [
    pytest.param(recipe, stage, id=f"{recipe.key}-{stage.key}")
    for recipe in RECIPES
    for stage in recipe.stages
    if stage.derivation
]
JUDGED: dict[str, Any] = {
    "field": "answer", "runs": {"settings": ["", "vlm"]}, "people": "leave_one_out", "least": 4,
    "references": "people", "when": "now", "repeats": "all", "pictures": "item", "carry": ["facet", "colour"],
}  # fmt: skip
CONTEXT = ("facet", "assertion", "colour")


def controls_of(derivation: Mapping[str, Any], recipe: Recipe) -> list[Control]:
    earlier = {stage.key: (stage.key, list(stage.sheet.get("fields", ()))) for stage in recipe.stages}
    context = dict.fromkeys(earlier, CONTEXT)
    around = StageContext(Languages({}), earlier, context, variants=("", "vlm"))
    [items] = [part for part in sections({"derivation": derivation}, around) if part.key == "items"]
    return list(items.controls)


def every_control(controls: Iterable[Control]) -> Iterator[Control]:
    for control in controls:
        yield control
        yield from every_control(control.controls)
        for row in control.rows:
            yield from every_control(row.controls)


def markup(controls: Iterable[Control]) -> str:
    return "".join(
        render_to_string("annotation/composer/control.html", {"c": control, "wrong": ()}) for control in controls
    )


def sent(page: str) -> dict[str, Any]:
    """The derivation that a browser would send."""
    posted = QueryDict(mutable=True)
    for name, value in inputs_of(page):
        posted.appendlist(name, value)
    return fill_keys(parse_form(posted))["derivation"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(("recipe", "stage"), DERIVED)
def test_the_form_of_a_recipe_has_no_json_and_sends_what_it_shows(recipe: Recipe, stage: StageSpec) -> None:
    controls = controls_of(stage.derivation, recipe)
    assert not [control.path for control in every_control(controls) if control.input == "json"]
    assert sent(markup(controls))["params"].keys() == stage.derivation["params"].keys()


def test_all_that_decides_which_answers_are_judged_is_chosen_from_lists() -> None:
    [recipe] = [recipe for recipe in RECIPES if recipe.key == "culturalvqa"]
    page = markup(controls_of({"kind": "verdicts", "from": ["answers"], "params": JUDGED}, recipe))
    assert sent(page)["params"] == JUDGED
    inputs = re.findall(r"<(?:input|textarea)[^>]*>", page)
    typed = [tag for tag in inputs if not re.search(r'type="(checkbox|hidden)"', tag)]
    assert [re.findall(r'name="([^"]*)"', tag)[0] for tag in typed if "where" not in tag] == [
        "i:derivation.params.least"
    ]
    assert "those chosen on the page" in page and ">without a name<" in page


@pytest.mark.parametrize(("kind", "offered"), [("promote", True), ("sample", True), ("verdicts", False)])
def test_only_items_that_may_be_unanswered_offer_which_are_taken(kind: str, offered: bool) -> None:
    [recipe] = [recipe for recipe in RECIPES if recipe.key == "culturalvqa"]
    page = markup(controls_of({"kind": kind, "from": ["answers"], "params": {}}, recipe))
    assert ("derivation.of" in page) is offered


def test_a_new_choice_of_source_leaves_what_only_the_former_had() -> None:
    [recipe] = [recipe for recipe in RECIPES if recipe.key == "culturalvqa"]
    left = {"kind": "verdicts", "from": ["answers"], "params": {"text": "answer", "context": {"a": "item.text"}}}
    params = sent(markup(controls_of(left, recipe)))["params"]
    assert "text" not in params and "context" not in params
    assert params == {"field": "answer"}, "what nobody chose is not written"


@pytest.mark.parametrize(("needs", "stored"), [(["questions"], ["questions"]), (["questions", "any"], ["any"])])
def test_the_parts_of_a_join_are_ticked_from_its_stages(needs: list[str], stored: list[str]) -> None:
    [recipe] = [recipe for recipe in RECIPES if recipe.key == "culturalvqa"]
    params = {"by": "item.concept", "needs": needs}
    controls = controls_of({"kind": "join", "from": ["questions", "answers"], "params": params}, recipe)
    [control] = [control for control in every_control(controls) if control.path.endswith("params.needs")]
    assert control.input == "many" and [value for value, _label in control.choices] == ["questions", "answers", "any"]
    assert sent(markup(controls))["params"]["needs"] == stored
    written = controls_of(
        {"kind": "join", "from": ["questions"], "params": {**params, "parts": "item.condition"}}, recipe
    )
    [control] = [control for control in every_control(written) if control.path.endswith("params.needs")]
    assert control.input == "lines", "values of a field are not known before there are items"
