"""Detections in COCO's format of results: a list of image_id, category_id, bbox (x, y, width, height in pixels) and
score; and the release's own COCO file, which says what an image and a category are called, and how large an image is.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from annotation.imports.source import Row
from annotation.imports.staging import group_by_key
from benchmarks.imports.problems import RowProblem, SourceProblem
from predictions.imports.samples import ODD, Boxes, Lines, Sample, one_row
from predictions.imports.streaming import elements
from predictions.requests.serialization import storable

KEY = "coco"
MOST_IN_IMAGE = 5000
MOST_BYTES = 100 * 1024**2  # of the release's file, which is read while a person waits
MOST_THINGS = 1_000_000
SLACK = 1.0  # pixels by which a box may reach over the edge: rounding


@dataclass(frozen=True)
class Names:
    """What the release's file calls things. `images`: id to (file name, width, height)."""

    images: Mapping[str, tuple[str, float, float]] = field(default_factory=dict)
    categories: Mapping[str, str] = field(default_factory=dict)


def is_format(head: bytes) -> bool:
    """By the first bytes of the file."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return text.startswith(b"[") and b'"image_id"' in head and b'"bbox"' in head


def read_names(file: BinaryIO) -> Names:
    """Of the release's COCO file, as it was released. Raises SourceProblem."""
    images: dict[str, tuple[str, float, float]] = {}
    categories: dict[str, str] = {}
    try:
        for number, (name, element) in enumerate(elements(file, ("images", "categories", "annotations"))):
            if number == MOST_THINGS:
                raise _too_large()
            if name == "images":
                size = (_parse_side(element.get("width")), _parse_side(element.get("height")))
                images[storable(str(element["id"]))] = (storable(str(element.get("file_name") or "")), *size)
            elif name == "categories":
                categories[storable(str(element["id"]))] = storable(str(element.get("name") or ""))
    except ODD as error:
        text = _("In the COCO file an image or a category has no id, or no size. Send the file as it was released.")
        raise SourceProblem(text) from error
    if not images:
        raise SourceProblem(_("The COCO file lists no images. Send the one that was released with the pictures."))
    return Names(images, categories)


def _parse_side(value: Any) -> float:
    """0 where it is not said."""
    side = float(value or 0)
    if not math.isfinite(side) or side < 0:
        raise ValueError(value)
    return side


