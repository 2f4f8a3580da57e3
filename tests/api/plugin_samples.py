"""A benchmark of the recipe whose plugin brings rows to REST, for the walk over every route."""

from benchmarks.models import Benchmark
from benchmarks.services.benchmarks import create_from_recipe
from releases.rows.site.registry import BY_RECIPE
from tests.personas import World


def build(world: World) -> dict[str, str]:
    """The address of the benchmark, under the name of each route."""
    [(recipe, part)] = BY_RECIPE.items()
    slug = f"pairs-{Benchmark.objects.count()}"
    benchmark = create_from_recipe(world.team, recipe, "Pairs", slug, world.owner)
    names = [f"{recipe}_{kind.key}{ending}" for kind in part.kinds for ending in ("", "_count")]
    return {f"api:{name} slug": benchmark.slug for name in names}
