"""Every field kind keeps the contract: each example ends in the same answers whichever door it came through."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any, get_args

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from annotation.fields.bound_field import answer_views, bind_fields
from annotation.fields.contract import AgreementLevel, ConfigError, FaultyExample, Level, Shown, ValidExample
from annotation.fields.form import Localiser
from annotation.fields.messages import WORDS
from annotation.fields.registry import KINDS, Kind, UnknownKind, kind
from annotation.sheets.sheet import Sheet

SHOWN = Shown(item_id=1, target="Egypt", target_name="Egypt")
TICKED = re.compile(' type="(radio|checkbox)"')
KIND_TABLE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "sheets.md"


def sheet_of(kind: Kind, **extra: Any) -> Sheet:
    row = {"key": "q", "kind": kind.key, "label": {"en": "What about {target}?"}, "config": kind.spec.examples.config}
    return Sheet.from_json({"fields": [{**row, **extra}]})


def shown_to(sheet: Sheet) -> Shown:
    return sheet.fields[0].spec.examples.shown or SHOWN


def through_json(sheet: Sheet, raw: Any) -> Any:
    return sheet.parse(json.loads(json.dumps({"q": raw})), shown_to(sheet))


def through_form(sheet: Sheet, raw: Any) -> Any:
    posted = QueryDict(mutable=True)
    posted.setlist("a-q", sheet.fields[0].form.fill(raw))
    return sheet.parse(sheet.read_form(QueryDict(posted.urlencode())), shown_to(sheet))


DOORS = [through_json, through_form]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda one: one.key)
each_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)


@each_kind
@each_door
def test_valid_examples_end_in_their_answer(kind: Kind, door: Any) -> None:
    assert kind.spec.examples.valid
    for example in kind.spec.examples.valid:
        if door is through_form and example.json_only:
            continue
        parsed = door(sheet_of(kind), example.raw)
        assert parsed.ok, (example, parsed)
        assert parsed.answers == {"q": example.answer}


@each_kind
@each_door
def test_faulty_examples_are_refused_with_their_code(kind: Kind, door: Any) -> None:
    assert kind.spec.examples.invalid
    for example in kind.spec.examples.invalid:
        if door is through_form and example.json_only:
            continue
        parsed = door(sheet_of(kind), example.raw)
        assert not parsed.ok
        assert [problem.code for problem in parsed.errors["q"]] == [example.code], example


@each_kind
@each_door
def test_borderline_examples_pass_once_they_are_confirmed(kind: Kind, door: Any) -> None:
    for example in kind.spec.examples.borderline:
        parsed = door(sheet_of(kind), example.raw)
        assert not parsed.ok
        assert not parsed.errors
        assert [problem.code for problem in parsed.warnings["q"]] == [example.code], example
        assert sheet_of(kind).parse({"q": example.raw}, shown_to(sheet_of(kind)), confirmed=[f"q:{example.code}"]).ok


@each_kind
def test_parse_understands_what_it_made(kind: Kind) -> None:
    for example in kind.spec.examples.valid:
        assert sheet_of(kind).parse({"q": example.answer}, shown_to(sheet_of(kind))).answers == {"q": example.answer}
        assert json.loads(json.dumps(example.answer)) == example.answer


@each_kind
@each_door
def test_nothing_is_required_or_left_out(kind: Kind, door: Any) -> None:
    refused = door(sheet_of(kind), None)
    assert [problem.code for problem in refused.errors["q"]] == ["required"]
    left_out = door(sheet_of(kind, required=False), None)
    assert left_out.ok
    assert left_out.answers == {}


@each_kind
def test_every_problem_has_words(kind: Kind) -> None:
    faulty: list[FaultyExample] = [*kind.spec.examples.invalid, *kind.spec.examples.borderline]
    assert {example.code for example in faulty} <= kind.spec.problems
    assert kind.spec.problems <= set(WORDS)


@each_kind
def test_codes_columns_and_rubric_fit_together(kind: Kind) -> None:
    sheet = sheet_of(kind)
    assert sheet.level("q") in get_args(Level) and sheet.agreement_level("q") in get_args(AgreementLevel)
    names = [column.suffix for column in sheet.columns()]
    for example in kind.spec.examples.valid:
        assert list(sheet.cells({"q": example.answer})) == names
        parsed = sheet.parse({"q": example.raw}, shown_to(sheet))
        for code in parsed.codes:
            assert code.field == "q"
            assert 0 < len(code.code) <= 120
            assert (code.value is not None) == (sheet.level("q") in {"ordinal", "interval", "ratio"})
    rubric = sheet.rubric("q", target="Egypt")
    assert "What about Egypt?" in rubric.words
    json.dumps(rubric.schema)


@each_kind
def test_sheets_round_trip(kind: Kind) -> None:
    sheet = sheet_of(kind)
    again = Sheet.from_json(json.loads(json.dumps(sheet.to_json())))
    assert again == sheet


@each_kind
def test_a_misspelt_setting_is_named(kind: Kind) -> None:
    with pytest.raises(ConfigError, match=r"config\.levle"):
        kind.spec.config({**kind.spec.examples.config, "levle": 1})


@each_kind
@pytest.mark.parametrize("language", ["en", "ar"])
def test_every_face_renders(kind: Kind, language: str) -> None:
    sheet, speech = sheet_of(kind), Localiser(language, "Egypt")
    for example in [ValidExample(None, None), *kind.spec.examples.valid]:
        field = bind_fields(sheet.fields, speech, {"q": example.answer}, shown=shown_to(sheet))[0]
        html = unescape(render_to_string(field.input, {"field": field}))
        assert 'name="a-q"' in html
        assert "What about Egypt?" in html
        assert all(value in html for value in sheet.fields[0].form.fill(example.answer))
        assert html.count(" checked") == (len(sheet.fields[0].form.fill(example.answer)) if TICKED.search(html) else 0)
    for example in kind.spec.examples.invalid:
        parsed = sheet.parse({"q": example.raw}, shown_to(sheet))
        field = bind_fields(sheet.fields, speech, {"q": example.raw}, parsed.errors, shown=shown_to(sheet))[0]
        assert field.errors[0].title in render_to_string(field.input, {"field": field}).replace("&#x27;", "'")
    for row in answer_views(sheet.fields, speech, {"q": kind.spec.examples.valid[0].answer}):
        assert render_to_string(row.template, {"data": row.data}).strip()
        side = row.template.replace("answer.html", "compare.html")
        assert "R-1" in render_to_string(side, {"rows": [{"who": "R-1", "data": row.data}]})


@each_kind
def test_the_reference_has_a_row_for_every_kind(kind: Kind) -> None:
    assert f"\n| `{kind.key}` |" in KIND_TABLE.read_text()


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(UnknownKind, match="did you mean 'rating'"):
        kind("ratng")


def test_keys_are_not_reused() -> None:
    assert len({one.key for one in KINDS}) == len(KINDS)
