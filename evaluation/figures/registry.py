"""The figures of a benchmark: those of the recipe it was made from, then those that every benchmark has."""

from collections.abc import Callable, Sequence

from benchmarks.models import Benchmark
from evaluation.figures.general import GENERAL
from evaluation.figures.model_figures import MODELS
from evaluation.figures.spec import OWN_OPTIONS, FigureData, FigureSpec

BY_RECIPE: dict[str, tuple[FigureSpec, ...]] = {}  # recipe key to its figures; filled by `register_figures` only


class DuplicateFigure(ValueError):
    """Two figures of a benchmark, or two options of figures, would have one name."""


def register_figures(recipe: str, specs: Sequence[FigureSpec]) -> None:
    """Add figures to the benchmarks of a recipe. Raises DuplicateFigure."""
    keys = [spec.key for spec in (*BY_RECIPE.get(recipe, ()), *specs, *GENERAL, *MODELS)]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise DuplicateFigure(f"recipe {recipe!r} has two figures {', '.join(map(repr, twice))}")
    BY_RECIPE[recipe] = (*BY_RECIPE.get(recipe, ()), *specs)


def register_figure_option(name: str, known: Callable[[FigureData], list[str]]) -> None:
    """Let figures read a parameter of the address. `known` lists its values. Raises DuplicateFigure."""
    if name in OWN_OPTIONS:
        raise DuplicateFigure(f"the option {name!r} of figures is taken")
    OWN_OPTIONS[name] = known


def figures_of(benchmark: Benchmark) -> tuple[FigureSpec, ...]:
    return (*BY_RECIPE.get(benchmark.recipe, ()), *GENERAL, *MODELS)


def figure_of(benchmark: Benchmark, key: str) -> FigureSpec | None:
    return next((spec for spec in figures_of(benchmark) if spec.key == key), None)
