"""A stage's JSON becomes a form, and the posted form the same JSON again; buttons change its shape."""

import copy
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from annotation.composer.actions import UnknownAction, apply_action, fill_keys
from annotation.composer.controls import Languages, build_control
from annotation.composer.form_parser import parse_form
from annotation.composer.paths import get_value, join, parse_path
from annotation.composer.stage_context import StageContext
from annotation.composer.stage_settings import header_section, questions, sections
from annotation.composer.stale_translations import previous_texts
from annotation.composer.validation import stage_problems
from annotation.fields.registry import KINDS, kind
from annotation.fields.settings import Setting
from annotation.sheets.sheet import Sheet
from benchmarks.recipes.registry import RECIPES
from tests.forms import inputs_of

LANGUAGES = Languages({"en": "English", "ar": "العربية", "pt": "Português"}, "ar")


def stage(**more: Any) -> dict[str, Any]:
    rating = {
        "key": "fits", "kind": "rating", "label": {"en": "Does it fit?", "ar": "هل يناسب؟"}, "required": True,
        "config": {"level": "ordinal", "points": [
            {"code": "1", "label": {"en": "No"}}, {"code": "2", "label": {"en": "Yes", "am": "አዎ"}},
        ]},
    }  # fmt: skip
    return {"name": "First", "display": "image", "sheet": {"fields": [rating]}, "target_answers": 3, **more}


def page_of(content: dict[str, Any], earlier: Any = None) -> str:
    class Page:
        pass

    page: Any = Page()
    page.__dict__ |= {"wrong": [], "languages": LANGUAGES, "kinds": [], "problems": [], "head": header_section(content)}
    page.questions = questions(content, LANGUAGES)
    page.sections = sections(content, StageContext(LANGUAGES, earlier or {}))
    return render_to_string("annotation/composer/form.html", {"page": page, "opened": ""})


def post_unchanged(content: dict[str, Any], earlier: Any = None) -> dict[str, Any]:
    """What comes back when the form is sent as it was drawn."""
    posted = QueryDict(mutable=True)
    for name, value in inputs_of(page_of(content, earlier)):
        posted.appendlist(name, value)
    return fill_keys(parse_form(posted))


def test_what_is_drawn_comes_back_as_it_was() -> None:
    content = stage()
    back = post_unchanged(content)
    assert back["sheet"] == content["sheet"]
    assert back["name"] == "First" and back["target_answers"] == 3


@pytest.mark.parametrize("odd", [
    "[" * 5000, "[" * 400 + "]" * 400,
    '{"a":' * 100 + "1" + "}" * 100, "NaN", "[1e999]", '["\\ud800"]', '"\\u0000"', "{",
])  # fmt: skip
def test_json_that_cannot_be_kept_stays_as_it_was_typed_and_is_named(odd: str) -> None:
    posted = QueryDict(mutable=True)
    posted.update({"s:name": "First", "j:layout": odd, "j:derivation": '{"from": ["a"], "kind": "promote"}'})
    found = parse_form(posted)
    assert found["layout"] == {"~unread": odd} and found["derivation"]["from"] == ["a"]
    messages = [one.words for one in stage_problems(found, {}) if one.path == "layout"]
    assert messages == ["This is not valid JSON. Correct it, or leave it empty."]


def test_a_place_deeper_than_any_setting_is_no_place() -> None:
    posted = QueryDict(mutable=True)
    posted.update({"s:name": "First", "s:sheet" + "[0]" * 3000: "x", "w:sheet.fields[0].label.en": "Kept"})
    assert parse_form(posted) == {"name": "First", "sheet": {"fields": [{"label": {"en": "Kept"}}]}}


def test_a_setting_that_no_form_knows_comes_back_too() -> None:
    content = stage(layout={"strange": {"deep": [1, {"x": None}]}})
    content["sheet"]["fields"][0]["config"]["odd"] = 7
    back = post_unchanged(content)
    assert back["layout"]["strange"] == {"deep": [1, {"x": None}]}
    assert back["sheet"]["fields"][0]["config"]["odd"] == 7


def read(sheet: Any) -> Any:
    return Sheet.from_json(sheet, stored=True).to_json()


