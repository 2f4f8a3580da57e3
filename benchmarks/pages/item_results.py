"""What apps above this one say above the list of items, such as what became of an action; named in AppConfig.ready."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.models import Benchmark

Source = Callable[[Benchmark, Mapping[str, str]], Any]
_SOURCES: list[tuple[str, Source]] = []


@dataclass(frozen=True)
class ListNotice:
    template: str
    facts: Any


def register(template: str, source: Source) -> None:
    if (template, source) not in _SOURCES:
        _SOURCES.append((template, source))


def list_notices(benchmark: Benchmark, asked: Mapping[str, str]) -> list[ListNotice]:
    """`asked`: the parameters of the address."""
    notices = (ListNotice(template, source(benchmark, asked)) for template, source in _SOURCES)
    return [notice for notice in notices if notice.facts is not None]
