"""A release: built from one moment, the same bytes each time, published by its owner, and never changed again."""

import hashlib
import io
import json
import zipfile
from typing import Any

import pyarrow.parquet as parquet
import pytest
from django.core.files.storage import default_storage
from django.db import DatabaseError, transaction

from annotation.models import Annotation, Campaign, Review
from benchmarks.models import Benchmark, Stage
from jobs.models import Event
from releases.models import Release, ReleaseFile, ReleaseRow
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World, make_benchmark, make_items
from tests.releases.release_steps import (
    act,
    address,
    archive_bytes,
    build,
    built,
    create,
    csv_rows,
    files_of,
    json_rows,
)


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    return campaign


@built_once
def release(world: World, campaign: Campaign) -> Release:
    """Built; no test builds this one again or deletes it, for its files stay."""
    return built(world)


def test_every_format_has_the_rows_of_that_moment(world: World, release: Release) -> None:
    files = files_of(world, release)
    ratings = json_rows(files["jsonl/relevance/ratings.jsonl"])
    assert [row["annotation"] for row in ratings] == list(
        Annotation.objects.order_by("pk").values_list("pk", flat=True)
    )
    assert {row["rater"] for row in ratings} == {
        world.benchmark.pseudonym(pk) for pk in Annotation.objects.values_list("rater", flat=True)
    }
    codes = [row["codes"]["relevance"] for row in ratings]
    assert [row["answer.relevance"] for row in csv_rows(files["csv/relevance/ratings.csv"])] == codes
    stored = ReleaseFile.objects.get(release=release, path="data/relevance/ratings/train-00000-of-00001.parquet")
    columns = parquet.read_table(default_storage.path(stored.stored_name)).to_pydict()
    assert columns["answer.relevance"] == [int(code) for code in codes]
    assert (
        len(json_rows(files["jsonl/relevance/items.jsonl"]))
        == len(world.items)
        == release.facts["rows"]["relevance/items"]
    )


def test_checksums_manifest_and_codebook_name_every_file(world: World, campaign: Campaign) -> None:
    release = built(world, notes="First one.")
    files = files_of(world, release)
    sums = dict(reversed(line.split("  ")) for line in files["SHA256SUMS"].decode().splitlines())
    assert sums == {path: hashlib.sha256(data).hexdigest() for path, data in files.items() if path != "SHA256SUMS"}
    manifest = json.loads(files["MANIFEST.json"])
    assert {file["path"] for file in manifest["files"]} == files.keys() - {"SHA256SUMS", "MANIFEST.json"}
    assert manifest["notes"] == "First one."
    assert hashlib.sha256(files["MANIFEST.json"]).hexdigest() == release.manifest_sha256
    book = json.loads(files["codebook/relevance.json"])
    assert {file["path"] for file in book["files"]} == {path for path in files if "/ratings" in path}
    header = files["csv/relevance/ratings.csv"].decode("utf-8-sig").splitlines()[0].split(",")
    explained = {column["name"] for column in book["columns"]}
    assert set(header) - explained == {"answer.relevance", "answer.relevance_label"}


def test_some_files_are_downloaded_together_and_a_citation_is_shown(world: World, release: Release) -> None:
    chosen = release.files.filter(path__in=("README.md", "csv/relevance/ratings.csv")).order_by("path")
    client, path = world.client(world.mara), address(release, "archive/")
    reply: Any = client.get(path, {"selected": "1", "file": [file.pk for file in chosen]})
    with zipfile.ZipFile(io.BytesIO(b"".join(reply.streaming_content))) as archive:
        assert archive.namelist() == [
            f"sea-and-river-1.0.0/{name}" for name in ("README.md", "csv/relevance/ratings.csv")
        ]
        assert hashlib.sha256(archive.read("sea-and-river-1.0.0/README.md")).hexdigest() == chosen[0].sha256
    assert "Select at least one file." in client.get(path, {"selected": "1"}, follow=True).content.decode()
    for wrong in ("x", "0", "9" * 30):
        assert client.get(path, {"file": wrong}).status_code == 404
    other = ReleaseFile.objects.filter(release=built(world, version="1.1.0"))[0]
    assert client.get(path, {"file": other.pk}).status_code == 404, "a file of another release"
    assert world.client(world.stranger).get(path, {"file": chosen[0].pk}).status_code == 404
    page = client.get(address(release)).content.decode()
    assert "@misc{sea-and-river-1.0.0," in page and 'data-copies="citation"' in page


def test_built_twice_it_has_the_same_bytes(world: World, campaign: Campaign) -> None:
    release = built(world)
    first, files = archive_bytes(world, release), files_of(world, release)
    act(world, release, "build")
    again = build(release)
    differing = [(path, data, files[path]) for path, data in files_of(world, again).items() if data != files[path]]
    assert (again.state, differing) == ("ready", [])
    assert again.frozen_at != release.frozen_at
    assert archive_bytes(world, again) == first


def test_only_who_works_on_it_builds_and_only_the_owner_publishes(world: World, campaign: Campaign) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    release = built(world)
    new = f"/b/{world.benchmark.slug}/releases/new/"
    file_path = address(release, f"files/{release.files.order_by('path')[0].pk}/")
    for user in (world.reviewer, world.nour, world.manager, world.stranger, world.rival):
        client = world.client(user)
        for path in (new, address(release), file_path, address(release, "archive/")):
            assert client.get(path).status_code == 404, (user, path)
        for do in ("build", "publish", "withdraw", "delete"):
            assert client.post(address(release, "action/"), {"do": do, "sure": "1"}).status_code == 404, (user, do)
    assert world.client(world.mara).get(file_path).status_code == 200
    publish = {"do": "publish", "sure": "1", "why": "Looked through."}
    assert world.client(world.mara).post(address(release, "action/"), publish).status_code == 404
    assert world.client(world.owner).post(address(release, "action/"), publish).status_code == 302
    release.refresh_from_db()
    assert release.state == "published"
    for user in (world.reviewer, world.mara):
        for path in (address(release), file_path, address(release, "archive/")):
            assert world.client(user).get(path).status_code == 200, (user, path)
    for user in (world.nour, world.stranger, world.rival):
        assert world.client(user).get(file_path).status_code == 404, user
    verbs = set(Event.objects.filter(verb__startswith="release.").values_list("verb", flat=True))
    assert verbs == {"release.created", "release.built", "release.published", "release.read"}


