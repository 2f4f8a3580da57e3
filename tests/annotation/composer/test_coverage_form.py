"""What a stage wants in each cell, chosen in the composer."""

import pytest

from tests.annotation.composer.test_pages import page, post_form
from tests.personas import World

pytestmark = pytest.mark.django_db


def test_rows_columns_and_the_wanted_number_are_chosen_in_the_form(world: World) -> None:
    mara, url = world.client(world.mara), page(world, world.stage)
    assert 'name="i:coverage.per_cell"' not in mara.get(url).content.decode(), "nothing is asked before rows are chosen"
    assert 'value="set:globalrg-table-1"' in mara.get(url).content.decode()
    post_form(mara, url, "save", change={"s:coverage.rows": "set:globalrg-table-1"})
    wrong = {"i:coverage.per_cell": "0", "l:coverage.names": "wedding\nwedding"}
    shown = post_form(mara, url, "publish", change=wrong)
    assert shown.status_code == 422 and "Write a number from 1 to 10000." in shown.content.decode()
    right = {"i:coverage.per_cell": "4", "l:coverage.names": "wedding\nmusic", "s:coverage.counts": "answers"}
    right |= {"b:coverage.stop_when_full": "1"}
    assert post_form(mara, url, "publish", change=right).status_code == 302
    world.stage.refresh_from_db()
    assert world.stage.coverage == {
        "rows": "set:globalrg-table-1", "columns": "concepts", "names": ["wedding", "music"], "per_cell": 4,
        "counts": "answers", "stop_when_full": True,
    }  # fmt: skip
    assert post_form(mara, url, "publish", change={"s:coverage.rows": ""}).status_code == 302
    world.stage.refresh_from_db()
    assert world.stage.coverage == {}


def test_a_label_set_that_the_team_does_not_have_is_refused(world: World) -> None:
    mara, url = world.client(world.mara), page(world, world.stage)
    post_form(mara, url, "save", change={"s:coverage.rows": "set:planets"})
    shown = post_form(mara, url, "publish")
    assert shown.status_code == 422 and "no label set “planets”" in shown.content.decode()
    assert world.stage.versions.count() == 0
