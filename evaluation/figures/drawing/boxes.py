"""Boxes drawn over their pictures, each numbered, with its overlap in words below."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures.drawing.axis import format_value
from evaluation.figures.drawing.colours import BRASS, INK, INK_2, SUNK
from evaluation.figures.drawing.scene import Canvas, Picture, Text, VectorScene, label, rect

CARD, GAP = 236.0, 20.0
DASHES = ("", "7 3", "2 3", "12 3 2 3")


@dataclass(frozen=True)
class LabelledBox:
    """A box in shares of the picture: (x0, y0, x1, y1). `iou` with the first one, None for the first one itself."""

    rater_name: str
    box: tuple[float, float, float, float]
    iou: float | None = None


@dataclass(frozen=True)
class Card:
    """`sha` and size of the picture; the first of `boxes` is the one the others are held against."""

    title: str
    sha: str
    width: int
    height: int
    boxes: tuple[LabelledBox, ...]


@dataclass(frozen=True)
class Overlays:
    cards: tuple[Card, ...]
    overlap: str = "IoU"


def draw(data: Overlays, width: float) -> VectorScene:
    """As many cards side by side as have room; each as high as its own boxes need."""
    across = max(1, min(int((width + GAP) // (CARD + GAP)), 3))
    wide = (width - GAP * (across - 1)) / across
    canvas, y = Canvas(width), 0.0
    for start in range(0, len(data.cards), across):
        row = data.cards[start : start + across]
        bottoms = [_card(canvas, card, place * (wide + GAP), y, wide, data.overlap) for place, card in enumerate(row)]
        y = max(bottoms) + 18
    return canvas.scene(max(y - 10, 20))


def _card(canvas: Canvas, card: Card, x: float, y: float, wide: float, overlap: str) -> float:
    canvas.add(label(x, y + 14, card.title, wide, bold=True), fill=INK)
    y += 22
    high = wide * 0.75
    share = min(wide / max(card.width, 1), high / max(card.height, 1))
    shown = (card.width * share, card.height * share)
    left, top = x + (wide - shown[0]) / 2, y + (high - shown[1]) / 2
    canvas.add(rect(x, y, wide, high), fill=SUNK)
    if card.sha:
        canvas.add(Picture(round(left, 1), round(top, 1), round(shown[0], 1), round(shown[1], 1), card.sha))
    for place, box in enumerate(card.boxes):
        _box(canvas, place, box, (left, top, *shown))
    bottom = y + high + 16
    for place, box in enumerate(card.boxes):
        words = box.rater_name if box.iou is None else f"{box.rater_name}: {overlap} {format_value(box.iou)}"
        canvas.add(label(x, bottom, f"{place + 1}  {words}", wide, size=12), fill=INK if place == 0 else INK_2)
        bottom += 17
    return bottom - 12


def _box(canvas: Canvas, place: int, labelled: LabelledBox, frame: tuple[float, float, float, float]) -> None:
    """White under ink, so that it shows on any picture; the first one brass under ink; number in its corner. Boxes of
    one number are a layer."""
    left, top, wide, high = frame
    x0, y0, x1, y1 = (min(max(v, 0.0), 1.0) for v in labelled.box)
    box = rect(left + x0 * wide, top + y0 * high, (x1 - x0) * wide, (y1 - y0) * high)
    canvas.add(box, stroke=BRASS if place == 0 else "#fff", width=5 if place == 0 else 3.5, layer=place + 1)
    canvas.add(box, stroke=INK, width=1.5, dash=DASHES[place % len(DASHES)], layer=place + 1)
    # Numbers stand along the top edge, each at a corner of its own as far as the corners go.
    x = box.x if place % 2 == 0 else box.x + box.width - 15
    y = box.y if place % 4 < 2 else box.y + box.height - 15
    canvas.add(rect(x, y, 15, 15, BRASS if place == 0 else "#fff"), stroke=INK, layer=place + 1)
    number = Text(round(x + 7.5, 1), round(y + 11.5, 1), f"{place + 1}", "middle", size=11, bold=True)
    canvas.add(number, fill=INK, layer=place + 1)


__all__ = ["Card", "LabelledBox", "Overlays", "draw"]
