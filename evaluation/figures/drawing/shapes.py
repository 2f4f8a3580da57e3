"""Small signs for points: each has a shape and a colour of its own, so that neither is needed to tell them apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluation.figures.drawing.colours import BRASS_DEEP, INDIGO, INK, INK_2, MADDER, VERDIGRIS
from evaluation.figures.drawing.scene import Canvas, Path, dot, label, n
from evaluation.figures.drawing.text import clean, width_of

Shape = Literal["disc", "square", "up", "diamond", "plus", "down", "cross"]
SHAPES: tuple[Shape, ...] = ("disc", "square", "up", "diamond", "plus", "down", "cross")
COLOURS = (VERDIGRIS, MADDER, INDIGO, BRASS_DEEP, INK)
LINES = ("plus", "cross")


@dataclass(frozen=True)
class Sign:
    """`open`: white inside; signs made of lines have no inside."""

    shape: Shape
    colour: str
    open: bool = False


OTHERS = Sign("disc", INK_2, open=True)


def sign(place: int) -> Sign:
    """Of the n-th of several groups: 35 that differ, seven of one colour never in a row; then they begin again."""
    return Sign(SHAPES[place % len(SHAPES)], COLOURS[place % len(COLOURS)])


def add_signs(canvas: Canvas, of: Sign, places: Iterable[tuple[float, float]], size: float = 7) -> None:
    """All in one path; `size` is their height in pixels."""
    path = "".join(_sign_path(of, x, y, size) for x, y in places)
    if of.shape in LINES:
        canvas.add(Path(path), stroke=of.colour, width=1.6, cap="round")
    elif of.open and of.shape == "disc":
        canvas.add(Path(path), stroke=of.colour, width=size + 1, cap="round")
        canvas.add(Path(path), stroke="#fff", width=size - 2, cap="round")
    elif of.shape == "disc":
        canvas.add(Path(path), stroke=of.colour, width=size, cap="round", opacity=0.85)
    else:
        canvas.add(Path(path), fill="#fff" if of.open else of.colour, stroke=of.colour, opacity=1 if of.open else 0.85)


def _sign_path(of: Sign, x: float, y: float, size: float) -> str:
    half = size / 2
    match of.shape:
        case "disc":
            return dot(x, y)
        case "square":
            return f"M{n(x - half)} {n(y - half)}h{n(size)}v{n(size)}h{n(-size)}z"
        case "up":
            return f"M{n(x)} {n(y - half)}l{n(half)} {n(size)}h{n(-size)}z"
        case "down":
            return f"M{n(x)} {n(y + half)}l{n(half)} {n(-size)}h{n(-size)}z"
        case "diamond":
            return f"M{n(x)} {n(y - half)}l{n(half)} {n(half)}l{n(-half)} {n(half)}l{n(-half)} {n(-half)}z"
        case "plus":
            return f"M{n(x - half)} {n(y)}h{n(size)}M{n(x)} {n(y - half)}v{n(size)}"
        case "cross":
            step = half * 0.8
            return (
                f"M{n(x - step)} {n(y - step)}l{n(2 * step)} {n(2 * step)}M{n(x - step)} {n(y + step)}"
                f"l{n(2 * step)} {n(-2 * step)}"
            )


def legend(canvas: Canvas, entries: Sequence[tuple[Sign, str]], y: float, width: float) -> float:
    """Signs with their names, in as many lines as they need. Returns where they end."""
    x = 0.0
    for of, name in entries:
        room = min(width_of(clean(name), 12) + 1, width - 20)
        if x and x + 18 + room > width:
            x, y = 0.0, y + 20
        add_signs(canvas, of, [(x + 6, y + 7)], 9)
        canvas.add(label(x + 18, y + 11.5, name, room, size=12), fill=INK_2)
        x += 18 + room + 16
    return y + 16


__all__ = ["COLOURS", "OTHERS", "SHAPES", "Shape", "Sign", "add_signs", "legend", "sign"]
