"""Boxes that one person drew on one picture in another tool are one answer: it comes in whole or not at all."""

import json

from releases.foreign.contract import ForeignAnswer, ForeignProblem
from tests.releases.foreign_samples import as_files, records

IMAGES = [{"id": 1, "file_name": "a.png", "width": 100, "height": 50}]
CATEGORIES = [{"id": 1, "name": "lamp"}]


def drawn(number: int, who: str, bbox: object) -> dict[str, object]:
    return {"id": number, "image_id": 1, "category_id": 1, "bbox": bbox, "attributes": {"annotator": who}}


def test_a_damaged_coco_box_takes_the_other_boxes_of_its_answer_along_and_no_other_answer() -> None:
    annotations = [drawn(1, "ana", [0, 0, 10, 10]), drawn(2, "ana", [20, 20, "x", 10]), drawn(3, "bo", [0, 0, 9, 9])]
    data = {"images": IMAGES, "categories": CATEGORIES, "annotations": annotations}
    rows = records(as_files([("instances.json", json.dumps(data).encode())]))
    problems = [(row.row, row.code) for row in rows if isinstance(row, ForeignProblem)]
    assert problems == [(2, "box_not_numbers"), (1, "same_answer")]
    assert [row.rater for row in rows if isinstance(row, ForeignAnswer)] == ["bo"], "ana's other box says too little"
