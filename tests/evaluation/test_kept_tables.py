"""A table that is kept never goes stale in silence: runs, their models, items, answers taken back."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Campaign
from annotation.queries.answers import watermark
from benchmarks.imports.records import Defaults
from benchmarks.services import imports, item_batches
from evaluation import tasks
from evaluation.models import Snapshot
from evaluation.rendering.report import Cell, Row
from evaluation.services import snapshots
from evaluation.tables import table_builder
from evaluation.tables.spec import TableSpec
from jobs.connections import broker
from jobs.services import runner
from people.models import Rater
from people.services.raters import rater_of
from predictions.models import Run
from predictions.services.runs import result_runs
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.evaluation.runs import collection, run
from tests.evaluation.sample_tables import SMALL, tables_are
from tests.personas import World


def build_names_table(inputs: Any) -> Any:
    """Which runs there are, and of what family."""
    told = [f"{one.pk}{one.rater.about.get('family', '')}" for one in inputs.runs("retrieval")]
    row = Row(" ".join(told), (Cell(text=str(len(told))),))
    return inputs.table(corner="Runs", columns=["n"], rows=[row])


RUNS = TableSpec("runs", "Table 1", "Runs", "Runs of models.", build_names_table)


@pytest.fixture
def table_world(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """As if every table were of large data."""
    monkeypatch.setattr(snapshots.get_or_compute, "__kwdefaults__", {"threshold": 0})
    with tables_are(world.benchmark, [SMALL, RUNS]):
        yield world


@pytest.fixture
def campaign(table_world: World) -> Campaign:
    table_world.add_items(20)
    new_campaign = an_open_campaign(table_world)
    table(
        new_campaign,
        table_world.egypt,
        of_condition(table_world.items, "natural")[:5],
        {table_world.nour: "11223", table_world.tarek: "12233"},
    )
    return new_campaign


@pytest.fixture
def three(table_world: World) -> list[Run]:
    made = collection(table_world.benchmark, {"e1": {}})
    models = [Rater.objects.create(kind="model", team=table_world.team, name=name) for name in "abc"]
    return [run(made, model) for model in models]


def read(world: World, rest: str) -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/{rest}")
    assert reply.status_code == 200
    return str(reply.content.decode())


def shown_label(world: World) -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/runs.json")
    return str(reply.json()["rows"][0]["label"])


def test_a_run_that_is_withdrawn_or_brought_back_is_another_table(table_world: World, three: list[Run]) -> None:
    """Also where as many runs stand as before, and the newest is the same one."""
    first, second, third = three
    result_runs.withdraw(first, table_world.mara, timezone.now())
    assert shown_label(table_world) == f"{second.pk} {third.pk}"
    result_runs.withdraw(second, table_world.mara, timezone.now())
    first.refresh_from_db()
    result_runs.restore(first, table_world.mara)
    assert shown_label(table_world) == f"{first.pk} {third.pk}"


def test_a_run_counts_as_soon_as_it_is_complete(table_world: World, three: list[Run]) -> None:
    coming = three[1]
    Run.objects.filter(pk=coming.pk).update(complete=False)
    assert str(coming.pk) not in shown_label(table_world)
    Run.objects.filter(pk=coming.pk).update(complete=True)
    assert str(coming.pk) in shown_label(table_world)


def test_what_is_told_of_a_model_is_another_table(table_world: World, three: list[Run]) -> None:
    before = shown_label(table_world)
    Rater.objects.filter(pk=three[0].rater_id).update(about={"family": "CLIP"})
    assert shown_label(table_world) == before.replace(str(three[0].pk), f"{three[0].pk}CLIP", 1)


def test_new_name_of_a_campaign_stands_below_a_kept_table(table_world: World, campaign: Campaign) -> None:
    assert "Round one" in " ".join(json.loads(read(table_world, "small.json"))["counted"])
    Campaign.objects.filter(pk=campaign.pk).update(name="Spring")
    counted = " ".join(json.loads(read(table_world, "small.json"))["counted"])
    assert "Spring" in counted and "Round one" not in counted


def exclude_person(world: World) -> None:
    path = f"/b/{world.benchmark.slug}/people/{rater_of(world.nour).pk}/"
    world.client(world.mara).post(path, {"do": "exclude", "reason": "x"})


def import_item_text(world: World) -> None:
    rows = SimpleUploadedFile("items.csv", b"key,text,country\nanother,Tea,Egypt\n")
    stage = world.stage
    stage.display, stage.pictures = "words", "none"
    stage.save()
    job = imports.start_upload(stage, world.mara, archive=None, manifest=rows, defaults=Defaults())
    runner.run(job.pk)
    assert stage.items.filter(key="another").exists(), job.rows.values()


def fill_in_what_an_item_lacks(world: World) -> None:
    rows = SimpleUploadedFile("items.csv", b"key,text,gold\nitem-00000,Tea,Egypt\n")
    stage = world.stage
    stage.display, stage.pictures = "words", "none"
    stage.save()
    job = imports.start_upload(stage, world.mara, archive=None, manifest=rows, defaults=Defaults(), complete=True)
    runner.run(job.pk)
    assert stage.items.get(key="item-00000").context["gold"] == "Egypt", job.rows.values()


def correct_a_fact_by_the_interface(world: World) -> None:
    stage = world.stage
    stage.display, stage.pictures = "words", "none"
    stage.save()
    [row] = item_batches.set_facts(stage, world.mara, [("item-00000", {"objects": 3})])
    assert not row.is_error, row


@pytest.mark.parametrize(
    "happens", [exclude_person, import_item_text, fill_in_what_an_item_lacks, correct_a_fact_by_the_interface]
)
def test_a_kept_table_says_that_something_has_changed(
    table_world: World, campaign: Campaign, happens: Callable[[World], None]
) -> None:
    assert "have changed since" not in read(table_world, "small/")
    before, shown_watermark = read(table_world, "small.json"), watermark(table_world.benchmark)
    live = f"/b/{table_world.benchmark.slug}/agreement/live/?seen={shown_watermark}"
    happens(table_world)
    assert watermark(table_world.benchmark) > shown_watermark
    assert table_world.client(table_world.mara).get(live).status_code == 200, "what is looked at is drawn again"
    page = read(table_world, "small/")
    assert "answers or items have changed since" in page and "fresh=1" in page
    assert '"changed": true' in read(table_world, "small.json").replace('"changed":true', '"changed": true')
    assert before != read(table_world, "small.json") and Snapshot.objects.filter(report="table small").count() == 1


def test_slow_table_is_recomputed_by_a_worker(
    table_world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(broker.current_app, "send_task", lambda name, args, **_more: sent.append(args))
    read(table_world, "small/?decimals=4")
    exclude_person(table_world)
    Snapshot.objects.update(computed_at=timezone.now() - timedelta(minutes=2), seconds=table_builder.AT_ONCE + 1)
    kept_at = Snapshot.objects.get().computed_at
    page = read(table_world, "small/?decimals=4&fresh=1")
    assert "answers or items have changed since. The table is being recomputed. Reload the page in a minute." in page
    assert "fresh=1" not in page
    assert sent == [(table_world.benchmark.pk, "table small", "decimals=4", "UTC", "en")]
    assert Snapshot.objects.get().computed_at == kept_at
    assert tasks.recompute_report(*sent[0])
    assert Snapshot.objects.get().computed_at > kept_at
    assert "have changed since" not in read(table_world, "small/?decimals=4")
    assert not tasks.recompute_report(table_world.benchmark.pk, "table of nothing", "", "UTC")


def test_quick_table_is_recomputed_at_once(table_world: World, campaign: Campaign) -> None:
    read(table_world, "small/")
    exclude_person(table_world)
    Snapshot.objects.update(computed_at=timezone.now() - timedelta(minutes=2))
    assert "have changed since" not in read(table_world, "small/?fresh=1")
