"""Potato: the files of Label Studio, which it imports with the answers, and a project that asks the same anew. Pure."""

import json
from collections.abc import Iterator
from typing import Any

import yaml

from annotation.fields.contract import localise
from annotation.sheets.sheet import Field
from releases.writers.contract import File, TaskSource, options_of, picture_path, size_of, takes_boxes
from releases.writers.label_studio import write_label_studio

COLOURS = ("#ff0000", "#00aa00", "#0000ff", "#aa00aa", "#00aaaa", "#aa5500")


def write_potato(source: TaskSource) -> list[File]:
    """`config.yaml` and `items.json` are a project of its own, without answers."""
    return [
        *write_label_studio(source, numbered=True),
        ("config.yaml", [_config(source).encode()]),
        ("items.json", _items(source)),
    ]


def _items(source: TaskSource) -> Iterator[bytes]:
    for item, _answers in source.tasks():
        size = size_of(item)
        row = {"id": item["key"], "text": item["text"] or item["key"]}
        row |= {"image_url": f"media/{picture_path(item)}"} if size else {}
        row |= {"image_width": size[0], "image_height": size[1]} if size else {}
        row |= {name: item[name] for name in ("concept", "origin", "condition") if item[name]}
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def _config(source: TaskSource) -> str:
    item = next(iter(source.tasks()), (None, ()))[0]
    has_picture = bool(item and item["pictures"])
    shown = [{"key": "image_url", "type": "image"}] if has_picture else []
    project = {
        "annotation_task_name": "Emic",
        "task_dir": ".",
        "output_annotation_dir": "annotation_output/",
        "data_files": ["items.json"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "media_directory": "media",
        "num_annotators_per_item": max(1, len(source.raters)),
        "instance_display": {"fields": [*shown, {"key": "text", "type": "text"}]},
        "annotation_schemes": [_scheme(field) for field in source.sheet.fields],
    }
    return yaml.safe_dump(project, allow_unicode=True, sort_keys=False)


def _scheme(field: Field) -> dict[str, Any]:
    """A question as Potato asks it. Codes are the names, since its answers have no others."""
    head = {"name": field.key, "description": localise(field.label, "en") or field.key}
    if takes_boxes(field):
        labels = [label.code for label in field.spec.part_labels(field.config)] or ["box"]
        coloured = [{"name": code, "color": COLOURS[n % len(COLOURS)]} for n, code in enumerate(labels)]
        return {"annotation_type": "image_annotation", **head, "source_field": "image_url", "tools": ["bbox"],
                "labels": coloured}  # fmt: skip
    points = [point.code for point in getattr(field.config, "points", ())]
    if points and points == [str(n) for n in range(1, len(points) + 1)]:
        return {"annotation_type": "likert", **head, "size": len(points)}
    codes = [option.code for option in options_of(field)]
    if not codes:
        return {"annotation_type": "text", **head}
    several = bool(getattr(field.config, "many", False))
    return {"annotation_type": "multiselect" if several else "radio", **head, "labels": codes}
