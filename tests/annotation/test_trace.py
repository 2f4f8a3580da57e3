"""What a browser says was opened is kept to what can be."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from annotation.sheets.opening_log import MOST_OPENED, merge_openings, parse_openings
from annotation.sheets.sheet_view_record import parse_view

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
SINCE = NOON - timedelta(hours=1)
ROW = {"part": "hint", "at": "2026-05-01T11:59:00+00:00", "seconds": 3.14, "gate_answered": True, "text_typed": False}


def read(*rows: Any, part: str = "hint") -> Any:
    return parse_openings(json.dumps({"opened": list(rows)}), part, SINCE, NOON)


def test_an_opening_is_kept() -> None:
    assert read(ROW) == {"opened": [{**ROW, "seconds": 3.1}]}
    assert read() == {"opened": []}  # noted, and nothing was


@pytest.mark.parametrize(
    "row",
    [
        {**ROW, "part": "other"}, {**ROW, "at": "noon"}, {**ROW, "at": "2026-05-01T11:59:00"}, {**ROW, "at": 3},
        {**ROW, "at": "2027-05-01T11:59:00+00:00"}, {**ROW, "at": "2025-07-05T11:59:00+00:00"},
        {**ROW, "at": "2026-05-01T10:54:59+00:00"}, {**ROW, "at": "0001-01-01T00:00:00+14:00"},
        {**ROW, "seconds": -1}, {**ROW, "seconds": "3"},
        {**ROW, "seconds": float("nan")}, {**ROW, "seconds": True}, "row", None, [],
    ],
)  # fmt: skip
def test_what_cannot_be_is_left_out(row: Any) -> None:
    assert read(row) == {"opened": []}


@pytest.mark.parametrize("posted", ["", "{", "[]", "{}", '{"opened": 3}', "[" * 4000, "x" * 20_001, None])
def test_what_is_no_trace_is_none(posted: Any) -> None:
    assert parse_openings(posted, "hint", SINCE, NOON) == {}


def test_a_mark_is_only_true_when_it_says_so_and_nothing_else_is_kept() -> None:
    assert read({**ROW, "gate_answered": "yes", "name": "Nour"})["opened"][0] == {
        **ROW, "seconds": 3.1, "gate_answered": False
    }  # fmt: skip


def test_nothing_is_opened_before_the_sheet_was_there_nor_after_longer_than_it_is() -> None:
    early = read({**ROW, "at": "2026-05-01T10:57:00+00:00", "seconds": 80_000})["opened"][0]
    assert (early["at"], early["seconds"]) == ("2026-05-01T11:00:00+00:00", 3600)


def test_there_is_an_end_to_it() -> None:
    assert len(read(*[ROW] * 100)["opened"]) == MOST_OPENED


def test_an_opening_cannot_be_taken_back() -> None:
    kept, later = read(ROW), read({**ROW, "at": "2026-05-01T11:59:30+00:00"})
    assert len(merge_openings(kept, later)["opened"]) == 2
    assert merge_openings(kept, {"opened": []}) == merge_openings(kept, {}) == merge_openings(kept, kept) == kept
    assert merge_openings({}, {}) == {}


def test_a_stage_that_folds_nothing_keeps_nothing() -> None:
    assert read({**ROW, "part": ""}, part="") == {"opened": []}


VIEW = {"device": "phone", "width": 390, "height": 844, "levels": {"relevance": [4, 5]}}


def test_a_view_is_kept_as_it_was_sent() -> None:
    assert parse_view(json.dumps(VIEW), {"relevance"}) == VIEW
    assert parse_view(json.dumps({**VIEW, "name": "Nour", "levels": {}}), {"relevance"}) == {**VIEW, "levels": {}}


@pytest.mark.parametrize(
    "posted",
    [
        "", "{", "[]", "{}", "[" * 4000, "x" * 10_001, None, json.dumps({**VIEW, "device": "toaster"}),
        json.dumps({**VIEW, "width": -1}), json.dumps({**VIEW, "width": True}), json.dumps({**VIEW, "height": 20_001}),
        json.dumps({**VIEW, "height": "844"}), json.dumps({**VIEW, "levels": [4, 5]}),
    ],
)  # fmt: skip
def test_a_view_that_cannot_be_is_none(posted: Any) -> None:
    assert parse_view(posted, {"relevance"}) == {}


@pytest.mark.parametrize("counts", [[6, 5], [-1, 5], [5], [5, 101], ["4", "5"], [4, None], "45", None])
def test_levels_that_cannot_be_are_left_out(counts: Any) -> None:
    assert parse_view(json.dumps({**VIEW, "levels": {"relevance": counts}}), {"relevance"})["levels"] == {}


def test_levels_of_another_sheet_are_left_out() -> None:
    assert parse_view(json.dumps(VIEW), {"keep"})["levels"] == {}


def test_the_view_is_that_of_the_page_that_sends() -> None:
    phone, wide = {"view": VIEW}, {"view": {**VIEW, "device": "computer"}}
    assert merge_openings(phone, wide) == wide
    assert merge_openings(phone, {}) == {}
    assert merge_openings(read(ROW), phone) == {**read(ROW), **phone}