def without_empty(value: Any) -> Any:
    """Without what is empty, or as it is by itself."""
    if isinstance(value, dict):
        rows = {key: without_empty(one) for key, one in value.items()}
        return {key: one for key, one in rows.items() if one and (key, one) not in DEFAULTS} or None
    return [without_empty(one) for one in value] or None if isinstance(value, list) else value or None


DEFAULTS = (("of", "results"), ("image", "item"), ("over", "majority"))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda one: one.key)
def test_every_stage_of_every_recipe_comes_back_as_it_was(recipe: Any) -> None:
    from annotation.pages.composer import _to_json
    from annotation.services.sheets.stages import COLUMNS

    earlier: dict[str, Any] = {}
    for spec in recipe.stages:
        content = {key: _to_json(getattr(spec, key)) for key in COLUMNS}
        tidied = fill_keys(copy.deepcopy(content))
        back = post_unchanged(copy.deepcopy(tidied), earlier)
        assert read(back["sheet"]) == read(tidied["sheet"])
        for key in set(COLUMNS) - {"sheet"}:
            assert without_empty(back.get(key)) == without_empty(tidied[key]), (spec.key, key)
        earlier[spec.key] = (spec.name, content["sheet"]["fields"])


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.key)
def test_a_new_question_of_every_kind_can_be_used_once_it_is_named(kind: Any) -> None:
    content = stage()
    place = apply_action(content, f"field:{kind.key}")
    get_value(content, place)["label"] = {"en": "What is it?"}
    back = post_unchanged(fill_keys(content))
    assert [one for one in stage_problems(back, {}) if one.blocks] == []
    assert back["sheet"]["fields"][1]["key"] == "what_is_it"


@pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.key)
def test_the_settings_of_every_kind_are_there_and_name_its_config(kind: Any) -> None:
    assert kind.name and kind.settings, f"the kind {kind.key} has no settings for the composer"
    example = {**kind.spec.config_json(kind.spec.config(kind.spec.examples.config))}
    named = {one.key for one in kind.settings}
    assert set(example) <= named, "what the config has and no setting names is edited as JSON"


def test_numbers_that_are_none_stay_as_they_were_typed_and_are_named() -> None:
    posted = QueryDict("s:name=A&i:target_answers=three&e:sheet.fields=[]", mutable=True)
    content = fill_keys(parse_form(posted))
    assert content["target_answers"] == "three"
    assert "target_answers" in {one.path for one in stage_problems(content, {})}


def test_json_that_cannot_be_read_is_kept_and_named() -> None:
    posted = QueryDict(mutable=True)
    posted["j:layout"] = "{not json"
    content = fill_keys(parse_form(posted))
    assert "{not json" in page_of(content)
    assert any(one.path == "layout" and "JSON" in one.words for one in stage_problems(content, {}))


def test_moving_duplicating_deleting_and_undo() -> None:
    content = stage()
    apply_action(content, "field:text")
    apply_action(content, "field:choice")
    content = fill_keys(content)
    first = [one["key"] for one in content["sheet"]["fields"]]
    assert apply_action(content, "up:sheet.fields[2]") == "sheet.fields[1]"
    assert apply_action(content, "copy:sheet.fields[0]") == "sheet.fields[1]"
    assert content["sheet"]["fields"][1]["key"] == "fits_2"
    apply_action(content, "drop:sheet.fields[1]")
    apply_action(content, "down:sheet.fields[1]")
    assert [one["key"] for one in content["sheet"]["fields"]] == first
    before = copy.deepcopy(content["sheet"])
    apply_action(content, "drop:sheet.fields[0]")
    assert content["sheet"] != before
    apply_action(content, "undo")
    assert content["sheet"] == before


@pytest.mark.parametrize("action", ["drop:sheet.fields[9]", "up:name", "fly:sheet", "field:nothing", "undo", "to:a:b"])
def test_a_button_that_fits_nothing_is_refused(action: str) -> None:
    with pytest.raises(UnknownAction):
        apply_action(stage(), action)


