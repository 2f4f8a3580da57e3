"""GlobalRG's boxes as one file in COCO's detection format: pixels, with country, concept, both boxes and resolution.

The box of an annotation is the gold box: the one that settled a dispute, else the finder's. `category` is the concept.
Fields beside COCO's own: `item`, `country`, `concept`, `finder_box`, `verifier_box` (null: nobody drew it again),
`resolution` ("", "finder", "verifier" or "another") and `resolution_reason`. See https://cocodataset.org/#format-data.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from annotation.models import Campaign, ItemSource
from benchmarks.models import Benchmark, ItemImage
from papers.globalrg.tables.boxes import Box, read_boxes
from releases.exports.document_files import Document, DocumentFile
from releases.formats.coco import LicenceNumbers, detection, file_info, pixel_box
from releases.rows.annotations import current_answers
from releases.rows.columns import Row

DIGITS = 2  # hundredths of a pixel
MEANING = (
    "All pictures with a box in COCO's detection format: boxes are x, y, width and height in pixels of the picture"
    " upright. bbox is the box that settled a dispute, else the finder's; items whose box cannot be decided are left"
    " out. file_name is the checksum of the picture, as in the file of items."
)


def build(benchmark: Benchmark, campaigns: Sequence[int]) -> Document:
    """The document, and its number of annotations. A fixed number of queries."""
    first = _first_boxes(benchmark, list(campaigns))
    uses = _pictures(benchmark, first)
    verifiers = _verifier_boxes(benchmark)
    images: list[Mapping[str, Any]] = []
    annotations: list[Mapping[str, Any]] = []
    licences = LicenceNumbers()
    categories: dict[tuple[str, str], int] = {}
    for row, drawn in first:
        use = uses.get(row["item"])
        gold = _gold(row, drawn)
        if use is None or gold is None:
            continue
        place = len(images) + 1
        concept = row["concept"] or row["item"]
        category = categories.setdefault((row["origin"], concept), len(categories) + 1)
        images.append(_image(place, row, use, licences.number(use.licence)))
        annotations.append(_annotation(place, category, row, use, (gold, drawn, verifiers.get(row["item"]))))
    document = {
        "info": file_info(benchmark, benchmark.recipe_version),
        "licenses": licences.objects(),
        "images": images,
        "annotations": annotations,
        "categories": [
            {"id": pk, "name": concept, "supercategory": country} for (country, concept), pk in categories.items()
        ],
    }  # fmt: skip
    return document, len(annotations)


def _counted(benchmark: Benchmark, campaigns: Sequence[int]) -> list[Row]:
    """Answers of people that count, the first of each item first."""
    answers = current_answers(benchmark, campaigns)
    kept = [row for row in answers if row["counted"] and not row["withdrawn"] and row["rater_kind"] == "person"]
    return sorted(kept, key=lambda row: (row["item"], row["submitted_at"], row["annotation"]))


def _first_boxes(benchmark: Benchmark, campaigns: Sequence[int]) -> list[tuple[Row, Box]]:
    """The first box of each item, in the order of their keys."""
    first: dict[str, tuple[Row, Box]] = {}
    for row in _counted(benchmark, campaigns):
        if drawn := read_boxes(row["answers"].get("box")):
            first.setdefault(row["item"], (row, drawn[0]))
    return list(first.values())


def _verifier_boxes(benchmark: Benchmark) -> dict[str, Box]:
    """By key of the item in the stage of first boxes: the box that was drawn again."""
    sources = ItemSource.objects.filter(
        item__stage__benchmark=benchmark, item__stage__key="verification", source__stage__key="boxes"
    )
    boxed = dict(sources.values_list("item__key", "source__key"))
    campaigns = Campaign.objects.filter(stage__benchmark=benchmark, stage__key="verification")
    again: dict[str, Box] = {}
    for row in _counted(benchmark, list(campaigns.values_list("pk", flat=True))):
        if row["item"] in boxed and (drawn := read_boxes(row["answers"].get("box"))):
            again.setdefault(boxed[row["item"]], drawn[0])
    return again


def _pictures(benchmark: Benchmark, first: Sequence[tuple[Row, Box]]) -> dict[str, ItemImage]:
    keys = [row["item"] for row, _box in first]
    uses = ItemImage.objects.filter(item__stage__benchmark=benchmark, item__stage__key="boxes", item__key__in=keys)
    return {use.item.key: use for use in uses.select_related("item", "image").order_by("-role")}


def _gold(row: Row, drawn: Box) -> Box | None:
    """None where it cannot be decided."""
    if "box" not in row["resolved"]:
        return drawn
    settled = read_boxes(row["resolved"]["box"])
    return settled[0] if settled else None


def _image(place: int, row: Row, use: ItemImage, licence: int) -> Mapping[str, Any]:
    image = use.image
    return {
        "id": place, "file_name": f"{image.sha256}.{image.format}", "width": image.width, "height": image.height,
        "license": licence, "source": use.source, "country": row["origin"],
    }  # fmt: skip


def _annotation(
    place: int, category: int, row: Row, use: ItemImage, boxes: tuple[Box, Box, Box | None]
) -> Mapping[str, Any]:
    """`boxes`: the gold one, the finder's and the verifier's."""
    gold, finder, verifier = boxes
    x, y, width, height = bbox = _pixels(gold, use)
    return {
        **detection(place, place, category, bbox),
        "area": round(width * height, DIGITS),
        "segmentation": [[x, y, round(x + width, DIGITS), y, round(x + width, DIGITS), round(y + height, DIGITS), x,
                          round(y + height, DIGITS)]],
        "item": row["item"], "country": row["origin"], "concept": row["concept"],
        "finder_box": _pixels(finder, use),
        "verifier_box": None if verifier is None else _pixels(verifier, use),
        "resolution": _resolution(row, boxes),
        "resolution_reason": row["resolved_reason"].get("box", ""),
    }  # fmt: skip


def _resolution(row: Row, boxes: tuple[Box, Box, Box | None]) -> str:
    gold, finder, verifier = boxes
    if "box" not in row["resolved"]:
        return ""
    return "finder" if gold == finder else "verifier" if gold == verifier else "another"


def _pixels(box: Box, use: ItemImage) -> list[float]:
    """x, y, width and height of fractions of the picture upright."""
    return pixel_box(box, use.image.width, use.image.height, DIGITS)


COCO = DocumentFile("coco", "boxes", MEANING, build)
