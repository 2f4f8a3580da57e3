"""Ratings made elsewhere: the way in is found from every empty page, and what came in is counted where answers are."""

import json
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Campaign
from annotation.queries import kept_counts
from annotation.queries.file_answer_counts import count_file_answers
from annotation.services.campaigns import lifecycle
from annotation.services.files import withdrawals
from annotation.services.files.campaigns import open_for_imports
from annotation.services.revisions import item_withdrawals
from benchmarks.pages.board import board_of
from benchmarks.services.benchmarks import create_from_recipe
from tests.annotation.files.test_answer_files import import_answers
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.importing import outcomes
from tests.personas import World

EMPTY = ("", "agreement/", "disagreement/", "models/", "judge/", "campaigns/", "coverage/", "people/", "export/")


def read(world: World, rest: str) -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/{rest}")
    assert reply.status_code == 200
    return reply.content.decode()


@pytest.mark.parametrize("rest", EMPTY)
def test_an_empty_page_says_where_they_come_in(world: World, rest: str) -> None:
    page = read(world, rest)
    assert "To import existing ratings, create a campaign" in page
    for way in ("campaigns/new/", "predictions/"):
        assert f'href="/b/{world.benchmark.slug}/{way}"' in page
        read(world, way)


def test_who_may_not_bring_them_is_not_sent_there(world: World) -> None:
    client = world.client(world.reviewer)
    for rest in ("", "agreement/", "disagreement/", "models/", "judge/", "campaigns/", "coverage/"):
        reply = client.get(f"/b/{world.benchmark.slug}/{rest}")
        assert reply.status_code == 200 and b"campaigns/new/" not in reply.content, rest


def test_the_empty_agreement_keeps_its_neighbours(world: World) -> None:
    page = read(world, "agreement/")
    for name in ("disagreement", "models", "judge"):
        assert f'href="/b/{world.benchmark.slug}/{name}/"' in page


def imported(world: World, *people: str) -> Campaign:
    """Answers of these people to three items, and of a model to two."""
    items = world.add_items(3)
    campaign = lifecycle.create(world.stage, "Elsewhere", world.owner, {world.egypt: 2})
    open_for_imports(campaign, world.owner, timezone.now())
    rows = [
        {"item": item.key, "rater": rater, "cohort": "Egypt", "field": "relevance", "code": "3"}
        for item in items
        for rater in people
    ]
    rows += [
        {
            "item": item.key,
            "rater": "heron",
            "rater_kind": "model",
            "target": "Egypt",
            "field": "relevance",
            "code": "4",
        }
        for item in items[:2]
    ]
    data = "\n".join(json.dumps(row) for row in rows).encode()
    job = import_answers(campaign, data, "mine.jsonl")
    assert job.result["counts"].get("created") == 3 * len(people) + 2, outcomes(job)
    return campaign


def test_imported_answers_are_counted_on_the_overview(world: World) -> None:
    imported(world, "a", "b")
    page = read(world, "")
    assert "<b>6</b>" in page and "<b>2</b>" in page and "<b>0</b>" not in page
    assert "6 answers of people from files" in read(world, "campaigns/")


def test_the_chain_of_stages_counts_them_with_the_others(world: World) -> None:
    imported(world, "a", "b")
    world.benchmark.stages.create(key="next", name="Next", position=9, sheet=world.stage.sheet)
    page = read(world, "")
    assert "3 items</a>" in page and "<b>6</b>" in page
    assert "6 ratings" in read(world, "agreement/")


def test_coverage_says_what_it_does_not_show(world: World) -> None:
    campaign = imported(world, "a", "b")
    page = read(world, "coverage/")
    assert "Imported answers are not shown in this table" in page and "6 answers of people from files" in page
    way = f"agreement/?stage={world.stage.key}&campaign={campaign.pk}"
    assert way.replace("&", "&amp;") in page
    assert "6 ratings" in read(world, way)


def test_coverage_does_not_call_answers_of_models_imported(world: World) -> None:
    imported(world)
    page = read(world, "coverage/")
    assert "Answers of models are not shown in this table" in page and "2 answers of models" in page
    assert "Imported answers" not in page and "imported answers" not in page


def test_coverage_of_a_campaign_without_files_says_nothing_of_them(world: World) -> None:
    world.add_items(3)
    an_open_campaign(world)
    assert "Imported answers are not shown in this table" not in read(world, "coverage/")


def test_kept_counts_follow_each_change(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of many answers come from the cache, and are right at once after an import, a withdrawal and its end."""
    monkeypatch.setattr(kept_counts, "MANY", 1)
    campaign = imported(world, "a", "b")
    for _visit in range(3):  # the third one is read from the cache
        assert list_of_campaigns(world) == (6, 2)
    with CaptureQueriesContext(connection) as queries:
        count_file_answers(world.benchmark)
    assert not any("annotation_annotation" in query["sql"] for query in queries)
    row = {"item": world.items[2].key, "rater": "heron", "rater_kind": "model", "target": "Egypt"}
    job = import_answers(campaign, json.dumps({**row, "field": "relevance", "code": "4"}).encode(), "more.jsonl")
    assert list_of_campaigns(world) == (6, 3) and answers_of_model(world) == 3
    item_withdrawals.withdraw(world.items[0], world.owner, timezone.now())
    assert answers_of_model(world) == 2
    item_withdrawals.restore(world.items[0], world.owner)
    assert answers_of_model(world) == 3
    withdrawals.withdraw(job, world.owner, timezone.now())
    assert list_of_campaigns(world) == (6, 2) and answers_of_model(world) == 2


def list_of_campaigns(world: World) -> tuple[int, int]:
    """Answers of people and of models from files that the list of campaigns states."""
    page = read(world, "campaigns/")
    people, models = (re.search(rf"(\d+) answers of {of}", page) for of in ("people from files", "models"))
    read(world, "")
    assert people and models
    return int(people[1]), int(models[1])


def answers_of_model(world: World) -> int:
    """Those that the board counts."""
    board = board_of(world.benchmark, world.owner, timezone.now())
    [row] = [placed.row for group in board.groups for placed in group.rows if placed.row.name == "heron"]
    return sum(cell.done for cell in row.cells.values())


def test_every_stage_that_takes_a_manifest_has_an_example(world: World) -> None:
    made = create_from_recipe(world.team, "caire-universal", "Mine", "mine", world.owner)
    for stage in made.stages.all():
        page = world.client(world.owner).get(f"/b/mine/import/?stage={stage.key}").content.decode()
        way = f"/b/mine/import/manifest.csv?stage={stage.key}"
        assert way in page
        assert world.client(world.owner).get(way).status_code == 200


def test_annotators_are_told_nothing_of_a_campaign_for_imports_only(world: World) -> None:
    imported(world, "a", "b")
    nour = world.client(world.nour)
    assert "Elsewhere" not in nour.get("/work/").content.decode()
    campaign = an_open_campaign(world, name="Round one")
    assert "Round one" in nour.get("/work/").content.decode()
    give_ratings(campaign, world.egypt, world.tarek, {world.items[0]: "3"})
    lifecycle.pause(campaign, world.owner)
    assert "Round one" in nour.get("/work/").content.decode(), "a pause of work that was begun is told"
