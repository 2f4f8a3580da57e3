"""What is particular to boxes: digits of every script, limits, facts, what is typed is kept, several people's boxes."""

import json
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from annotation.fields.bound_field import answer_views, bind_fields
from annotation.fields.box.spec import label_keys, percent
from annotation.fields.contract import ConfigError, Shown, ShownImage
from annotation.fields.form import Localiser
from annotation.sheets.sheet import ParsedSheet, Sheet

PICTURE = ShownImage("image", 7, "a" * 64, 1000, 750)
SPEECH = Localiser("en", "Egypt")
LABELS = [
    {"code": "lamp", "label": {"en": "Lamp", "ar": "مصباح"}},
    {"code": "stall", "label": {"en": "Stall"}, "definition": {"en": "A shop in the street."}},
]
BARE = {"x0": 0.1, "y0": 0.1, "x1": 0.2, "y1": 0.2}


def sheet(**config: Any) -> Sheet:
    return Sheet.from_json({"fields": [{"key": "q", "kind": "box", "label": {"en": "Where?"}, "config": config}]})


def parse_typed(box_sheet: Sheet, *values: str, **facts: Any) -> tuple[Any, ParsedSheet]:
    posted = QueryDict(mutable=True)
    posted.setlist("a-q", list(values))
    raw = box_sheet.read_form(posted)
    return raw, box_sheet.parse(raw, Shown(1, facts=facts, images=(PICTURE,)))


@pytest.mark.parametrize("left", ["15.8", "15,8", " 15.80 % ", "١٥٫٨", "۱۵٫۸", "१५.८", "١٥٫٨٪", "015.8"])
def test_a_number_in_any_script(left: str) -> None:
    _raw, parsed = parse_typed(sheet(), left, "20", "40", "71")
    assert parsed.answers["q"][0]["x0"] == 0.158


@pytest.mark.parametrize("left", ["abc", "1e1", "nan", "1.2.3", "--1", "15 8", "½", "九"])
def test_what_is_no_number_is_refused_and_stays_as_it_was_typed(left: str) -> None:
    box_sheet = sheet()
    raw, parsed = parse_typed(box_sheet, left, "20", "40", "71")
    assert [problem.code for problem in parsed.errors["q"]] == ["box_not_numbers"]
    field = bind_fields(box_sheet.fields, SPEECH, json.loads(json.dumps(raw)), parsed.errors)[0]
    html = render_to_string(field.input, {"field": field})
    assert f'value="{left}"' in html
    assert 'value="71"' in html


def test_a_number_that_is_too_large_for_a_float_is_refused() -> None:
    parsed = sheet().parse({"q": [[10**400, 0.1, 0.2, 0.2]]}, Shown(1, images=(PICTURE,)))
    assert [problem.code for problem in parsed.errors["q"]] == ["box_outside"]


def test_rows_left_empty_are_no_boxes_and_a_half_filled_one_is_told() -> None:
    _raw, parsed = parse_typed(sheet(most=3), "", "", "", "", "10", "10", "20", "20", "", "", "", "")
    assert parsed.answers["q"] == [{"x0": 0.1, "y0": 0.1, "x1": 0.2, "y1": 0.2}]
    raw, parsed = parse_typed(sheet(), "10", "", "", "20")
    assert [problem.code for problem in parsed.errors["q"]] == ["box_incomplete"]
    assert raw == {"q": [[0.1, "", "", 0.2]]}


def test_the_limit_is_strict_and_the_words_never_round_up_to_it() -> None:
    box_sheet = sheet(max_area=0.3, min_area=0.01)
    assert parse_typed(box_sheet, "0", "0", "50", "59.9999")[1].ok
    assert not parse_typed(box_sheet, "0", "0", "50", "60")[1].ok
    assert parse_typed(box_sheet, "0", "0", "10", "10")[1].ok  # at least
    assert percent(0.299999) == "29.9"
    assert percent(0.3) == "30"


def test_every_box_keeps_the_limits_of_size() -> None:
    box_sheet = sheet(most=2, max_area=0.3, min_area=0.01)
    fine, small, large = [0.1, 0.1, 0.3, 0.3], [0.5, 0.5, 0.55, 0.55], [0.0, 0.0, 0.9, 0.9]
    for wrong, code in ((small, "box_too_small"), (large, "box_too_large")):
        for boxes in ([fine, wrong], [wrong, fine]):
            parsed = box_sheet.parse({"q": boxes}, Shown(1, images=(PICTURE,)))
            assert [problem.code for problem in parsed.errors["q"]] == [code]
    assert box_sheet.parse({"q": [fine, fine]}, Shown(1, images=(PICTURE,))).ok


