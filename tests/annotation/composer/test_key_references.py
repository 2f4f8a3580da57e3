"""A question gets another key: whatever refers to it follows."""

from typing import Any

import pytest
from django.test import Client

from annotation.composer.actions import fill_keys
from annotation.composer.key_references import renamed_expression
from annotation.models import StageDraft
from benchmarks.models import Stage
from tests.annotation.composer.test_pages import SCRIPT, page, post_form
from tests.forms import inputs_of
from tests.module_world import built_once
from tests.personas import World

pytestmark = pytest.mark.django_db


@built_once
def stage(world: World) -> Stage:
    """Two ratings and a text that is asked after the first; a check, a score and a gate name the ratings."""
    stage = world.stage
    rating = stage.sheet["fields"][0]
    fields = [
        rating | {"key": "one", "label": {"en": "One"}},
        rating | {"key": "two", "label": {"en": "Two"}},
        {"key": "why", "kind": "text", "label": {"en": "Why?"}, "config": {"max_length": 200},
         "show_if": {"field": "one", "in": ["1", "2"]}},
    ]  # fmt: skip
    check = {"key": "sum", "expression": 'one + two >= 3 and one != "one"', "words": {"en": "Enough"}}
    score = {"label": {"en": "Total"}, "expression": "one + two"}
    stage.sheet = {"fields": fields, "checks": [check], "score": score}
    stage.layout = {"gate": "one"}
    stage.save()
    return stage


def drafted(stage: Stage) -> dict[str, Any]:
    return dict(StageDraft.objects.get(stage=stage).content)


def check_references(content: dict[str, Any], key: str) -> None:
    assert [field["key"] for field in content["sheet"]["fields"]] == [key, "two", "why"]
    assert content["sheet"]["fields"][2]["show_if"]["field"] == key
    assert content["sheet"]["checks"][0]["expression"] == f'{key} + two >= 3 and {key} != "one"'
    assert content["sheet"]["score"]["expression"] == f"{key} + two"
    assert content["layout"]["gate"] == key
    assert all("drawn_key" not in field for field in content["sheet"]["fields"])


def test_conditions_checks_score_and_gate_follow_a_new_key(world: World, stage: Stage) -> None:
    client, url = world.client(world.mara), page(world, stage)
    post_form(client, url, "save", change={"s:sheet.fields[0].key": "first"})
    check_references(drafted(stage), "first")
    assert post_form(client, url, "publish").status_code == 302
    stage.refresh_from_db()
    assert stage.sheet["fields"][2]["show_if"] == {"field": "first", "in": ["1", "2"]}


def test_a_page_that_saves_while_one_types_follows_every_step(world: World, stage: Stage) -> None:
    """Nothing is drawn anew between these saves: the page still names the question by the key it was drawn with."""
    client, url = world.client(world.mara), page(world, stage)
    posted: dict[str, list[str]] = {}
    for name, value in inputs_of(client.get(url).content.decode()):
        posted.setdefault(name, []).append(value)
    for typed in ("tw", "two", "", "two_b"):
        posted["s:sheet.fields[0].key"] = [typed]
        reply = client.post(url, {**posted, "act": "draft"}, headers=SCRIPT)
        posted["seen"] = [reply.json()["seen"]]
    check_references(drafted(stage), "two_b")


def test_two_questions_may_change_keys(world: World, stage: Stage) -> None:
    client, url = world.client(world.mara), page(world, stage)
    post_form(client, url, "save", change={"s:sheet.fields[0].key": "two", "s:sheet.fields[1].key": "one"})
    content = drafted(stage)
    assert content["sheet"]["fields"][2]["show_if"]["field"] == "two"
    assert content["sheet"]["score"]["expression"] == "two + one"


def test_what_takes_the_place_of_a_field_follows_a_new_key() -> None:
    rows = [
        {"key": "labels", "kind": "text", "label": {"en": "A"}, "required_unless": "others"},
        {"key": "more", "drawn_key": "others", "kind": "text", "label": {"en": "B"}, "required_unless": ""},
    ]
    first, second = fill_keys({"sheet": {"fields": rows}})["sheet"]["fields"]
    assert first["required_unless"] == "more" and "required_unless" not in second


def test_without_a_drawn_key_nothing_is_renamed(client: Client) -> None:
    field = {"key": "a", "kind": "text", "label": {"en": "A"}}
    after = {"key": "b", "kind": "text", "label": {"en": "B"}, "show_if": {"field": "old", "in": ["1"]}}
    content = fill_keys({"sheet": {"fields": [field, after]}})
    assert content["sheet"]["fields"][1]["show_if"] == {"field": "old", "in": ["1"]}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("q1 + q10 * q1", "x + q10 * x"),
        ('q1 in ("q1", "a")', 'x in ("q1", "a")'),
        ("q1.area > region.q1", "x.area > region.q1"),
        ("q1 ?? (", "x ?? ("),
        ("", ""),
    ],
)
def test_only_whole_names_are_replaced(text: str, expected: str) -> None:
    assert renamed_expression(text, {"q1": "x"}) == expected
