"""Filters of the pages about items that apps above this one add in AppConfig.ready."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from benchmarks.models import Item, Stage


@dataclass(frozen=True)
class Filter:
    """A further filter of a stage's items. `choices`: value and words, none where the stage has nothing to choose."""

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


_FILTERS: list[Filter] = []


def register_filter(new_filter: Filter) -> None:
    if new_filter not in _FILTERS:
        _FILTERS.append(new_filter)


def filter_names() -> list[str]:
    return [each.name for each in _FILTERS]


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
