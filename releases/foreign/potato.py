"""Potato: its exports as JSON Lines and CSV, the state files of its annotators, and the project beside them. Pure."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignBox,
    ForeignField,
    ForeignFile,
    ForeignItem,
    ForeignMapping,
    ForeignProblem,
    ForeignRecord,
    LengthUnit,
    QuestionKind,
    SourceProgram,
)
from releases.foreign.json_stream import read_json_array, read_json_lines, read_json_members
from releases.foreign.project_config import read_project_config
from releases.foreign.values import (
    as_code,
    as_number,
    build_item,
    columns_of,
    first_object,
    head_of,
    is_id,
    problem_of,
    read_cells,
    sides_of,
    type_problems,
)

BOXES, FREE_TEXT = "_data", "text_box"
STATES = "instance_id_to_label_to_value"
KINDS: Mapping[str, QuestionKind] = {
    "likert": "scale", "radio": "single", "multiselect": "several", "select": "single", "text": "words",
    "image_annotation": "boxes", "number": "words", "slider": "words",
}  # fmt: skip
MARK = re.compile(r'"instance_id"\s*:')


class PotatoReader:
    key, name = "potato", "Potato"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return max((0.95 if _form(file) else 0.0 for file in files), default=0.0)

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        return SourceProgram("Potato", sign=next(filter(None, map(_form, files)), ""))

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        return [field for scheme in _schemes(files) if (field := _field(scheme))]

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        listed = _items_file(files)
        if listed:
            yield from _read_items(listed, mapping)
        several = {field.key for field in self.sheet(files) if field.kind == "several"}
        for file in files:
            form = _form(file)
            rows = {"lines": _line_rows, "table": _table_rows, "state": _state_rows}.get(form)
            for number, row in rows(file) if rows else ():
                if isinstance(row, RowProblem):
                    yield problem_of(file, number, row)
                else:
                    yield from _read_row(file, number, row, mapping, several, with_items=listed is not None)


def _form(file: ForeignFile) -> str:
    """Which of its kinds of file this is; empty for another."""
    head = head_of(file, 8192)
    if head.startswith("{"):
        if STATES in head or '"instance_id_ordering"' in head:
            return "state"
        first = first_object(file)
        known = {"instance_id", "user_id", "labels"} <= first.keys()
        return "lines" if known or (not first and MARK.search(head)) else ""
    columns = columns_of(file)
    return "table" if columns[:2] == ["instance_id", "user_id"] else ""


def _items_file(files: Sequence[ForeignFile]) -> ForeignFile | None:
    """The file with the items: JSON Lines or a list with an id, and nothing of answers."""
    for file in files:
        first = first_object(file)
        if not _form(file) and first and "id" in first and not {"annotations", "labels", "responses"} & first.keys():
            return file
    return None


def _schemes(files: Sequence[ForeignFile]) -> list[Mapping[str, Any]]:
    for file in files:
        if file.name.lower().endswith((".yaml", ".yml")):
            with file.open() as stream:
                rows = read_project_config(stream).get("annotation_schemes")
            return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []
    return []


def _field(scheme: Mapping[str, Any]) -> ForeignField | None:
    kind, key = KINDS.get(str(scheme.get("annotation_type"))), str(scheme.get("name") or "")
    if kind is None or not key:
        return None
    rows = scheme.get("labels") or []
    names = [row.get("name") if isinstance(row, Mapping) else row for row in rows] if isinstance(rows, list) else []
    if kind == "scale":
        size = scheme.get("size")
        names = list(range(1, min(10, size if isinstance(size, int) else 5) + 1))
    options = tuple(dict.fromkeys((as_code(name), as_code(name)) for name in names if name not in (None, "")))
    return ForeignField(key, kind, str(scheme.get("description") or key), options)


def _read_items(file: ForeignFile, mapping: ForeignMapping) -> Iterator[ForeignRecord]:
    with file.open() as stream:
        rows = read_json_array(stream) if head_of(file, 100).startswith("[") else read_json_lines(stream)
        for number, row in rows:
            if isinstance(row, RowProblem):
                yield problem_of(file, number, row)
                continue
            if not isinstance(row, dict) or not is_id(row.get("id")):
                yield ForeignProblem(file.name, number, "no_key", _("This row has no “id”."))
                continue
            yield from type_problems(file, number, row, {"image_width": "number", "image_height": "number"})
            data = {name: value for name, value in row.items() if name not in ("id", "image_width", "image_height")}
            yield build_item(file, number, data, as_code(row["id"]), mapping, size=_size(row))


def _size(row: Mapping[str, Any]) -> tuple[int, int] | None:
    width, height = as_number(row.get("image_width")), as_number(row.get("image_height"))
    return (int(width), int(height)) if width and height else None


def _line_rows(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    with file.open() as stream:
        for number, row in read_json_lines(stream):
            fits = isinstance(row, RowProblem) or (isinstance(row, dict) and isinstance(row.get("labels"), dict))
            yield number, row if fits else RowProblem("unreadable", _("This row has no object “labels”."))


def _table_rows(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    for number, cells in read_cells(file):
        if isinstance(cells, RowProblem):
            yield number, cells
            continue
        labels: dict[str, dict[str, str]] = {}
        for column, value in cells.items():
            question, dot, option = column.partition(".")
            if dot and value:
                labels.setdefault(question, {})[option] = value
        yield number, {**cells, "labels": labels}


def _state_rows(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    user = _user_of(file)
    with file.open() as stream:
        for name, number, value in read_json_members(stream, entries_of=STATES):
            if isinstance(value, RowProblem):
                yield max(number, 1), value
            elif name == STATES and not number:
                yield number, RowProblem("wrong_type", _("“%(name)s” is not an object.") % {"name": name})
            elif name == STATES:
                item, pairs = value
                labels = _state_labels(pairs)
                problem = RowProblem("wrong_type", _("The labels of “%(item)s” are not pairs.") % {"item": item})
                yield number, problem if labels is None else {"instance_id": item, "user_id": user, "labels": labels}


def _user_of(file: ForeignFile) -> str:
    """Whose state it is, wherever in the file that stands."""
    with file.open() as stream:
        members = read_json_members(stream, entries_of=STATES)
        users = (as_code(value) for name, _n, value in members if name == "user_id" and is_id(value))
        return next((user for user in users if user), "")


def _state_labels(pairs: Any) -> dict[str, dict[str, Any]] | None:
    """None where one of them is no pair of question and value."""
    labels: dict[str, dict[str, Any]] = {}
    for pair in pairs if isinstance(pairs, list) else [pairs]:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], dict):
            return None
        labels.setdefault(str(pair[0].get("schema")), {})[str(pair[0].get("name"))] = pair[1]
    return labels


def _read_row(
    file: ForeignFile, number: int, row: Mapping[str, Any], mapping: ForeignMapping, several: set[str], *,
    with_items: bool,
) -> Iterator[ForeignRecord]:  # fmt: skip
    item = as_code(row.get("instance_id") or "")
    if not item or not is_id(row["instance_id"]):
        yield ForeignProblem(file.name, number, "no_key", _("This row has no “instance_id”."))
        return
    if not with_items:
        yield ForeignItem(file.name, number, item)
    values: dict[str, Any] = {}
    left_out: dict[str, list[Any]] = {}
    for question, options in row["labels"].items():
        answer = _value(options, many=question in several)
        if isinstance(answer, RowProblem):
            yield ForeignProblem(file.name, number, answer.code, f"{question}: {answer.message}")
            return
        values |= {question: answer} if answer not in (None, []) else {}
    for kind, name in (("span", "spans"), ("relation", "links")):
        if row.get(name):
            left_out[kind] = [row[name]]
    yield ForeignAnswer(
        file.name, number, item, as_code(row.get("user_id") or mapping.rater), values, left_out=left_out
    )


def _value(options: Any, *, many: bool) -> Any:
    """likert and radio have one key, multiselect several; free text and boxes have a key of their own."""
    if not isinstance(options, dict):
        return RowProblem("unreadable", _("Its answer is not an object."))
    if BOXES in options:
        return _boxes(options[BOXES])
    if FREE_TEXT in options:
        return str(options[FREE_TEXT])
    return [as_code(name) for name in options]


def _boxes(data: Any) -> Any:
    try:
        rows = json.loads(data) if isinstance(data, str) else data
    except (ValueError, RecursionError):
        rows = None
    boxes = [_box(row) for row in rows] if isinstance(rows, list) else [None]
    return RowProblem("unreadable", _("The boxes cannot be read.")) if None in boxes else boxes


def _box(value: Any) -> ForeignBox | None:
    """`coordinates` are fractions; a flat object has pixels."""
    row = value if isinstance(value, dict) else {}
    nested = row.get("coordinates")
    sides = sides_of(nested if isinstance(nested, dict) else row)
    if sides is None:
        return None
    unit: LengthUnit = "fraction" if isinstance(nested, dict) else "pixel"
    return ForeignBox(*sides, unit=unit, label=as_code(row.get("label") or ""))
