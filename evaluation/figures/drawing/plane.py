"""Vectors in the plane, by group: each group has a shape and a colour, and its number stands in the middle of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from evaluation.figures.drawing.axis import AxisScale, ticks, x_axis, y_axis
from evaluation.figures.drawing.colours import INK, INK_2, INK_3
from evaluation.figures.drawing.scene import Canvas, Text, VectorScene, label, rect
from evaluation.figures.drawing.shapes import OTHERS, Sign, add_signs, sign
from evaluation.figures.drawing.text import width_of

LEFT, HEAD, LINE, MOST_WIDE = 56.0, 44.0, 18.0, 440.0
GROUPS = 35  # with a sign of their own


@dataclass(frozen=True)
class Cluster:
    """`n`: all that belong to it, drawn or not; `legend_value`: a number as text, shown in the legend's
    last column."""

    name: str
    points: tuple[tuple[float, float], ...]
    n: int
    legend_value: str = ""


@dataclass(frozen=True)
class PlanePanel:
    """`others`: the points of the groups beyond `GROUPS`, without numbers, and how they are called together."""

    title: str
    subtitle: str
    x: str
    y: str
    clusters: tuple[Cluster, ...]
    others: Cluster | None = None


@dataclass(frozen=True)
class Plane:
    """`counted` and `legend_value` head the legend's columns of numbers."""

    panels: tuple[PlanePanel, ...]
    counted: str = "n"
    legend_value: str = ""


def draw(data: Plane, width: float) -> VectorScene:
    """One panel under the other; the legend beside it where there is room, else below."""
    canvas = Canvas(width)
    y = 0.0
    for panel in data.panels:
        y = _panel(canvas, data, panel, y) + 22
    return canvas.scene(max(y - 18, 20))


def _panel(canvas: Canvas, data: Plane, panel: PlanePanel, y: float) -> float:
    wide = canvas.width >= 600
    side = min(canvas.width * 0.58 - LEFT, MOST_WIDE) if wide else canvas.width - LEFT - 6
    level, upright = _scales(panel, LEFT, y + HEAD, side)
    canvas.add(label(0, y + 14, panel.title, canvas.width, bold=True), fill=INK)
    canvas.add(label(0, y + 31, panel.subtitle, canvas.width, size=12), fill=INK_2)
    bottom = y + HEAD + side
    x_axis(canvas, level, _marks(level), y + HEAD, bottom)
    y_axis(canvas, upright, _marks(upright), LEFT, LEFT + side)
    canvas.add(label(LEFT + side / 2, bottom + 33, panel.x, side, anchor="middle", size=12), fill=INK_2)
    canvas.add(label(11, y + HEAD + side / 2, panel.y, side, anchor="middle", size=12, turn=-90), fill=INK_2)
    size = 7.0 if sum(len(one.points) for one in panel.clusters) <= 400 else 5.0
    if panel.others:
        add_signs(canvas, OTHERS, _at(panel.others, level, upright), size)
    for place, cluster in enumerate(panel.clusters):
        add_signs(canvas, sign(place), _at(cluster, level, upright), size)
    _draw_group_numbers(canvas, panel.clusters, level, upright)
    if wide:
        return max(bottom + 40, _legend(canvas, data, panel, LEFT + side + 24, y + HEAD))
    return _legend(canvas, data, panel, 0, bottom + 50)


def _scales(panel: PlanePanel, left: float, top: float, side: float) -> tuple[AxisScale, AxisScale]:
    """One unit is as long upwards as across: the plane keeps its distances."""
    every = [point for cluster in (*panel.clusters, *filter(None, [panel.others])) for point in cluster.points] or [
        (0.0, 0.0)
    ]
    xs, ys = [x for x, _y in every], [y for _x, y in every]
    half = max(max(xs) - min(xs), max(ys) - min(ys)) / 2 * 1.06 or 1.0
    x, y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    return AxisScale(x - half, x + half, left, left + side), AxisScale(y - half, y + half, top + side, top)


def _marks(scale: AxisScale) -> tuple[float, ...]:
    return tuple(mark for mark in ticks(scale.low, scale.high, 7) if scale.holds(mark))


def _at(cluster: Cluster, level: AxisScale, upright: AxisScale) -> list[tuple[float, float]]:
    return [(level.at(x), upright.at(y)) for x, y in cluster.points]


def _draw_group_numbers(canvas: Canvas, clusters: Sequence[Cluster], level: AxisScale, upright: AxisScale) -> None:
    """The number of each group on its medians; as near above or below as it does not lie on another."""
    taken: list[tuple[float, float, float]] = []
    for number, cluster in enumerate(clusters, 1):
        if not cluster.points:
            continue
        words = f"{number}"
        wide = width_of(words, 12) + 4
        x = min(max(level.at(median(x for x, _y in cluster.points)), level.start + wide / 2), level.end - wide / 2)
        middle = min(max(upright.at(median(y for _x, y in cluster.points)), upright.end + 8), upright.start - 8)
        steps = [middle + sign_ * 15 * step for step in range(12) for sign_ in (1, -1)]
        free = (y for y in steps if upright.end + 8 <= y <= upright.start - 8 and _is_free(x, y, wide, taken))
        y = next(free, None)
        if y is None:
            continue  # the legend has it
        taken.append((x, y, wide))
        canvas.add(rect(x - wide / 2, y - 7.5, wide, 15, "#fff"), stroke=sign(number - 1).colour, opacity=0.9)
        canvas.add(Text(round(x, 1), round(y + 4.2, 1), words, "middle", size=12, bold=True), fill=INK)


def _is_free(x: float, y: float, wide: float, taken: Sequence[tuple[float, float, float]]) -> bool:
    return all(abs(x - a) > (wide + w) / 2 or abs(y - b) >= 15 for a, b, w in taken)


def _legend(canvas: Canvas, data: Plane, panel: PlanePanel, x: float, y: float) -> float:
    """Number, sign, name, n and the number beside. Returns where it ends."""
    right = canvas.width
    last = (
        max([width_of(one.legend_value, 12) for one in panel.clusters] + [width_of(data.legend_value, 12)])
        if data.legend_value
        else 0
    )
    counts = right - last - (12 if data.legend_value else 0)
    rows: list[tuple[str, Sign, Cluster]] = [(f"{k}", sign(k - 1), one) for k, one in enumerate(panel.clusters, 1)]
    rows += [("", OTHERS, panel.others)] if panel.others else []
    n_wide = max([width_of(f"{one.n:,}", 12) for _k, _s, one in rows] + [width_of(data.counted, 12)])
    canvas.add(Text(round(counts, 1), round(y + 10, 1), data.counted, "end", size=12), fill=INK_3)
    if data.legend_value:
        canvas.add(Text(round(right, 1), round(y + 10, 1), data.legend_value, "end", size=12), fill=INK_3)
    for number, of, cluster in rows:
        y += LINE
        canvas.add(Text(round(x + 18, 1), round(y + 10, 1), number, "end", size=12, bold=True), fill=INK)
        add_signs(canvas, of, [(x + 29, y + 6)], 9)
        canvas.add(label(x + 40, y + 10, cluster.name, counts - n_wide - 8 - x - 40, size=12), fill=INK)
        canvas.add(Text(round(counts, 1), round(y + 10, 1), f"{cluster.n:,}", "end", size=12), fill=INK_2)
        if cluster.legend_value:
            canvas.add(Text(round(right, 1), round(y + 10, 1), cluster.legend_value, "end", size=12), fill=INK_2)
    return y + LINE
