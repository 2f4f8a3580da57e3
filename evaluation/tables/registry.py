"""Which tables a benchmark has: those of the recipe it was made from, and those every benchmark has."""

from benchmarks.models import Benchmark
from evaluation.tables.spec import TableSpec
from papers.caire.tables import universal as caire
from papers.culturalvqa.tables import accuracy as culturalvqa
from papers.globalrg.tables import retrieval as globalrg
from papers.valueground.tables import labels as valueground
from papers.xcm.tables import collection as xcm

BY_RECIPE: dict[str, tuple[TableSpec, ...]] = {
    **caire.TABLES,
    **culturalvqa.TABLES,
    **globalrg.TABLES,
    **valueground.TABLES,
    **xcm.TABLES,
}


def tables_of(benchmark: Benchmark) -> tuple[TableSpec, ...]:
    """In the order of the paper."""
    return BY_RECIPE.get(benchmark.recipe, ())


def table_of(benchmark: Benchmark, key: str) -> TableSpec | None:
    table_spec = next((spec for spec in tables_of(benchmark) if spec.key == key), None)
    return table_spec and table_spec.within(benchmark)
