"""Steps of the tests of releases: open the form, build in this process, read the files."""

import csv
import io
import json
import zipfile
from typing import Any

from jobs.services import runner
from releases.models import Release
from tests.personas import World


def create(world: World, **values: Any) -> Release:
    """By the page, as the researcher; not built yet."""
    data = {
        "version": "1.0.0",
        "stages": [stage.pk for stage in world.benchmark.stages.filter(items__isnull=False).distinct()],
        "formats": ["csv", "jsonl", "parquet"],
        "pictures": "names",
    }
    reply = world.client(world.mara).post(f"/b/{world.benchmark.slug}/releases/new/", data | values)
    assert reply.status_code == 302, reply.content.decode()
    return Release.objects.latest("pk")


def build(release: Release) -> Release:
    """Run its job, as the worker does."""
    release.refresh_from_db()
    runner.run(release.job_id)
    return Release.objects.select_related("job", "benchmark__team", "parent").get(pk=release.pk)


def built(world: World, **values: Any) -> Release:
    release = build(create(world, **values))
    assert release.job.state == "done", release.job.error
    assert release.state == "ready"
    return release


def address(release: Release, rest: str = "") -> str:
    return f"/b/{release.benchmark.slug}/releases/{release.pk}/{rest}"


def act(world: World, release: Release, do: str, **values: Any) -> str:
    """As the owner; returns the page afterwards."""
    if do == "publish" and "sure" in values:
        values = {"why": "Looked through.", **values}
    reply = world.client(world.owner).post(address(release, "action/"), {"do": do, **values}, follow=True)
    return reply.content.decode()


def archive_bytes(world: World, release: Release) -> bytes:
    reply: Any = world.client(world.mara).get(address(release, "archive/"))
    assert reply.status_code == 200
    return b"".join(reply.streaming_content)


def files_of(world: World, release: Release) -> dict[str, bytes]:
    """Path inside the release to bytes."""
    with zipfile.ZipFile(io.BytesIO(archive_bytes(world, release))) as archive:
        assert archive.testzip() is None
        return {name.split("/", 1)[1]: archive.read(name) for name in archive.namelist()}


def json_rows(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.decode().splitlines()]


def csv_rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