@pytest.mark.parametrize(
    ("facts", "ok"), [({}, True), ({"objects": 3}, True), ({"objects": 2}, False), ({"objects": "many"}, True)]
)
def test_a_fact_holds_only_when_it_is_known(facts: dict[str, Any], ok: bool) -> None:
    box_sheet = sheet(facts=[{"key": "objects", "at_least": 3, "label": {"en": "Things"}}])
    assert parse_typed(box_sheet, "10", "10", "20", "20", **facts)[1].ok is ok
    html = render_to_string(
        (field := bind_fields(box_sheet.fields, SPEECH, {}, shown=Shown(1, facts=facts))[0]).input, {"field": field}
    )
    assert ("not known yet" in html) is (not isinstance(facts.get("objects"), int))


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"most": 0}, "config.most"),
        ({"most": 21}, "config.most"),
        ({"least": 2}, "config.least"),
        ({"max_area": 30}, "config.max_area"),
        ({"max_area": 0.1, "min_area": 0.2}, "config.min_area"),
        ({"facts": [{"key": "objects", "at_least": "3", "label": {"en": "x"}}]}, r"config.facts\[0\].at_least"),
        ({"facts": [{"key": "objects", "at_least": 3}]}, r"config.facts\[0\].label"),
        ({"label_required": True}, "config.label_required"),
        ({"labels": "lamp"}, "config.labels"),
        ({"labels": [{"code": "lamp"}]}, r"config.labels\[0\].label"),
        ({"labels": [*LABELS, LABELS[0]]}, r"config.labels\[2\].code"),
        ({"labels": [{**LABELS[0], "key": "n"}]}, r"config.labels\[0\].key"),
        ({"labels": [{**LABELS[0], "key": ["a"]}]}, r"config.labels\[0\].key"),
        ({"labels": [{**one, "key": "a"} for one in LABELS]}, r"config.labels\[1\].key"),
    ],
)
def test_a_config_that_cannot_work_is_named(config: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigError, match=path):
        sheet(**config)


def test_expressions_may_name_area_and_count() -> None:
    box_sheet = sheet(most=2)
    answer = [[0.1, 0.1, 0.2, 0.2], [0, 0, 0.5, 0.5]]
    parsed = box_sheet.parse({"q": answer}, Shown(1)).answers["q"]
    assert box_sheet.fields[0].spec.values(parsed, box_sheet.fields[0].config) == {".area": 0.25, ".count": 2.0}


def test_several_people_lie_over_the_picture_with_their_overlap() -> None:
    box_sheet = sheet()
    rows = []
    for who, box in (("R-1", [0, 0, 0.5, 1]), ("R-2", [0.25, 0, 0.75, 1]), ("R-3", [0.9, 0.9, 1, 1])):
        given = answer_views(box_sheet.fields, SPEECH, {"q": box_sheet.parse({"q": [box]}, Shown(1)).answers["q"]})[0]
        rows.append({"who": who, "data": given.data})
    html = render_to_string("annotation/fields/box/compare.html", {"rows": rows, "picture": PICTURE})
    assert '<rect x="250.00" y="0.00" width="500.00" height="750.00"' in html
    assert html.count("<text ") == 3
    assert "overlap <b>0.33</b> of 1" in html
    assert "overlap <b>0.00</b> of 1" in html
    assert "<svg" not in render_to_string("annotation/fields/box/compare.html", {"rows": rows})
    alone = render_to_string("annotation/fields/box/answer.html", {"data": rows[0]["data"], "picture": PICTURE})
    assert '<rect x="0.00" y="0.00" width="500.00"' in alone
    assert "<text " not in alone


def test_a_sheet_without_labels_is_stored_as_it_was() -> None:
    plain = sheet(most=2)
    config = {"least": 1, "most": 2, "max_area": None, "min_area": None, "facts": []}
    assert plain.to_json()["fields"][0]["config"] == config
    parsed = plain.parse({"q": [[0.1, 0.1, 0.2, 0.2]]}, Shown(1))
    assert (parsed.answers, parsed.codes) == ({"q": [BARE]}, [])
    assert [column.suffix for column in plain.columns()] == ["q", "q_count", "q_area"]
    assert plain.cells({"q": [BARE]}) == {"q": [BARE], "q_count": 1, "q_area": 0.01}
    assert set(plain.rubric("q").schema["items"]["properties"]) == {"x0", "y0", "x1", "y1"}
    html = render_to_string((field := bind_fields(plain.fields, SPEECH, {})[0]).input, {"field": field})
    assert "<select" not in html


