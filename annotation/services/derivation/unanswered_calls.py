"""Which requests to models ended without an answer: apps above this one, where runs live, register who knows it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.models import Unit
from benchmarks.models import Stage
from people.models import Rater


@dataclass(frozen=True)
class UnansweredCall:
    """A model was asked about a unit, and its reply has no readable answer, or there is none."""

    unit: Unit
    rater: Rater
    run: int
    repeat: int
    at: datetime


Finder = Callable[[Stage, Collection[int]], Sequence[UnansweredCall]]
_FINDERS: list[Finder] = []


def register(find: Finder) -> None:
    """`find(stage, item_ids)` returns the calls of runs that count, with their raters and units. Registering twice adds
    nothing."""
    if find not in _FINDERS:
        _FINDERS.append(find)


def unanswered_calls(stage: Stage, item_ids: Collection[int]) -> list[UnansweredCall]:
    """Of these items of the stage."""
    return [call for find in _FINDERS for call in find(stage, item_ids)]
