"""Parts of files in COCO's detection format: boxes in pixels, licences by number, the head of a file.

See https://cocodataset.org/#format-data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.models import Benchmark

Object = dict[str, Any]


def pixel_box(corners: Sequence[float], width: int, height: int, digits: int | None = None) -> list[float]:
    """x, y, width and height in pixels of the picture upright, of corners that are fractions of it.

    >>> pixel_box((0.25, 0.5, 0.75, 1), 200, 100)
    [50.0, 50.0, 100.0, 50.0]
    """
    left, top, right, bottom = corners
    sides = (left * width, top * height, (right - left) * width, (bottom - top) * height)
    return [float(side) if digits is None else round(side, digits) for side in sides]


def file_info(benchmark: Benchmark, version: str) -> Object:
    return {
        "description": benchmark.name,
        "version": version,
        "url": "",
        "contributor": benchmark.team.name,
        "citation": benchmark.citation,
    }


@dataclass
class LicenceNumbers:
    """Licences by number, from 1, in the order in which they are met."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, licence: str) -> int:
        return self.numbers.setdefault(licence, len(self.numbers) + 1)

    def objects(self) -> list[Object]:
        return [{"id": number, "name": licence, "url": ""} for licence, number in self.numbers.items()]


def detection(number: int, image: int, category: int, bbox: Sequence[float]) -> Object:
    """An annotation without a segmentation, since a box is all that was drawn."""
    members: Mapping[str, Any] = {
        "id": number,
        "image_id": image,
        "category_id": category,
        "bbox": list(bbox),
        "area": bbox[2] * bbox[3],
        "iscrowd": 0,
        "segmentation": [],
    }
    return dict(members)
