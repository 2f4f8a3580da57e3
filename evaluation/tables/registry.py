"""The tables of a benchmark: those of its paper, which plugins register when Django starts, or the general ones."""

from collections.abc import Sequence

from benchmarks.models import Benchmark
from evaluation.tables.composed.specs import composed_tables
from evaluation.tables.general import GENERAL_TABLES
from evaluation.tables.spec import TableSpec

BY_RECIPE: dict[str, tuple[TableSpec, ...]] = {}  # recipe key to its tables; filled by `register_tables` only


class DuplicateTable(ValueError):
    """A benchmark would have two tables of one key, and their addresses would be the same."""


def register_tables(recipe: str, specs: Sequence[TableSpec]) -> None:
    """Add tables to the benchmarks of a recipe, in the order of the paper. Raises DuplicateTable."""
    keys = [spec.key for spec in (*BY_RECIPE.get(recipe, ()), *specs)]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        raise DuplicateTable(f"recipe {recipe!r} has two tables {', '.join(map(repr, twice))}")
    BY_RECIPE[recipe] = (*BY_RECIPE.get(recipe, ()), *specs)


def tables_of(benchmark: Benchmark) -> tuple[TableSpec, ...]:
    """Those of the paper, in its order, or the general ones where the benchmark is of no paper; then its own."""
    return (*(BY_RECIPE.get(benchmark.recipe) or GENERAL_TABLES), *composed_tables(benchmark))


def has_paper(benchmark: Benchmark) -> bool:
    """Whether the tables are those of a paper."""
    return benchmark.recipe in BY_RECIPE


def table_of(benchmark: Benchmark, key: str) -> TableSpec | None:
    table_spec = next((spec for spec in tables_of(benchmark) if spec.key == key), None)
    return table_spec and table_spec.within(benchmark)
