"""Texts come in by large steps: a kill leaves whole steps only, and a cancellation is obeyed within a step."""

import itertools
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks.imports.records import Defaults
from benchmarks.models import Stage
from benchmarks.services import imports
from jobs.models import Job
from jobs.services import job_context, lifecycle, runner
from tests.importing import lines, outcomes, upload
from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def words(world: World, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.setattr(imports, "TEXT_STEP_ROWS", 50)
    stage = world.stage
    stage.display, stage.pictures = "words", "none"
    stage.save()
    return stage


def queued(stage: Stage, world: World, count: int) -> Job:
    manifest = "key,text\n" + "".join(f"w{number:04},Word {number}\n" for number in range(count))
    listed = ContentFile(manifest.encode(), "manifest.csv")
    return imports.start_upload(stage, world.mara, archive=None, manifest=listed, defaults=Defaults())


def test_a_kill_leaves_whole_steps_only_and_the_rest_follows(
    words: Stage, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, real, steps = queued(words, world, 180), imports.import_batch, itertools.count(1)

    def dying(*args: Any, **how: Any) -> Any:
        rows = real(*args, **how)
        if next(steps) == 3:
            raise KeyboardInterrupt  # after the items of the third step were written, before its commit
        return rows

    monkeypatch.setattr(imports, "import_batch", dying)
    with pytest.raises(KeyboardInterrupt):
        runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done, words.items.count(), job.rows.count()) == ("running", 100, 100, 100)
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, words.items.count(), job.rows.count()) == ("done", 180, 180)
    assert job.result["counts"] == {"created": 180}
    assert list(words.items.order_by("pk").values_list("key", flat=True)) == [f"w{n:04}" for n in range(180)]


def test_the_database_is_not_asked_about_a_cancellation_for_every_row(words: Stage, world: World) -> None:
    job = queued(words, world, 200)
    with CaptureQueriesContext(connection) as captured:
        runner.run(job.pk)
    asked = [one for one in captured.captured_queries if "cancel_asked" in one["sql"] and "SELECT 1" in one["sql"]]
    assert 1 <= len(asked) < 20, "once a step and twice a second, not once a row"


def test_a_cancellation_is_obeyed_within_a_step(words: Stage, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Time passes by a tenth of a second with each row: half a second is five rows."""
    job, real, clock, after = queued(words, world, 200), imports._prepare, itertools.count(1), []
    monkeypatch.setattr(imports, "STEP_SECONDS", 1e9)
    monkeypatch.setattr(job_context.time, "monotonic", lambda: next(clock) / 20)

    def preparing(team: Any, source: Any, web: Any, row: Any) -> Any:
        if row.number == 70:
            lifecycle.request_cancel(job, world.mara)
        if row.number > 70:
            after.append(row.number)
        return real(team, source, web, row)

    monkeypatch.setattr(imports, "_prepare", preparing)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.done, words.items.count()) == ("cancelled", 50, 50)
    assert len(after) <= 11


def test_a_report_says_what_of_a_row_was_shortened_or_left_out(words: Stage, world: World) -> None:
    many, counts = {f"c{number:02}": "x" for number in range(31)}, {"Egypt": {"1": 2}}
    rows: list[dict[str, Any]] = [
        {"key": "whole", "story": "x" * 2000, "tags": "|".join(["t"] * 50), "fact.note": "n", "counts": counts},
        {"key": "long", "story": "x" * 2001, "tags": "|".join(["t"] * 51), "fact.note": "n" * 2001},
        {"key": "wide", **many},
        {"key": "deep", "counts": {"Egypt": {"1": {"2": 3}}}, "fact.alike": [["long", 0.9]]},
    ]  # fmt: skip
    job = upload(world.client(world.mara), words, lines(*rows))
    notes = {row.name: row.message for row in job.rows.filter(reason="shortened")}
    assert outcomes(job)[1] == ("created", "") and job.result["remarks"] == {"shortened": 3}
    assert notes.keys() == {"long", "wide", "deep"}
    assert "story, tags, fact.note" in notes["long"] and ": c30." in notes["wide"] and ": counts." in notes["deep"]
    page = world.client(world.mara).get(f"/jobs/{job.pk}/").content.decode()
    assert "Shortened: 3" in page
