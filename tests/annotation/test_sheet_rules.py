"""What a sheet says of several fields at once, through the one door that every answer takes."""

from typing import Any

import pytest

from annotation.fields.contract import Shown
from annotation.services.sheets.sheet_versions import structure
from annotation.sheets.sheet import Sheet, SheetError

SHOWN = Shown(item_id=1, facts={"objects": 4})
KNOWN = {
    "key": "known", "kind": "choice", "label": {"en": "Known?"},
    "config": {"options": [{"code": code, "label": {"en": code}} for code in ("yes", "some", "no")]},
}  # fmt: skip
SCALE = {"points": [{"code": code, "label": {"en": code}} for code in ("0", "1", "2")]}
FIT = {"key": "fit", "kind": "rating", "label": {"en": "Fit?"}, "config": SCALE}
CLEAR = {"key": "clear", "kind": "rating", "label": {"en": "Clear?"}, "config": SCALE}
NAME = {
    "key": "name", "kind": "text", "label": {"en": "Name?"}, "rules": [{"en": "The local name of {target}."}],
    "show_if": {"field": "known", "in": ["yes", "some"]},
}  # fmt: skip
MORE = {"key": "more", "kind": "text", "label": {"en": "More?"}, "show_if": {"field": "known", "in": ["yes"]}}
MAYBE = {"field": "known", "in": ["maybe"]}
CHECK = {"key": "sound", "expression": "fit + clear >= 2", "words": {"en": "Both are low."}, "blocks": False}
SCORE = {"label": {"en": "Total"}, "expression": "(fit + clear) / 4", "decimals": 2}
WHOLE: dict[str, Any] = {"fields": [KNOWN, FIT, CLEAR, NAME, MORE], "checks": [CHECK], "score": SCORE}


def complete_sheet(**changed: Any) -> Sheet:
    return Sheet.from_json({**WHOLE, **changed})


def test_a_field_that_is_not_asked_is_neither_required_nor_kept() -> None:
    no = complete_sheet().parse(
        {"known": "no", "fit": "2", "clear": "2", "name": "Fanous", "more": ["not a text"]}, SHOWN
    )
    assert no.ok and "name" not in no.answers and "more" not in no.answers
    some = complete_sheet().parse({"known": "some", "fit": "2", "clear": "2"}, SHOWN)
    assert [one.code for one in some.errors["name"]] == ["required"] and "more" not in some.errors


OTHERS = {"key": "others", "kind": "text", "label": {"en": "Others?"}, "required": False}
LABELS = {
    "key": "labels", "kind": "choice", "label": {"en": "Labels?"}, "required_unless": "others",
    "config": {"many": True, "options_from": "labels", "least": 1},
}  # fmt: skip


def test_two_fields_may_each_stand_for_the_other() -> None:
    """Where one of two is wanted, neither alone is missing, and both are where nothing is written."""
    pair = [
        {"key": key, "kind": "text", "label": {"en": key}, "required_unless": other}
        for key, other in (("task", "casual"), ("casual", "task"))
    ]
    sheet = Sheet.from_json({"fields": pair})
    assert set(sheet.parse({"task": " ", "casual": ""}, SHOWN).errors) == {"task", "casual"}
    for key in ("task", "casual"):
        assert sheet.parse({key: "A market :)"}, SHOWN).ok


def test_a_field_may_stay_open_where_another_is_answered_in_its_place() -> None:
    sheet = Sheet.from_json({"fields": [LABELS, OTHERS]})
    shown = Shown(item_id=1, context={"labels": "cup | spoon"})
    assert Sheet.from_json(sheet.to_json()) == sheet
    neither = sheet.parse({"labels": [], "others": " "}, shown)
    assert [one.code for one in neither.errors["labels"]] == ["required"]
    words = sheet.parse({"labels": [], "others": "boat"}, shown)
    assert words.ok and words.answers == {"others": "boat"}
    assert sheet.parse({"labels": ["cup"]}, shown).answers == {"labels": ["cup"]}
    faulty = sheet.parse({"labels": ["boat"], "others": "boat"}, shown)
    assert [one.code for one in faulty.errors["labels"]] == ["not_an_option"]


