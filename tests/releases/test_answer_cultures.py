"""What an answer is about leaves with a release, comes back with it, and is read by programs."""

import json

import pytest

from benchmarks.models import Benchmark
from tests.annotation.chain.culture_scene import asking_stage, give_answers, judging_stage
from tests.annotation.chain.factories import create_open_campaign
from tests.api.clients import program
from tests.api.test_rows import address
from tests.personas import World
from tests.releases.import_steps import archive_of, release_of, run, start
from tests.releases.test_import_safety import members

pytestmark = pytest.mark.django_db


def test_a_release_brings_the_culture_of_an_answer_and_who_judges_it(world: World) -> None:
    ask, judge = asking_stage(world), judging_stage(world)
    give_answers(world, ask)
    create_open_campaign(judge, world.egypt, world.brazil)
    before = list(judge.items.order_by("key").values_list("key", "answer_target"))
    data = archive_of(release_of(world, world.benchmark.pk, pictures="names"), world.owner)
    files, folder = members(data)
    [table] = [data for name, data in files.items() if name.startswith(folder) and name.endswith("judge/items.jsonl")]
    rows = [json.loads(line) for line in table.splitlines()]
    assert sorted((row["key"], row["answer_target"]) for row in rows) == before
    job = run(start(data, world.other_team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "done" and not job.rows.filter(outcome="error").exists(), job.error
    copy = Benchmark.objects.get(slug="copy").stages.get(key="judge")
    assert list(copy.items.order_by("key").values_list("key", "answer_target")) == before
    assert {culture for _key, culture in before} == {"Egypt", "Brazil"}
    assert (copy.own_items_only, copy.layout) == (True, judge.layout)


def test_programs_read_the_culture_with_the_item_and_the_setting_with_the_stage(world: World) -> None:
    ask, judge = asking_stage(world), judging_stage(world)
    give_answers(world, ask)
    reader = program(world.mara, "read")
    rows = reader.get(address(world, "items/"), {"stage": "judge"}).json()["results"]
    assert sorted(row["answer_target"] for row in rows) == ["Brazil"] * 4 + ["Egypt"] * 4
    stage = reader.get(address(world, f"stages/{judge.key}/")).json()
    assert stage["own_items_only"] is True and stage["layout"]["culture"] is True
    assert program(world.stranger, "read").get(address(world, "items/")).status_code == 404
