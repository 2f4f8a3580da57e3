"""Rows that are one answer together. An export has a row for each answer; ratings made elsewhere one for each field."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.rows import cell, clean
from annotation.imports.source import Row
from annotation.sheets import Field, Sheet
from benchmarks.imports.problems import RowProblem

MOST_ROWS = 1000
SOME = 2000
OWN = ("field", "code")


@dataclass
class Gathered:
    """One answer: its rows' numbers, and what they say as one row. It is taken whole or not at all.

    `of`: which row answers which field. `partial`: fields that are left out were not asked.
    """

    numbers: list[int]
    row: Mapping[str, Any]
    problems: dict[int, RowProblem] = field(default_factory=dict)
    repeated: set[int] = field(default_factory=set)
    of: dict[str, int] = field(default_factory=dict)
    partial: bool = False


def each(rows: Iterable[Row]) -> Iterator[Gathered]:
    """Of a file with a row for each answer."""
    for number, row in rows:
        try:
            if isinstance(row, RowProblem):
                raise row
            yield Gathered([number], dict(clean(row)))
        except RowProblem as problem:
            yield Gathered([number], {}, {number: problem})


def together(rows: Iterable[Row], sheet: Sheet, has_target: bool, beat: Callable[[], None]) -> Iterator[Gathered]:
    """Of a file with a row for each field: in the order in which the answers begin.

    The rows of one answer may stand anywhere in the file. They are brought together in a temporary database of
    SQLite's, which lies on disk and is gone with the process: memory stays bounded, nothing is left behind by a kill,
    and, being made of the file alone, it is the same again when the work goes on.
    """
    with closing(sqlite3.connect("")) as staged:
        _stage(staged, rows, has_target, beat)
        found = staged.execute("SELECT answer, number, row FROM rows ORDER BY answer, number")
        for _answer, part in groupby(found, key=lambda one: one[0]):
            while some := list(islice(part, MOST_ROWS)):
                yield _one([(number, _read(text)) for _key, number, text in some], sheet)


def _stage(staged: sqlite3.Connection, rows: Iterable[Row], has_target: bool, beat: Callable[[], None]) -> None:
    staged.executescript("""
        PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -32768;
        CREATE TABLE answers (id INTEGER PRIMARY KEY, key TEXT UNIQUE);
        CREATE TABLE rows (answer INTEGER, number INTEGER, row TEXT, PRIMARY KEY (answer, number)) WITHOUT ROWID;
    """)
    source = iter(rows)
    while some := [_written(number, row, has_target) for number, row in islice(source, SOME)]:
        staged.executemany("INSERT OR IGNORE INTO answers (key) VALUES (?)", [(key,) for key, _n, _text in some])
        staged.executemany(
            "INSERT INTO rows SELECT id, ?, ? FROM answers WHERE key = ?", [(n, text, key) for key, n, text in some]
        )
        beat()


def _written(number: int, row: Mapping[str, Any] | RowProblem, has_target: bool) -> tuple[str, int, str]:
    """To which answer a row belongs, and the row as text; one that cannot be read belongs to none."""
    try:
        if isinstance(row, RowProblem):
            raise row
        said = dict(clean(row))
    except RowProblem as problem:
        return f"#{number}", number, json.dumps({"wrong": [problem.code, problem.message]})
    target = (said.get("target") or said.get("cohort") or "") if has_target else ""
    by = [said.get(name) or "" for name in ("item", "rater_kind", "rater", "setting")]
    return json.dumps([str(one).strip() for one in (target, *by)]), number, json.dumps({"row": said})


def _read(text: str) -> Mapping[str, Any] | RowProblem:
    found = json.loads(text)
    return RowProblem(*found["wrong"]) if "wrong" in found else dict(found["row"])


def _one(rows: list[Row], sheet: Sheet) -> Gathered:
    made = Gathered([number for number, _row in rows], {}, partial=True)
    merged: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    for number, row in rows:
        try:
            if isinstance(row, RowProblem):
                raise row
            _merge(merged, row)
            key, raw = _answer(row, sheet)
            if key in answers and answers[key] != raw:
                text = _("Row %(n)s says something else of “%(field)s”. Keep one of the two.")
                raise RowProblem("twice", text % {"n": made.of[key], "field": key})
            if key in answers:
                made.repeated.add(number)
            answers.setdefault(key, raw)
            made.of.setdefault(key, number)
        except RowProblem as problem:
            made.problems[number] = problem
    made.row = {**merged, "answers": answers}
    return made


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
    one = next((one for one in sheet.fields if one.key == key), None)
    if one is None:
        known = ", ".join(one.key for one in sheet.fields)
        text = _("There is no question “%(field)s” in this sheet. There are: %(known)s.")
        raise RowProblem("no_field", text % {"field": key[:60], "known": known})
    raw = _raw(row, one)
    if raw is None:
        text = _("There is no code for “%(field)s”. Leave the row out where nothing was said.")
        raise RowProblem("no_code", text % {"field": key})
    return key, raw


def _raw(row: Mapping[str, Any], one: Field) -> Any:
    try:
        return cell(row, "code", one)
    except RowProblem as problem:
        raise RowProblem(problem.code, f"{one.key}: {problem.message}") from None