@pytest.mark.parametrize("named", ["nowhere", "labels"])
def test_what_takes_the_place_of_a_field_is_another_field_of_the_sheet(named: str) -> None:
    with pytest.raises(SheetError) as refused:
        Sheet.from_json({"fields": [{**LABELS, "required_unless": named}, OTHERS]})
    assert refused.value.path == "fields[0].required_unless"


def test_a_remark_between_fields_is_confirmed_under_its_key() -> None:
    low = {"known": "no", "fit": "0", "clear": "1"}
    parsed = complete_sheet().parse(low, SHOWN)
    assert list(parsed.warnings) == ["sound"] and not parsed.errors
    assert complete_sheet().parse(low, SHOWN, ["sound:check"]).ok
    assert complete_sheet().unconfirmed(low, SHOWN, ["sound:check", "fit:check"]) == ("sound:check",)
    blocks = complete_sheet(checks=[{**CHECK, "blocks": True}]).parse(low, SHOWN, ["sound:check"])
    assert [one.code for one in blocks.errors["sound"]] == ["check"]


def test_what_is_unanswered_brings_no_remark() -> None:
    assert "sound" not in complete_sheet().parse({"known": "no", "fit": "0"}, SHOWN).warnings


def test_facts_of_the_item_may_be_named() -> None:
    few = complete_sheet(checks=[{**CHECK, "expression": "facts.objects >= 5"}])
    answers = {"known": "no", "fit": "2", "clear": "2"}
    assert "sound" in few.parse(answers, SHOWN).warnings
    assert few.parse(answers, Shown(item_id=1)).ok  # nothing was found out about it


def test_the_score_is_a_column() -> None:
    assert complete_sheet().cells({"fit": "2", "clear": "0"})["score"] == 0.5
    assert complete_sheet().cells({"fit": "2"})["score"] is None
    assert [column.suffix for column in complete_sheet().columns()][-1] == "score"
    odd = complete_sheet(score={**SCORE, "expression": "fit / 8 + 0.5", "decimals": 2})
    assert odd.cells({"fit": "1"})["score"] == 0.63  # half up, as the page shows it


@pytest.mark.parametrize(
    ("changed", "path", "reason"),
    [
        ({"checks": [{**CHECK, "expression": "fit + nowhere > 1"}]}, "checks[0].expression", "nowhere"),
        ({"checks": [{**CHECK, "expression": "fit +"}]}, "checks[0].expression", "character 6"),
        ({"checks": [{**CHECK, "key": "fit"}]}, "checks[0].key", "twice"),
        ({"checks": [{**CHECK, "words": {}}]}, "checks[0].words", "English"),
        ({"score": {**SCORE, "expression": "facts.objects"}}, "score.expression", "facts.objects"),
        ({"score": {**SCORE, "decimals": 9}}, "score.decimals", "0 to 6"),
        ({"fields": [NAME, KNOWN]}, "fields[0].show_if.field", "before"),
        (
            {"fields": [KNOWN, {**NAME, "show_if": {"field": "known", "in": ["maybe"]}}]},
            "fields[1].show_if.in",
            "maybe",
        ),
        ({"fields": [KNOWN, {**NAME, "rules": [{"ar": "x"}]}]}, "fields[1].rules[0].rule", "English"),
    ],
)
def test_what_could_never_work_is_refused(changed: dict[str, Any], path: str, reason: str) -> None:
    with pytest.raises(SheetError) as error:
        complete_sheet(**{**({"checks": [], "score": None} if "fields" in changed else {}), **changed})
    assert error.value.path == path and reason in error.value.reason


def test_it_round_trips_and_plain_sheets_look_as_before() -> None:
    assert Sheet.from_json(complete_sheet().to_json()) == complete_sheet()
    plain = Sheet.from_json({"fields": [FIT]}).to_json()
    assert set(plain) == {"fields"} and set(plain["fields"][0]) == {
        "key", "kind", "version", "label", "help", "required", "config"
    }  # fmt: skip


def test_words_of_rules_and_checks_are_wording_and_expressions_are_not() -> None:
    other = complete_sheet(checks=[{**CHECK, "words": {"en": "Both are too low."}}]).to_json()
    assert structure(other) == structure(complete_sheet().to_json())
    assert structure(complete_sheet(checks=[{**CHECK, "expression": "fit + clear >= 3"}]).to_json()) != structure(
        complete_sheet().to_json()
    )
