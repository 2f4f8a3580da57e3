"""A release comes back: the same tables, items and answers in an empty team."""

from dataclasses import replace

import pytest

from tests.filling.studies import STUDIES
from tests.personas import World
from tests.releases.import_steps import FAST, differing, other_team, reimported, release_of, table_files
from tests.releases.second_release import compare, unexplained

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
    assert unexplained(replace(studies, owner=user), release, benchmark) == [], "a second build, file by file"


def test_what_a_second_build_lost_is_named() -> None:
    before = {
        "site/images.jsonl": b'{"sha256": "aa"}\n',
        "jsonl/a/ratings.jsonl": b'{"annotation": 1, "item": "x"}\n{"annotation": 2, "item": "y"}\n',
        "instructions/a/3-1-en.md": b"# Instructions 1 of campaign 3\n\nLook.\n",
        "agreement.json": b'{"a": {"value": 0.5, "picture": "aa", "campaigns": [3]}}',
    }
    after = {
        "site/images.jsonl": b'{"sha256": "bb"}\n',
        "jsonl/a/ratings.jsonl": b'{"annotation": 7, "item": "x"}\n{"annotation": 8, "item": "y"}\n',
        "instructions/a/9-1-en.md": b"# Instructions 1 of campaign 9\n\nLook.\n",
        "agreement.json": b'{"a": {"value": 0.5, "picture": "bb", "campaigns": [9]}}',
    }
    assert compare(before, after) == []
    lost = after | {
        "jsonl/a/ratings.jsonl": b'{"annotation": 7, "item": "z"}\n{"annotation": 7, "item": "y"}\n',
        "instructions/a/9-1-en.md": b"# Instructions 1 of campaign 9\n\nLook twice.\n",
        "agreement.json": b'{"a": {"value": 0.6, "picture": "bb", "campaigns": [9]}}',
    }
    del lost["jsonl/a/ratings.jsonl"]
    assert ("jsonl/a/ratings.jsonl", "only in one of the two") in compare(before, lost)
    lost["jsonl/a/ratings.jsonl"] = b'{"annotation": 7, "item": "z"}\n{"annotation": 7, "item": "y"}\n'
    named = compare(before, lost)
    assert ("jsonl/a/ratings.jsonl", "item") in named and ("agreement.json", "value") in named
    assert ("instructions/a/*-1-en.md", "Look twice.") in named
    assert any("became 7" in name for _path, name in named), "two numbers became one"
