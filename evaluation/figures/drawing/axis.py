"""Scales, round tick marks, and the one way axes are drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from evaluation.figures.drawing.colours import EDGE, INK_3, LINE
from evaluation.figures.drawing.scene import Canvas, Path, Text, horizontal_line, vertical_line

MINUS = "\u2212"


@dataclass(frozen=True)
class Value:
    """A number ready to be drawn: what `evaluation.metrics.estimate.Estimate` says, as far as a drawing needs it.

    `value` None: there is none, and `why` says why. `no_interval`: why a value has none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    why: str = ""
    no_interval: str = ""


@dataclass(frozen=True)
class AxisScale:
    """From values low..high to pixels start..end; end may lie before start, as on an upright axis."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Values beyond the ends lie on the ends.

        >>> AxisScale(0, 1, 100, 0).at(0.25)
        75.0
        """
        share = (value - self.low) / (self.high - self.low)
        return self.start + (self.end - self.start) * min(max(share, 0.0), 1.0)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def ticks(low: float, high: float, about: int = 5) -> tuple[float, ...]:
    """Round numbers from at or below `low` to at or above `high`, in steps of 1, 2 or 5 times a power of ten.

    >>> ticks(0, 0.93)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    if not high > low:
        low, high = low - 0.5, high + 0.5
    raw = (high - low) / max(about, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((m * power for m in (1, 2, 5, 10) if m * power >= raw * 0.999), 10 * power)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return tuple(round(place * step, 12) + 0.0 for place in range(first, last + 1))


def limits(values: Iterable[Value], *, within: tuple[float, float] | None = None) -> tuple[float, float]:
    """The lowest and highest that is to be seen, ends of intervals too, inside what is possible at all."""
    ends = [end for v in values for end in (v.value, v.low, v.high) if end is not None]
    if not ends:
        return within or (0.0, 1.0)
    low, high = min(ends), max(ends)
    return (max(low, within[0]), min(high, within[1])) if within else (low, high)


def agreement_ticks(values: Iterable[Value]) -> tuple[float, ...]:
    """For agreement and correlations: -0.2 to 1 while everything lies there, as on all other pages, else -1 to 1."""
    lowest = limits(values)[0]
    return (-1.0, -0.5, 0.0, 0.5, 1.0) if lowest < -0.2 else (-0.2, 0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


def format_value(value: float, decimals: int = 2) -> str:
    """With a true minus sign; what rounds to nothing has no sign."""
    text = f"{value:.{decimals}f}"
    return (text.removeprefix("-") if float(text) == 0 else text).replace("-", MINUS)


def tick_words(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)


def x_axis(
    canvas: Canvas, scale: AxisScale, marks: tuple[float, ...], top: float, bottom: float, *, size: float = 12
) -> None:
    """Upright grid lines from top to bottom with their numbers below; the zero line is darker."""
    canvas.add(Path("".join(vertical_line(scale.at(t), top, bottom) for t in marks if t)), stroke=LINE)
    canvas.add(Path("".join(vertical_line(scale.at(t), top, bottom) for t in marks if not t)), stroke=EDGE)
    step = abs(scale.at(marks[1]) - scale.at(marks[0])) if len(marks) > 1 else 100
    first = marks.index(0) % 2 if 0 in marks else (len(marks) - 1) % 2  # zero, or the end, keeps its number
    named = marks if step >= 30 else marks[first::2]
    words = [
        Text(round(scale.at(t), 1), round(bottom + size + 3, 1), tick_words(t), "middle", size=size) for t in named
    ]
    canvas.add(*words, fill=INK_3)


def y_axis(
    canvas: Canvas, scale: AxisScale, marks: tuple[float, ...], left: float, right: float, *, size: float = 12
) -> None:
    """Level grid lines with their numbers to the left."""
    canvas.add(Path("".join(horizontal_line(left, right, scale.at(t)) for t in marks if t)), stroke=LINE)
    canvas.add(Path("".join(horizontal_line(left, right, scale.at(t)) for t in marks if not t)), stroke=EDGE)
    words = [Text(round(left - 5, 1), round(scale.at(t) + size / 3, 1), tick_words(t), "end", size=size) for t in marks]
    canvas.add(*words, fill=INK_3)
