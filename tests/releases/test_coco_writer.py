"""The COCO files for another tool have a category for every box, labelled or not."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from annotation.sheets.sheet import Sheet
from releases.writers.coco import write_coco
from releases.writers.contract import File, Task
from releases.writers.doccano import write_doccano

BOX = {"x0": 0.1, "y0": 0.2, "x1": 0.6, "y1": 0.7}
LABELS = [{"code": code, "label": {"en": code.title()}} for code in ("lamp", "stall")]


class Answered:
    """One picture with the boxes of one person."""

    raters: Sequence[str] = ("one",)
    emails: Mapping[str, str] = {}

    def __init__(self, config: dict[str, Any], boxes: Sequence[dict[str, Any]]) -> None:
        field = {"key": "place", "kind": "box", "label": {"en": "Where?"}, "config": {"most": 9, **config}}
        self.sheet = Sheet.from_json({"fields": [field]})
        self.boxes = boxes

    def tasks(self) -> Iterator[Task]:
        picture = {"file": "a.png", "width": 10, "height": 10}
        answer = {"annotation": 1, "cohort": "Egypt", "answers": {"place": self.boxes}}
        answers = [{**answer, "rater": rater} for rater in self.raters]
        yield {"id": 1, "pictures": [picture], "text": "Bread", "key": "a"}, answers


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


def test_a_picture_that_somebody_answered_twice_is_there_once() -> None:
    """About two cultures, or in two campaigns."""
    source = Answered({}, [BOX])
    [(item, [answer])] = source.tasks()
    source.tasks = lambda: iter([(item, [answer, {**answer, "annotation": 2}])])  # type: ignore[method-assign]
    [(_path, pieces)] = write_coco(source)
    content = json.loads(b"".join(pieces))
    assert [row["id"] for row in content["images"]] == [1]
    assert [row["emic_annotation"] for row in content["annotations"]] == [1, 2]


@pytest.mark.parametrize("write", [write_coco, write_doccano])
def test_two_raters_have_two_files_whatever_they_are_called(write: Callable[[Any], list[File]]) -> None:
    source = Answered({}, [BOX])
    source.raters = ("lab/seer", "lab_seer", "x" * 120 + "1", "x" * 120 + "2", "lab:seer", "Lab_seer")
    if write is write_doccano:
        text = {"key": "place", "kind": "text", "label": {"en": "Where?"}, "config": {}}
        source.sheet, source.boxes = Sheet.from_json({"fields": [text]}), "Cairo"  # type: ignore[assignment]
    paths = [path for path, _pieces in write(source)]
    assert len({path.casefold() for path in paths}) == len(source.raters)
    assert all(len(path) < 130 for path in paths)
