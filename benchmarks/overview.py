"""Panels of a benchmark's overview, and of an item's page, that apps above this one fill in AppConfig.ready."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from benchmarks.models import Benchmark, Item

Of = TypeVar("Of")


@dataclass(frozen=True)
class Panel(Generic[Of]):
    """`facts` are what the template shows, of constant work; None where there is nothing to show."""

    template: str
    facts: Callable[[Of], Any]


@dataclass(frozen=True)
class Shown:
    template: str
    facts: Any


_PANELS: list[Panel[Benchmark]] = []
_OF_ITEMS: list[Panel[Item]] = []


def register(panel: Panel[Benchmark]) -> None:
    if panel not in _PANELS:
        _PANELS.append(panel)


def register_for_items(panel: Panel[Item]) -> None:
    if panel not in _OF_ITEMS:
        _OF_ITEMS.append(panel)


def panels(benchmark: Benchmark) -> list[Shown]:
    return _shown(_PANELS, benchmark)


def item_panels(item: Item) -> list[Shown]:
    return _shown(_OF_ITEMS, item)


def _shown(those: Iterable[Panel[Of]], of: Of) -> list[Shown]:
    found = ((panel.template, panel.facts(of)) for panel in those)
    return [Shown(template, facts) for template, facts in found if facts is not None]
