"""What queries found, the best first: a strip of pictures for each list, with label, score and whether it is right."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures.drawing.axis import format_value
from evaluation.figures.drawing.colours import INK, INK_2, SUNK, VERDIGRIS, Look
from evaluation.figures.drawing.names import Name, distinct_names, name_texts
from evaluation.figures.drawing.scene import Canvas, Path, Picture, Text, VectorScene, label, rect
from evaluation.figures.drawing.text import clean, width_of

TILE, GAP = 104.0, 10.0


@dataclass(frozen=True)
class StripPicture:
    """`label` stands on a chip of `look`'s colour; `right` None where that was not asked."""

    label: str
    score: float
    look: Look
    sha: str = ""
    name: str = ""
    right: bool | None = None


@dataclass(frozen=True)
class PictureStrip:
    title: str
    words: str
    found: tuple[StripPicture, ...]


@dataclass(frozen=True)
class Strips:
    """`kinds`: the legend of the chips' colours."""

    strips: tuple[PictureStrip, ...]
    kinds: tuple[tuple[str, Look], ...] = ()


def draw(data: Strips, width: float) -> VectorScene:
    """Pictures beside each other, wrapped where the page ends."""
    canvas = Canvas(width)
    across = max(1, int((width + GAP) // (TILE + GAP)))
    y = 0.0
    for strip in data.strips:
        canvas.add(label(0, y + 14, strip.title, width, bold=True), fill=INK)
        canvas.add(label(0, y + 31, strip.words, width, size=12), fill=INK_2)
        y += 40
        names = distinct_names([one.name for one in strip.found], 12, TILE - 8, most=4)
        for place, (strip_picture, name) in enumerate(zip(strip.found, names, strict=True)):
            _tile(
                canvas, place, strip_picture, name, (place % across) * (TILE + GAP), y + (place // across) * (TILE + 50)
            )
        y += -(-len(strip.found) // across) * (TILE + 50) + 8
    return canvas.scene(_legend(canvas, data, y) if data.kinds else max(y, 20))


def _tile(canvas: Canvas, place: int, picture: StripPicture, name: Name, x: float, y: float) -> None:
    canvas.add(rect(x, y, TILE, TILE, title=picture.name), fill=SUNK)
    if picture.sha:
        canvas.add(Picture(round(x, 1), round(y, 1), TILE, TILE, picture.sha, clean(picture.name)))
    else:
        canvas.add(*name_texts(name, x + TILE / 2, y + TILE / 2, anchor="middle", size=12), fill=INK_2)
    canvas.add(rect(x, y + TILE + 3, TILE, 18, picture.look.fill, title=picture.label), stroke=INK, width=0.75)
    chip = label(x + TILE / 2, y + TILE + 16, picture.label, TILE - 6, anchor="middle", size=12, fill=picture.look.ink)
    canvas.add(chip)
    words = f"{place + 1}.  {format_value(picture.score)}"
    canvas.add(Text(round(x, 1), round(y + TILE + 36, 1), words, size=12), fill=INK_2)
    if picture.right:
        mark = f"M{x + TILE - 13} {y + TILE + 32}l4 4l8 -9"
        canvas.add(Path(mark, title="right"), stroke=VERDIGRIS, width=2.5)
    elif picture.right is not None:
        mark = f"M{x + TILE - 11} {y + TILE + 28}l8 8m0 -8l-8 8"
        canvas.add(Path(mark, title="not right"), stroke=INK, width=2)


def _legend(canvas: Canvas, data: Strips, y: float) -> float:
    x = 0.0
    for name, look in data.kinds:
        room = min(width_of(clean(name), 12) + 1, canvas.width - 22)
        if x and x + 20 + room > canvas.width:
            x, y = 0.0, y + 20
        canvas.add(rect(x + 0.5, y, 14, 14, look.fill), stroke=INK, width=0.75)
        canvas.add(label(x + 20, y + 11.5, name, room, size=12), fill=INK_2)
        x += 20 + room + 14
    return y + 22
