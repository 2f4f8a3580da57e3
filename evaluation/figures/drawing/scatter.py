"""One number against another: panels of points, with y = x and least squares where they have a meaning."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from evaluation.figures.drawing.axis import AxisScale, Value, format_value, ticks, x_axis, y_axis
from evaluation.figures.drawing.colours import BRASS_DEEP, EDGE, INK, INK_2, VERDIGRIS
from evaluation.figures.drawing.names import distinct_names, name_texts, widest_line
from evaluation.figures.drawing.scene import Canvas, Path, VectorScene, dot, label, polyline, rect

LEFT, GAP = 44.0, 20.0
NAMED, FEW = 3, 15  # of many points, those named; of at most so many, every one may be
FITTED = 4  # points that a line through them needs to say anything
Box = tuple[float, float, float, float]
Segment = tuple[float, float, float, float]


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
    """`low` and `high` are the ends of both axes, None for what the points need. Of more than `FEW` points those
    furthest from y = x are named, without `diagonal` none."""

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


def fit_line(dots: tuple[Dot, ...]) -> tuple[float, float] | None:
    """`least_squares`, where there are enough points for a line to be drawn."""
    return least_squares(dots) if len(dots) >= FITTED else None


def draw(data: Scatter, width: float) -> VectorScene:
    across = max(1, min(int(width // 230), len(data.clouds) or 1, 3))
    wide = min((width - GAP * (across - 1)) / across, 430)
    canvas = Canvas(width)
    marks = _marks(data)
    side = wide - LEFT - 8
    titles = distinct_names([cloud.title for cloud in data.clouds], 13, wide, bold=True)
    rs = [distinct_names([cloud.r], 12, wide)[0] for cloud in data.clouds]
    head = 12 + 15 * max((len(t.lines) for t in titles), default=1) + 14 * max((len(r.lines) for r in rs), default=1)
    high = head + side + 52
    for place, (cloud, title, r) in enumerate(zip(data.clouds, titles, rs, strict=True)):
        x, y = (place % across) * (wide + GAP), (place // across) * high
        level = AxisScale(marks[0], marks[-1], x + LEFT, x + LEFT + side)
        upright = AxisScale(marks[0], marks[-1], y + head + side, y + head)
        below = y + head - 10 - len(r.lines) * 14
        canvas.add(*name_texts(title, x, below - len(title.lines) * 7.5, bold=True), fill=INK)
        canvas.add(*name_texts(r, x, below + len(r.lines) * 7, size=12), fill=INK_2)
        x_axis(canvas, level, marks, y + head, y + head + side)
        y_axis(canvas, upright, marks, x + LEFT, x + LEFT + side)
        lines = _lines(canvas, data, cloud, level, upright)
        _dots(canvas, data, cloud.dots, lines, level, upright)
        canvas.add(label(x + LEFT + side / 2, y + head + side + 33, data.x, side, anchor="middle", size=12), fill=INK_2)
        turned = label(x + 11, y + head + side / 2, data.y, side, anchor="middle", size=12, turn=-90)
        canvas.add(turned, fill=INK_2)
    rows = -(-len(data.clouds) // across)
    return canvas.scene(max(rows * high - 8, 20))


def _marks(data: Scatter) -> tuple[float, ...]:
    ends = [end for cloud in data.clouds for d in cloud.dots for end in (d.x, d.y)] or [0.0, 1.0]
    low = min(ends) if data.low is None else data.low
    high = max(ends) if data.high is None else data.high
    return ticks(low, high, 4)


def _lines(canvas: Canvas, data: Scatter, cloud: Cloud, level: AxisScale, upright: AxisScale) -> list[Segment]:
    """Both lines, and where they lie."""
    drawn: list[Segment] = []
    if data.diagonal:
        ends = [(level.at(v), upright.at(v)) for v in (level.low, level.high)]
        canvas.add(Path(polyline(ends), title="y = x"), stroke=EDGE, dash="2 4")
        drawn.append((*ends[0], *ends[1]))
    if cloud.fit is None:
        return drawn
    slope, rest = cloud.fit
    inside = [(level.at(x), upright.at(slope * x + rest)) for x in _cuts(slope, rest, level.low, level.high)]
    canvas.add(Path(polyline(inside)), stroke=BRASS_DEEP, width=2, dash="9 3")
    return [*drawn, (*inside[0], *inside[1])] if len(inside) == 2 else drawn


def _cuts(slope: float, rest: float, low: float, high: float) -> list[float]:
    """Where the line enters and leaves the square low..high."""
    if abs(slope) < 1e-12:
        return [low, high]
    at = sorted(((low - rest) / slope, (high - rest) / slope))
    first, last = max(low, at[0]), min(high, at[1])
    return [first, last] if first < last else []


def largest_residuals(dots: tuple[Dot, ...]) -> tuple[Dot, ...]:
    """The few that lie furthest from y = x, the furthest first; of several in one place the first by name."""
    dots_by_place: dict[tuple[float, float], Dot] = {}
    for one in sorted(dots, key=lambda d: d.name):
        dots_by_place.setdefault((one.x, one.y), one)
    off = sorted((d for d in dots_by_place.values() if d.x != d.y), key=lambda d: (-abs(d.y - d.x), d.name))
    return tuple(off[:NAMED])


def _dots(
    canvas: Canvas, data: Scatter, dots: tuple[Dot, ...], lines: list[Segment], level: AxisScale, upright: AxisScale
) -> None:
    """Names stand where they lie on no point, no line and no other name; those that find no place are in the table."""
    places = [(level.at(d.x), upright.at(d.y)) for d in dots]
    for size, path in _by_size(places).items():
        canvas.add(Path(path), stroke=VERDIGRIS, width=size, cap="round", opacity=0.7)
    named = dots if len(dots) <= FEW else largest_residuals(dots) if data.diagonal else ()
    taken: list[Box] = [(x - 6, y - 6, x + 6, y + 6) for x, y in places]
    words, leaders, plates = [], [], []
    for point, name in zip(
        named, distinct_names([d.name for d in named], 12, (level.end - level.start) * 0.6), strict=True
    ):
        x, y = level.at(point.x), upright.at(point.y)
        place = _place(x, y, widest_line([name], 12) + 1, len(name.lines) * 14.0, (level, upright), taken, lines)
        if place:
            box, leader = place
            taken.append(box)
            plates.append(rect(box[0], box[1], box[2] - box[0], box[3] - box[1]))
            words += name_texts(name, box[0], (box[1] + box[3]) / 2, size=12)
            leaders += [leader] if leader else []
    canvas.add(Path("".join(leaders)), stroke=EDGE)
    canvas.add(*plates, fill="#fff", opacity=0.8)  # over the grid
    canvas.add(*words, fill=INK)


def _place(
    x: float,
    y: float,
    wide: float,
    high: float,
    axes: tuple[AxisScale, AxisScale],
    taken: list[Box],
    lines: list[Segment],
) -> tuple[Box, str] | None:
    """A free box for a name, as near to its point as there is one; where that is not right beside it, a thin line leads
    there, over nothing else."""
    level, upright = axes
    for away in (8.0, 18.0, 32.0, 50.0):
        for right, below in ((1, 0), (-1, 0), (0, -1), (0, 1), (1, -1), (1, 1), (-1, -1), (-1, 1)):
            middle = (x + right * (away + wide / 2), y + below * (away + high / 2))
            box = (middle[0] - wide / 2, middle[1] - high / 2, middle[0] + wide / 2, middle[1] + high / 2)
            inside = level.start <= box[0] and box[2] <= level.end and upright.end <= box[1] and box[3] <= upright.start
            if (
                not inside
                or any(_touch(box, other) for other in taken)
                or any(_is_crossed(box, line) for line in lines)
            ):
                continue
            if away == 8 and not (right and below):
                return box, ""
            near = (min(max(x, box[0]), box[2]), min(max(y, box[1]), box[3]))
            others = (one for one in taken if not (one[0] <= x <= one[2] and one[1] <= y <= one[3]))
            if not any(_is_crossed(one, (x, y, *near)) for one in others):
                return box, polyline([(x, y), near])
    return None


def _is_crossed(box: Box, line: Segment) -> bool:
    """Whether the line passes through the box (Liang and Barsky)."""
    x0, y0, x1, y1 = line
    first, last = 0.0, 1.0
    for start, step, low, high in ((x0, x1 - x0, box[0], box[2]), (y0, y1 - y0, box[1], box[3])):
        if abs(step) < 1e-9:
            if not low <= start <= high:
                return False
            continue
        ends = sorted(((low - start) / step, (high - start) / step))
        first, last = max(first, ends[0]), min(last, ends[1])
    return first < last


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
    """r = 0.82 [0.71, 0.89], n = 40; with the reason where there is no value, or no interval."""
    if value.value is None:
        return value.why
    ends = (
        f" [{format_value(value.low)}, {format_value(value.high)}]"
        if value.low is not None and value.high is not None
        else ""
    )
    rest = f". {value.no_interval}" if value.no_interval else ""
    return f"{name} = {format_value(value.value)}{ends}, n = {value.n:,}{rest}"
