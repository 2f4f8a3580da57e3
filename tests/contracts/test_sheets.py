"""Sheets: what is refused when one is written, and what outlives the code."""

from typing import Any

import pytest
from django.template.loader import render_to_string

from annotation.fields.bound_field import answer_views, bind_fields
from annotation.fields.contract import Shown
from annotation.fields.form import Localiser, first_sentence
from annotation.sheets.sheet import FieldCode, Sheet, SheetError, localise

SHOWN = Shown(item_id=1)
POINTS = [{"code": str(n), "label": {"en": f"Point {n}"}} for n in (1, 2, 3)]
RATING = {"key": "fit", "kind": "rating", "label": {"en": "Fit?"}, "config": {"level": "ordinal", "points": POINTS}}
GONE = {"key": "old", "kind": "hologram", "version": 3, "label": {"en": "Turn it"}, "config": {"depth": 2}}


def sheet(*fields: Any, **extra: Any) -> Sheet:
    return Sheet.from_json({"fields": list(fields)}, **extra)


@pytest.mark.parametrize(
    ("field", "path", "reason"),
    [
        ({**RATING, "kind": "ratting"}, "fields[0].kind", "did you mean 'rating'"),
        ({**RATING, "key": "Fit it"}, "fields[0].key", "small letters"),
        ({**RATING, "label": {"ar": "؟"}}, "fields[0].label", "English"),
        ({**RATING, "version": 9}, "fields[0].version", "this is version 1"),
        ({**RATING, "requird": True}, "fields[0].requird", "not a setting"),
        ({**RATING, "config": {"points": POINTS[:1]}}, "fields[0].config.points", "2 to 10"),
        ({**RATING, "config": {"points": [*POINTS, POINTS[0]]}}, "fields[0].config.points[3].code", "twice"),
        ({**RATING, "config": {"points": POINTS, "level": "nominal"}}, "fields[0].config.level", "ordinal"),
        ({"key": "t", "kind": "text", "label": {"en": "?"}, "config": {"min_length": 9, "max_length": 3}},
         "fields[0].config.min_length", "max_length"),
        ("rating", "fields[0]", "object"),
    ],
)  # fmt: skip
def test_a_faulty_sheet_says_where_and_why(field: Any, path: str, reason: str) -> None:
    with pytest.raises(SheetError) as error:
        sheet(field)
    assert error.value.path == path
    assert reason in error.value.reason


def test_two_fields_of_one_key_are_refused() -> None:
    with pytest.raises(SheetError, match="twice"):
        sheet(RATING, RATING)


def test_a_kind_that_is_gone_still_lists_and_exports_raw() -> None:
    stored_sheet = sheet(RATING, GONE, stored=True)
    assert stored_sheet.to_json()["fields"][1]["kind"] == "hologram"
    answers = {"fit": "2", "old": {"angle": 40}}
    assert stored_sheet.cells(answers)["old"] == {"angle": 40}
    rows = answer_views(stored_sheet.fields, Localiser(), answers)
    assert "angle" in render_to_string(rows[1].template, {"data": rows[1].data})
    parsed = stored_sheet.parse({"fit": "2", "old": 1}, SHOWN)
    assert [problem.code for problem in parsed.errors["old"]] == ["unknown_kind"]
    field = bind_fields(stored_sheet.fields, Localiser(), {})[1]
    assert "cannot be shown" in render_to_string(field.input, {"field": field})


def test_a_kind_that_is_gone_is_refused_in_a_new_sheet() -> None:
    with pytest.raises(SheetError, match="hologram"):
        sheet(GONE)


def test_an_answer_to_no_question_is_named() -> None:
    parsed = sheet(RATING).parse({"fit": "2", "fti": "3"}, SHOWN)
    assert [problem.code for problem in parsed.errors["fti"]] == ["no_such_field"]


def test_codes_carry_the_number_or_the_place() -> None:
    assert sheet(RATING).parse({"fit": "3"}, SHOWN).codes == [FieldCode("fit", "3", 3.0)]
    words = [{"code": code, "label": {"en": code}} for code in ("low", "high")]
    named = {**RATING, "config": {"points": words}}
    assert sheet(named).parse({"fit": "high"}, SHOWN).codes == [FieldCode("fit", "high", 2.0)]


def test_codes_of_which_one_is_a_word_all_carry_their_place() -> None:
    """Else "none" and "1" would be one point of the scale."""
    mixed = {**RATING, "config": {"points": [{"code": code, "label": {"en": code}} for code in ("none", "1", "2.5")]}}
    codes = [sheet(mixed).parse({"fit": code}, SHOWN).codes for code in ("none", "1", "2.5")]
    assert codes == [[FieldCode("fit", "none", 1.0)], [FieldCode("fit", "1", 2.0)], [FieldCode("fit", "2.5", 3.0)]]


@pytest.mark.parametrize("word", ["nan", "inf", "-Infinity", "1_000", "٣"])
def test_a_code_that_only_python_reads_as_a_number_is_a_word(word: str) -> None:
    codes = ("-1", "0.5", word)
    scale = {**RATING, "config": {"points": [{"code": code, "label": {"en": code}} for code in codes]}}
    values = [sheet(scale).parse({"fit": code}, SHOWN).codes[0].value for code in codes]
    assert values == [1.0, 2.0, 3.0]
    numbers = {**RATING, "config": {"points": scale["config"]["points"][:2]}}
    assert [sheet(numbers).parse({"fit": code}, SHOWN).codes[0].value for code in codes[:2]] == [-1.0, 0.5]


def test_one_choice_of_many_options_takes_no_list() -> None:
    options = [{"code": code, "label": {"en": code}} for code in ("a", "b")]
    one = sheet({"key": "c", "kind": "choice", "label": {"en": "?"}, "config": {"options": options}})
    assert one.parse({"c": "b"}, SHOWN).codes == [FieldCode("c", "b", None)]
    assert not one.parse({"c": ["a", "b"]}, SHOWN).ok


def test_a_whole_number_far_out_of_range_is_refused_and_not_spelt_out() -> None:
    assert not sheet(RATING).parse({"fit": 10**5000}, SHOWN).ok


def test_texts_fall_back_to_english_then_to_any() -> None:
    text = {"en": "Rate {target}", "ar": "قيّم {target}"}
    assert localise(text, "ar-EG", "مصر") == "قيّم مصر"
    assert localise(text, "pt", "Brasil") == "Rate Brasil"
    assert localise({"ar": "قيّم"}, "pt") == "قيّم"
    assert localise({}, "en") == ""


def test_definitions_are_cut_after_the_first_sentence() -> None:
    assert first_sentence("No depth. May be vague.") == ("No depth.", "May be vague.")
    assert first_sentence("深みがない。あいまい。") == ("深みがない。", "あいまい。")
    assert first_sentence("No depth") == ("No depth", "")
