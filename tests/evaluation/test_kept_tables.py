"""A table that is kept never goes stale in silence: runs, their models, items, answers taken back."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.models import Campaign
from annotation.queries.answers import watermark
from benchmarks.imports.records import Defaults
from benchmarks.services import imports
from evaluation import snapshots, tasks
from evaluation.models import Snapshot
from evaluation.rendering.report import Cell, Row
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
from tests.evaluation.tabled import SMALL, tables_are
from tests.personas import World


def names(given: Any) -> Any:
    """Which runs there are, and of what family."""
    told = [f"{one.pk}{one.rater.about.get('family', '')}" for one in given.runs("retrieval")]
    row = Row(" ".join(told), (Cell(text=str(len(told))),))
    return given.table(corner="Runs", columns=["n"], rows=[row])


RUNS = TableSpec("runs", "Table 1", "Runs", "Runs of models.", names)


@pytest.fixture
def kept(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """As if every table were of large data."""
    monkeypatch.setattr(snapshots.get_or_compute, "__kwdefaults__", {"threshold": 0})
    with tables_are(world.benchmark, [SMALL, RUNS]):
        yield world


@pytest.fixture
def campaign(kept: World) -> Campaign:
    kept.add_items(20)
    made = an_open_campaign(kept)
    table(made, kept.egypt, of_condition(kept.items, "natural")[:5], {kept.nour: "11223", kept.tarek: "12233"})
    return made


@pytest.fixture
def three(kept: World) -> list[Run]:
    made = collection(kept.benchmark, {"e1": {}})
    models = [Rater.objects.create(kind="model", team=kept.team, name=name) for name in "abc"]
    return [run(made, model) for model in models]


def read(world: World, rest: str) -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/{rest}")
    assert reply.status_code == 200
    return str(reply.content.decode())


def shown(world: World) -> str:
    reply = world.client(world.mara).get(f"/b/{world.benchmark.slug}/tables/runs.json")
    return str(reply.json()["rows"][0]["label"])


def test_a_run_that_is_withdrawn_or_brought_back_is_another_table(kept: World, three: list[Run]) -> None:
    """Also where as many runs stand as before, and the newest is the same one."""
    first, second, third = three
    result_runs.withdraw(first, kept.mara, timezone.now())
    assert shown(kept) == f"{second.pk} {third.pk}"
    result_runs.withdraw(second, kept.mara, timezone.now())
    first.refresh_from_db()
    result_runs.restore(first, kept.mara)
    assert shown(kept) == f"{first.pk} {third.pk}"


def test_a_run_counts_as_soon_as_it_is_complete(kept: World, three: list[Run]) -> None:
    coming = three[1]
    Run.objects.filter(pk=coming.pk).update(complete=False)
    assert str(coming.pk) not in shown(kept)
    Run.objects.filter(pk=coming.pk).update(complete=True)
    assert str(coming.pk) in shown(kept)


def test_what_is_told_of_a_model_is_another_table(kept: World, three: list[Run]) -> None:
    before = shown(kept)
    Rater.objects.filter(pk=three[0].rater_id).update(about={"family": "CLIP"})
    assert shown(kept) == before.replace(str(three[0].pk), f"{three[0].pk}CLIP", 1)


def an_answer_taken_back(world: World) -> None:
    path = f"/b/{world.benchmark.slug}/people/{rater_of(world.nour).pk}/"
    world.client(world.mara).post(path, {"do": "exclude", "reason": "x"})


def an_item_told_more_of(world: World) -> None:
    rows = SimpleUploadedFile("items.csv", b"key,text,country\nanother,Tea,Egypt\n")
    stage = world.stage
    stage.display, stage.pictures = "words", "none"
    stage.save()
    job = imports.start_upload(stage, world.mara, archive=None, manifest=rows, defaults=Defaults())
    runner.run(job.pk)
    assert stage.items.filter(key="another").exists(), job.rows.values()


@pytest.mark.parametrize("happens", [an_answer_taken_back, an_item_told_more_of])
def test_a_kept_table_says_that_something_has_changed(
    kept: World, campaign: Campaign, happens: Callable[[World], None]
) -> None:
    assert "have changed since" not in read(kept, "small/")
    before, seen = read(kept, "small.json"), watermark(kept.benchmark)
    live = f"/b/{kept.benchmark.slug}/agreement/live/?seen={seen}"
    happens(kept)
    assert watermark(kept.benchmark) > seen
    assert kept.client(kept.mara).get(live).status_code == 200, "what is looked at is drawn again"
    page = read(kept, "small/")
    assert "answers or items have changed since" in page and "fresh=1" in page
    assert '"changed": true' in read(kept, "small.json").replace('"changed":true', '"changed": true')
    assert before != read(kept, "small.json") and Snapshot.objects.filter(report="table small").count() == 1


def test_slow_table_is_recomputed_by_a_worker(kept: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(broker.current_app, "send_task", lambda name, args, **_more: sent.append(args))
    read(kept, "small/?decimals=4")
    an_answer_taken_back(kept)
    Snapshot.objects.update(computed_at=timezone.now() - timedelta(minutes=2), seconds=table_builder.AT_ONCE + 1)
    kept_at = Snapshot.objects.get().computed_at
    page = read(kept, "small/?decimals=4&fresh=1")
    assert "answers or items have changed since. The table is being recomputed. Reload the page in a minute." in page
    assert "fresh=1" not in page
    assert sent == [(kept.benchmark.pk, "table small", "decimals=4", "UTC", "en")]
    assert Snapshot.objects.get().computed_at == kept_at
    assert tasks.recompute_report(*sent[0])
    assert Snapshot.objects.get().computed_at > kept_at
    assert "have changed since" not in read(kept, "small/?decimals=4")
    assert not tasks.recompute_report(kept.benchmark.pk, "table of nothing", "", "UTC")


def test_quick_table_is_recomputed_at_once(kept: World, campaign: Campaign) -> None:
    read(kept, "small/")
    an_answer_taken_back(kept)
    Snapshot.objects.update(computed_at=timezone.now() - timedelta(minutes=2))
    assert "have changed since" not in read(kept, "small/?fresh=1")
