"""Importing through the pages: download a stage's sample, upload rows, let a worker do it."""

import csv
import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.base import ContentFile
from django.test import Client

from benchmarks.models import Stage
from jobs.models import Job
from jobs.services import runner
from tests import pictures as draw
from tests.archives import pack_zip


def page_of(stage: Stage) -> str:
    return f"/b/{stage.benchmark.slug}/import/"


def sample(client: Client, stage: Stage) -> bytes:
    """The manifest that the import page of the stage offers."""
    assert (
        f"{page_of(stage)}manifest.csv?stage={stage.key}"
        in client.get(f"{page_of(stage)}?stage={stage.key}").content.decode()
    )
    return client.get(f"{page_of(stage)}manifest.csv?stage={stage.key}").getvalue()


def files_of(manifest: bytes) -> list[str]:
    rows = csv.DictReader(manifest.decode("utf-8-sig").splitlines())
    return list(dict.fromkeys(row["file"] for row in rows if row.get("file")))


def draw_pictures(names: Sequence[str]) -> dict[str, bytes]:
    """A picture of its own for each name."""
    return {name: draw.png(60, 40, seed=number) for number, name in enumerate(names, start=1)}


def upload(
    client: Client,
    stage: Stage,
    manifest: bytes | None = None,
    pictures: Mapping[str, bytes] | None = None,
    **more: Any,
) -> Job:
    """Post the form of the import page, and do the work."""
    posted: dict[str, Any] = {"stage": stage.pk, **more}
    if manifest is not None:
        posted["manifest"] = ContentFile(manifest, "manifest.csv")
    if pictures:
        posted["archive"] = ContentFile(pack_zip(dict(pictures)), "pictures.zip")
    reply = client.post(page_of(stage), posted)
    assert reply.status_code == 302, reply.content.decode()
    job = Job.objects.latest("pk")
    runner.run(job.pk)
    job.refresh_from_db()
    assert job.state == "done", job.error
    return job


def lines(*rows: Mapping[str, Any]) -> bytes:
    return "\n".join(json.dumps(dict(row), ensure_ascii=False) for row in rows).encode()


def outcomes(job: Job) -> dict[int, tuple[str, str]]:
    return {row.number: (row.outcome, row.reason) for row in job.rows.order_by("number")}
