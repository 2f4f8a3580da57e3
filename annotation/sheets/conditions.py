"""Names of conditions: the recipe has them in languages; the rows have only the key."""

from collections.abc import Iterable

from django.utils.text import capfirst
from django.utils.translation import gettext as _

from annotation.sheets.sheet import localise
from benchmarks.models import Benchmark
from benchmarks.queries.saved_recipes import recipe_of


def sort_conditions(benchmark: Benchmark, conditions: Iterable[str]) -> list[str]:
    """As the recipe names them, then the others by name."""
    recipe = recipe_of(benchmark)
    keys = [spec.key for spec in recipe.conditions] if recipe else []
    return sorted(
        conditions, key=lambda condition: (keys.index(condition) if condition in keys else len(keys), condition)
    )


def condition_name(benchmark: Benchmark, condition: str, language: str) -> str:
    recipe = recipe_of(benchmark)
    for spec in recipe.conditions if recipe else ():
        if spec.key == condition:
            return localise(spec.name, language)
    return capfirst(condition) if condition else _("All items")
