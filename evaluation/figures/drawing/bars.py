"""Bars: shares of a whole, stacked; and single values from zero with their intervals."""

from __future__ import annotations

from dataclasses import dataclass

from evaluation.figures.drawing.axis import AxisScale, Value, format_value, limits, ticks, x_axis
from evaluation.figures.drawing.colours import EDGE, INK, INK_2, INK_3, VERDIGRIS, Look
from evaluation.figures.drawing.names import Name, distinct_names, name_texts, widest_line
from evaluation.figures.drawing.scene import (
    Canvas,
    Path,
    Rect,
    Text,
    VectorScene,
    horizontal_line,
    label,
    rect,
    vertical_line,
)
from evaluation.figures.drawing.text import clean, fitted_width, width_of

ROW, BAR, HEAD = 30.0, 22.0, 26.0


@dataclass(frozen=True)
class Stack:
    """`shares` of the parts, in their order, summing to 1; None: nothing was counted, and `why` says so. `head`
    begins a block of rows under this heading."""

    name: str
    shares: tuple[float, ...] | None
    n: int
    why: str = ""
    head: str = ""


@dataclass(frozen=True)
class Stacks:
    """`parts`: what each share is of, with its look; `keys`: a short sign of each, for the legend; segments have
    their share alone, since a code and a share in one place read as one number."""

    parts: tuple[str, ...]
    looks: tuple[Look, ...]
    rows: tuple[Stack, ...]
    keys: tuple[str, ...]
    counted: str = "n"


def draw_stacks(data: Stacks, width: float) -> VectorScene:
    canvas = Canvas(width)
    names = distinct_names([row.name for row in data.rows], 13, width * 0.32)
    left = max(widest_line(names, 13) + 1, 40) + 10
    right = width - max(46.0, fitted_width([f"{row.n:,}" for row in data.rows], 12, 0, 80) + 10)
    y = _legend(canvas, data, width) + 10
    top = y
    scale = AxisScale(0, 1, left, right)
    for row, name in zip(data.rows, names, strict=True):
        if row.head:
            canvas.add(label(0, y + 18, row.head, width, bold=True), fill=INK)
            y += HEAD
        _stack(canvas, data, row, name, scale, y)
        y += ROW
    if data.rows:
        _percent_axis(canvas, scale, top, y)
        canvas.add(Text(width, round(y + 13, 1), data.counted, "end", size=12), fill=INK_2)
    return canvas.scene(y + 20)


def _legend(canvas: Canvas, data: Stacks, width: float) -> float:
    """Swatches with name, a point of a scale with its number, in as many lines as they need. Returns where they end."""
    x, y = 0.0, 4.0
    for name, key, look in zip(data.parts, data.keys, data.looks, strict=True):
        words = f"{key}: {name}" if key.isdigit() and key != name else name
        room = min(width_of(clean(words), 12) + 1, width - 24)
        if x and x + 22 + room > width:
            x, y = 0.0, y + 20
        canvas.add(*_filled_rects(x + 0.5, y, 15, 14, look), stroke=INK, width=0.75)
        canvas.add(label(x + 21, y + 11.5, words, room, size=12), fill=INK_2)
        x += 21 + room + 16
    return y + 16


def _filled_rects(x: float, y: float, width: float, height: float, look: Look, title: str = "") -> list[Rect]:
    base = rect(x, y, width, height, look.fill, title=title)
    return [base, rect(x, y, width, height, pattern=look.pattern, title=title)] if look.pattern else [base]


def _stack(canvas: Canvas, data: Stacks, row: Stack, name: Name, scale: AxisScale, y: float) -> None:
    canvas.add(*name_texts(name, 0, y + ROW / 2 - 2), fill=INK)
    canvas.add(Text(round(canvas.width, 1), round(y + ROW / 2 + 2, 1), f"{row.n:,}", "end", size=12), fill=INK_2)
    if row.shares is None:
        canvas.add(rect(scale.start, y + 2, scale.end - scale.start, BAR, pattern="hatch", title=row.why))
        room = min(width_of(clean(row.why), 12) + 12, scale.end - scale.start - 8)
        canvas.add(rect(scale.start + 4, y + 4, room, BAR - 4, "#fff"))
        canvas.add(label(scale.start + 8, y + ROW / 2 + 2, row.why, room - 6, size=12), fill=INK_2)
        return
    begin = 0.0
    for part, share, look in zip(data.parts, row.shares, data.looks, strict=True):
        x, wide = scale.at(begin), scale.at(begin + share) - scale.at(begin)
        begin += share
        if wide <= 0:
            continue
        percent = f"{100 * share:.0f} %"
        title = f"{clean(row.name)}, {clean(part)}: {100 * share:.1f} %"
        canvas.add(*_filled_rects(x, y + 2, wide, BAR, look, title), stroke=INK, width=0.75)
        if _has_room(percent, wide):
            canvas.add(*_plate(x + wide / 2, y, percent, look))


