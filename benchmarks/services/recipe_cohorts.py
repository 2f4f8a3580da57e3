"""Create the cohorts of a benchmark, those that its recipe names or others, each with invitation links."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from benchmarks.models import Benchmark
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import CohortSpec
from people.access import may_name_managers
from people.models import Cohort, Team, User
from people.services import links, memberships
from people.services.cohorts import CohortData, create_cohort


@dataclass(frozen=True)
class CreatedCohort:
    """A new cohort. `urls` hold the tokens of its invitations, which are not stored."""

    cohort: Cohort
    urls: tuple[str, ...]


def create_recipe_cohorts(
    benchmark: Benchmark, labels: Collection[str], actor: User, link: Callable[[str], str], at: datetime
) -> list[CreatedCohort]:
    """Create those of the recipe's cohorts that are named in `labels` and that the team lacks.

    As `create_cohorts`, with one link each.
    """
    recipe = recipe_of(benchmark)
    specs = recipe.cohorts if recipe is not None else ()
    return create_cohorts(benchmark, [data_of(spec) for spec in specs if spec.label in labels], 1, actor, link, at)


@transaction.atomic
def create_cohorts(
    benchmark: Benchmark,
    wanted: Sequence[CohortData],
    invitations: int,
    actor: User,
    link: Callable[[str], str],
    at: datetime,
) -> list[CreatedCohort]:
    """Create those of these cohorts that the team lacks, each with so many invitations.

    A cohort of the same label is left alone, so a second call creates nothing. `link` turns a token into an address.
    An actor who does not administer the team becomes a manager of the new cohorts, to invite more people.
    """
    if not wanted:
        return []
    team = Team.objects.select_for_update().get(pk=benchmark.team_id)  # two requests at once create each label once
    existing = set(team.cohorts.values_list("label", flat=True))
    cohorts = [create_cohort(team, data, actor) for data in wanted if data["label"] not in existing]
    if not may_name_managers(actor, team):
        for cohort in cohorts:
            memberships.add_manager(cohort, actor, actor)
    return [CreatedCohort(cohort, _invite(team, cohort, invitations, actor, link, at)) for cohort in cohorts]


def data_of(spec: CohortSpec) -> CohortData:
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


def _invite(
    team: Team, cohort: Cohort, invitations: int, actor: User, link: Callable[[str], str], at: datetime
) -> tuple[str, ...]:
    tokens = [links.invite(team, actor, at, cohort=cohort)[1] for _number in range(invitations)]
    return tuple(map(link, tokens))
