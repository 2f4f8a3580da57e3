"""What a newer version of a recipe has that a benchmark made by an older one lacks."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.models import Benchmark, Item, Stage
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import StageSpec


@dataclass(frozen=True)
class RecipeAdditions:
    """`stages`: those that the benchmark lacks, in the recipe's order. `derivations`: stages without items and without
    a source, which the recipe gives one. `version`: of the recipe as it is now."""

    version: str
    stages: Sequence[StageSpec]
    derivations: Sequence[tuple[Stage, StageSpec]]


def recipe_additions(benchmark: Benchmark) -> RecipeAdditions | None:
    """None where the benchmark is of the recipe's own version, or lacks nothing. Three queries at most."""
    recipe = recipe_of(benchmark)
    if recipe is None or recipe.version == benchmark.recipe_version:
        return None
    present = {stage.key: stage for stage in benchmark.stages.all()}
    lacking = [spec for spec in recipe.stages if spec.key not in present]
    without = [spec for spec in recipe.stages if spec.key in present and spec.derivation]
    without = [spec for spec in without if not present[spec.key].derivation]
    filled = set(
        Item.objects.filter(stage__in=[present[spec.key] for spec in without]).values_list("stage__key", flat=True)
    )
    derivations = [(present[spec.key], spec) for spec in without if spec.key not in filled]
    return RecipeAdditions(recipe.version, lacking, derivations) if lacking or derivations else None
