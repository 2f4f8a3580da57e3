"""A release comes back: the same tables, items and answers in an empty team."""

from dataclasses import replace

import pytest

from annotation.models import SecondReview
from annotation.queries.second_reviews import waiting_conflicts
from annotation.services.review import reviews, second_draws, second_reviews
from benchmarks.models import Role
from people.services.raters import rater_of
from tests.annotation.chain.factories import QUESTION, a_stage
from tests.annotation.chain.written_answers import write_answers
from tests.filling.studies import STUDIES
from tests.personas import World
from tests.releases.import_steps import (
    FAST,
    NOON,
    differing,
    other_team,
    reimported,
    release_of,
    report_files,
    table_files,
)
from tests.releases.second_release import compare, contents, unexplained

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "recipe", [pytest.param(key, marks=() if key == FAST else pytest.mark.slow) for key in STUDIES]
)
def test_release_into_an_empty_team_gives_the_same_tables(studies: World, recipe: str) -> None:
    door = STUDIES[recipe].fill(studies)
    STUDIES[recipe].fill_again(door)
    release = release_of(studies, door.benchmark.pk)
    team, user = other_team()
    before = table_files(release.benchmark) | report_files(release.benchmark)
    assert any("missing: " not in text for text in before.values())
    benchmark, job = reimported(release, team, user)
    assert not job.rows.filter(outcome="error").exists(), list(job.rows.values_list("name", "message")[:10])
    assert differing(before, table_files(benchmark) | report_files(benchmark)) == {}
    assert unexplained(replace(studies, owner=user), release, benchmark) == [], "a second build, file by file"


def _review_twice(world: World) -> None:
    """Second decisions on all first ones: most agree, one is in conflict, a third person settles another. Nour answers
    sheets and reviews, so that the release names her by her pseudonym."""
    stage = a_stage(world.benchmark, "ask", QUESTION, acceptance="by_review")
    _campaign, answers = write_answers(stage, world.egypt, {rater_of(world.tarek): 9, rater_of(world.nour): 1})
    Role.objects.create(benchmark=world.benchmark, user=world.nour, name=Role.Name.REVIEWER)
    second_draws.set_share(stage, 100, 1, world.owner, NOON)
    for place, answer in enumerate(answers):
        first = "reject" if place % 3 == 0 else "accept"
        reviews.decide(answer.pk, world.reviewer, first, NOON, reason="rules")
    for place, answer in enumerate(answers[:8]):
        second = "reject" if place % 3 == 0 or place in (1, 2) else "accept"
        reviewer = world.mara if place % 2 else world.nour
        second_reviews.decide_round(answer.pk, "second", reviewer, second, NOON, reason="rules", comment="Seen.")
    second_reviews.decide_round(answers[1].pk, "third", world.owner, "reject", NOON, reason="unclear")


def test_second_decisions_of_reviewers_come_back_with_their_agreement(world: World) -> None:
    _review_twice(world)
    release = release_of(world, world.benchmark.pk, pictures="names")
    team, user = other_team()
    before = report_files(release.benchmark)
    assert "reviewers " in before and "ask\tagreement\t0.75\t" in before["reviewers "], before["reviewers "]
    benchmark, job = reimported(release, team, user)
    assert not job.rows.filter(outcome="error").exists(), list(job.rows.values_list("name", "message")[:10])
    assert differing(before, report_files(benchmark)) == {}
    again = release_of(replace(world, owner=user), benchmark.pk, pictures="names")
    differences = compare(contents(release), contents(again))  # reviews.jsonl is among the files that are compared
    assert differences == [("jsonl/ask/items.jsonl", "pictures")], "this world has pictures without files"
    imported = SecondReview.objects.filter(first__annotation__assignment__campaign__stage__benchmark=benchmark)
    assert imported.count() == 8 and not imported.exclude(reviewer=None).exists()
    assert imported.get(final__isnull=False).final.decision == "reject"
    assert waiting_conflicts(benchmark, user).count() == 1, "the conflict of the release waits for a third person"


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
