"""Rows of a file of answers: each keeps the number that a person sees, each value its limit, each fault its row.

No database: what the rows become in a campaign is in test_answer_files.py and test_ratings.py.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from annotation.imports import source, staging
from annotation.imports.row_groups import AnswerRowGroup, group_long_rows, group_wide_rows
from annotation.imports.rows import AnswerRow, clean, parse_row
from annotation.sheets.sheet import Sheet
from benchmarks.imports.problems import RowProblem, SourceProblem
from tests.personas import SHEET

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GOOD = {"item": "a", "rater": "r1", "answers": {"relevance": "3"}}
TWO = {"fields": [SHEET["fields"][0], {**SHEET["fields"][0], "key": "fit"}]}


def rows_of(data: bytes, **needs: Any) -> list[tuple[int, Any]]:
    rows = source.rows(io.BytesIO(data), **needs)
    return [(number, row.code if isinstance(row, RowProblem) else dict(row)) for number, row in rows]


def parse(**row: Any) -> AnswerRow:
    return parse_row({**GOOD, **row}, Sheet.from_json(SHEET), NOW)


def code_of(**row: Any) -> str:
    try:
        parse(**row)
    except RowProblem as problem:
        return problem.code
    return ""


def groups_of(*rows: Mapping[str, Any] | RowProblem, has_target: bool = True) -> list[AnswerRowGroup]:
    numbered = list(enumerate(rows, start=2))
    return list(group_long_rows(numbered, Sheet.from_json(TWO), has_target, lambda: None))


def part(**row: Any) -> dict[str, Any]:
    return {"item": "a", "rater": "r1", "cohort": "Egypt", "field": "relevance", "code": "3", **row}


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("separator", [b",", b";", b"\t"])
def test_rows_of_a_table_are_numbered_past_empty_and_faulty_ones(mark: bytes, separator: bytes) -> None:
    text = b'item,rater\na,r1\n\n,\nb\nc,r1,x\n\xff,r1\n"\'=d",r1'
    assert rows_of(mark + text.replace(b",", separator)) == [
        (2, {"item": "a", "rater": "r1"}), (5, "wrong_cells"), (6, "wrong_cells"), (7, "not_utf8"),
        (8, {"item": "=d", "rater": "r1"}),
    ]  # fmt: skip


def test_a_row_after_an_unreadable_one_keeps_its_number() -> None:
    huge = b"x" * (128 * 1024 + 1)  # more than the reader takes as one cell
    assert rows_of(b"item\na\n" + huge + b"\nb\n") == [(2, {"item": "a"}), (3, "unreadable"), (4, {"item": "b"})]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_of_json_are_numbered_from_one_past_empty_and_faulty_ones(mark: bytes) -> None:
    deep = b'{"item": ' + b"[" * 100_000 + b"}"
    text = b'{"item": "a"}\n \n[1]\n{"item": "\xff"}\n' + deep + b'\n{"unit": "b"}\n{"unit": "c", "item": "d"}'
    assert rows_of(mark + text) == [
        (1, {"item": "a"}), (3, "unreadable"), (4, "unreadable"), (5, "unreadable"), (6, {"item": "b", "unit": "b"}),
        (7, {"unit": "c", "item": "d"}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("head", "fine"),
    [("item,x", True), ("unit,x", True), (" item ;x", True), ("unit,item", True), ("key,x", False),
     ("item,item", False), ("unit,unit", False), ("", False)],
)  # fmt: skip
def test_the_first_line_names_the_columns_each_once_and_the_item(head: str, fine: bool) -> None:
    if fine:
        assert [number for number, _row in rows_of(f"{head}\na{';' if ';' in head else ','}b\n".encode())] == [2]
        return
    with pytest.raises(SourceProblem, match="one of them must be “item”"):
        rows_of(f"{head}\na,b\n".encode())


def test_another_file_may_need_another_column() -> None:
    assert rows_of(b"entry\na\n", needs=("query", "entry")) == [(2, {"entry": "a"})]
    with pytest.raises(SourceProblem, match="must be “query”"):
        rows_of(b"item\na\n", needs=("query", "entry"))


def test_a_line_at_its_limit_is_read_and_a_longer_one_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    line = b'{"item": "abc"}\n'
    monkeypatch.setattr(source, "LONGEST_LINE", len(line))
    assert rows_of(line * 2) == [(1, {"item": "abc"}), (2, {"item": "abc"})]
    for data in (b" " + line, line + b" " + line):
        with pytest.raises(SourceProblem, match="longer than 1 MB"):
            rows_of(data)


@pytest.mark.parametrize(
    ("names", "fine"),
    [(["ratings.csv"], True), (["export/ratings.jsonl", "items.csv"], True), (["items.csv"], False),
     (["ratings.csv", "ratings.jsonl"], False), (["my-ratings.csv"], False)],
)  # fmt: skip
def test_a_zip_holds_exactly_one_file_of_ratings(names: list[str], fine: bool) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in names:
            archive.writestr(name, "item\na\n")
    out.seek(0)
    if fine:
        with source.open_rows(out, 10**6) as file:
            assert [number for number, _row in source.rows(file)] == [2]
        return
    count = sum(name.rpartition("/")[2] in ("ratings.csv", "ratings.jsonl") for name in names)
    with pytest.raises(SourceProblem, match=f"holds {count} files"), source.open_rows(out, 10**6):
        pass


@pytest.mark.parametrize(
    ("row", "long"),
    [({"field": "q", "code": "1"}, True), ({"field": "q"}, False), ({"code": "1"}, False), ({}, False)],
)
def test_a_file_has_a_row_for_each_field_where_rows_name_field_and_code(row: dict[str, str], long: bool) -> None:
    problem = (1, RowProblem("unreadable", "no"))
    assert source.is_long_format(iter([problem, (2, row)])) is long
    assert not source.is_long_format(iter([problem]))
    assert source.is_long_format(iter([*[problem] * 99, (100, row)])) is long
    assert not source.is_long_format(iter([*[problem] * 100, (101, row)]))


@pytest.mark.parametrize(
    ("name", "most"), [("item", 200), ("rater", 200), ("cohort", 120), ("language", 12), ("label_set", 130),
                       ("rule_version", 20)],
)  # fmt: skip
def test_a_value_at_its_limit_is_imported_and_a_longer_one_is_refused(name: str, most: int) -> None:
    assert not code_of(**{name: "x" * most})
    with pytest.raises(RowProblem) as refused:
        parse(**{name: "x" * (most + 1)})
    assert refused.value.code == "too_long" and f"“{name}” is longer than {most} characters" in refused.value.message


def test_limits_of_a_model_hold_for_models_alone() -> None:
    model = {"rater_kind": "model", "setting": "s" * 60, "model_info": {"x": "y" * 3990}}
    row = parse(**model)
    assert (row.by_model, row.setting, len(row.about["x"])) == (True, "s" * 60, 3990)
    assert (
        code_of(**{**model, "setting": "s" * 61}) == code_of(**{**model, "model_info": {"x": "y" * 3992}}) == "too_long"
    )
    person = parse(**{**model, "rater_kind": "person", "setting": "s" * 61})
    assert (person.by_model, person.setting, person.about) == (False, "", {})
    assert parse(rater_kind="model", about={"family": "a"}).about == {"family": "a"}
    assert parse(rater_kind="model", about={"family": "a"}, model_info={"family": "b"}).about == {"family": "b"}


@pytest.mark.parametrize(
    ("cell", "seconds"),
    [("", None), (None, None), (0, 0.0), ("8.5", 8.5), (86_400, 86_400.0), (86_400.5, "unreadable"),
     (-0.1, "unreadable"), ("x", "unreadable"), ("inf", "unreadable"), ([1], "unreadable")],
)  # fmt: skip
def test_active_seconds_are_between_none_and_a_day(cell: Any, seconds: Any) -> None:
    if seconds == "unreadable":
        assert code_of(active_seconds=cell) == seconds
    else:
        assert parse(active_seconds=cell).seconds == seconds


@pytest.mark.parametrize(
    ("cell", "version"),
    [(None, 1), ("", 1), (1, 1), ("2", 2), (2.0, 2), (31_999, 31_999), (32_000, 0), (0, 0), (1.5, 0), (-1, 0)],
)
def test_a_version_is_a_whole_number_from_one(cell: Any, version: int) -> None:
    if version:
        assert parse(version=cell).version == version
    else:
        assert code_of(version=cell) == "unreadable"


@pytest.mark.parametrize(
    ("cell", "counted"),
    [(None, True), ("", True), (True, True), ("true", True), ("True", True), ("1", True), (False, False),
     ("false", False), ("False", False), ("0", False), (1, None), (0, None), ("yes", None), ([], None)],
)  # fmt: skip
def test_an_answer_counts_unless_the_row_says_no_and_then_says_why(cell: Any, counted: bool | None) -> None:
    if counted is None:
        assert code_of(counted=cell) == "unreadable"
        return
    silent, speaking = parse(counted=cell), parse(counted=cell, uncounted_because="surplus")
    assert (silent.counted, speaking.counted) == (counted, counted)
    assert (silent.because, speaking.because) == (("", "") if counted else ("in_file", "surplus"))


def test_times_are_those_of_the_row_or_of_the_import_and_shown_never_after_submitted() -> None:
    silent = parse()
    assert (silent.at, silent.shown_at) == (NOW, NOW)
    early, late = "2026-02-01T10:00:00+02:00", "2026-02-01T09:00:00+00:00"
    row = parse(submitted_at=late, shown_at=early)
    assert (row.at, row.shown_at) == (datetime(2026, 2, 1, 9, tzinfo=UTC), datetime(2026, 2, 1, 8, tzinfo=UTC))
    turned = parse(submitted_at=early, shown_at=late)
    assert turned.shown_at == turned.at == datetime(2026, 2, 1, 8, tzinfo=UTC)
    assert parse(submitted_at="2026-02-01T09:00:00").at == datetime(2026, 2, 1, 9, tzinfo=UTC)  # as the site's clock
    assert parse(submitted_at=late).shown_at == datetime(2026, 2, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "code"),
    [
        (datetime(1990, 1, 1, tzinfo=UTC), ""),
        (datetime(1990, 1, 1, tzinfo=UTC) - timedelta(microseconds=1), "out_of_time"),
        (NOW + timedelta(days=1), ""),
        (NOW + timedelta(days=1, microseconds=1), "out_of_time"),
    ],
)
def test_a_time_lies_between_1990_and_tomorrow(moment: datetime, code: str) -> None:
    assert code_of(submitted_at=moment.isoformat()) == code_of(shown_at=moment.isoformat()) == code


def test_what_a_row_leaves_out_has_its_usual_value() -> None:
    row = parse(language="", rater_kind="", confirmed="", opened=None)
    assert (row.language, row.kind, row.confirmed, row.trace, row.rule, row.target) == (
        "en",
        "person",
        (),
        {},
        None,
        None,
    )
    more = parse(confirmed=["q" * 201], opened="[1]", rule_version="", target="Egypt", answers='{"relevance": "3"}')
    assert (more.confirmed, more.trace, more.rule) == (("q" * 200,), {"opened": [1]}, "")
    assert (more.target, more.raw) == ("Egypt", {"relevance": "3"})
    columns = parse_row({"item": "a", "rater": "r", "answer.relevance": "4"}, Sheet.from_json(SHEET), NOW)
    assert columns.raw == {"relevance": "4"}
    assert code_of(confirmed="{}") == code_of(opened={"no": 1}) == code_of(rater_kind="robot") == "unreadable"


def test_a_row_is_clean_up_to_its_depth() -> None:
    def nested(depth: int) -> Any:
        return json.loads("[" * depth + "]" * depth)

    assert clean({"a\0": [nested(19), "b\0"]}) == {"a": [nested(19), "b"]}
    assert clean(nested(21)) == nested(21)
    for value, code in ((nested(22), "unreadable"), ([float("nan")], "unreadable"), ({"\ud800": 1}, "not_utf8")):
        with pytest.raises(RowProblem) as refused:
            clean(value)
        assert refused.value.code == code


# Rows that are one answer together


def test_rows_of_one_answer_are_grouped_wherever_they_stand() -> None:
    first, second = groups_of(part(), part(rater="r2"), part(field="fit", code="2"))
    assert (first.numbers, first.of, first.problems) == ([2, 4], {"relevance": 2, "fit": 4}, {})
    assert first.row["answers"] == {"relevance": "3", "fit": "2"} and first.partial
    assert (second.numbers, second.row["rater"]) == ([3], "r2")


@pytest.mark.parametrize("name", ["item", "rater", "rater_kind", "setting", "label_set", "target"])
def test_rows_that_differ_here_are_different_answers(name: str) -> None:
    assert len(groups_of(part(**{name: "x"}), part(**{name: "y"}))) == 2
    assert len(groups_of(part(**{name: "x"}), part(**{name: " x "}))) == 1
    together = 1 if name == "target" else 2
    assert len(groups_of(part(**{name: "x"}), part(**{name: "y"}), has_target=False)) == together


def test_a_repeated_row_is_harmless_and_one_that_differs_names_the_first() -> None:
    [group] = groups_of(part(), part(), part(code="4"), part(field="fit"))
    assert (group.repeated, {*group.problems}) == ({3}, {4})
    assert group.problems[4].code == "twice" and "Row 2 has a different value" in group.problems[4].message


def test_faults_are_of_their_own_row() -> None:
    rows = [{}, {"cohort": "Brazil", "field": "fit"}, {"field": "no"}, {"field": "fit", "code": ""},
            {"field": "fit", "language": "ar"}]  # fmt: skip
    [group] = groups_of(*(part(target="Egypt", **row) for row in rows))
    codes = {number: problem.code for number, problem in group.problems.items()}
    assert codes == {3: "two_cohorts", 4: "no_field", 5: "no_code"}
    assert "“Egypt”, this one “Brazil”" in group.problems[3].message
    assert group.row["language"] == "ar" and group.row["cohort"] == "Egypt"


def test_the_first_row_that_says_something_counts_and_a_faulty_row_is_alone() -> None:
    first, second = groups_of(
        part(language=""), RowProblem("cut", "no"), part(field="fit", language="ar"), part(language="pt")
    )
    assert first.row["language"] == "ar" and {*first.problems} == set()
    assert (second.numbers, {number: problem.code for number, problem in second.problems.items()}) == ([3], {3: "cut"})


def test_an_answer_has_at_most_a_thousand_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staging, "SOME", 2)
    beats: list[int] = []
    rows = [(number, part()) for number in range(1, 1002)]
    groups = list(group_long_rows(rows, Sheet.from_json(TWO), True, lambda: beats.append(1)))
    assert [len(group.numbers) for group in groups] == [1000, 1] and len(beats) == 501


def test_rows_for_each_answer_stay_alone_and_say_what_is_wrong() -> None:
    rows = [(2, {"item": "a\0"}), (3, RowProblem("cut", "no")), (4, {"item": float("nan")})]
    groups = list(group_wide_rows(rows))
    assert [(group.numbers, dict(group.row)) for group in groups] == [([2], {"item": "a"}), ([3], {}), ([4], {})]
    codes = [{number: problem.code for number, problem in group.problems.items()} for group in groups]
    assert codes == [{}, {3: "cut"}, {4: "unreadable"}] and not groups[0].partial