def test_every_problem_is_named_with_its_place() -> None:
    content = stage(skip_reasons=[{"code": "a", "label": {"en": "A"}}, {"code": "a", "label": {}}])
    fields = content["sheet"]["fields"]
    fields[0]["config"]["points"][1]["label"] = {}
    fields.append({"key": "x", "kind": "text", "label": {}, "config": {}})
    found = {one.path: one.place for one in stage_problems(content, {})}
    assert found["sheet.fields[0].config.points[1].label"] == "Question 1, Points 2, Label"
    assert {"sheet.fields[1].label", "skip_reasons[1].code", "skip_reasons[1].label"} <= set(found)


def test_a_rule_that_names_an_unknown_question_is_refused() -> None:
    rule = {"clauses": [{"key": "a", "expression": "fit >= 2", "words": {"en": "It fits"}}], "over": "majority"}
    content = stage(acceptance="by_rule", acceptance_rule=rule)
    assert [one.path for one in stage_problems(content, {})] == ["acceptance_rule.clauses[0].expression"]
    rule["clauses"][0]["expression"] = "fits >= 2"
    assert stage_problems(content, {}) == []


def test_a_derivation_from_a_stage_that_is_not_before_it_is_refused() -> None:
    content = stage(derivation={"kind": "promote", "from": ["writing"], "params": {}})
    assert [one.path for one in stage_problems(content, {})] == ["derivation.from"]
    assert stage_problems(content, {"writing": ("Writing", [])}) == []


DRAWS: list[dict[str, Any]] = [
    {"n": 40, "by": ["item.origin", "item.context.facet"], "weight": "item.facts.clip_score"},
    {"n": 200, "strata": {"fact": "clip_score", "bins": 4}, "context": {"words": "item.context.assertion"}},
    {"n": 3, "by": ["item.concept"], "order": {"field": "item.context.rank", "descending": True}},
]


@pytest.mark.parametrize("params", DRAWS)
def test_a_draw_has_a_form_without_json_and_comes_back_as_it_was(params: dict[str, Any]) -> None:
    draw = {"kind": "sample", "from": ["writing"], "of": "kept", "without": "score", "params": params, "seed": 7}
    content, earlier = stage(derivation=copy.deepcopy(draw)), {"writing": ("Writing", [])}
    section = page_of(content, earlier).split('id="items"')[-1].split("<section")[0]
    assert "as JSON" not in section
    assert without_empty(post_unchanged(content, earlier)["derivation"]) == without_empty(draw)


def test_what_a_draw_does_not_choose_is_left_out_and_what_contradicts_is_named() -> None:
    empty = {"order": {"field": "", "descending": True}, "strata": {"fact": "", "bins": 4}, "by": "item.origin"}
    draw = {"kind": "sample", "from": ["writing"], "of": "results", "without": "score", "params": {"n": 1, **empty}}
    content = fill_keys(stage(derivation=draw))
    assert content["derivation"]["params"] == {"n": 1, "by": ["item.origin"]}
    assert "without" not in content["derivation"], "only kept items can be taken without a filter"
    content["derivation"]["params"] |= {"order": {"field": "item.context.rank"}, "weight": "item.context.rank"}
    [problem] = stage_problems(content, {"writing": ("Writing", [])})
    assert str(problem).startswith("Source of items, Weight of a draw: Items that are taken in an order have no weight")


def test_what_an_item_brings_along_is_added_named_moved_and_taken_out_as_rows() -> None:
    """Names and values are an object of the stage, and rows of its form."""
    content = stage(derivation={"kind": "promote", "from": ["writing"], "params": {}})
    place = "derivation.params.context~map"
    assert apply_action(content, f"more:{place}") == f"{place}[0]"
    assert content["derivation"]["params"] == {"context": {"": ""}}, "a row that waits for its name"
    messages = {one.path: str(one) for one in stage_problems(content, {"writing": ("Writing", [])})}
    where = "Source of items, Context copied to the item 1, Name: Write a name."
    assert messages == {f"{place}[0].name": where}
    posted = QueryDict(mutable=True)
    posted.update({
        "s:derivation.kind": "promote", "s:derivation.from[0]": "writing", f"e:{place}": "[]",
        f"s:{place}[0].name": "dish", f"s:{place}[0].value": "item.concept",
        f"s:{place}[1].name": "dish", f"s:{place}[1].value": "item.origin",
        f"s:{place}[2].name": "", f"s:{place}[2].value": "nonsense",
    })  # fmt: skip
    content = fill_keys(parse_form(posted))
    brought = content["derivation"]["params"]["context"]
    assert brought == {"dish": "item.concept", "dish_2": "item.origin", "": "nonsense"}, "nothing typed is dropped"
    assert apply_action(content, f"up:{place}[1]") == f"{place}[0]"
    assert list(content["derivation"]["params"]["context"]) == ["dish_2", "dish", ""]
    apply_action(content, f"drop:{place}[0]")
    assert list(content["derivation"]["params"]["context"]) == ["dish", ""]
    assert apply_action(content, "undo:") == f"{place}[0]"
    assert content["derivation"]["params"]["context"] == brought and list(content["derivation"]["params"]) == [
        "context"
    ]


