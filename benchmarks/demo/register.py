"""Which concepts can be drawn, and by which scene."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.demo.scene import Scene
from benchmarks.demo.scenes_clothing import clothing
from benchmarks.demo.scenes_dance import dance
from benchmarks.demo.scenes_dessert import dessert
from benchmarks.demo.scenes_drinks import drinks
from benchmarks.demo.scenes_farming import farming
from benchmarks.demo.scenes_festival import festival
from benchmarks.demo.scenes_headwear import head_coverings
from benchmarks.demo.scenes_instrument import instrument
from benchmarks.demo.scenes_lunch import lunch
from benchmarks.demo.scenes_meals import breakfast
from benchmarks.demo.scenes_religion import religion
from benchmarks.demo.scenes_transport import transport

CULTURES: tuple[str, ...] = ("egypt", "brazil", "china")
SCENES: dict[str, Callable[[Scene], None]] = {
    "breakfast": breakfast,
    "clothing": clothing,
    "dance": dance,
    "dessert": dessert,
    "drinks": drinks,
    "farming": farming,
    "festival": festival,
    "head coverings": head_coverings,
    "instrument": instrument,
    "lunch": lunch,
    "religion": religion,
    "transport": transport,
}
CONCEPTS: tuple[str, ...] = tuple(SCENES)