def _too_large() -> SourceProblem:
    text = _("The COCO file is too large to be looked at: at most %(most)s MB, and %(things)s images and annotations. "
             "Leave out its annotations, and the images that the answers are not about.")  # fmt: skip
    return SourceProblem(text % {"most": MOST_BYTES // 1024**2, "things": f"{MOST_THINGS:,}"})


def summarise_release(file: BinaryIO, size: int) -> bytes:
    """What is needed of the release's file, to be kept and read with `load_summary`. Raises SourceProblem."""
    if size > MOST_BYTES:
        raise _too_large()
    names = read_names(file)
    return json.dumps({"images": names.images, "categories": names.categories}).encode()


def load_summary(file: BinaryIO) -> Names:
    """What `summarise_release` wrote."""
    summary = json.load(file)
    return Names({key: tuple(one) for key, one in summary["images"].items()}, summary["categories"])


def rows(file: BinaryIO) -> Iterator[Row]:
    """The detections, counted from 1."""
    for number, (_name, one) in enumerate(elements(file), start=1):
        if isinstance(one, Mapping) and one.get("image_id") is not None:
            yield number, one
        else:
            text = _("This is not a detection: it has no image. Write image_id, category_id, bbox and score.")
            yield number, RowProblem("unreadable", text)


def lines(rows: Iterator[Row], names: Names, beat: Callable[[], None]) -> Lines:
    """One for each image, wherever its detections stand; numbered by the first of them."""
    for some in group_by_key(rows, lambda row: [row.get("image_id")], MOST_IN_IMAGE, beat):
        number, first = some[0]
        try:
            if isinstance(first, RowProblem):
                raise first
            with one_row():
                key = str(first["image_id"])
                name, width, height = names.images.get(key, ("", 0.0, 0.0))
                detections = tuple(_detection(row, names) for _n, row in some if isinstance(row, Mapping))
            size = (width, height) if width and height else None
            raw = json.dumps([row for _n, row in some[:20]])
            yield Sample(number, name or key, Boxes(detections, size), raw=raw)
        except RowProblem as problem:
            yield number, problem


def _detection(row: Mapping[str, Any], names: Names) -> tuple[str, float, float, float, float, float]:
    box, score = row.get("bbox"), row.get("score")
    numbers: list[Any] = [*box, score] if isinstance(box, list) and len(box) == 4 else [None]
    if any(
        isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number)
        for number in numbers
    ):
        raise RowProblem("unreadable", _("A detection of this image lacks one of the four numbers, or its score."))
    category = str(row.get("category_id", ""))
    x, y, width, height, score = (float(number) for number in numbers)
    return names.categories.get(category, ""), score, x, y, width, height


@dataclass(frozen=True)
class BestBox:
    """The best scored box as fractions (left, top, right, bottom), and how many it was chosen among."""

    box: tuple[float, float, float, float]
    score: float
    among: int


def best_box(boxes: Boxes, size: tuple[float, float], concept: str) -> BestBox | None:
    """Of an item's image. Where the categories have names and one is the item's concept, only boxes of that count. None
    without a box; ValueError where the box lies outside the picture.

    >>> best_box(Boxes((("", 0.5, 10, 20, 30, 40), ("", 0.2, 0, 0, 1, 1))), (100, 100), "").box
    (0.1, 0.2, 0.4, 0.6)
    """
    named = [one for one in boxes.found if one[0]]
    own = [one for one in named if one[0].casefold() == concept.casefold()] if named and concept else []
    among = own if named and concept else list(boxes.found)
    if not among:
        return None
    best = max(among, key=lambda one: one[1])
    return BestBox(_fractions(best, boxes.size or size), best[1], len(among))


@dataclass(frozen=True)
class LabelledDetection:
    """A box as fractions (left, top, right, bottom), the code of its label, and its score."""

    box: tuple[float, float, float, float]
    label: str
    score: float


def labelled_boxes(
    boxes: Boxes, size: tuple[float, float], labels: Mapping[str, str], most: int
) -> list[LabelledDetection]:
    """The best scored boxes of an item's image whose category is the name of a label, `most` at the most.

    `labels`: names in small letters to codes. ValueError where a box lies outside the picture.

    >>> found = Boxes((("Lamp", 0.5, 10, 20, 30, 40), ("lamp", 0.7, 0, 0, 50, 50), ("tree", 0.9, 0, 0, 1, 1)))
    >>> [(one.label, one.score) for one in labelled_boxes(found, (100, 100), {"lamp": "l"}, 1)]
    [('l', 0.7)]
    """
    known = [one for one in boxes.found if one[0].casefold() in labels]
    best = sorted(known, key=lambda one: -one[1])[:most]
    return [LabelledDetection(_fractions(one, boxes.size or size), labels[one[0].casefold()], one[1]) for one in best]


def _fractions(
    detection: tuple[str, float, float, float, float, float], size: tuple[float, float]
) -> tuple[float, float, float, float]:
    _category, _score, x, y, w, h = detection
    width, height = size
    sides = (x, y, x + w, y + h)
    limits = (width, height, width, height)
    if any(not -SLACK <= one <= limit + SLACK for one, limit in zip(sides, limits, strict=True)):
        raise ValueError("outside_image")
    x0, y0, x1, y1 = (min(max(one / limit, 0.0), 1.0) for one, limit in zip(sides, limits, strict=True))
    return x0, y0, x1, y1
