"""A value over time: small panels on one axis, a line with its interval as a band, n below."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures.drawing.axis import AxisScale, Value, agreement_ticks, y_axis
from evaluation.figures.drawing.colours import EDGE, INK, INK_2, INK_3, VERDIGRIS, VERDIGRIS_TINT
from evaluation.figures.drawing.scene import (
    Canvas,
    Path,
    Text,
    VectorScene,
    arrow,
    dot,
    label,
    n,
    polyline,
    rect,
    vertical_line,
)

PANEL, LEFT, GAP = 116.0, 34.0, 22.0


@dataclass(frozen=True)
class Point:
    """`at` is a place in time (any unit, the same for all panels), `words` how it is written."""

    at: float
    words: str
    value: Value


@dataclass(frozen=True)
class LinePanel:
    title: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class LineChart:
    panels: tuple[LinePanel, ...]
    counted: str = "n"  # what stands before the numbers below the axis
    marks: tuple[float, ...] = ()


def draw(data: LineChart, width: float) -> VectorScene:
    """As many panels side by side as have 240 pixels each."""
    across = max(1, min(int(width // 240), len(data.panels) or 1, 3))
    wide = (width - GAP * (across - 1)) / across
    marks = data.marks or agreement_ticks(p.value for panel in data.panels for p in panel.points)
    places = [p.at for panel in data.panels for p in panel.points]
    first, last = (min(places), max(places)) if places else (0.0, 1.0)
    canvas, high = Canvas(width), PANEL + 74
    for place, panel in enumerate(data.panels):
        x, y = (place % across) * (wide + GAP), (place // across) * high
        upright = AxisScale(marks[0], marks[-1], y + 26 + PANEL, y + 26)
        level = AxisScale(first, last if last > first else first + 1, x + LEFT + 8, x + wide - 10)
        canvas.add(label(x + LEFT, y + 15, panel.title, wide - LEFT, bold=True), fill=INK)
        y_axis(canvas, upright, marks, x + LEFT, x + wide)
        _course(canvas, panel.points, level, upright)
        _draw_dates(canvas, panel.points, level, y + 26 + PANEL, data.counted, (x + LEFT, x + wide))
    rows = -(-len(data.panels) // across)
    return canvas.scene(max(rows * high - 6, 20))


def _course(canvas: Canvas, points: tuple[Point, ...], level: AxisScale, upright: AxisScale) -> None:
    """The band under the line; where there is no value the line is interrupted and the place hatched."""
    for run in _runs(points):
        banded = [p for p in run if p.value.low is not None and p.value.high is not None]
        upper = [(level.at(p.at), upright.at(p.value.high or 0)) for p in banded]
        lower = [(level.at(p.at), upright.at(p.value.low or 0)) for p in reversed(banded)]
        if len(banded) == 1:
            canvas.add(Path(vertical_line(upper[0][0], upper[0][1], lower[0][1])), stroke=VERDIGRIS_TINT, width=9)
        elif banded:
            canvas.add(Path(polyline([*upper, *lower]) + "Z"), fill=VERDIGRIS_TINT)
            edges = Path(polyline(upper) + polyline(lower))
            canvas.add(edges, stroke=VERDIGRIS, width=0.75, dash="3 2")
    cut = [p for p in points if p.value.low is not None and not upright.holds(p.value.low)]
    canvas.add(Path("".join(arrow(level.at(p.at), upright.start, down=True) for p in cut)), fill=VERDIGRIS)
    missing = [p for p in points if p.value.value is None]
    top, bottom = upright.at(upright.high), upright.at(upright.low)
    holes = [rect(level.at(p.at) - 5, top, 10, bottom - top, pattern="hatch", title=p.value.why) for p in missing]
    canvas.add(*holes)
    for run in _runs(points):
        canvas.add(
            Path(polyline((level.at(p.at), upright.at(p.value.value or 0)) for p in run)), stroke=VERDIGRIS, width=2
        )
    there = [p for p in points if p.value.value is not None]
    dots = "".join(dot(level.at(p.at), upright.at(p.value.value or 0)) for p in there)
    canvas.add(Path(dots), stroke=INK, width=6, cap="round")


def _runs(points: tuple[Point, ...]) -> list[list[Point]]:
    runs: list[list[Point]] = [[]]
    for point in points:
        if point.value.value is None:
            runs.append([])
        else:
            runs[-1].append(point)
    return [run for run in runs if run]


def _draw_dates(
    canvas: Canvas, points: tuple[Point, ...], level: AxisScale, bottom: float, counted: str, ends: tuple[float, float]
) -> None:
    """Dates and n under as many points as have room, the first and the last always."""
    ticks = "".join(f"M{n(level.at(p.at))} {n(bottom)}v4" for p in points)
    canvas.add(Path(ticks), stroke=EDGE)
    chosen = _spaced_places([level.at(p.at) for p in points], 46)
    for place in chosen:
        point = points[place]
        x = level.at(point.at)
        anchor = "middle" if ends[0] + 22 <= x <= ends[1] - 22 else "start" if x < ends[0] + 22 else "end"
        x = ends[0] if anchor == "start" else ends[1] if anchor == "end" else x
        canvas.add(Text(round(x, 1), round(bottom + 17, 1), point.words, anchor, size=12), fill=INK_3)
        canvas.add(Text(round(x, 1), round(bottom + 33, 1), f"{point.value.n:,}", anchor, size=12), fill=INK_2)
    canvas.add(label(ends[0] - 5, bottom + 33, counted, 30, anchor="end", size=12), fill=INK_2)


def _spaced_places(places: list[float], room: float) -> list[int]:
    """The last, the first, and those between that are far enough from the ones taken."""
    if not places:
        return []
    taken = [len(places) - 1]
    for at in [0, *range(1, len(places) - 1)]:
        if at not in taken and all(abs(places[at] - places[other]) >= room for other in taken):
            taken.append(at)
    return sorted(taken)
