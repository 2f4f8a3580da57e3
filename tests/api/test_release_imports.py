"""A release comes back by REST: looked at, imported once, and a later version over it; strangers bring nothing."""

from typing import Any

from django.test import Client

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from jobs.models import Job
from jobs.services import runner
from releases.models import ReleaseImport
from tests.api.clients import program
from tests.api.test_imports import media, upload
from tests.api.test_protocol import problem, send
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.import_steps import archive_of, release_of

__all__ = ["media"]
IMPORTS = "/api/v1/teams/other-lab/release-imports"


@built_once
def archive(world: World) -> bytes:
    world.add_items(4)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "12", world.tarek: "23"})
    return archive_of(release_of(world, world.benchmark.pk, pictures="names"), world.owner)


def test_a_release_is_looked_at_and_imported_once(world: World, archive: bytes) -> None:
    client = program(world.rival, "write", "export")
    posted = {"upload": upload(client, archive)}
    contents = send(client, "POST", f"{IMPORTS}:preview/", posted).json()
    assert (contents["name"], contents["version"], contents["later_version_of"]) == (world.benchmark.name, "1.0.0", [])
    assert contents["counts"] and not ReleaseImport.objects.exists(), "nothing is written before it was looked at"
    problem(send(client, "POST", f"{IMPORTS}/", {**posted, "slug": "copy"}), 400, "idempotency-key-required")
    taken = send(client, "POST", f"{IMPORTS}/", {**posted, "slug": world.benchmark.slug}, idempotency_key="a")
    assert [error["pointer"] for error in problem(taken, 422, "refused")["errors"]] == ["/slug"]
    new = {**posted, "name": "Copy", "slug": "copy"}
    replies = [send(client, "POST", f"{IMPORTS}/", new, idempotency_key="k") for _attempt in range(2)]
    assert [reply.status_code for reply in replies] == [201, 201]
    assert Job.objects.filter(kind="import_release").count() == 1
    runner.run(replies[0].json()["id"])
    shown = client.get(f"/api/v1/jobs/{replies[0].json()['id']}/").json()
    assert (shown["state"], shown["error"]) == ("done", ""), shown
    copy = benchmark_for(world.rival, "copy", can="own")
    assert copy.team == world.other_team and copy.name == "Copy"
    assert client.get("/api/v1/benchmarks/copy/items/count/").json() == {"count": len(world.items)}
    rows = client.get("/api/v1/benchmarks/copy/ratings/?counted=all").json()["results"]
    assert len(rows) == 4 and program(world.owner).get("/api/v1/benchmarks/copy/").status_code == 404
    again = {"upload": upload(client, archive)}
    assert send(client, "POST", f"{IMPORTS}:preview/", again).json()["later_version_of"] == ["copy"]
    over = send(client, "POST", f"{IMPORTS}/", {**again, "benchmark": "copy"}, idempotency_key="later")
    assert over.status_code == 201, over.content
    runner.run(over.json()["id"])
    assert Job.objects.get(pk=over.json()["id"]).state == "done"
    assert Benchmark.objects.filter(team=world.other_team, slug__startswith="copy").count() == 1
    _check_earlier_version(client, archive)


def _check_earlier_version(client: Client, archive: bytes) -> None:
    """It is not offered over the benchmark of a later one, and refused there with both versions."""
    ReleaseImport.objects.update(version="2.0.0")
    posted = {"upload": upload(client, archive)}
    contents = send(client, "POST", f"{IMPORTS}:preview/", posted).json()
    assert contents["later_version_of"] == []
    assert contents["earlier_version_of"] == [{"benchmark": "copy", "version": "2.0.0"}]
    over = send(client, "POST", f"{IMPORTS}/", {**posted, "benchmark": "copy"}, idempotency_key="earlier")
    (error,) = problem(over, 422, "refused")["errors"]
    assert error["pointer"] == "/benchmark" and "version 1.0.0, and the benchmark is of 2.0.0" in error["detail"]


def test_what_is_no_release_and_what_is_of_others_is_refused(world: World, archive: bytes) -> None:
    client = program(world.rival, "write")
    wrong: list[Any] = [{"upload": upload(client, b"no zip")}, {"upload": "none"}]
    for content in wrong:
        for path in (f"{IMPORTS}:preview/", f"{IMPORTS}/"):
            reply = problem(send(client, "POST", path, content, idempotency_key="k"), 422, "refused")
            assert [error["pointer"] for error in reply["errors"]] == ["/upload"]
    posted = {"upload": upload(program(world.owner, "write"), archive)}
    stolen = problem(send(client, "POST", f"{IMPORTS}:preview/", posted), 422, "refused")
    assert world.benchmark.name not in str(stolen), "the file of another person"
    own = {"upload": upload(client, archive)}
    over = {**own, "benchmark": world.benchmark.slug}
    problem(send(client, "POST", f"{IMPORTS}/", over, idempotency_key="k"), 404, "not-found")
    for user in (world.stranger, world.mara, world.nour):
        problem(send(program(user, "admin"), "POST", f"{IMPORTS}/", own, idempotency_key="k"), 404, "not-found")
        problem(send(program(user, "admin"), "POST", f"{IMPORTS}:preview/", own), 404, "not-found")
    weak = program(world.rival, "read")
    problem(send(weak, "POST", f"{IMPORTS}/", own, idempotency_key="k"), 403, "insufficient-scope")
    assert not ReleaseImport.objects.exists() and not Job.objects.filter(kind="import_release").exists()
