"""Boxes that one person drew on one picture in another tool are one answer, in the name of who drew them; it comes in
whole or not at all."""

import json

from releases.foreign.contract import ForeignAnswer, ForeignMapping, ForeignProblem
from tests.releases.foreign_samples import as_files, records

IMAGES = [{"id": 1, "file_name": "a.png", "width": 100, "height": 50}]
CATEGORIES = [{"id": 1, "name": "lamp"}]


def drawn(number: int, who: str, bbox: object, image: int = 1) -> dict[str, object]:
    return {"id": number, "image_id": image, "category_id": 1, "bbox": bbox, "attributes": {"annotator": who}}


def test_a_damaged_coco_box_takes_the_other_boxes_of_its_answer_along_and_no_other_answer() -> None:
    annotations = [drawn(1, "ana", [0, 0, 10, 10]), drawn(2, "ana", [20, 20, "x", 10]), drawn(3, "bo", [0, 0, 9, 9])]
    data = {"images": IMAGES, "categories": CATEGORIES, "annotations": annotations}
    rows = records(as_files([("instances.json", json.dumps(data).encode())]))
    problems = [(row.row, row.code) for row in rows if isinstance(row, ForeignProblem)]
    assert problems == [(2, "box_not_numbers"), (1, "same_answer")]
    assert [row.rater for row in rows if isinstance(row, ForeignAnswer)] == ["bo"], "ana's other box says too little"


def test_a_named_coco_rater_stays_one_person_where_a_picture_has_several_entries() -> None:
    """A number tells entries of one picture apart only where the annotations do not name who drew them."""
    images = [{"id": n, "file_name": name} for n, name in ((1, "a.png"), (2, "a.png"), (3, "b.png"))]
    boxes = [drawn(1, "ana", [0, 0, 10, 10], 1), drawn(2, "bo", [0, 0, 9, 9], 2), drawn(3, "bo", [0, 0, 9, 9], 3)]
    nameless = [{name: value for name, value in box.items() if name != "attributes"} for box in boxes]

    def raters(annotations: object, rater: str = "") -> list[tuple[str, str]]:
        data = {"images": images, "categories": CATEGORIES, "annotations": annotations}
        rows = records(as_files([("instances.json", json.dumps(data).encode())]), ForeignMapping(rater=rater))
        return [(row.item, row.rater) for row in rows if isinstance(row, ForeignAnswer)]

    assert raters(boxes) == raters(boxes, "team") == [("a.png", "ana"), ("a.png", "bo"), ("b.png", "bo")]
    assert raters(nameless) == [("a.png", "entry-1"), ("a.png", "entry-2"), ("b.png", "entry-1")]
    assert raters(nameless, "team") == [("a.png", "team-1"), ("a.png", "team-2"), ("b.png", "team-1")]


def test_label_studio_box_with_several_labels_has_the_first_and_names_the_others() -> None:
    box = {"x": 1, "y": 2, "width": 3, "height": 4, "rectanglelabels": ["food", "hand", "cup"]}
    results = [{"from_name": "box", "type": "rectanglelabels", "value": box}]
    full = {"id": 1, "data": {"text": "a"}, "annotations": [{"completed_by": 2, "result": results}]}
    flat = {"id": 1, "text": "a", "box": [box], "annotator": 2, "annotation_id": 5}
    for task in (full, flat):
        rows = records(as_files([("export.json", json.dumps([task]).encode())]))
        [answer] = [row for row in rows if isinstance(row, ForeignAnswer)]
        assert [row.label for row in answer.values["box"]] == ["food"]
        [other] = answer.left_out["more labels of a box"]
        assert other["value"] == {**box, "rectanglelabels": ["hand", "cup"]}
