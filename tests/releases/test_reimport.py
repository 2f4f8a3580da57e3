"""A release comes back: the same tables, items and answers in an empty team."""

import pytest

from people.models import Team, TeamMember, User
from tests.filling.studies import STUDIES
from tests.personas import World
from tests.releases.import_steps import FAST, reimported, release_of, table_files

pytestmark = pytest.mark.django_db


def other_team(name: str = "Elsewhere") -> tuple[Team, User]:
    user = User.objects.create_user("elsewhere@example.org", name)
    team = Team.objects.create(name=name, slug="elsewhere")
    TeamMember.objects.create(team=team, user=user, role=TeamMember.Role.ADMIN)
    return team, user


@pytest.mark.parametrize(
    "recipe", [pytest.param(key, marks=() if key == FAST else pytest.mark.slow) for key in STUDIES]
)
def test_release_into_an_empty_team_gives_the_same_tables(studies: World, recipe: str) -> None:
    door = STUDIES[recipe].fill(studies)
    release = release_of(studies, door.benchmark.pk)
    team, user = other_team()
    before = table_files(release.benchmark)
    benchmark, job = reimported(release, team, user)
    assert not job.rows.filter(outcome="error").exists(), list(job.rows.values_list("name", "message")[:10])
    after = table_files(benchmark)
    assert {key: text for key, text in after.items() if before[key] != text} == {}