def test_a_label_is_refused_where_the_sheet_has_none() -> None:
    for raw in ([{**BARE, "label": "lamp"}], {**BARE, "label": "lamp"}):
        assert [problem.code for problem in sheet().parse({"q": raw}, Shown(1)).errors["q"]] == ["no_labels"]
    assert [problem.code for problem in sheet().parse({"q": [[*BARE.values(), "lamp"]]}, Shown(1)).errors["q"]] == [
        "not_a_box"
    ]
    assert sheet().parse({"q": [{**BARE, "label": None}]}, Shown(1)).answers == {"q": [BARE]}


def test_answers_from_before_there_were_labels_stay_valid() -> None:
    for required in (False, True):
        labelled = sheet(most=2, labels=LABELS, label_required=required)
        assert labelled.cells({"q": [BARE]})["q_labels"] == ""
        assert labelled.parse({"q": [BARE]}, Shown(1)).ok is not required


def test_a_required_label_is_asked_for_by_the_number_of_the_box() -> None:
    labelled = sheet(most=3, labels=LABELS, label_required=True)
    rows = ("10", "10", "20", "20", "label:lamp", "30", "30", "40", "40", "label:", "", "", "", "", "label:stall")
    raw, parsed = parse_typed(labelled, *rows)
    assert raw == {"q": [[0.1, 0.1, 0.2, 0.2, "lamp"], [0.3, 0.3, 0.4, 0.4]]}
    assert [problem.code for problem in parsed.errors["q"]] == ["box_without_label"]
    field = bind_fields(labelled.fields, SPEECH, raw, parsed.errors)[0]
    assert field.errors[0].title == "Box 2 has no label."
    html = render_to_string(field.input, {"field": field})
    assert html.count('<option value="label:lamp" selected>Lamp</option>') == 1
    assert html.count("<select") == 3
    assert labelled.parse({"q": [{**BARE, "label": "stall"}]}, Shown(1)).ok


def test_the_columns_have_codes_and_english_texts_of_the_labels() -> None:
    labelled = sheet(most=3, labels=LABELS)
    raw = [{**BARE, "label": "stall"}, BARE, {**BARE, "label": "lamp"}]
    cells = labelled.cells(labelled.parse({"q": raw}, Shown(1)).answers)
    assert cells["q"] == raw
    assert (cells["q_labels"], cells["q_label_texts"]) == ("stall||lamp", "Stall||Lamp")
    assert [column.suffix for column in labelled.columns()][3:] == ["q_labels", "q_label_texts"]


def test_a_label_has_its_own_key_or_that_of_its_position() -> None:
    def keys(*labels: dict[str, Any]) -> list[str]:
        return label_keys(sheet(labels=list(labels)).fields[0].config.labels)

    assert keys(*LABELS) == ["1", "2"]
    assert keys({**LABELS[0], "key": "2"}, LABELS[1]) == ["2", ""]
    assert keys({**LABELS[0], "code": "3"}, {**LABELS[1], "code": "0"}) == ["3", "0"]
    many = [{"code": f"c{number}", "label": {"en": "x"}} for number in range(12)]
    assert keys(*many) == [*"1234567890", "", ""]


@pytest.mark.parametrize("required", [False, True])
def test_a_model_is_asked_for_one_of_the_codes(required: bool) -> None:
    rubric = sheet(labels=LABELS, label_required=required).rubric("q")
    one = {"type": "string", "enum": ["lamp", "stall"]}
    assert rubric.schema["items"]["properties"]["label"] == (one if required else {"anyOf": [one, {"type": "null"}]})
    assert rubric.schema["items"]["required"] == ["x0", "y0", "x1", "y1", "label"]
    assert "stall: Stall. A shop in the street." in rubric.words
    assert ("or null where none fits" in rubric.words) is not required


def test_an_answer_is_read_with_its_label_in_the_language_of_the_page() -> None:
    labelled = sheet(labels=LABELS)
    for language, text in (("en", "Lamp"), ("ar", "مصباح")):
        view = answer_views(labelled.fields, Localiser(language), {"q": [{**BARE, "label": "lamp"}]})[0]
        assert text in render_to_string(view.template, {"data": view.data})
