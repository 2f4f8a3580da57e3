"""Boxes in pixels of the upright picture, for files with types. Stored boxes are fractions of its sides."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from annotation.models import Annotation
from releases.formats.coco import pixel_box
from releases.rows.columns import Row

BOXES = "boxes"
MAIN_ROLE = "image"
CHUNK = 1000
Size = tuple[int, int]


def in_pixels(rows: Iterable[Row], names: Sequence[str]) -> Iterator[Row]:
    """The rows with these cells as x, y, width and height in pixels, and label; null where no picture is known."""
    rows = iter(rows)
    if not names:
        yield from rows
        return
    while chunk := list(islice(rows, CHUNK)):
        sizes = _sizes([row["annotation"] for row in chunk])
        for row in chunk:
            size, cells = sizes.get(row["annotation"]), row["cells"]
            yield {**row, "cells": {**cells, **{name: _boxes(cells.get(name), size) for name in names}}}


def _boxes(boxes: Sequence[dict[str, Any]] | None, size: Size | None) -> list[dict[str, Any]] | None:
    if boxes is None or size is None:
        return None
    return [_box(box, *size) for box in boxes]


def _box(box: dict[str, Any], width: int, height: int) -> dict[str, Any]:
    x, y, wide, high = pixel_box((box["x0"], box["y0"], box["x1"], box["y1"]), width, height)
    return {"x": x, "y": y, "width": wide, "height": high, "label": box.get("label")}


def _sizes(annotations: Sequence[int]) -> dict[int, Size]:
    """Of the picture that is drawn upon, by annotation."""
    picture = "assignment__unit__item__images"
    rows = Annotation.objects.filter(pk__in=annotations, **{f"{picture}__isnull": False})
    sizes: dict[int, Size] = {}
    names = ("pk", f"{picture}__role", f"{picture}__image__width", f"{picture}__image__height")
    for pk, role, width, height in rows.order_by("pk", f"{picture}__role").values_list(*names):
        if pk not in sizes or role == MAIN_ROLE:
            sizes[pk] = (width, height)
    return sizes
