"""Rows that are one answer together. An export has a row for each answer; ratings made elsewhere one for each field."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.rows import cell, clean
from annotation.imports.source import Row
from annotation.imports.staging import group_by_key
from annotation.sheets.sheet import Field, Sheet
from benchmarks.imports.problems import RowProblem

MOST_ROWS = 1000
OWN = ("field", "code")


@dataclass
class AnswerRowGroup:
    """One answer: its rows' numbers, and what they say as one row. It is taken whole or not at all.

    `of`: which row answers which field. `partial`: fields that are left out were not asked.
    """

    numbers: list[int]
    row: Mapping[str, Any]
    problems: dict[int, RowProblem] = field(default_factory=dict)
    repeated: set[int] = field(default_factory=set)
    of: dict[str, int] = field(default_factory=dict)
    partial: bool = False


def group_wide_rows(rows: Iterable[Row]) -> Iterator[AnswerRowGroup]:
    """Of a file with a row for each answer."""
    for number, row in rows:
        try:
            if isinstance(row, RowProblem):
                raise row
            yield AnswerRowGroup([number], dict(clean(row)))
        except RowProblem as problem:
            yield AnswerRowGroup([number], {}, {number: problem})


def group_long_rows(
    rows: Iterable[Row], sheet: Sheet, has_target: bool, beat: Callable[[], None]
) -> Iterator[AnswerRowGroup]:
    """Of a file with a row for each field: in the order in which the answers begin."""

    def key(row: Mapping[str, Any]) -> list[Any]:
        target = (row.get("target") or row.get("cohort") or "") if has_target else ""
        return [target, *(row.get(name) or "" for name in ("label_set", "item", "rater_kind", "rater", "setting"))]

    for some in group_by_key(rows, key, MOST_ROWS, beat):
        yield _build_group(some, sheet)


def _build_group(rows: list[Row], sheet: Sheet) -> AnswerRowGroup:
    group = AnswerRowGroup([number for number, _row in rows], {}, partial=True)
    merged: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    for number, row in rows:
        try:
            if isinstance(row, RowProblem):
                raise row
            _merge(merged, row)
            key, raw = _answer(row, sheet)
            if key in answers and answers[key] != raw:
                text = _("Row %(n)s has a different value for “%(field)s”. Keep one of them.")
                raise RowProblem("twice", text % {"n": group.of[key], "field": key})
            if key in answers:
                group.repeated.add(number)
            answers.setdefault(key, raw)
            group.of.setdefault(key, number)
        except RowProblem as problem:
            group.problems[number] = problem
    group.row = {**merged, "answers": answers}
    return group


def _merge(merged: dict[str, Any], row: Mapping[str, Any]) -> None:
    """What the rows of an answer say apart from it: the first that says something counts. All name one cohort."""
    cohort = row.get("cohort") or ""
    if merged.setdefault("cohort", cohort) != cohort:
        text = _("An earlier row of the same answer names the cohort “%(first)s”, this one “%(second)s”.")
        raise RowProblem("two_cohorts", text % {"first": merged["cohort"], "second": cohort})
    for name, value in row.items():
        if name not in OWN and value not in (None, ""):
            merged.setdefault(name, value)


def _answer(row: Mapping[str, Any], sheet: Sheet) -> tuple[str, Any]:
    """The field's key, and what its `parse` takes."""
    key = str(row.get("field") or "").strip()
    sheet_field = next((one for one in sheet.fields if one.key == key), None)
    if sheet_field is None:
        known = ", ".join(one.key for one in sheet.fields)
        text = _("There is no question “%(field)s” in this sheet. There are: %(known)s.")
        raise RowProblem("no_field", text % {"field": key[:60], "known": known})
    raw = _raw(row, sheet_field)
    if raw is None:
        text = _("There is no code for “%(field)s”. Delete the row if the question was not answered.")
        raise RowProblem("no_code", text % {"field": key})
    return key, raw


def _raw(row: Mapping[str, Any], sheet_field: Field) -> Any:
    try:
        return cell(row, "code", sheet_field)
    except RowProblem as problem:
        raise RowProblem(problem.code, f"{sheet_field.key}: {problem.message}") from None
