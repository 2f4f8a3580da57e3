"""Numbers and ids in files of other tools that are none: each is refused by its row, and nothing ends at it."""

import json
from typing import Any

import pytest

from releases.foreign.contract import ForeignMapping
from releases.foreign.registry import reader_for
from releases.foreign.scan import scan_files
from tests.releases.foreign_samples import POTATO, as_files, content, needs_peers, records
from tests.releases.test_foreign_readers import problems

pytestmark = needs_peers


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity", "1" + "0" * 400])
def test_numbers_that_are_none_are_of_their_row(number: str) -> None:
    """Neither the preview nor the import ends at them."""
    coco = json.loads(content("cvat/instances_default.json"))
    coco["images"][0]["width"] = coco["annotations"][0]["bbox"][0] = "#"
    tasks = json.loads(content("label-studio/export.json"))
    box = next(row for row in tasks[0]["annotations"][0]["result"] if "x" in row["value"])
    box["original_width"] = tasks[0]["annotations"][0]["lead_time"] = "#"
    turned = next(row for row in tasks[1]["annotations"][0]["result"] if "x" in row["value"])
    turned["value"]["rotation"] = "#"
    items = [json.loads(line) for line in content("potato/items.json").splitlines()]
    items[0]["image_width"] = "#"
    flat = json.loads(content("label-studio/export-min.json"))
    flat[0]["lead_time"] = "#"
    potato = [(path.rpartition("/")[2], content(path)) for path in POTATO[:2]]
    uploads = [[("instances_default.json", _with_number(coco, number))], [("export.json", _with_number(tasks, number))],
               [("export-min.json", _with_number(flat, number))],
               [*potato, ("items.json", _with_number(items, number))]]  # fmt: skip
    scans = [scan_files(files, reader_for(files), ForeignMapping()) for files in map(as_files, uploads)]
    assert [scan.items for scan in scans] == [12, 12, 12, 12]
    codes = [[problem.code for problem in scan.problems] for scan in scans]
    assert codes[0] == ["wrong_type", "box_not_numbers"], "a width and a corner"
    assert codes[1:] == [["wrong_type", "wrong_type"], ["wrong_type"], ["wrong_type"]], (
        "a box that is turned by no number, too"
    )


def _with_number(data: Any, number: str) -> bytes:
    return json.dumps(data).replace('"#"', number).encode()


def test_ids_that_are_lists_are_refused_with_their_row() -> None:
    coco = json.loads(content("cvat/instances_default.json"))
    coco["categories"].append({"id": [], "name": "x"})
    coco["images"].append({"id": {}, "file_name": "x.png"})
    tasks = json.loads(content("label-studio/export.json"))
    tasks[3]["id"] = []
    items = [json.loads(line) for line in content("potato/items.json").splitlines()]
    items[2]["id"] = {"a": 1}
    lines = [*content("potato/annotations.jsonl").splitlines(), b'{"instance_id":[1],"user_id":"a","labels":{}}']
    uploads = [[("instances_default.json", coco)], [("export.json", tasks)]]
    refused = [problems(records(as_files([(name, json.dumps(data).encode())]))) for ((name, data),) in uploads]
    assert sorted(problem.code for problem in refused[0]) == ["bad_id", "no_key"]
    assert [(problem.row, problem.code) for problem in refused[1] if not problem.left_out] == [(4, "bad_id")]
    potato = [("annotations.jsonl", b"\n".join(lines)), ("items.json", json.dumps(items).encode()),
              ("config.yaml", content("potato/config.yaml"))]  # fmt: skip
    codes = [(problem.file, problem.row, problem.code) for problem in problems(records(as_files(potato)))]
    assert codes == [("items.json", 3, "no_key"), ("annotations.jsonl", len(lines), "no_key")]
