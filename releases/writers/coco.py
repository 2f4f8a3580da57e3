"""COCO instances, one file for each rater. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from releases.writers.contract import File, Row, TaskSource, boxes_of, file_names, picture_path, size_of, takes_boxes


def write_coco(source: TaskSource) -> list[File]:
    categories = {name: number for number, name in enumerate(_names(source), start=1)}
    files = file_names(source.raters)
    return [(f"coco/{files[rater]}.json", _file(source, rater, categories)) for rater in source.raters]


def _names(source: TaskSource) -> Iterator[str]:
    """The labels of the sheet, each once; the key of a question, for boxes without a label; and further labels that
    boxes have from earlier sheets."""
    names: dict[str, None] = {}
    for field in filter(takes_boxes, source.sheet.fields):
        labels = field.spec.part_labels(field.config)
        names |= dict.fromkeys(label.code for label in labels)
        if not (labels and field.spec.needs_part_label(field.config)):
            names[field.key] = None
    for _item, answers in source.tasks():
        for row in answers:
            names |= dict.fromkeys(name for name, _box in _boxes(source, row))
    return iter(names)


def _file(source: TaskSource, rater: str, categories: dict[str, int]) -> Iterator[bytes]:
    rows = [{"id": number, "name": name, "supercategory": ""} for name, number in categories.items()]
    head = {"info": {"description": "Emic", "emic_rater": rater}, "licenses": [], "categories": rows}
    yield json.dumps(head, ensure_ascii=False)[:-1].encode() + b',"images":['
    answered = (item for item, answers in source.tasks() if any(row["rater"] == rater for row in answers))
    for place, item in enumerate(answered):
        size = size_of(item) or (0, 0)
        image = {"id": item["id"], "file_name": picture_path(item), "width": size[0], "height": size[1]}
        yield (b",\n" if place else b"\n") + json.dumps(image, ensure_ascii=False).encode()
    yield b'\n],"annotations":['
    yield from _annotations(source, rater, categories)
    yield b"\n]}\n"


def _annotations(source: TaskSource, rater: str, categories: dict[str, int]) -> Iterator[bytes]:
    number = 0
    for item, answers in source.tasks():
        for row in answers:
            for name, box in _boxes(source, row) if row["rater"] == rater else ():
                number += 1
                annotation = _annotation(number, item, row, categories[name], box)
                yield (b",\n" if number > 1 else b"\n") + json.dumps(annotation, ensure_ascii=False).encode()


def _boxes(source: TaskSource, row: Row) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """With the name of the category of each."""
    for field in filter(takes_boxes, source.sheet.fields):
        for box in boxes_of(row["answers"].get(field.key)):
            yield box.get("label") or field.key, box


def _annotation(number: int, item: Row, row: Row, category: int, box: Mapping[str, Any]) -> dict[str, Any]:
    across, down = size_of(item) or (1, 1)
    width, height = (box["x1"] - box["x0"]) * across, (box["y1"] - box["y0"]) * down
    return {
        "id": number, "image_id": item["id"], "category_id": category, "iscrowd": 0, "segmentation": [],
        "bbox": [box["x0"] * across, box["y0"] * down, width, height], "area": width * height,
        "emic_annotation": row["annotation"], "emic_rater": row["rater"], "emic_cohort": row["cohort"],
    }  # fmt: skip
