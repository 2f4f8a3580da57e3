"""A value of a wrong type in another tool's file never vanishes: its file, its row and the reason are named."""

import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from releases.foreign.contract import ForeignAnswer, ForeignFile, ForeignMapping, ForeignProblem, ForeignRecord
from releases.foreign.registry import READERS

TASK = {"id": 1, "data": {"image": "a.png"}, "annotations": []}


def annotation(result: Any, **more: Any) -> dict[str, Any]:
    return {"completed_by": 1, "was_cancelled": False, "result": result, **more}


def choice(**value: Any) -> dict[str, Any]:
    return {"from_name": "kind", "type": "choices", "value": {"choices": ["food"]}, **value}


def task(**changed: Any) -> dict[str, Any]:
    return TASK | {"id": 2} | changed


RECORD = {"id": "r1", "fields": {"text": "a"}, "responses": {"kind": [{"value": "food", "user_id": "u"}]}}
LINE = {"instance_id": "i1", "user_id": "u", "labels": {"kind": {"food": True}}}
COCO: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "a.png", "width": 10, "height": 10}],
    "categories": [{"id": 1, "name": "cup"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}],
}
GOOD_DOCCANO = {"id": 1, "text": "a", "label": ["food"], "Comments": []}

# tool, rows before and with the wrong value, how many answers come in all the same, part of the message
JSON_ROWS: list[tuple[str, list[Any], int, str]] = [
    ("label_studio", [TASK, task(annotations="none")], 0, "“annotations” is not a list"),
    ("label_studio", [TASK, task(predictions={"a": 1})], 0, "“predictions” is not a list"),
    ("label_studio", [TASK, task(drafts=3)], 0, "“drafts” is not a list"),
    ("label_studio", [TASK, task(comment_count="3")], 0, "“comment_count” is not a number"),
    ("label_studio", [TASK, task(annotations=[annotation([choice()], was_cancelled="none")])], 1, "was_cancelled"),
    ("label_studio", [TASK, task(annotations=[annotation([choice()], lead_time="12")])], 1, "“lead_time”"),
    ("label_studio", [TASK, task(annotations=[annotation(["none"])])], 0, "“result” is not an object"),
    ("label_studio", [TASK, task(annotations=[annotation([choice(value="none")])])], 0, "“kind” is not an object"),
    ("label_studio", [TASK, task(annotations=[annotation([choice(value={"choices": "food"})])])], 0, "type “choices”"),
    ("label_studio", [TASK, task(predictions=[{"result": [choice(type="rectangle", value={"x": "1"})]}])], 0,
     "type “rectangle”"),
    ("doccano", [GOOD_DOCCANO, GOOD_DOCCANO | {"entities": "none"}], 2, "“entities” is not a list"),
    ("doccano", [GOOD_DOCCANO, GOOD_DOCCANO | {"Comments": {"a": 1}}], 2, "“Comments” is not a list"),
    ("doccano", [GOOD_DOCCANO, GOOD_DOCCANO | {"cats": {"food": 1}}], 2, "“cats” is not a list"),
    ("doccano", [GOOD_DOCCANO, GOOD_DOCCANO | {"label": ["food", 3]}], 1, "neither a text nor a span"),
    ("doccano", [GOOD_DOCCANO, GOOD_DOCCANO | {"bbox": ""}], 1, "are not a list"),
    ("argilla", [RECORD, RECORD | {"id": "r2", "metadata": "none"}], 2, "“metadata” is not an object"),
    ("argilla", [RECORD, RECORD | {"id": "r2", "responses": {"kind": "none"}}], 1, "“kind” is not a list"),
    ("argilla", [RECORD, RECORD | {"id": "r2", "suggestions": "none"}], 2, "“suggestions” is not an object"),
    ("argilla", [RECORD, RECORD | {"id": "r2", "suggestions": {"kind": "food"}}], 2, "“kind” is not an object"),
]  # fmt: skip
COCO_MEMBERS: list[tuple[dict[str, Any], int, int, str]] = [
    ({"annotations": "none"}, 0, 0, "“annotations” is not a list"),
    ({"images": "none", "info": {}, "licenses": []}, 0, 0, "“images” is not a list"),
    ({"categories": "none"}, 0, 1, "“categories” is not a list"),
    ({"categories": ["cup"]}, 1, 1, "category is not an object"),
    ({"images": [{"id": 1, "file_name": "a.png", "width": "10", "height": 10}]}, 1, 1, "“width” is not a number"),
]


