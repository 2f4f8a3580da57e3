"""A table of a lab with answers: text with separators, JSON Lines or one list of flat objects. Pure.

What each column is, its name and its values propose, as for a table of items; a person confirms it on the preview.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.tables import encodings
from benchmarks.imports.tables.objects import NumberedRow
from benchmarks.imports.tables.roles import MISSING, NAMES, fold, propose
from benchmarks.imports.tables.table import NeedsAnswer, TableFormat, find_format, read_table
from releases.foreign.contract import (
    MAX_OPTION,
    ForeignAnswer,
    ForeignField,
    ForeignFile,
    ForeignMapping,
    ForeignProblem,
    ForeignRecord,
    SourceProgram,
)
from releases.foreign.row_groups import group_rows
from releases.foreign.values import build_item, problem_of, stem

LIKENESS = 0.3
LOOKED_AT = 1000
MOST_CODES = 40
LEAST_FILLED = 0.9
QUESTION, CODE = "field", "code"
"""Columns of a table with a row for each question."""
SEPARATORS = ("|", ";", "#")


@dataclass(frozen=True)
class TableRoles:
    """Columns by what they are. `sets`: an answer's column to what separates the members of its sets."""

    columns: Mapping[str, str]
    questions: tuple[str, ...]
    sets: Mapping[str, str]
    by_question: bool = False

    @property
    def rater(self) -> str:
        return self.columns.get("rater", "")


class PlainTableReader:
    key, name = "table", "Table with answers"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return LIKENESS if any(_has_answers(file) for file in files) else 0.0

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        return SourceProgram("")

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        return []

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        item_marks: set[int] = set()
        for file in files:
            if not mapping.encoding and possible_encodings([file]):
                text = _("The file does not say how its letters are stored, and it is not UTF-8. Choose the encoding.")
                yield ForeignProblem(file.name, 0, "encoding", text)
                continue
            roles = _roles(file, mapping)
            chosen = replace(
                mapping, key=mapping.key or roles.columns.get("key", ""),
                picture=mapping.picture or roles.columns.get("file", ""),
                text=mapping.text or roles.columns.get("text", ""),
            )  # fmt: skip
            rows = _rows(file, mapping.encoding, whole_rows=True)
            if roles.by_question:
                yield from _read_groups(file, rows, roles, chosen, item_marks)
                continue
            for number, row in rows:
                if isinstance(row, RowProblem):
                    yield problem_of(file, number, row)
                else:
                    values = {name: _value(row.get(name, ""), roles.sets.get(name, "")) for name in roles.questions}
                    yield from _read_row(file, number, row, values, roles, chosen, item_marks)


def possible_encodings(files: Sequence[ForeignFile]) -> dict[str, str]:
    """Of files that do not say how their letters are stored: each encoding that fits, with a line as it reads it."""
    for file in files:
        with file.open() as stream:
            if encodings.find_encoding(stream):
                continue
            samples = {name: encodings.sample_lines(stream, name) for name in encodings.possible_encodings(stream)}
            return {name: (lines or [""])[0][:80] for name, lines in samples.items()}
    return {}


def _has_answers(file: ForeignFile) -> bool:
    try:
        roles = _roles(file, ForeignMapping())
    except (SourceProblem, OSError):
        return False
    return roles.by_question or bool(roles.rater and roles.questions)


def _format(stream: BinaryIO, encoding: str) -> TableFormat:
    """Where the encoding is not known, the likeliest: good enough to see that it is a table, and never to import it."""
    try:
        return find_format(stream, encoding=encoding)
    except NeedsAnswer as question:
        if question.name != "encoding":
            raise SourceProblem(_("A workbook is imported as items. Save the sheet with answers as CSV.")) from question
        return find_format(stream, encoding=next(iter(question.choices)))


def _rows(file: ForeignFile, encoding: str, *, whole_rows: bool = False) -> Iterator[NumberedRow]:
    with file.open() as stream:
        yield from read_table(stream, _format(stream, encoding), whole_rows=whole_rows)


def _roles(file: ForeignFile, mapping: ForeignMapping) -> TableRoles:
    """As they were chosen, else as they are proposed. Raises SourceProblem."""
    rows = _first_rows(file, mapping, whole_rows=True) or _first_rows(file, mapping, whole_rows=False)
    names = list(dict.fromkeys(name for row in rows for name in row))
    folded = {fold(name): name for name in names}
    proposed = propose(names, rows)
    columns = {entry.role: entry.column for entry in reversed(proposed) if entry.role and entry.role != "answer"}
    if "key" not in columns and (key := _nearly_full_key(names, rows)):
        columns |= {"key": key}
    columns |= {"rater": mapping.rater_member} if mapping.rater_member in names else {}
    if QUESTION in folded and CODE in folded:
        columns |= {QUESTION: folded[QUESTION], CODE: folded[CODE]}
        return TableRoles(columns, (), {}, by_question=True)
    named = [entry.column for entry in proposed if entry.role == "answer" and entry.column != columns.get("key")]
    questions = tuple(name for name in (mapping.answers or named) if name in names)
    samples = {name: [row.get(name, "") for row in rows] for name in questions}
    return TableRoles(columns, questions, {name: _separator(values) for name, values in samples.items()})


