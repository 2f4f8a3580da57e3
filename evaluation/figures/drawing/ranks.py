"""How often something stands at each rank: a line for each kind, told apart by dash, marker and the name at its end."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures.drawing.axis import AxisScale, ticks, y_axis
from evaluation.figures.drawing.colours import BRASS_DEEP, EDGE, INDIGO, INK, INK_2, INK_3, MADDER, VERDIGRIS
from evaluation.figures.drawing.scene import Canvas, Path, Text, VectorScene, dot, label, n, polyline
from evaluation.figures.drawing.text import fitted_width

LINES = ((VERDIGRIS, ""), (BRASS_DEEP, "8 3"), (INDIGO, "2 3"), (MADDER, "10 3 2 3"), (INK_2, "5 5"), (EDGE, "1 2"))
PANEL, LEFT = 190.0, 40.0


@dataclass(frozen=True)
class ListKind:
    """`shares[r]`: of all lists, how large a part has this kind at rank r + 1, 0 to 1."""

    name: str
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Ranks:
    panels: tuple[tuple[str, tuple[ListKind, ...]], ...]
    x: str
    y: str


def draw(data: Ranks, width: float) -> VectorScene:
    """One panel under the other, all on one axis."""
    canvas = Canvas(width)
    names = [kind.name for _title, kinds in data.panels for kind in kinds]
    room = fitted_width(names, 12, 30, width * 0.3)
    most = max((s for _t, kinds in data.panels for kind in kinds for s in kind.shares), default=1.0)
    marks = ticks(0, most or 1.0, 4)
    high = PANEL + 84
    for place, (title, kinds) in enumerate(data.panels):
        top = place * high + 44
        upright = AxisScale(marks[0], marks[-1], top + PANEL, top)
        count = max((len(kind.shares) for kind in kinds), default=1)
        level = AxisScale(1, max(count, 2), LEFT + 8, width - room - 14)
        canvas.add(label(0, top - 28, title, width, bold=True), fill=INK)
        canvas.add(label(0, top - 10, data.y, width, size=12), fill=INK_2)
        y_axis(canvas, upright, marks, LEFT, level.end + 4)
        _lines(canvas, kinds, level, upright, room)
        _places(canvas, count, level, top + PANEL)
        canvas.add(label(LEFT, top + PANEL + 33, data.x, width - LEFT, size=12), fill=INK_2)
    return canvas.scene(max(len(data.panels) * high + 2, 20))


def _lines(canvas: Canvas, kinds: tuple[ListKind, ...], level: AxisScale, upright: AxisScale, room: float) -> None:
    ends: list[tuple[float, str, str]] = []
    for place, kind in enumerate(kinds):
        colour, dash = LINES[place % len(LINES)]
        points = [(level.at(rank), upright.at(share)) for rank, share in enumerate(kind.shares, start=1)]
        canvas.add(Path(polyline(points)), stroke=colour, width=2, dash=dash)
        if len(points) <= 25:
            canvas.add(Path("".join(dot(x, y) for x, y in points)), stroke=colour, width=6, cap="round")
        if points:
            ends.append((points[-1][1], kind.name, colour))
    for (at, name, colour), y in zip(
        sorted(ends), _spread_places([at for at, *_rest in sorted(ends)], 15), strict=True
    ):
        canvas.add(Path(f"M{n(level.end + 2)} {n(at)}L{n(level.end + 9)} {n(y)}"), stroke=colour)
        canvas.add(label(level.end + 12, y + 4, name, room, size=12), fill=INK)


def _spread_places(wanted: list[float], least: float) -> list[float]:
    """Places in the same order, at least this far from each other, as near as a single pass makes them."""
    placed: list[float] = []
    for at in wanted:
        placed.append(max(at, placed[-1] + least) if placed else at)
    return placed


def _places(canvas: Canvas, count: int, level: AxisScale, bottom: float) -> None:
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 10_000) if (level.end - level.start) / max(count, 1) * s >= 24)
    shown = [1, *range(step, count + 1, step)] if step > 1 else list(range(1, count + 1))
    shown = [r for r in shown if r == 1 or level.at(r) - level.at(1) >= 18]
    canvas.add(Path("".join(f"M{n(level.at(r))} {n(bottom)}v4" for r in shown)), stroke=EDGE)
    words = [Text(round(level.at(r), 1), round(bottom + 16, 1), f"{r}", "middle", size=12) for r in shown]
    canvas.add(*words, fill=INK_3)
