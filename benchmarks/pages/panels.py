"""What apps above this one add in AppConfig.ready: panels of the overview, of items and of a stage's filters."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from benchmarks.models import Benchmark, Item, Stage

Of = TypeVar("Of")


@dataclass(frozen=True)
class Panel(Generic[Of]):
    """`data` are what the template shows, of constant work; None where there is nothing to show.

    `wide`: on an item's page it stands below the picture, not beside it. `anchor` and `title`: of its section there.
    `of_answers`: only for people who may read answers.
    """

    template: str
    data: Callable[[Of], Any]
    wide: bool = False
    anchor: str = ""
    title: Any = ""
    of_answers: bool = False


@dataclass(frozen=True)
class RenderedPanel:
    template: str
    facts: Any
    wide: bool = False
    anchor: str = ""
    title: Any = ""


_PANELS: list[Panel[Benchmark]] = []
_OF_ITEMS: list[Panel[Item]] = []
_OF_INTAKES: list[Panel[Stage]] = []


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


def panels(benchmark: Benchmark) -> list[RenderedPanel]:
    return _render_panels(_PANELS, benchmark)


def item_panels(item: Item, *, answers: bool) -> list[RenderedPanel]:
    """`answers`: whether this person may read what people and models answered."""
    return _render_panels([panel for panel in _OF_ITEMS if answers or not panel.of_answers], item)


def intake_panels(stage: Stage) -> list[RenderedPanel]:
    return _render_panels(_OF_INTAKES, stage)


def _render_panels(those: Iterable[Panel[Of]], of: Of) -> list[RenderedPanel]:
    rendered = (RenderedPanel(panel.template, panel.data(of), panel.wide, panel.anchor, panel.title) for panel in those)
    return [panel for panel in rendered if panel.facts is not None]
