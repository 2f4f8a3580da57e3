"""Every rater a dot with an interval, by name and never by value; few in named rows, many in dense rows of dots."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures.drawing.axis import AxisScale, Value, agreement_ticks, x_axis, y_axis
from evaluation.figures.drawing.colours import INK, INK_2, VERDIGRIS
from evaluation.figures.drawing.scene import (
    Canvas,
    Path,
    Rect,
    Text,
    VectorScene,
    arrow,
    dot,
    horizontal_line,
    label,
    rect,
    vertical_line,
)
from evaluation.figures.drawing.text import fitted_width

FEW, ROW, PANEL, EACH = 24, 22.0, 96.0, 11.0


@dataclass(frozen=True)
class Rater:
    name: str
    value: Value


@dataclass(frozen=True)
class Strip:
    """`groups` are cohorts with their raters, in the order they are drawn: that of their names."""

    groups: tuple[tuple[str, tuple[Rater, ...]], ...]
    counted: str = "n"


def draw(data: Strip, width: float) -> VectorScene:
    raters = [rater for _name, group in data.groups for rater in group]
    marks = agreement_ticks(rater.value for rater in raters)
    few = [rater.name for _name, group in data.groups if len(group) <= FEW for rater in group]
    left = fitted_width(few, 13, 40, width * 0.4) + 12
    canvas = Canvas(width)
    y = 0.0
    for name, group in data.groups:
        canvas.add(label(0, y + 15, name, width, bold=True), fill=INK)
        y += 22
        y = _rows(canvas, group, marks, y, left, data.counted) if len(group) <= FEW else _dense(canvas, group, marks, y)
    return canvas.scene(max(y, 20))


def _rows(
    canvas: Canvas, group: tuple[Rater, ...], marks: tuple[float, ...], top: float, left: float, counted: str
) -> float:
    """One row each: name, interval and dot, n at the end."""
    right = canvas.width - 52
    scale = AxisScale(marks[0], marks[-1], left, right)
    bottom = top + len(group) * ROW
    if group:
        x_axis(canvas, scale, marks, top, bottom)
        canvas.add(Text(canvas.width, round(bottom + 15, 1), counted, "end", size=12), fill=INK_2)
    middles = [top + (place + 0.5) * ROW for place in range(len(group))]
    names = [label(0, y + 4.5, r.name, left - 12) for r, y in zip(group, middles, strict=True)]
    canvas.add(*names, fill=INK)
    lines, dots, cut, holes = "", "", "", []
    for rater, y in zip(group, middles, strict=True):
        value = rater.value
        if value.value is None:
            holes.append(rect(left, y - 7, right - left, 14, pattern="hatch", title=value.why))
            continue
        if value.low is not None and value.high is not None:
            lines += horizontal_line(scale.at(value.low), scale.at(value.high), y)
            cut += arrow(left, y) if not scale.holds(value.low) else ""
        dots += dot(scale.at(value.value), y)
    _marks(canvas, lines, dots, holes, 4, 9)
    canvas.add(Path(cut), fill=VERDIGRIS)
    counts = [
        Text(canvas.width, round(y + 4.5, 1), f"{r.value.n:,}", "end", size=12)
        for r, y in zip(group, middles, strict=True)
    ]
    canvas.add(*counts, fill=INK_2)
    return bottom + 34


def _dense(canvas: Canvas, group: tuple[Rater, ...], marks: tuple[float, ...], top: float) -> float:
    """Many beside each other, a few dozen in a panel; under each panel the names of its first and last."""
    left = 34.0
    fit = max(int((canvas.width - left) // EACH), 1)
    panels = -(-len(group) // fit)
    size = -(-len(group) // panels)  # panels of one length
    each = min((canvas.width - left) / size, 18)
    for start in range(0, len(group), size):
        part = group[start : start + size]
        scale = AxisScale(marks[0], marks[-1], top + PANEL, top + 4)
        y_axis(canvas, scale, marks[::2] if len(marks) > 5 else marks, left, left + size * each)
        lines, dots, cut, holes = "", "", "", []
        for place, rater in enumerate(part):
            x, value = left + (place + 0.5) * each, rater.value
            if value.value is None:
                holes.append(rect(x - 4, top + 4, 8, PANEL - 4, pattern="hatch", title=f"{rater.name}: {value.why}"))
                continue
            if value.low is not None and value.high is not None:
                lines += vertical_line(x, scale.at(value.low), scale.at(value.high))
                cut += arrow(x, scale.start, down=True) if not scale.holds(value.low) else ""
            dots += dot(x, scale.at(value.value))
        _marks(canvas, lines, dots, holes, 2, 6)
        canvas.add(Path(cut), fill=VERDIGRIS)
        half = len(part) * each / 2
        canvas.add(
            label(left, top + PANEL + 16, part[0].name, half - 8, size=12),
            label(left + len(part) * each, top + PANEL + 16, part[-1].name, half - 8, anchor="end", size=12),
            fill=INK_2,
        )
        top += PANEL + 30
    return top + 4


def _marks(canvas: Canvas, lines: str, dots: str, holes: list[Rect], line: float, point: float) -> None:
    canvas.add(*holes)
    canvas.add(Path(lines), stroke=VERDIGRIS, width=line, opacity=0.55)
    canvas.add(Path(dots), stroke=INK, width=point, cap="round")
