"""Which figures a benchmark has: those of the recipe it was made from, then those every benchmark has."""

from benchmarks.models import Benchmark
from evaluation.figures.general import GENERAL
from evaluation.figures.model_figures import MODELS
from evaluation.figures.spec import FigureSpec
from evaluation.figures.table_figures import ACCURACY, CORRELATION, heat_spec, spec_of
from papers.caire.tables.universal import TABLES as CAIRE
from papers.culturalvqa import figures as culturalvqa
from papers.culturalvqa.tables.accuracy import TABLES as CULTURALVQA
from papers.globalrg import figures as globalrg
from papers.valueground import figures as valueground
from papers.valueground.tables.labels import TABLES as VALUEGROUND
from papers.xcm.figures import projection, tiers
from papers.xcm.figures import winners as xcm

_VQA, _VALUES = CULTURALVQA["culturalvqa"], VALUEGROUND["valueground"]
BY_RECIPE: dict[str, tuple[FigureSpec, ...]] = {
    "caire-universal": (
        heat_spec(spec_of(CAIRE["caire-universal"], "table-2"), measure=CORRELATION),
        heat_spec(spec_of(CAIRE["caire-universal"], "table-15"), measure=CORRELATION),
    ),
    "culturalvqa": (
        heat_spec(spec_of(_VQA, "accuracy"), measure=ACCURACY),
        heat_spec(spec_of(_VQA, "without-picture"), measure=ACCURACY, number="Figure 5"),
        heat_spec(spec_of(_VQA, "facets"), measure=ACCURACY, number="Figure 7"),
        *culturalvqa.POINTS,
    ),
    "globalrg-grounding": globalrg.GROUNDING,
    "globalrg-retrieval": globalrg.RETRIEVED,
    "valueground": (
        heat_spec(spec_of(_VALUES, "figure-3"), measure=ACCURACY, number="Figure 3"),
        *valueground.FIGURES,
    ),
    "3xcm": (*xcm.FIGURES, *tiers.FIGURES, *projection.FIGURES),
}


def figures_of(benchmark: Benchmark) -> tuple[FigureSpec, ...]:
    return (*BY_RECIPE.get(benchmark.recipe, ()), *GENERAL, *MODELS)


def figure_of(benchmark: Benchmark, key: str) -> FigureSpec | None:
    return next((spec for spec in figures_of(benchmark) if spec.key == key), None)
