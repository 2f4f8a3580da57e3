"""The cohorts that a benchmark's recipe names, and who may create them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from benchmarks.models import Benchmark, Role
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import CohortSpec
from jobs.queries.read_together import read_for_each
from people.models import Cohort, TeamMember, User


@dataclass(frozen=True)
class RecipeCohort:
    """A cohort as the recipe names it. `cohort` is None while the team has none with this label."""

    spec: CohortSpec
    cohort: Cohort | None


def recipe_cohorts(benchmark: Benchmark) -> list[RecipeCohort]:
    """Return the recipe's cohorts in its order; empty without a recipe. One query."""
    recipe = recipe_of(benchmark)
    if recipe is None or not recipe.cohorts:
        return []
    existing = {cohort.label: cohort for cohort in cohorts_of_team(benchmark)}
    return [RecipeCohort(spec, existing.get(spec.label)) for spec in recipe.cohorts]


def cohorts_of_team(benchmark: Benchmark) -> Sequence[Cohort]:
    """All of the team's. One query."""
    return read_for_each(benchmark, _cohorts_of_teams) or ()


def _cohorts_of_teams(benchmarks: Sequence[Benchmark]) -> Mapping[int, Sequence[Cohort]]:
    of_team: dict[int, list[Cohort]] = defaultdict(list)
    for cohort in Cohort.objects.filter(team__in={benchmark.team_id for benchmark in benchmarks}):
        of_team[cohort.team_id].append(cohort)
    return {benchmark.pk: of_team[benchmark.team_id] for benchmark in benchmarks}


def cohort_creators(benchmark: Benchmark) -> QuerySet[User]:
    """Return the people of the team who may create these cohorts: see `benchmarks.access.may_create_cohorts`."""
    member = TeamMember.objects.filter(team=benchmark.team_id, user=OuterRef("pk"))
    allowed = Q(Exists(member.filter(role=TeamMember.Role.ADMIN)))
    if benchmark.team.researchers_make_cohorts:
        works = Role.objects.filter(benchmark=benchmark, user=OuterRef("pk"))
        works = works.filter(name__in=(Role.Name.OWNER, Role.Name.RESEARCHER))
        allowed |= Q(Exists(member)) & Q(Exists(works))
    return User.objects.filter(allowed, is_active=True).order_by("name")