def _first_rows(file: ForeignFile, mapping: ForeignMapping, *, whole_rows: bool) -> list[dict[str, str]]:
    rows = islice(_rows(file, mapping.encoding, whole_rows=whole_rows), LOOKED_AT)
    return [row for _number, row in rows if not isinstance(row, RowProblem)]


def _nearly_full_key(names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> str:
    """A column with the name of a key in which few cells are empty; rows in which it is empty are reported."""
    for name in names:
        filled = sum(1 for row in rows if row.get(name, "").strip())
        if fold(name) in NAMES["key"] and filled >= LEAST_FILLED * len(rows):
            return name
    return ""


def _separator(values: Sequence[str]) -> str:
    """What separates the members of sets: it splits some of the values, and what it makes is a short list of codes."""
    for separator in SEPARATORS:
        parts = [part.strip() for value in values if value for part in value.split(separator)]
        if any(separator in value for value in values) and all(0 < len(part) <= MAX_OPTION for part in parts):
            return separator if len(set(parts)) <= MOST_CODES else ""
    return ""


def _value(text: str, separator: str) -> Any:
    """None of what means that nothing is known."""
    plain = text.strip()
    if not plain or plain in MISSING:
        return None
    return [part.strip() for part in plain.split(separator)] if separator else plain


def _read_row(
    file: ForeignFile, number: int, row: Mapping[str, str], values: Mapping[str, Any], roles: TableRoles,
    mapping: ForeignMapping, item_marks: set[int],
) -> Iterator[ForeignRecord]:  # fmt: skip
    """Each row gives something for the report. `item_marks`: of the items that came in earlier rows."""
    if mapping.key and _is_nameless(row, mapping):
        text = _("The row does not say which item it is of. Fill in the column “%(name)s”.")
        yield ForeignProblem(file.name, number, "no_key", text % {"name": mapping.key[:60]})
        return
    own = {roles.rater, roles.columns.get("time"), roles.columns.get(QUESTION), roles.columns.get(CODE)}
    data = {name: value for name, value in row.items() if name not in own and name not in roles.questions}
    picture = row.get(mapping.picture, "")
    item = build_item(file, number, data, stem(picture) or f"{file.base}-{number}", mapping)
    rater = row.get(roles.rater, "").strip() or mapping.rater
    answered = {name: value for name, value in values.items() if value is not None}
    if not answered and hash(item.key) in item_marks:
        text = _("The row has no answer, and its item “%(key)s” came before.")
        yield ForeignProblem(file.name, number, "no_answer", text % {"key": item.key[:100]})
        return
    item_marks.add(hash(item.key))
    yield item
    if answered:
        at = row.get(roles.columns.get("time", ""), "").strip()
        yield ForeignAnswer(file.name, number, item.key, rater, answered, at=at)


def _is_nameless(row: Mapping[str, str], mapping: ForeignMapping) -> bool:
    return not row.get(mapping.key, "").strip() and not row.get(mapping.picture, "").strip()


def _read_groups(
    file: ForeignFile, rows: Iterator[NumberedRow], roles: TableRoles, mapping: ForeignMapping, item_marks: set[int]
) -> Iterator[ForeignRecord]:  # fmt: skip
    """A row for each question: those of one item and rater are one answer."""

    def checked() -> Iterator[tuple[int, Any]]:
        """Rows of no item belong to no group."""
        for number, row in rows:
            nameless = not isinstance(row, RowProblem) and _is_nameless(row, mapping)
            text = _("The row does not say which item it is of. Fill in its key.")
            yield number, RowProblem("no_key", text) if nameless else row

    def key(row: Any) -> str:
        return f"{row.get(mapping.key) or row.get(mapping.picture, '')}\n{row.get(roles.rater, '')}"

    for group in group_rows(checked(), key):
        number, first = group[0]
        if isinstance(first, RowProblem):
            yield problem_of(file, number, first)
            continue
        values: dict[str, Any] = {}
        for place, row in group:
            question = row.get(roles.columns[QUESTION], "")
            if question in values:
                text = _("This person answered “%(question)s” for this item in an earlier row.")
                yield ForeignProblem(file.name, place, "repeated", text % {"question": question[:60]})
            else:
                values[question] = _value(row.get(roles.columns[CODE], ""), "")
        yield from _read_row(file, number, first, values, roles, mapping, item_marks)