def _has_room(words: str, wide: float) -> bool:
    return width_of(words, 12) + 6 <= wide


def _plate(x: float, y: float, words: str, look: Look) -> list[Rect | Text]:
    """Words in a segment; on a patterned one they lie on a plate of its plain colour, so that they can be read."""
    text = Text(round(x, 1), round(y + 17, 1), words, "middle", fill=look.ink, size=12)
    if not look.pattern:
        return [text]
    wide = width_of(words, 12)
    return [Rect(round(x - wide / 2 - 2, 1), round(y + 5, 1), round(wide + 4, 1), 16, look.fill), text]


def _percent_axis(canvas: Canvas, scale: AxisScale, top: float, bottom: float) -> None:
    marks = (0, 0.25, 0.5, 0.75, 1)
    canvas.add(Path("".join(vertical_line(scale.at(t), bottom - 4, bottom) for t in marks)), stroke=EDGE)
    shown = marks if scale.end - scale.start > 220 else (0, 0.5, 1)
    words = [Text(round(scale.at(t), 1), round(bottom + 13, 1), f"{100 * t:.0f} %", "middle", size=12) for t in shown]
    canvas.add(*words, fill=INK_3)


@dataclass(frozen=True)
class Bar:
    name: str
    value: Value


@dataclass(frozen=True)
class Bars:
    """`from_zero` draws bars, which need a zero; else dots. `high`: the end of the axis, None for what they need."""

    rows: tuple[Bar, ...]
    axis: str = ""
    high: float | None = None
    counted: str = "n"


def draw_bars(data: Bars, width: float) -> VectorScene:
    """One row each: name, bar from zero, interval across its end, the number behind it, n."""
    canvas = Canvas(width)
    low, high = limits(row.value for row in data.rows)
    marks = ticks(min(low, 0), high if data.high is None else data.high)
    names = distinct_names([row.name for row in data.rows], 13, width * 0.32)
    left = max(widest_line(names, 13) + 1, 40) + 10
    scale = AxisScale(marks[0], marks[-1], left, width - 116)
    bottom = 4 + len(data.rows) * ROW
    if data.rows:
        x_axis(canvas, scale, marks, 4, bottom)
        canvas.add(Text(width, round(bottom + 15, 1), data.counted, "end", size=12), fill=INK_2)
    for place, row in enumerate(data.rows):
        y, value = 4 + (place + 0.5) * ROW, row.value
        canvas.add(*name_texts(names[place], 0, y), fill=INK)
        canvas.add(Text(width, round(y + 4.5, 1), f"{value.n:,}", "end", size=12), fill=INK_2)
        if value.value is None:
            canvas.add(rect(left, y - 8, scale.end - left, 16, pattern="hatch", title=value.why))
            continue
        start, end = sorted((scale.at(0), scale.at(value.value)))
        canvas.add(rect(start, y - 8, end - start, 16), fill=VERDIGRIS)
        if value.low is not None and value.high is not None:
            ends = (scale.at(value.low), scale.at(value.high))
            whisker = horizontal_line(*ends, y) + "".join(vertical_line(x, y - 5, y + 5) for x in ends)
            canvas.add(Path(whisker), stroke="#fff", width=4)
            canvas.add(Path(whisker), stroke=INK, width=1.5)
        canvas.add(Text(round(width - 58, 1), round(y + 4.5, 1), format_value(value.value), "end"), fill=INK)
    if data.axis:
        canvas.add(label(left, bottom + 34, data.axis, width - left, size=12), fill=INK_2)
    return canvas.scene(bottom + (40 if data.axis else 22))
