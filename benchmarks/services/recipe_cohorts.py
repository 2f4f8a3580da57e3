"""Create the cohorts that a recipe names, each with an invitation link."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from benchmarks.models import Benchmark
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import CohortSpec
from people.access import may_name_managers
from people.models import Cohort, Invitation, Team, User
from people.services import links, memberships
from people.services.cohorts import CohortData, create_cohort


@dataclass(frozen=True)
class CreatedCohort:
    """A new cohort. `url` holds the token of its invitation, which is not stored."""

    cohort: Cohort
    invitation: Invitation
    url: str


@transaction.atomic
def create_recipe_cohorts(
    benchmark: Benchmark, labels: Collection[str], actor: User, link: Callable[[str], str], at: datetime
) -> list[CreatedCohort]:
    """Create those of the recipe's cohorts that are named in `labels` and that the team lacks.

    A cohort of the same label is left alone, so a second call creates nothing. `link` turns a token into an address.
    An actor who does not administer the team becomes a manager of the new cohorts, to invite more people.
    """
    recipe = recipe_of(benchmark)
    if recipe is None:
        return []
    team = Team.objects.select_for_update().get(pk=benchmark.team_id)  # two requests at once create each label once
    existing = set(team.cohorts.values_list("label", flat=True))
    missing = [spec for spec in recipe.cohorts if spec.label in labels and spec.label not in existing]
    cohorts = [create_cohort(team, _data_of(spec), actor) for spec in missing]
    if not may_name_managers(actor, team):
        for cohort in cohorts:
            memberships.add_manager(cohort, actor, actor)
    return [_invite(team, cohort, actor, link, at) for cohort in cohorts]


def _data_of(spec: CohortSpec) -> CohortData:
    """The label's own text is left out of the names: it is the name in every language that has no other."""
    names = {language: name for language, name in spec.names.items() if name != spec.label}
    return CohortData(
        label=spec.label,
        names=names,
        country=spec.country,
        languages=list(spec.languages),
        direction=spec.direction,
        time_zone=spec.time_zone,
    )


def _invite(team: Team, cohort: Cohort, actor: User, link: Callable[[str], str], at: datetime) -> CreatedCohort:
    invitation, token = links.invite(team, actor, at, cohort=cohort)
    return CreatedCohort(cohort, invitation, link(token))
