"""Label Studio: JSON, JSON_MIN, CSV and TSV, and the project's configuration in XML. Pure."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import isfinite
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from releases.foreign.contract import (
    ForeignAnswer,
    ForeignBox,
    ForeignField,
    ForeignFile,
    ForeignMapping,
    ForeignProblem,
    ForeignRecord,
    QuestionKind,
    SourceProgram,
)
from releases.foreign.json_stream import read_json_array
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
    type_problem,
    type_problems,
)
from releases.foreign.xml_stream import XmlElement, read_xml

ABOUT_ANSWERS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")
LOOKED_AT = 2000
TASK_TYPES = {"drafts": "list", "annotations": "list", "predictions": "list", "comment_count": "number"}
ANNOTATION_TYPES = {"was_cancelled": "truth", "lead_time": "number"}
VALUE_MEMBERS = {
    "choices": "choices", "rating": "rating", "textarea": "text", "taxonomy": "taxonomy", "number": "number",
    "pairwise": "selected", "datetime": "datetime",
}  # fmt: skip
"""The types of results that are read, and the member of the value that each has."""
SEPARATOR = " / "
"""Between the steps of a path in a taxonomy."""
KINDS: Mapping[str, QuestionKind] = {
    "Choices": "single", "Rating": "scale", "TextArea": "words", "RectangleLabels": "boxes", "Rectangle": "boxes",
    "Taxonomy": "single", "Number": "words", "Pairwise": "single", "DateTime": "words",
}  # fmt: skip


class LabelStudioReader:
    key, name = "label_studio", "Label Studio"

    def sniff(self, files: Sequence[ForeignFile]) -> float:
        return max((_likeness(file) for file in files), default=0.0)

    def program(self, files: Sequence[ForeignFile]) -> SourceProgram:
        return SourceProgram("Label Studio", sign="completed_by" if any(map(_is_full, files)) else "annotation_id")

    def sheet(self, files: Sequence[ForeignFile]) -> list[ForeignField]:
        config = _config(files)
        controls = list(config.walk()) if config else []
        return [field for field in map(_field, controls) if field]

    def read(self, files: Sequence[ForeignFile], mapping: ForeignMapping) -> Iterator[ForeignRecord]:
        config = _config(files)
        names = {field.key: field for field in self.sheet(files)}
        mapping = _with_columns(config, mapping)
        readable = [file for file in files if _likeness(file)]
        if not readable:
            raise SourceProblem(_("No file of Label Studio is among them."))
        for file in readable:
            if _is_full(file):
                yield from _read_tasks(file, mapping)
            elif not head_of(file, 200).startswith("<"):
                yield from _read_flat(file, mapping, names)


def _likeness(file: ForeignFile) -> float:
    head = head_of(file, 4096)
    if head.startswith("<"):
        return 0.5 if "<View" in head else 0.0
    if head.startswith("["):
        if _is_full(file):
            return 1.0
        return 0.95 if {"annotator", "annotation_id"} <= first_object(file).keys() else 0.0
    return 0.95 if {"annotator", "annotation_id"} <= set(columns_of(file)) else 0.0


def _is_full(file: ForeignFile) -> bool:
    head = head_of(file)
    if not head.startswith("["):
        return False
    first = first_object(file)
    if first:
        return isinstance(first.get("data"), dict) and ("annotations" in first or "predictions" in first)
    return '"annotations"' in head and ('"completed_by"' in head or '"was_cancelled"' in head)


def _config(files: Sequence[ForeignFile]) -> XmlElement | None:
    for file in files:
        if file.name.lower().endswith(".xml") and "<View" in head_of(file):
            with file.open() as stream:
                return read_xml(stream)
    return None


def _with_columns(config: XmlElement | None, mapping: ForeignMapping) -> ForeignMapping:
    """The columns that the configuration shows as picture and as text, where nothing was chosen."""
    shown: dict[str, str] = {}
    for element in config.walk() if config else ():
        value = element.attributes.get("value", "")
        if element.tag in ("Image", "Text") and value.startswith("$"):
            shown.setdefault(element.tag, value[1:])
    picture, text = mapping.picture or shown.get("Image", ""), mapping.text or shown.get("Text", "")
    return replace(mapping, picture=picture, text=text)


def _field(element: XmlElement) -> ForeignField | None:
    kind, key = KINDS.get(element.tag), element.attributes.get("name", "")
    if kind is None or not key:
        return None
    if element.tag == "Choices" and element.attributes.get("choice") == "multiple":
        kind = "several"
    options: list[tuple[str, str]] = []
    if element.tag == "Taxonomy":
        options = list(_paths(element, ()))
    elif element.tag == "Pairwise":
        options = [("left", "left"), ("right", "right")]
    elif element.tag == "Rating":
        most = element.attributes.get("maxRating", "5")
        options = [(str(n), str(n)) for n in range(1, min(10, int(most) if most.isdecimal() else 5) + 1)]
    else:
        rows = [child for child in element.walk() if child.tag in ("Choice", "Label")]
        options = [(row.attributes.get("alias") or row.attributes.get("value", ""), row.attributes.get("value", ""))
                   for row in rows]  # fmt: skip
    return ForeignField(key, kind, key, tuple(dict.fromkeys(options)))


def _paths(element: XmlElement, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for choice in element.named("Choice"):
        path = (*above, choice.attributes.get("alias") or choice.attributes.get("value", ""))
        yield SEPARATOR.join(path), SEPARATOR.join(path)
        yield from _paths(choice, path)


def _read_tasks(file: ForeignFile, mapping: ForeignMapping) -> Iterator[ForeignRecord]:
    with file.open() as stream:
        for number, task in read_json_array(stream):
            if isinstance(task, RowProblem):
                yield problem_of(file, number, task)
            elif not isinstance(task, dict) or not isinstance(task.get("data"), dict):
                yield ForeignProblem(file.name, number, "unreadable", _("This row is no task: it has no “data”."))
            elif not is_id(task.get("id", number)):
                yield ForeignProblem(file.name, number, "bad_id", _("The “id” of this task is no number."))
            else:
                yield from _read_task(file, number, task, mapping)


def _read_task(
    file: ForeignFile, number: int, task: Mapping[str, Any], mapping: ForeignMapping
) -> Iterator[ForeignRecord]:
    item = build_item(file, number, task["data"], as_code(task.get("id", number)), mapping)
    yield item
    yield from type_problems(file, number, task, TASK_TYPES)
    for draft in _rows(task.get("drafts")):
        yield ForeignProblem(file.name, number, "left_out", json.dumps(draft)[:500], left_out="draft")
    if isinstance(count := task.get("comment_count"), int) and count > 0:
        text = _("%(n)s comments") % {"n": count}
        yield ForeignProblem(file.name, number, "left_out", text, left_out="comment")
    for annotation in _rows(task.get("annotations")):
        if isinstance(annotation, dict):
            yield from type_problems(file, number, annotation, ANNOTATION_TYPES)
        yield _answer(file, number, item.key, annotation)
    for prediction in _rows(task.get("predictions")):
        yield _prediction(file, number, item.key, prediction)


def _rows(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _rater(value: Any) -> str:
    """An account's number; some exports hold an object with the person's address, which is not kept."""
    if isinstance(value, Mapping):
        value = value.get("id")
    return as_code(value) if value not in (None, "") else ""


def _answer(file: ForeignFile, number: int, item: str, annotation: Any) -> ForeignRecord:
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result", []), list):
        return ForeignProblem(
            file.name, number, "unreadable", _("An annotation of “%(item)s” has no list “result”.") % {"item": item}
        )
    try:
        values, left_out = _read_result(annotation.get("result", []))
    except RowProblem as problem:
        return problem_of(file, number, problem)
    return ForeignAnswer(
        file.name, number, item, _rater(annotation.get("completed_by")), values,
        skipped=annotation.get("was_cancelled") in (True, 1), at=str(annotation.get("created_at") or ""),
        lead_seconds=as_number(annotation.get("lead_time")), left_out=left_out,
    )  # fmt: skip


def _prediction(file: ForeignFile, number: int, item: str, prediction: Any) -> ForeignRecord:
    if not isinstance(prediction, dict) or not isinstance(prediction.get("result", []), list):
        return ForeignProblem(
            file.name, number, "unreadable", _("A prediction for “%(item)s” has no list “result”.") % {"item": item}
        )
    try:
        values, left_out = _read_result(prediction.get("result", []))
    except RowProblem as problem:
        return problem_of(file, number, problem)
    name = as_code(prediction.get("model_version") or "model")
    at = str(prediction.get("created_at") or "")
    return ForeignAnswer(file.name, number, item, name, values, model=True, at=at, left_out=left_out)


def _read_result(result: list[Any]) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """The answers, and what has no place. Raises RowProblem for a value of another type than its question has."""
    values: dict[str, Any] = {}
    left_out: dict[str, list[Any]] = defaultdict(list)
    for row in result:
        value = row.get("value") if isinstance(row, dict) else None
        name = str(row.get("from_name") or "") if isinstance(row, dict) else ""
        if not isinstance(row, dict) or not isinstance(value, dict | None):
            text = _("The value of “%(name)s” is not an object, so the answer was not imported.")
            raise RowProblem("wrong_type", text % {"name": name or "result"})
        if not isinstance(value, dict) or not name:
            left_out[_left_out_kind(row)].append(row)
            continue
        answer = _value(row, value)
        if answer is None and _has_wrong_value(row, value):
            text = _("The value of “%(name)s” is not of its type “%(type)s”, so the answer was not imported.")
            raise RowProblem("wrong_type", text % {"name": name, "type": str(row["type"])[:40]})
        if answer is None:
            left_out[_left_out_kind(row)].append(row)
        elif isinstance(answer, ForeignBox):
            values.setdefault(name, []).append(answer)
            if more := _labels(value)[1:]:  # a box has one label here
                left_out["more labels of a box"].append({**row, "value": {**value, "rectanglelabels": more}})
        elif name in values and isinstance(values[name], list) and isinstance(answer, list):
            values[name] += answer
        else:
            values[name] = answer
    return values, dict(left_out)


def _has_wrong_value(row: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    """Whether it is a form that is read, with something that cannot be read as one; not an attribute of a region."""
    form = str(row.get("type") or "")
    if form in ("rectanglelabels", "rectangle"):
        return True
    return form in VALUE_MEMBERS and "x" not in value and value.get(VALUE_MEMBERS[form]) not in (None, "", [])


def _left_out_kind(row: Any) -> str:
    form = str(row.get("type") or "") if isinstance(row, dict) else ""
    value = row.get("value") if isinstance(row, dict) else None
    if form in ("choices", "rating", "textarea", "taxonomy", "number") and isinstance(value, dict) and "x" in value:
        return "attribute of a region"
    return {"ranker": "ranking"}.get(form, form.removesuffix("labels") or "unknown")[:40]


def _value(row: Mapping[str, Any], value: Mapping[str, Any]) -> Any:
    """One answer; None for what has no field form."""
    form = str(row.get("type") or "")
    if form in ("rectanglelabels", "rectangle"):
        return _box({**value, **{name: row[name] for name in row if name.startswith(("original_", "image_"))}})
    if "x" in value:
        return None
    if form == "choices" and isinstance(value.get("choices"), list):
        return [as_code(choice) for choice in value["choices"]]
    if form == "rating" and as_number(value.get("rating")) is not None:
        return as_code(value["rating"])
    if form == "textarea":
        return _lines(value.get("text"))
    if form == "taxonomy":
        return _taxonomy(value.get("taxonomy"))
    if form == "number" and as_number(value.get("number")) is not None:
        return as_code(value["number"])
    if form == "pairwise" and isinstance(value.get("selected"), str) and value["selected"]:
        return [as_code(value["selected"])]
    return value["datetime"] if form == "datetime" and isinstance(value.get("datetime"), str) else None


def _lines(value: Any) -> str | None:
    rows = value if isinstance(value, list) else [value]
    return "\n".join(str(row) for row in rows) if all(isinstance(row, str) for row in rows) else None


def _taxonomy(value: Any) -> list[str] | None:
    paths = value if isinstance(value, list) else None
    if not paths or not all(isinstance(path, list) for path in paths):
        return None
    return [SEPARATOR.join(as_code(step) for step in path) for path in paths]


def _box(value: Mapping[str, Any]) -> ForeignBox | None:
    sides = sides_of(value)
    angle, turned = (as_number(value.get(name) or 0) for name in ("rotation", "image_rotation"))
    if sides is None or angle is None or turned is None:
        return None
    width, height = as_number(value.get("original_width")), as_number(value.get("original_height"))
    known = (int(width), int(height)) if width and height else None
    return ForeignBox(
        *sides, unit="percent", label=as_code(next(iter(_labels(value)), "")), size=known, angle=angle, turned=turned,
    )  # fmt: skip


def _labels(value: Mapping[str, Any]) -> list[Any]:
    labels = value.get("rectanglelabels") or value.get("labels") or []
    return labels if isinstance(labels, list) else [labels]


def _read_flat(
    file: ForeignFile, mapping: ForeignMapping, names: Mapping[str, ForeignField]
) -> Iterator[ForeignRecord]:
    questions = set(names) or _questions(file)
    before = None
    for number, row in _flat_rows(file):
        if isinstance(row, RowProblem):
            yield problem_of(file, number, row)
            continue
        data = {name: value for name, value in row.items() if name not in questions and name not in ABOUT_ANSWERS}
        item = build_item(file, number, data, as_code(row.get("id", number)), mapping)
        if item.key != before:
            yield item
            before = item.key
        answered = {name: value for name, value in row.items() if name in questions}
        try:
            values, left_out = _flat_values(answered, names)
        except RowProblem as problem:
            yield problem_of(file, number, problem)
            continue
        seconds = _seconds(row.get("lead_time"))
        if seconds is None and row.get("lead_time") not in (None, ""):
            yield type_problem(file, number, "lead_time", "number")
        yield ForeignAnswer(
            file.name, number, item.key, _rater(row.get("annotator")), values, at=str(row.get("created_at") or ""),
            lead_seconds=seconds, left_out=left_out,
        )  # fmt: skip


def _seconds(value: Any) -> float | None:
    try:
        seconds = float(value) if value not in (None, "") and not isinstance(value, bool) else None
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if seconds is not None and isfinite(seconds) else None


def _flat_rows(file: ForeignFile) -> Iterator[tuple[int, Any]]:
    if head_of(file, 200).startswith("["):
        with file.open() as stream:
            for number, row in read_json_array(stream):
                fits = isinstance(row, dict | RowProblem)
                yield number, row if fits else RowProblem("unreadable", _("This row is not an object."))
        return
    for number, cells in read_cells(file):
        yield number, cells if isinstance(cells, RowProblem) else {name: _cell(text) for name, text in cells.items()}


def _cell(text: str) -> Any:
    """CSV holds lists and objects as JSON; all else is text."""
    if text.startswith(("[", "{")):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text
    return text


def _questions(file: ForeignFile) -> set[str]:
    """Without a configuration: columns whose values have the form of answers, or differ within one task."""
    first: dict[str, Mapping[str, Any]] = {}
    questions: set[str] = set()
    for _place, row in islice(_flat_rows(file), LOOKED_AT):
        if isinstance(row, RowProblem):
            continue
        earlier = first.setdefault(as_code(row.get("id", "")), row)
        for name, value in row.items():
            if name not in ABOUT_ANSWERS and (_has_answer_form(value) or value != earlier.get(name, value)):
                questions.add(name)
    return questions


def _has_answer_form(value: Any) -> bool:
    rows = value if isinstance(value, list) else [value]
    known = {"choices", "rating", "taxonomy", "rectanglelabels", "number", "text", "polygonlabels", "labels", "ranker"}
    return bool(rows) and all(isinstance(row, dict) and known & row.keys() for row in rows)


def _flat_values(
    row: Mapping[str, Any], names: Mapping[str, ForeignField]
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Raises RowProblem, as _read_result does."""
    values: dict[str, Any] = {}
    left_out: dict[str, list[Any]] = defaultdict(list)
    for name, value in row.items():
        if value in (None, "", [], {}):
            continue
        if not isinstance(value, list | dict):
            field = names.get(name)
            listed = field is not None and field.kind in ("single", "several")
            values[name] = [as_code(value)] if listed else as_code(value) if not isinstance(value, str) else value
            continue
        for part in value if isinstance(value, list) else [value]:
            result, other = _read_result([_as_result(name, part)])
            for kind, parts in other.items():
                left_out[kind] += parts
            if name in values and isinstance(values[name], list) and isinstance(result.get(name), list):
                values[name] += result[name]
            elif name in result:
                values[name] = result[name]
    return values, dict(left_out)


def _as_result(name: str, part: Any) -> dict[str, Any]:
    """A value of the flat forms as the full form has it."""
    if isinstance(part, str):
        return {"from_name": name, "type": "textarea", "value": {"text": [part]}}
    if not isinstance(part, dict):
        return {"from_name": name, "type": "unknown", "value": {"other": part}}
    types = ("rectanglelabels", "rating", "taxonomy", "choices", "number", "ranker", "polygonlabels", "brushlabels")
    kind = next((kind for kind in types if kind in part), "textarea" if "text" in part else "unknown")
    about = {name: part[name] for name in part if name.startswith(("original_", "image_"))}
    return {"from_name": name, "type": kind, "value": part, **about}
