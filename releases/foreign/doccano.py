"""doccano: a zip with one file for each member of the project, or files by themselves. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.imports.problems import RowProblem
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignBox,
    ForeignField,
    ForeignFile,
    ForeignMapping,
    ForeignProblem,
    ForeignRater,
    ForeignRecord,
    SourceProgram,
)
from releases.foreign.json_stream import read_json_array, read_json_lines
from releases.foreign.values import (
    as_code,
    build_item,
    columns_of,
    first_object,
    head_of,
    problem_of,
    read_cells,
    sides_of,
    type_problems,
)

QUESTION, BOX = "label", "box"
OWN = ("id", "label", "labels", "bbox", "Comments", "entities", "relations", "cats", "segmentation")
ENDINGS = (".jsonl", ".json", ".csv")
UNREADABLE = gettext_lazy("Nothing in this file reads as an export of doccano. Export it again, or leave it out.")
MEMBERS = dict.fromkeys(("labels", "entities", "relations", "segmentation", "Comments", "cats"), "list")
EVERYBODY = "all"
"""The file of a project whose members share their answers."""


class DoccanoReader:
    key, name = "doccano", "doccano"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return max((_likeness(file) for file in files), default=0.0)

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        return SourceProgram("doccano", sign="Comments")

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        return []

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        fitting = [file for file in files if _likeness(file)]
        for file in sorted(files if fitting else (), key=lambda file: file.name):
            if file not in fitting:
                if file.name.lower().endswith(ENDINGS) and head_of(file):
                    yield problem_of(file, 0, RowProblem("unreadable", str(UNREADABLE)))
                continue
            rater = mapping.rater if file.base.rpartition(".")[0] == EVERYBODY else ""
            rater = rater or file.base.rpartition(".")[0] or file.base
            yield ForeignRater(file.name, 0, rater)
            for number, row in _rows(file):
                if isinstance(row, RowProblem):
                    yield problem_of(file, number, row)
                else:
                    yield from _read_row(file, number, row, rater, mapping)


def _likeness(file: ForeignFile) -> float:
    head = head_of(file, 4096)
    if head.startswith(("{", "[")):
        first = first_object(file)
        if first:
            has_answers = any(name in first for name in ("label", "bbox", "entities", "cats"))
            return 0.9 if "Comments" in first and has_answers else 0.4 if has_answers and "id" in first else 0.0
        return 0.6 if '"Comments"' in head else 0.0
    columns = columns_of(file)
    return 0.9 if "Comments" in columns and "label" in columns else 0.0


def _rows(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    head = head_of(file, 4096)
    if not head.startswith(("{", "[")):
        for number, cells in read_cells(file):
            yield number, _from_cells(cells) if isinstance(cells, Mapping) else cells
        return
    with file.open() as stream:
        for number, row in read_json_array(stream) if head.startswith("[") else read_json_lines(stream):
            fits = isinstance(row, dict | RowProblem)
            yield number, row if fits else RowProblem("unreadable", _("This row is not an object."))


def _from_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    labels = [part for part in cells.get("label", "").split("#") if part]
    others = {name: text for name, text in cells.items() if text or name not in MEMBERS}
    return {**others, "label": labels, "Comments": [cells["Comments"]] if cells.get("Comments") else []}


def _read_row(
    file: ForeignFile, number: int, row: Mapping[str, Any], rater: str, mapping: ForeignMapping
) -> Iterator[ForeignRecord]:
    data = {name: value for name, value in row.items() if name not in OWN}
    item = build_item(file, number, data, as_code(row.get("id", number)), mapping)
    yield item
    yield from type_problems(file, number, row, MEMBERS)
    answer = _answer(file, number, row, rater, item.key)
    if isinstance(answer, ForeignProblem) or answer.values or answer.left_out or mapping.empty_is_answer:
        yield answer


def _answer(
    file: ForeignFile, number: int, row: Mapping[str, Any], rater: str, item: str
) -> ForeignAnswer | ForeignProblem:
    values: dict[str, Any] = {}
    left_out: dict[str, list[Any]] = {}
    labels = row.get("label", [])
    if isinstance(labels, str):
        labels = [labels]
    boxes = row.get("bbox", [])
    if not isinstance(labels, list) or not isinstance(boxes, list | None):
        return ForeignProblem(
            file.name, number, "unreadable", _("The labels of “%(item)s” are not a list.") % {"item": item}
        )
    if not all(isinstance(label, str | list | dict) for label in labels):
        text = _("A label of “%(item)s” is neither a text nor a span.")
        return ForeignProblem(file.name, number, "wrong_type", text % {"item": item})
    if texts := [label for label in labels if isinstance(label, str)]:
        values[QUESTION] = [label for label in texts if label.strip()]
    if spans := [label for label in labels if not isinstance(label, str)]:
        left_out["span"] = spans
    boxes = [_box(box) for box in boxes or []]
    if None in boxes:
        return ForeignProblem(
            file.name, number, "unreadable", _("A box of “%(item)s” lacks x, y, width or height.") % {"item": item}
        )
    if boxes:
        values[BOX] = boxes
    for name, kind in (("labels", "span"), ("entities", "span"), ("relations", "relation"), ("segmentation", "polygon"),
                       ("Comments", "comment")):  # fmt: skip
        if isinstance(row.get(name), list) and row[name]:
            left_out[kind] = [*left_out.get(kind, []), *row[name]]
    if isinstance(row.get("cats"), list) and row["cats"]:
        values[QUESTION] = [as_code(label) for label in row["cats"]]
    return ForeignAnswer(file.name, number, item, rater, values, left_out=left_out)


def _box(value: Any) -> ForeignBox | None:
    row = value if isinstance(value, dict) else {}
    sides = sides_of(row)
    if sides is None:
        return None
    return ForeignBox(*sides, unit="pixel", label=as_code(row.get("label") or ""))
