"""The pages of an import: who may, what they show first, and what they start."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from benchmarks.access import benchmark_for
from jobs.models import Job
from jobs.services import runner
from releases.models import ReleaseImport
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.import_steps import archive_of, release_of, start

pytestmark = pytest.mark.django_db
ADDRESS = "/releases/import/"


@built_once
def archive(world: World) -> bytes:
    world.add_items(4)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "12", world.tarek: "23"})
    return archive_of(release_of(world, world.benchmark.pk, pictures="names"), world.owner)


def upload(client: Any, data: bytes) -> Any:
    return client.post(ADDRESS, {"file": SimpleUploadedFile("r.zip", data)})


def test_a_release_is_chosen_looked_at_and_imported(world: World, archive: bytes) -> None:
    client = world.client(world.rival)
    assert "Import a release" in client.get("/benchmarks/new/").content.decode()
    preview = upload(client, archive)["Location"]
    page = client.get(preview).content.decode()
    assert world.benchmark.name in page and "1.0.0" in page and "Answers" in page
    assert not ReleaseImport.objects.exists(), "nothing is written before it was looked at"
    taken = client.post(
        preview, {"do": "import", "team": world.other_team.pk, "name": "", "slug": world.benchmark.slug}
    )
    assert taken.status_code == 400 and "cannot be used" in taken.content.decode()
    reply = client.post(preview, {"do": "import", "team": world.other_team.pk, "name": "Copy", "slug": "copy"})
    job = Job.objects.get(kind="import_release")
    assert reply["Location"] == f"/jobs/{job.pk}/"
    runner.run(job.pk)
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert "View the benchmark" in page
    assert benchmark_for(world.rival, "copy", can="own").team == world.other_team
    assert world.client(world.owner).get("/b/copy/").status_code == 404, "the team that published it does not see it"
    assert world.client(world.owner).get(f"/jobs/{job.pk}/").status_code == 404
    for path in ("", "items/", "tables/", "agreement/", "people/", "releases/"):
        assert client.get(f"/b/copy/{path}").status_code in (200, 302), path
    later = client.get(upload(client, archive)["Location"]).content.decode()
    assert "A later version of “Copy”" in later


def test_who_has_no_team_and_who_sends_something_else_is_refused(world: World, archive: bytes) -> None:
    assert world.client(world.nour).get(ADDRESS).status_code == 404
    client = world.client(world.rival)
    reply = upload(client, b"no zip")
    assert reply.status_code == 400 and "not a zip file" in reply.content.decode()
    preview = upload(client, archive)["Location"]
    stolen = world.client(world.owner).get(preview)
    assert stolen.status_code == 302 and stolen["Location"] == ADDRESS, "the file of another person"
    assert client.post(preview, {"do": "import", "team": world.team.pk, "slug": "x"}).status_code == 400
    assert client.post(preview, {"do": "cancel"})["Location"] == "/benchmarks/"
    assert client.get(preview)["Location"] == ADDRESS, "the file is gone"
    assert not ReleaseImport.objects.exists()


def test_an_earlier_version_is_offered_as_a_new_benchmark_alone(world: World, archive: bytes) -> None:
    client = world.client(world.rival)
    runner.run(start(archive, world.other_team, world.rival, slug="copy", name="Copy").pk)
    ReleaseImport.objects.update(version="2.0.0")
    preview = upload(client, archive)["Location"]
    page = client.get(preview).content.decode()
    assert "A later version of" not in page
    assert "This is version 1.0.0. “<bdi>Copy</bdi>” was imported from version 2.0.0" in page
    forced = {"do": "import", "team": world.other_team.pk, "over": benchmark_for(world.rival, "copy", can="own").pk}
    assert client.post(preview, forced).status_code == 400
    new = {"do": "import", "team": world.other_team.pk, "name": "Other", "slug": "other"}
    assert client.post(preview, new).status_code == 302
    stranger = upload(world.client(world.owner), archive)["Location"]
    assert "2.0.0" not in world.client(world.owner).get(stranger).content.decode(), "the copy of another team"
