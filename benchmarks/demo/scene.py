"""What every scene is given: a canvas, chance, a culture, a condition and an hour of the day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeVar

from benchmarks.demo.canvas import Canvas
from benchmarks.demo.paint import RGB, Colour, lighter, mix, rgb

Condition = Literal["natural", "generated"]
Hour = Literal["dawn", "day", "golden", "dusk"]
T = TypeVar("T")

SKIES: dict[Hour, tuple[Colour, ...]] = {
    "dawn": ("#7f9cc4", "#b9bfd6", "#f1cfc0", "#fbe3c4"),
    "day": ("#3f86c6", "#79b3de", "#b9dcec", "#e8f1ea"),
    "golden": ("#5a74a8", "#b8889a", "#f0a56a", "#fcd591"),
    "dusk": ("#1d2150", "#43356f", "#8d4f7d", "#e58a66"),
}
SUNS: dict[Hour, Colour] = {"dawn": "#ffe6c8", "day": "#fff8e0", "golden": "#ffd890", "dusk": "#ffc58a"}
HAZE: dict[Hour, Colour] = {"dawn": "#e3cbd0", "day": "#c2dceb", "golden": "#f2b483", "dusk": "#8a5a86"}


@dataclass
class Scene:
    """One picture in the making."""

    c: Canvas
    rng: Random
    culture: str
    generated: bool
    hour: Hour

    def j(self, amount: float) -> float:
        """A chance offset; generated pictures stay suspiciously regular."""
        offset = self.rng.uniform(-amount, amount)
        return offset * 0.12 if self.generated else offset

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self.rng.randrange(len(options))]

    def u(self, low: float, high: float) -> float:
        """A number between the two."""
        return self.rng.uniform(low, high)

    def tint(self, colour: Colour) -> RGB:
        """The colour in the light of the hour."""
        strength = {"dawn": 0.1, "day": 0.03, "golden": 0.16, "dusk": 0.36}[self.hour]
        target: Colour = {"dawn": "#e8c8c8", "day": "#fff4dc", "golden": "#f0a060", "dusk": "#2c2258"}[self.hour]
        return mix(colour, target, strength)

    def far(self, colour: Colour, distance: float) -> RGB:
        """The colour seen through the haze of the hour."""
        return mix(self.tint(colour), HAZE[self.hour], distance)

    @property
    def sun(self) -> RGB:
        """The colour of the light."""
        return rgb(SUNS[self.hour])

    @property
    def sky(self) -> tuple[Colour, ...]:
        """The stops of the sky, top first; generated skies are richer."""
        stops = SKIES[self.hour]
        return tuple(mix(stop, lighter("#ff7ad0", 0.1), 0.12) for stop in stops) if self.generated else stops
