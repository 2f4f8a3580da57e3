"""Recipes that a team keeps, and the recipe that a benchmark follows: one of these, or a published one."""

from collections.abc import Mapping, Sequence

from django.db.models import QuerySet

from benchmarks.imports.recipe_file import RecipeFileError, parse_content
from benchmarks.models import Benchmark, SavedRecipe
from benchmarks.recipes.contract import Recipe
from benchmarks.recipes.registry import find
from jobs.queries.read_together import read_for_each
from people.models import Team

KNOWN = "_saved_recipe"


def recipe_of(benchmark: Benchmark) -> Recipe | None:
    """The newest version of the team's recipe that the benchmark was made of, else the published one; None for a
    benchmark of its own. At most one query for each benchmark object, and none where no recipe was saved."""
    if not benchmark.saved_recipe:
        return find(benchmark.recipe)
    if KNOWN not in benchmark.__dict__:
        newest = read_for_each(benchmark, _newest_of_each)
        benchmark.__dict__[KNOWN] = _readable(newest) if newest else None
    known: Recipe | None = benchmark.__dict__[KNOWN]
    return known or find(benchmark.recipe)


def _newest_of_each(benchmarks: Sequence[Benchmark]) -> Mapping[int, SavedRecipe]:
    wanted = {benchmark.pk: (benchmark.team_id, benchmark.saved_recipe) for benchmark in benchmarks}
    teams, keys = {team for team, _key in wanted.values()}, {key for _team, key in wanted.values() if key}
    rows = SavedRecipe.objects.filter(team__in=teams, key__in=keys).order_by("team", "key", "-version")
    newest = {(row.team_id, row.key): row for row in rows.distinct("team", "key")}
    return {pk: newest[name] for pk, name in wanted.items() if name in newest}


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
