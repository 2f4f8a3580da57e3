"""Which figures a benchmark has: those of the recipe it was made from, then those every benchmark has."""

from benchmarks.models import Benchmark
from evaluation.figures import globalrg, xcm
from evaluation.figures.general import GENERAL
from evaluation.figures.spec import FigureSpec
from evaluation.figures.with_models import MODELS

BY_RECIPE: dict[str, tuple[FigureSpec, ...]] = {
    "globalrg-grounding": globalrg.GROUNDING,
    "globalrg-retrieval": globalrg.RETRIEVED,
    "3xcm": xcm.FIGURES,
}


def figures_of(benchmark: Benchmark) -> tuple[FigureSpec, ...]:
    return (*BY_RECIPE.get(benchmark.recipe, ()), *GENERAL, *MODELS)


def figure_of(benchmark: Benchmark, key: str) -> FigureSpec | None:
    return next((spec for spec in figures_of(benchmark) if spec.key == key), None)
