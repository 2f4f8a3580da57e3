"""A release comes back: the same tables, items and answers in an empty team."""

import pytest

from tests.filling.studies import STUDIES
from tests.personas import World
from tests.releases.import_steps import FAST, differing, other_team, reimported, release_of, table_files

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "recipe", [pytest.param(key, marks=() if key == FAST else pytest.mark.slow) for key in STUDIES]
)
def test_release_into_an_empty_team_gives_the_same_tables(studies: World, recipe: str) -> None:
    door = STUDIES[recipe].fill(studies)
    STUDIES[recipe].fill_again(door)
    release = release_of(studies, door.benchmark.pk)
    team, user = other_team()
    before = table_files(release.benchmark)
    assert any("missing: " not in text for text in before.values())
    benchmark, job = reimported(release, team, user)
    assert not job.rows.filter(outcome="error").exists(), list(job.rows.values_list("name", "message")[:10])
    assert differing(before, table_files(benchmark)) == {}
