"""The COCO files for another tool have a category for every box, labelled or not."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from annotation.sheets.sheet import Sheet
from releases.writers.coco import write_coco
from releases.writers.contract import Task

BOX = {"x0": 0.1, "y0": 0.2, "x1": 0.6, "y1": 0.7}
LABELS = [{"code": code, "label": {"en": code.title()}} for code in ("lamp", "stall")]


class Answered:
    """One picture with the boxes of one person."""

    raters: Sequence[str] = ("one",)

    def __init__(self, config: dict[str, Any], boxes: Sequence[dict[str, Any]]) -> None:
        field = {"key": "place", "kind": "box", "label": {"en": "Where?"}, "config": {"most": 9, **config}}
        self.sheet = Sheet.from_json({"fields": [field]})
        self.boxes = boxes

    def tasks(self) -> Iterator[Task]:
        picture = {"file": "a.png", "width": 10, "height": 10}
        answer = {"annotation": 1, "rater": "one", "cohort": "Egypt", "answers": {"place": self.boxes}}
        yield {"id": 1, "pictures": [picture]}, [answer]


@pytest.mark.parametrize(
    ("config", "categories"),
    [
        ({"labels": LABELS}, ["lamp", "stall", "place", "older"]),
        ({"labels": LABELS, "label_required": True}, ["lamp", "stall", "older", "place"]),
        ({}, ["place", "stall", "older"]),
    ],
)
def test_boxes_without_a_label_and_with_an_older_label_keep_what_they_say(
    config: dict[str, Any], categories: list[str]
) -> None:
    source = Answered(config, [{**BOX, "label": "stall"}, {**BOX, "label": "older"}, BOX])
    [(_path, pieces)] = write_coco(source)
    content = json.loads(b"".join(pieces))
    names = {row["id"]: row["name"] for row in content["categories"]}
    assert list(names.values()) == categories
    assert [names[row["category_id"]] for row in content["annotations"]] == ["stall", "older", "place"]
