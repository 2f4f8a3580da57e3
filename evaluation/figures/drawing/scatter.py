"""One number against another: panels of points, with y = x and least squares where they have a meaning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from evaluation.figures.drawing.axis import Scale, Value, said, ticks, x_axis, y_axis
from evaluation.figures.drawing.colours import BRASS_DEEP, EDGE, INK, INK_2, VERDIGRIS
from evaluation.figures.drawing.scene import Canvas, Path, Scene, dot, label, polyline
from evaluation.figures.drawing.text import clean, width_of

LEFT, HEAD, GAP = 44.0, 44.0, 20.0


@dataclass(frozen=True)
class Dot:
    name: str
    x: float
    y: float


@dataclass(frozen=True)
class Cloud:
    """`r`: the correlation under the title, in words; `fit`: (slope, intercept) of least squares."""

    title: str
    dots: tuple[Dot, ...]
    r: str = ""
    fit: tuple[float, float] | None = None


@dataclass(frozen=True)
class Scatter:
    """`low` and `high` are the ends of both axes, None for what the points need."""

    clouds: tuple[Cloud, ...]
    x: str
    y: str
    low: float | None = None
    high: float | None = None
    diagonal: bool = False


def least_squares(dots: tuple[Dot, ...]) -> tuple[float, float] | None:
    """(slope, intercept) of y on x; None with fewer than two different x.

    >>> least_squares((Dot("", 0, 1), Dot("", 2, 5)))
    (2.0, 1.0)
    """
    if not dots:
        return None
    mean_x, mean_y = sum(d.x for d in dots) / len(dots), sum(d.y for d in dots) / len(dots)
    spread = sum((d.x - mean_x) ** 2 for d in dots)
    if spread <= 1e-12:
        return None
    slope = sum((d.x - mean_x) * (d.y - mean_y) for d in dots) / spread
    return slope, mean_y - slope * mean_x


def draw(data: Scatter, width: float) -> Scene:
    across = max(1, min(int(width // 230), len(data.clouds) or 1, 3))
    wide = min((width - GAP * (across - 1)) / across, 430)
    canvas = Canvas(width)
    marks = _marks(data)
    side = wide - LEFT - 8
    high = HEAD + side + 52
    for place, cloud in enumerate(data.clouds):
        x, y = (place % across) * (wide + GAP), (place // across) * high
        level = Scale(marks[0], marks[-1], x + LEFT, x + LEFT + side)
        upright = Scale(marks[0], marks[-1], y + HEAD + side, y + HEAD)
        canvas.add(label(x, y + 14, cloud.title, wide, bold=True), fill=INK)
        canvas.add(label(x, y + 31, cloud.r, wide, size=12), fill=INK_2)
        x_axis(canvas, level, marks, y + HEAD, y + HEAD + side)
        y_axis(canvas, upright, marks, x + LEFT, x + LEFT + side)
        _lines(canvas, data, cloud, level, upright)
        _dots(canvas, cloud.dots, level, upright)
        canvas.add(label(x + LEFT + side / 2, y + HEAD + side + 33, data.x, side, anchor="middle", size=12), fill=INK_2)
        turned = label(x + 11, y + HEAD + side / 2, data.y, side, anchor="middle", size=12, turn=-90)
        canvas.add(turned, fill=INK_2)
    rows = -(-len(data.clouds) // across)
    return canvas.scene(max(rows * high - 8, 20))


def _marks(data: Scatter) -> tuple[float, ...]:
    ends = [end for cloud in data.clouds for d in cloud.dots for end in (d.x, d.y)] or [0.0, 1.0]
    low = min(ends) if data.low is None else data.low
    high = max(ends) if data.high is None else data.high
    return ticks(low, high, 4)


def _lines(canvas: Canvas, data: Scatter, cloud: Cloud, level: Scale, upright: Scale) -> None:
    if data.diagonal:
        ends = [(level.at(v), upright.at(v)) for v in (level.low, level.high)]
        canvas.add(Path(polyline(ends), title="y = x"), stroke=EDGE, dash="2 4")
    if cloud.fit is None:
        return
    slope, rest = cloud.fit
    inside = [(x, slope * x + rest) for x in _cuts(slope, rest, level.low, level.high)]
    canvas.add(Path(polyline((level.at(x), upright.at(y)) for x, y in inside)), stroke=BRASS_DEEP, width=2, dash="9 3")


def _cuts(slope: float, rest: float, low: float, high: float) -> list[float]:
    """Where the line enters and leaves the square low..high."""
    if abs(slope) < 1e-12:
        return [low, high]
    at = sorted(((low - rest) / slope, (high - rest) / slope))
    first, last = max(low, at[0]), min(high, at[1])
    return [first, last] if first < last else []


def _dots(canvas: Canvas, dots: tuple[Dot, ...], level: Scale, upright: Scale) -> None:
    """Labels to the right of their dot, or to the left, where nothing is in their way; the others are in the table."""
    places = [(level.at(d.x), upright.at(d.y)) for d in dots]
    for size, path in _by_size(places).items():
        canvas.add(Path(path), stroke=VERDIGRIS, width=size, cap="round", opacity=0.7)
    if len(dots) > 40:
        return
    taken = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    words = []
    for d, (x, y) in zip(dots, places, strict=True):
        wide = width_of(clean(d.name), 12)
        for start, anchor in ((x + 7, "start"), (x - 7 - wide, "end")):
            box = (start, y - 8, start + wide, y + 6)
            if start < level.start or start + wide > level.end or any(_touch(box, other) for other in taken):
                continue
            taken.append(box)
            words.append(label(x + 7 if anchor == "start" else x - 7, y + 4, d.name, wide + 1, anchor=anchor, size=12))
            break
    canvas.add(*words, fill=INK)


def _by_size(places: list[tuple[float, float]]) -> dict[float, str]:
    """Dots as paths by their diameter: several in one place are a larger dot, in four sizes, the largest below."""
    counts = Counter((round(x), round(y)) for x, y in places)
    small = 5.0 if len(counts) > 150 else 7.0
    sizes: dict[float, list[str]] = {small * 2.2: [], small * 1.7: [], small * 1.3: [], small: []}
    for (x, y), count in counts.items():
        step = sum(count >= least for least in (2, 4, 10))
        list(sizes.values())[3 - step].append(dot(x, y))
    return {size: "".join(dots) for size, dots in sizes.items()}


def _touch(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def correlation_words(name: str, value: Value) -> str:
    """r = 0.82 [0.71, 0.89], n = 40; with the reason where there is none."""
    if value.value is None:
        return value.why
    ends = f" [{said(value.low)}, {said(value.high)}]" if value.low is not None and value.high is not None else ""
    return f"{name} = {said(value.value)}{ends}, n = {value.n:,}"
