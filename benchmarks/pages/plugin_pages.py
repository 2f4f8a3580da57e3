"""Pages that only the benchmarks of one recipe have: a plugin's own pages and forms of import."""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise

from benchmarks.access import Can
from benchmarks.models import Benchmark, Stage


@dataclass(frozen=True)
class PluginPage:
    """`view` is called with a benchmark of the recipe that the person may open, as `can` says. `imports`: the import
    page of the benchmark links to it; other pages stand in the row of the tab Items. `fills`: the key of the stage
    whose items the page makes. The key is part of the address."""

    key: str
    label: str | Promise
    view: Callable[[HttpRequest, Benchmark], HttpResponse]
    can: Can = "work_on"
    imports: bool = False
    fills: str = ""


class DuplicatePage(ValueError):
    """Two pages of a benchmark would have one address."""


BY_RECIPE: dict[str, tuple[PluginPage, ...]] = {}  # filled by `register_pages` only


def register_pages(recipe: str, pages: tuple[PluginPage, ...]) -> None:
    """Add pages to the benchmarks of a recipe. Raises DuplicatePage."""
    every = (*BY_RECIPE.get(recipe, ()), *pages)
    if len({page.key for page in every}) < len(every):
        raise DuplicatePage(f"recipe {recipe!r} has two pages of one key")
    BY_RECIPE[recipe] = every


def pages_of(benchmark: Benchmark) -> tuple[PluginPage, ...]:
    return BY_RECIPE.get(benchmark.recipe, ())


def page_filling(stage: Stage) -> PluginPage | None:
    """The page that makes the items of a stage, in place of an import."""
    return next((page for page in pages_of(stage.benchmark) if page.fills == stage.key), None)
