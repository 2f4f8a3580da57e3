"""Panels of a benchmark's overview that apps above this one fill: they register them in AppConfig.ready."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Benchmark


@dataclass(frozen=True)
class Panel:
    """`facts` are what the template shows, of constant work; None where there is nothing to show."""

    template: str
    facts: Callable[[Benchmark], Any]


@dataclass(frozen=True)
class Shown:
    template: str
    facts: Any


_PANELS: list[Panel] = []


def register(panel: Panel) -> None:
    if panel not in _PANELS:
        _PANELS.append(panel)


def panels(benchmark: Benchmark) -> list[Shown]:
    found = ((panel.template, panel.facts(benchmark)) for panel in _PANELS)
    return [Shown(template, facts) for template, facts in found if facts is not None]