def test_a_missing_licence_blocks_and_warnings_must_be_confirmed(world: World, release: Release) -> None:
    assert "has no licence" in act(world, release, "publish", sure="1")
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    page = act(world, release, "publish")
    assert "Confirm the warnings first." in page
    assert "8 of 8 pictures have no licence. The release names them, without files." in page
    assert "Not closed yet: “" in page
    assert "parts of the descriptions are not stated." in page
    assert "The consent text does not say that answers are published." in page
    assert "Write why the release is published" in act(world, release, "publish", sure="1", why=" ")
    assert Release.objects.get().state == "ready"
    act(world, release, "publish", sure="1", why="The pictures follow.")
    assert Release.objects.get().state == "published"
    [event] = Event.objects.filter(verb="release.published")
    assert (len(event.data["confirmed"]), event.data["reason"]) == (4, "The pictures follow.")


def test_what_reviewers_wrote_has_to_be_looked_through(world: World, campaign: Campaign) -> None:
    """A stage without free text has some where a reviewer wrote to the author."""
    words = "were written in free text and are in the release"
    page = world.client(world.owner).get(address(built(world))).content.decode()
    assert words not in page
    Stage.objects.filter(pk=world.stage.pk).update(acceptance=Stage.Acceptance.BY_REVIEW)
    answer = Annotation.objects.order_by("pk")[0]
    Review.objects.create(
        annotation=answer, reviewer=world.reviewer, decision="return", reason="unclear", at=answer.submitted_at,
        comment="Nour, call me: 0123", undone_at=answer.submitted_at,
    )  # fmt: skip
    release = built(world, version="2.0.0")
    assert "0123" in files_of(world, release)["jsonl/relevance/reviews.jsonl"].decode()
    assert words in world.client(world.owner).get(address(release)).content.decode()


def test_a_published_release_never_changes_and_can_be_withdrawn(world: World, campaign: Campaign) -> None:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(licence="CC-BY-4.0")
    release = built(world)
    act(world, release, "publish", sure="1")
    assert "published. Create the next version instead" in act(world, release, "build")
    assert "cannot be deleted" in act(world, release, "delete")
    changes: list[Any] = [
        lambda: Release.objects.filter(pk=release.pk).update(version="2.0.0"),
        lambda: Release.objects.filter(pk=release.pk).update(state="ready"),
        lambda: release.files.update(sha256="0" * 64),
        lambda: ReleaseRow.objects.filter(release=release)._raw_delete(using="default"),
        lambda: ReleaseFile.objects.create(release=release, path="more", sha256="", bytes=1, media_type=""),
    ]
    for change in changes:
        with pytest.raises(DatabaseError, match="never change"), transaction.atomic():
            change()
    assert "Write why it is withdrawn" in act(world, release, "withdraw", reason=" ")
    page = act(world, release, "withdraw", reason="Names in texts")
    assert "Names in texts" in page and "Withdrawn" in page
    client, [file] = world.client(world.mara), release.files.filter(path="MANIFEST.json")
    assert client.get(address(release, f"files/{file.pk}/")).status_code == 410
    assert client.get(address(release, "archive/")).status_code == 410
    assert file.sha256 in client.get(address(release)).content.decode()


def test_versions_grow_and_a_deleted_one_can_be_used_again(world: World, campaign: Campaign) -> None:
    release = built(world)
    client, new = world.client(world.mara), f"/b/{world.benchmark.slug}/releases/new/"
    assert 'value="1.1.0"' in client.get(new).content.decode()
    form = {"stages": [world.stage.pk], "formats": ["csv"], "pictures": "names"}
    for version, message in (("1.0.0", "Version 1.0.0 exists."), ("0.9.0", "exists."), ("two", "three numbers")):
        reply = client.post(new, form | {"version": version})
        assert (reply.status_code, message in reply.content.decode()) == (400, True), version
    assert "was deleted" in act(world, release, "delete")
    assert not Release.objects.exists() and not ReleaseRow.objects.exists()
    assert create(world, formats=["csv"]).version == "1.0.0"


def test_the_form_takes_only_stages_of_the_benchmark(world: World, campaign: Campaign) -> None:
    foreign = make_benchmark(world.other_team, "elsewhere").stages.get()
    make_items(foreign, 1)
    client, new = world.client(world.mara), f"/b/{world.benchmark.slug}/releases/new/"
    for stages in ([], [foreign.pk], ["x"]):
        reply = client.post(new, {"version": "1.0.0", "stages": stages, "formats": ["csv"], "pictures": "names"})
        assert reply.status_code == 400, stages
    assert not Release.objects.exists()


def test_empty_pages_say_what_to_do_next(world: World) -> None:
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/releases/").content.decode()
    assert "There is no release yet" in page and "releases/new/" in page
    page = world.client(world.reviewer).get(f"/b/{world.benchmark.slug}/releases/").content.decode()
    assert "Nothing has been published yet" in page and "releases/new/" not in page
    page = world.client(world.mara).get(f"/b/{world.benchmark.slug}/releases/new/").content.decode()
    assert "No stage has items yet" in page