def read(tool: str, name: str, data: bytes) -> list[ForeignRecord]:
    reader = next(reader for reader in READERS if reader.key == tool)
    files = [ForeignFile(name, lambda: io.BytesIO(data), len(data))]
    assert reader.sniff(files) > 0.3
    return list(reader.read(files, ForeignMapping(rater="Ana")))


def check(rows: list[ForeignRecord], name: str, number: int, answers: int, message: str) -> None:
    problems = [row for row in rows if isinstance(row, ForeignProblem) and not row.left_out]
    assert any(message in problem.message for problem in problems), [problem.message for problem in problems]
    assert {(problem.file, problem.row) for problem in problems} == {(name, number)}
    read_answers = [row for row in rows if isinstance(row, ForeignAnswer)]
    assert len(read_answers) == answers and not any(row.skipped for row in read_answers)


@pytest.mark.parametrize(("tool", "rows", "answers", "message"), JSON_ROWS, ids=lambda value: str(value)[:40])
def test_a_member_of_another_type_is_named_and_the_rest_is_read(
    tool: str, rows: list[Any], answers: int, message: str
) -> None:
    check(read(tool, "rows.json", json.dumps(rows).encode()), "rows.json", 2, answers, message)


@pytest.mark.parametrize(("changed", "row", "answers", "message"), COCO_MEMBERS, ids=lambda value: str(value)[:40])
def test_a_list_of_coco_that_is_none_is_named(changed: dict[str, Any], row: int, answers: int, message: str) -> None:
    rows = read("coco", "coco.json", json.dumps(COCO | changed).encode())
    problems = [one for one in rows if isinstance(one, ForeignProblem) and not one.left_out]
    assert (problems[0].file, problems[0].row) == ("coco.json", row) and message in problems[0].message
    assert len([one for one in rows if isinstance(one, ForeignAnswer)]) == answers


@pytest.mark.parametrize("states", ["none", {"i1": "none"}, {"i1": [["kind", "food"]]}], ids=str)
def test_a_state_of_potato_that_is_none_is_named(states: Any) -> None:
    data = {"user_id": "u", "instance_id_ordering": ["i1"], "instance_id_to_label_to_value": states}
    rows = read("potato", "user_state.json", json.dumps(data).encode())
    check(rows, "user_state.json", 0 if states == "none" else 1, 0, "“instance_id" if states == "none" else "“i1”")


def test_a_line_of_potato_without_labels_is_named() -> None:
    lines = "\n".join(json.dumps(row) for row in (LINE, LINE | {"labels": "none"}))
    check(read("potato", "annotations.jsonl", lines.encode()), "annotations.jsonl", 2, 1, "no object “labels”")


def test_a_size_in_cvats_xml_that_is_no_number_is_named() -> None:
    image = '<image id="{0}" name="{0}.png" width="{1}" height="10"><tag label="food"/></image>'
    text = f"<annotations><version>1.1</version>{image.format(1, 10)}{image.format(2, 'none')}</annotations>"
    check(read("cvat", "a.xml", text.encode()), "a.xml", 2, 2, "“width” is not a number")


def as_parquet(columns: dict[str, Any]) -> bytes:
    target = io.BytesIO()
    pq.write_table(pa.table(columns), target)
    return target.getvalue()


def test_responses_in_parquet_that_nobody_gave_or_that_are_no_list_are_named() -> None:
    part = {"id": ["a", "b"], "text": ["x", "y"], "kind.responses.users": [["u"], ["u"]]}
    rows = read("argilla", "a.parquet", as_parquet({**part, "kind.responses": [["food"], ["food", "ritual"]]}))
    check(rows, "a.parquet", 2, 2, "does not say whose it is")
    rows = read("argilla", "a.parquet", as_parquet({**part, "kind.responses": [None, "food"]}))
    check(rows, "a.parquet", 2, 1, "“kind” is not a list")


def test_bytes_in_a_column_of_parquet_are_counted() -> None:
    rows = read("hugging_face", "a.parquet", as_parquet({"text": ["x"], "label": ["food"], "sound": [b"\0\1"]}))
    (problem,) = (row for row in rows if isinstance(row, ForeignProblem))
    assert (problem.left_out, problem.message, problem.row) == ("bytes", "sound", 1)
    assert len([row for row in rows if isinstance(row, ForeignAnswer)]) == 1