def test_paths_read_as_they_are_written() -> None:
    for path in ("sheet.fields[2].config.points[0].label.en", "rules[0]", "name"):
        assert join(parse_path(path)) == path
    assert parse_path("a..b") == () and parse_path("") == () and parse_path("a[1") == ()


PLACES = ("sheet", "sheet.fields", "sheet.fields[0]", "sheet.fields[0].label", "sheet.fields[0].config",
          "sheet.fields[0].config.points", "sheet.fields[0].show_if", "sheet.fields[0].rules[0]", "sheet.checks",
          "sheet.checks[0]", "sheet.score", "sheet.score.label", "skip_reasons", "skip_reasons[0].label",
          "acceptance_rule", "acceptance_rule.clauses[0]", "acceptance_rule.score", "derivation", "derivation.from",
          "derivation.params.context~map", "layout", "layout.show", "layout.show[0]", "instructions", "name",
          "target_answers", "display", "dropped")  # fmt: skip


@pytest.mark.parametrize("type_", ["s", "i", "b", "l", "m", "j", "e"])
@pytest.mark.parametrize("value", ["x", "1", '[1, "a", null]', '{"a": [{"b": 1}]}'])
def test_no_post_stops_the_page(type_: str, value: str) -> None:
    """Whatever is sent where, a form is drawn and its problems are said."""
    for number, place in enumerate(PLACES):
        how = ("by_rule", "by_review")[number % 2]
        posted = QueryDict(mutable=True)
        posted.update({"s:acceptance": how, "s:derivation.kind": "promote", f"{type_}:{place}": value})
        posted.update({"s:sheet.fields[1].kind": "rating", "s:sheet.fields[1].show_if.field": "a"})
        content = fill_keys(parse_form(posted))
        stage_problems(content, {})
        page_of(content)


def test_a_text_whose_english_changed_names_the_languages_left_behind() -> None:
    point = {"code": "1", "label": {"en": "Not at all", "ar": "إطلاقًا", "pt": "Nada"}}
    old = {"sheet": {"fields": [{"key": "a", "label": {"en": "A", "ar": "أ"}, "config": {"points": [point]}}]}}
    new = {"code": "1", "label": {"en": "Exactly", "ar": "إطلاقًا", "pt": "Exato"}}
    other = {"key": "b", "label": {"en": "B", "ar": "ب"}}
    moved = {"sheet": {"fields": [other, {**old["sheet"]["fields"][0], "config": {"points": [new]}}]}}
    before = dict(previous_texts(moved, old))
    assert set(before) == {"sheet.fields[1].label", "sheet.fields[1].config.points[0].label"}
    languages = Languages({"en": "English", "ar": "العربية", "pt": "Português"}, "", before)
    path = "sheet.fields[1].config.points[0].label"
    drawn = build_control(Setting("label", "words", "Label"), new["label"], path, languages)
    assert (drawn.previous_value, drawn.older) == ("Not at all", "العربية")


def test_default_scale_labels_are_older_than_an_edited_english_label() -> None:
    found = kind("rating")
    config = copy.deepcopy(dict(found.start))
    before = dict(previous_texts({"fields": [{"key": "x", "kind": "rating", "config": config}]}, {"fields": []}))
    assert before["fields[0].config.points[0].label"] == config["points"][0]["label"]
