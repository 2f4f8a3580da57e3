"""Axes that all rows of a column share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.number_format import MINUS

WIDTH = 240.0


@dataclass(frozen=True)
class Axis:
    """`key` is a class of evaluation.css, which writes the ends on phones."""

    key: str
    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{WIDTH * min(max(share, 0.0), 1.0):.1f}"

    @property
    def marks(self) -> list[dict[str, Any]]:
        """Each tick: where, what is written there, and whether it is the zero line."""
        return [{"at": self.at(t), "label": f"{t:g}".replace("-", MINUS), "zero": t == 0} for t in self.ticks]


SHORT = Axis("axis-short", -0.2, 1, (-0.2, 0, 0.2, 0.4, 0.6, 0.8, 1))
FULL = Axis("axis-full", -1, 1, (-1, -0.5, 0, 0.5, 1))
SHARE = Axis("axis-share", 0, 1, (0, 0.25, 0.5, 0.75, 1))


def axis_for(estimates: Iterable[Estimate], *, from_zero: bool = False) -> Axis:
    """The short axis while everything lies on it. What lies beyond the full one is cut, and an arrow says so."""
    if from_zero:
        return SHARE
    ends = [end for e in estimates for end in (e.value, e.low) if end is not None]
    return FULL if ends and min(ends) < SHORT.low else SHORT
