"""What apps above this one add in AppConfig.ready: panels of the overview, of items and of a stage's filters, and
filters of the items page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import QuerySet

from benchmarks.models import Benchmark, Item, Stage

Of = TypeVar("Of")


@dataclass(frozen=True)
class Panel(Generic[Of]):
    """`data` are what the template shows, of constant work; None where there is nothing to show.

    `wide`: on an item's page it stands below the picture, not beside it.
    """

    template: str
    data: Callable[[Of], Any]
    wide: bool = False


@dataclass(frozen=True)
class RenderedPanel:
    template: str
    facts: Any
    wide: bool = False


@dataclass(frozen=True)
class Filter:
    """A further filter of the items page. `choices`: value and words, none where the stage has nothing to choose."""

    name: str
    label: Any
    choices: Callable[[Stage], Sequence[tuple[str, str]]]
    narrow: Callable[[QuerySet[Item], str], QuerySet[Item]]


@dataclass(frozen=True)
class FilterView:
    """`chosen`: one of the values, or nothing."""

    filter: Filter
    choices: Sequence[tuple[str, str]]
    chosen: str


_PANELS: list[Panel[Benchmark]] = []
_OF_ITEMS: list[Panel[Item]] = []
_OF_INTAKES: list[Panel[Stage]] = []
_FILTERS: list[Filter] = []


def register(panel: Panel[Benchmark]) -> None:
    if panel not in _PANELS:
        _PANELS.append(panel)


def register_for_items(panel: Panel[Item]) -> None:
    if panel not in _OF_ITEMS:
        _OF_ITEMS.append(panel)


def register_for_intake(panel: Panel[Stage]) -> None:
    """A panel of the page “Filters” of a stage."""
    if panel not in _OF_INTAKES:
        _OF_INTAKES.append(panel)


def register_filter(new_filter: Filter) -> None:
    if new_filter not in _FILTERS:
        _FILTERS.append(new_filter)


def available_filters(stage: Stage, asked: Mapping[str, str]) -> list[FilterView]:
    """Those that the stage offers, with what was asked of them; what is not on offer is not chosen."""
    offers = ((candidate, candidate.choices(stage), asked.get(candidate.name, "")) for candidate in _FILTERS)
    return [
        FilterView(candidate, choices, value if value in dict(choices) else "")
        for candidate, choices, value in offers
        if choices
    ]


def apply_filters(items: QuerySet[Item], offered: Iterable[FilterView]) -> QuerySet[Item]:
    for view in offered:
        if view.chosen:
            items = view.filter.narrow(items, view.chosen)
    return items


def panels(benchmark: Benchmark) -> list[RenderedPanel]:
    return _render_panels(_PANELS, benchmark)


def item_panels(item: Item) -> list[RenderedPanel]:
    return _render_panels(_OF_ITEMS, item)


def intake_panels(stage: Stage) -> list[RenderedPanel]:
    return _render_panels(_OF_INTAKES, stage)


def _render_panels(those: Iterable[Panel[Of]], of: Of) -> list[RenderedPanel]:
    rendered = (RenderedPanel(panel.template, panel.data(of), panel.wide) for panel in those)
    return [panel for panel in rendered if panel.facts is not None]
