"""Points of several kinds against two axes of their own, with intervals upwards: over time, or anything counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.figures.drawing.axis import AxisScale, Value, tick_words, y_axis
from evaluation.figures.drawing.colours import EDGE, INK, INK_2, INK_3, LINE
from evaluation.figures.drawing.scatter import Dot, least_squares
from evaluation.figures.drawing.scene import Canvas, Path, Text, VectorScene, label, n, polyline, rect, vertical_line
from evaluation.figures.drawing.shapes import Sign, add_signs, legend
from evaluation.figures.drawing.text import clean, width_of

LEFT, HIGH, GAP = 46.0, 250.0, 20.0
Tick = tuple[float, str]
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class PlotPoint:
    """`y.value` is drawn, with its interval; `name` stands beside it where there is room."""

    name: str
    x: float
    y: Value


@dataclass(frozen=True)
class Series:
    """`kind`: the place of its sign in the legend."""

    kind: int
    spots: tuple[PlotPoint, ...]


@dataclass(frozen=True)
class Trend:
    """Least squares through the spots of these kinds."""

    kinds: tuple[int, ...]
    colour: str
    dash: str = ""


@dataclass(frozen=True)
class PointPanel:
    title: str
    subtitle: str
    series: tuple[Series, ...]


@dataclass(frozen=True)
class Points:
    """`across`: the marks of the level axis, whose ends are its ends; `upwards` those of the upright one. All panels
    have the same axes."""

    panels: tuple[PointPanel, ...]
    x: str
    y: str
    across: tuple[Tick, ...]
    upwards: tuple[float, ...]
    legend: tuple[tuple[Sign, str], ...] = ()
    trends: tuple[Trend, ...] = ()
    signs: tuple[Sign, ...] = ()
    columns: int = 1


def number_ticks(marks: Sequence[float]) -> tuple[Tick, ...]:
    return tuple((mark, tick_words(mark)) for mark in marks)


def draw(data: Points, width: float) -> VectorScene:
    canvas = Canvas(width)
    y = legend(canvas, data.legend, 2, width) + 12 if data.legend else 0.0
    across = max(1, min(int(width // 300), len(data.panels) or 1, data.columns))
    wide = (width - GAP * (across - 1)) / across
    high = HIGH + 44 + 60
    for place, panel in enumerate(data.panels):
        _panel(canvas, data, panel, (place % across) * (wide + GAP), y + (place // across) * high, wide)
    return canvas.scene(max(y + -(-len(data.panels) // across) * high - 12, 20))


def _panel(canvas: Canvas, data: Points, panel: PointPanel, x: float, y: float, wide: float) -> None:
    canvas.add(label(x, y + 14, panel.title, wide, bold=True), fill=INK)
    canvas.add(label(x, y + 31, panel.subtitle, wide, size=12), fill=INK_2)
    top, bottom = y + 44, y + 44 + HIGH
    level = AxisScale(data.across[0][0], data.across[-1][0], x + LEFT + 8, x + wide - 22)
    upright = AxisScale(data.upwards[0], data.upwards[-1], bottom, top)
    _level_axis(canvas, data.across, level, (top, bottom), (x, x + wide))
    y_axis(canvas, upright, data.upwards, x + LEFT, x + wide)
    canvas.add(
        label(x + LEFT + (wide - LEFT) / 2, bottom + 36, data.x, wide - LEFT, anchor="middle", size=12), fill=INK_2
    )
    canvas.add(label(x + 11, (top + bottom) / 2, data.y, HIGH, anchor="middle", size=12, turn=-90), fill=INK_2)
    for trend in data.trends:
        _trend(canvas, trend, panel, level, upright)
    _spots(canvas, data, panel, level, upright)


def _level_axis(
    canvas: Canvas, marks: tuple[Tick, ...], level: AxisScale, high: tuple[float, float], room: tuple[float, float]
) -> None:
    """Upright grid lines; of their words those for which there is room."""
    top, bottom = high
    canvas.add(Path("".join(vertical_line(level.at(at), top, bottom) for at, _words in marks)), stroke=LINE)
    end = -1e9
    for at, words in marks:
        half = width_of(words, 12) / 2
        x = min(max(level.at(at), room[0] + half), room[1] - half)
        if x - half > end + 8:
            canvas.add(Text(round(x, 1), round(bottom + 16, 1), words, "middle", size=12), fill=INK_3)
            end = x + half
    canvas.add(Path(f"M{n(level.start - 8)} {n(bottom)}H{n(room[1])}"), stroke=EDGE)


def _trend(canvas: Canvas, trend: Trend, panel: PointPanel, level: AxisScale, upright: AxisScale) -> None:
    spots = [spot for series in panel.series if series.kind in trend.kinds for spot in series.spots]
    dots = tuple(Dot("", spot.x, spot.y.value) for spot in spots if spot.y.value is not None)
    fit = least_squares(dots)
    if fit is None or len(dots) < 3:
        return
    ends = (min(d.x for d in dots), max(d.x for d in dots))
    line = [(level.at(x), upright.at(fit[0] * x + fit[1])) for x in ends]
    canvas.add(Path(polyline(line)), stroke=trend.colour, width=1.75, dash=trend.dash)


def _spots(canvas: Canvas, data: Points, panel: PointPanel, level: AxisScale, upright: AxisScale) -> None:
    taken: list[Box] = []
    soft: list[Box] = []
    named: dict[str, list[tuple[float, float]]] = {}
    whiskers = []
    for series in panel.series:
        places = []
        for spot in series.spots:
            if spot.y.value is None:
                continue
            x, y = level.at(spot.x), upright.at(spot.y.value)
            places.append((x, y))
            named.setdefault(spot.name, []).append((x, y))
            if spot.y.low is not None and spot.y.high is not None:
                ends = upright.at(spot.y.low), upright.at(spot.y.high)
                whiskers.append(vertical_line(x, *ends))
                soft.append((x - 2, ends[1], x + 2, ends[0]))
        taken += [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    canvas.add(Path("".join(whiskers)), stroke=EDGE)
    for series in panel.series:
        places = [(level.at(s.x), upright.at(s.y.value)) for s in series.spots if s.y.value is not None]
        add_signs(canvas, data.signs[series.kind], places, 9)
    _names(canvas, named, taken, soft, level)


def _names(
    canvas: Canvas, named: dict[str, list[tuple[float, float]]], taken: list[Box], soft: list[Box], level: AxisScale
) -> None:
    """Each name once, beside one of its points, where it lies on nothing, or on an interval at most; the others are
    in the table."""
    words, plates = [], []
    for name, places in named.items():
        wide = width_of(clean(name), 12) + 1
        tries = [at for x, y in sorted(places, key=lambda place: place[1]) for at in _label_positions(x, y, wide)]
        free = next((at for at in tries if _has_room(at, wide, taken + soft, level)), None)
        free = free or next((at for at in tries if _has_room(at, wide, taken, level)), None)
        if free:
            taken.append((free[0], free[1] - 12, free[0] + wide, free[1] + 3))
            words.append(label(free[0], free[1], name, wide, size=12))
            plates.append(rect(free[0] - 1, free[1] - 10, wide + 2, 13))
    canvas.add(*plates, fill="#fff", opacity=0.8)
    canvas.add(*words, fill=INK)


def _label_positions(x: float, y: float, wide: float) -> list[tuple[float, float]]:
    return [(x + 8, y + 4), (x - 8 - wide, y + 4), (x + 6, y - 8), (x - 6 - wide, y - 8), (x + 6, y + 16)]


def _has_room(at: tuple[float, float], wide: float, taken: list[Box], level: AxisScale) -> bool:
    x, y = at
    if x < level.start - 6 or x + wide > level.end + 20:
        return False
    return not any(x < c and a < x + wide and y - 12 < d and b < y + 3 for a, b, c, d in taken)
