"""Recipes that a team keeps, and the recipe that a benchmark follows: one of these, or a published one."""

from django.db.models import QuerySet

from benchmarks.imports.recipe_file import RecipeFileError, parse_content
from benchmarks.models import Benchmark, SavedRecipe
from benchmarks.recipes.contract import Recipe
from benchmarks.recipes.registry import find
from people.models import Team

KNOWN = "_saved_recipe"


def recipe_of(benchmark: Benchmark) -> Recipe | None:
    """The newest version of the team's recipe that the benchmark was made of, else the published one; None for a
    benchmark of its own. At most one query for each benchmark object, and none where no recipe was saved."""
    if not benchmark.saved_recipe:
        return find(benchmark.recipe)
    if KNOWN not in benchmark.__dict__:
        rows = SavedRecipe.objects.filter(team=benchmark.team_id, key=benchmark.saved_recipe)
        newest = rows.order_by("-version").first()
        benchmark.__dict__[KNOWN] = _readable(newest) if newest else None
    known: Recipe | None = benchmark.__dict__[KNOWN]
    return known or find(benchmark.recipe)


def _readable(row: SavedRecipe) -> Recipe | None:
    """None for content that this release of Emic cannot read any more: benchmarks outlive recipes."""
    try:
        return parse_content(row.content, str(row.version)).recipe
    except RecipeFileError:
        return None


def offered_recipes(teams: QuerySet[Team]) -> QuerySet[SavedRecipe]:
    """The newest version of each recipe of these teams that is not removed, by team and name. One query."""
    newest = SavedRecipe.objects.filter(team__in=teams.order_by()).order_by("team", "key", "-version")
    newest = newest.distinct("team", "key")
    rows = SavedRecipe.objects.filter(pk__in=newest.values("pk"), removed_at=None).select_related("team")
    return rows.order_by("team__name", "name", "key")
