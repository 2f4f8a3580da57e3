"""Releases and exports by REST: the services and access rules of their pages, and files that go on after a break."""

import hashlib
import io
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Annotation, Campaign, ItemSource
from annotation.services.campaigns import lifecycle as campaigns
from benchmarks.models import Benchmark, Item, Stage
from jobs.models import Event, Job
from jobs.services import lifecycle, runner
from people.models import Consent, User
from releases.models import Release
from releases.services import export_files
from tests.annotation.chain.factories import QUESTION, a_stage
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.module_world import built_once
from tests.personas import World, stand_in

RELEASES = "/api/v1/benchmarks/sea-and-river/releases/"
EXPORTS = "/api/v1/benchmarks/sea-and-river/exports/"


@built_once
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "1234", world.tarek: "12.5"})
    return campaign


def create(world: World, **content: Any) -> str:
    """A draft; returns its address."""
    client = program(world.mara, "write")
    reply = send(client, "POST", RELEASES, content, idempotency_key=f"c{Release.objects.count()}")
    assert reply.status_code == 201, reply.content
    return str(reply["Location"])


def build(world: World, url: str, key: str = "b1") -> Any:
    """By the token, then by a worker; returns what the API says of it."""
    client = program(world.mara, "write")
    reply = send(client, "POST", f"{url}build/", idempotency_key=key)
    assert reply.status_code == 200, reply.content
    runner.run(reply.json()["job"])
    return client.get(url).json()


def publish(world: World, url: str) -> None:
    Benchmark.objects.update(licence="CC-BY-4.0")
    publication = {"confirmed": True, "reason": "Looked through."}
    reply = send(program(world.owner, "admin"), "POST", f"{url}publish/", publication)
    assert reply.json()["state"] == "published", reply.content


def body(reply: Any) -> bytes:
    return b"".join(reply.streaming_content)


def withdraw_consent(world: World, user: User) -> None:
    at = timezone.now()
    Consent.objects.filter(user=user).delete()
    Consent.objects.create(user=user, version=world.consent_version, language="en", given_at=at, withdrawn_at=at)


# ---- releases --------------------------------------------------------------------------------------------------------


def test_a_release_is_drafted_once_and_then_built(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write", "export")
    problem(send(client, "POST", RELEASES), 400, "idempotency-key-required")
    for _attempt in range(2):
        reply = send(client, "POST", RELEASES, {"version": "1.0.0", "images": "names"}, idempotency_key="c")
        assert (reply.status_code, reply.json()["state"], reply.json()["job"]) == (201, "draft", None), reply.content
    release, url = Release.objects.get(), reply["Location"]
    assert release.chosen.stages == (world.stage.pk,) and release.chosen.campaigns == (campaign.pk,)
    page = world.client(world.mara).get(f"/b/sea-and-river/releases/{release.pk}/").content.decode()
    assert "Not built" in page and 'value="build">Build</button>' in page
    problem(send(client, "POST", f"{url}build/"), 400, "idempotency-key-required")
    built = build(world, url)
    assert (built["state"], built["stages"], built["images"]) == ("ready", ["relevance"], "names")
    assert built["rows"] == {"relevance/items": 8, "relevance/ratings": 7}
    assert (
        client.get(RELEASES, {"version": "1.0.0"}).json()["results"][0]["manifest_sha256"] == built["manifest_sha256"]
    )
    assert client.get(RELEASES, {"version": "2.0.0"}).json()["results"] == []
    assert client.get(url, headers={"If-None-Match": client.get(url)["ETag"]}).status_code == 304


def test_options_that_are_sent_are_kept(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    for number, value in enumerate((True, False), start=1):
        options = {"vectors": value, "versions": value, "embed": value, "seed": number, "notes": f"Notes {number}"}
        content = {"version": f"1.0.{number}", "images": "stripped", **options}
        reply = send(client, "POST", RELEASES, content, idempotency_key=f"k{number}")
        assert reply.status_code == 201, reply.content
        assert {name: reply.json()[name] for name in options} == options


def test_what_is_left_out_is_as_the_form_proposes_it(world: World, campaign: Campaign) -> None:
    create(world)
    chosen = Release.objects.get(version="1.0.0").chosen
    assert (chosen.formats, chosen.pictures, chosen.versions) == (("csv", "jsonl", "parquet"), "licensed", False)
    create(world, formats=["csv"], images="stripped", versions=True, notes="More.")
    later = Release.objects.get(version="1.1.0")
    assert (later.chosen.formats, later.chosen.pictures, later.notes) == (("csv",), "all", "More.")
    split = {"splits": {"train": 80, "test": 20}, "withhold": True, "seed": 7, "group_by": "concept"}
    create(world, version="1.5.0", **split)
    assert Release.objects.get(version="1.5.0").chosen.withheld == "test"
    bad = {"version": "1.6.0", "splits": {"train": 80, "test": 30}}
    assert send(program(world.mara, "write"), "POST", RELEASES, bad).status_code == 422


@pytest.mark.parametrize(
    ("content", "status", "pointer"),
    [
        ({"stages": ["colour"]}, 422, "/stages/0"), ({"formats": ["xls"]}, 400, "/formats/0"),
        ({"formats": []}, 422, "/formats"), ({"version": "one"}, 400, "/version"), ({"licence": "x"}, 400, "/licence"),
    ],
)  # fmt: skip
def test_a_selection_that_cannot_be_is_refused(
    world: World, campaign: Campaign, content: Any, status: int, pointer: str
) -> None:
    reply = send(program(world.mara, "write"), "POST", RELEASES, content, idempotency_key="c")
    assert (reply.status_code, reply.json()["errors"][0]["pointer"]) == (status, pointer), reply.content
    assert not Release.objects.exists()


def test_the_rules_of_versions_and_states_hold(world: World, campaign: Campaign) -> None:
    url = create(world, version="1.0.0")
    client = program(world.mara, "write", "export")
    refused = send(client, "POST", RELEASES, {"version": "0.9.0"}, idempotency_key="x")
    assert "Choose a higher one" in problem(refused, 422, "release-refused")["detail"]
    problem(client.get(f"{url}files/MANIFEST.json"), 409, "conflict")
    problem(send(program(world.owner, "admin"), "POST", f"{url}publish/"), 422, "release-refused")
    problem(client.delete(url), 428, "precondition-required")
    problem(client.delete(url, headers={"If-Match": '"old"'}), 412, "stale")
    assert client.delete(url, headers={"If-Match": client.get(url)["ETag"]}).status_code == 204
    assert not Release.objects.exists()


def test_warnings_are_listed_and_must_be_confirmed(world: World, campaign: Campaign) -> None:
    url = create(world)
    built = build(world, url)
    assert "has no licence" in built["errors"][0] and any("Not closed yet" in text for text in built["warnings"])
    Benchmark.objects.update(licence="CC-BY-4.0")
    problem(send(program(world.mara, "write"), "POST", f"{url}publish/"), 403, "insufficient-scope")
    problem(send(program(world.mara, "admin"), "POST", f"{url}publish/"), 404, "not-found")
    owner = program(world.owner, "admin", "export")
    problem(send(owner, "POST", f"{url}publish/"), 422, "release-refused")
    problem(send(owner, "POST", f"{url}publish/", {"confirmed": True}), 422, "release-refused")
    publication = {"confirmed": True, "reason": "Looked through."}
    assert send(owner, "POST", f"{url}publish/", publication).json()["state"] == "published"
    withdraw_consent(world, world.nour)
    assert owner.get(url).json()["withdrawn_since"] == {"people": 1, "answers": 4}
    problem(send(owner, "POST", f"{url}withdraw/", {"reason": " "}), 400, "invalid-content")
    withdrawn = send(owner, "POST", f"{url}withdraw/", {"reason": "Names in texts"}).json()
    assert (withdrawn["state"], withdrawn["withdrawn_because"]) == ("withdrawn", "Names in texts")
    for rest in ("files/MANIFEST.json", "archive/"):
        problem(owner.get(f"{url}{rest}"), 410, "gone")
    assert [file["path"] for file in owner.get(f"{url}files/").json()["files"]], "names and checksums stay"


def test_files_come_whole_in_parts_or_not_again(world: World, campaign: Campaign) -> None:
    url = create(world, formats=["csv"])
    build(world, url)
    client = program(world.mara, "export")
    files = client.get(f"{url}files/").json()["files"]
    assert {"MANIFEST.json", "csv/relevance/ratings.csv"} <= {file["path"] for file in files}
    file = next(file for file in files if file["path"] == "csv/relevance/ratings.csv")
    reply = client.get(file["address"], headers={"Accept": "text/csv"})
    whole = body(reply)
    assert hashlib.sha256(whole).hexdigest() == file["sha256"] and len(whole) == file["bytes"] == int(
        reply["Content-Length"]
    )
    assert (reply["ETag"], reply["Content-Type"]) == (f'"{file["sha256"]}"', "text/csv")
    assert client.get(file["address"], headers={"If-None-Match": reply["ETag"]}).status_code == 304
    size = len(whole)
    for header, part, place in (
        ("bytes=10-19", whole[10:20], f"bytes 10-19/{size}"),
        ("bytes=100-", whole[100:], f"bytes 100-{size - 1}/{size}"),
        ("bytes=-5", whole[-5:], f"bytes {size - 5}-{size - 1}/{size}"),
    ):  # fmt: skip
        reply = client.get(file["address"], headers={"Range": header})
        assert (reply.status_code, body(reply), reply["Content-Range"]) == (206, part, place)
    late = problem(client.get(file["address"], headers={"Range": f"bytes={size}-"}), 416, "range-not-satisfiable")
    assert "outside" in late["detail"]
    for header in ("bytes=9-1,3-4", "rows=1-2", "bytes=-"):
        assert client.get(file["address"], headers={"Range": header}).status_code == 200
    changed = {"Range": "bytes=10-", "If-Range": '"another version"'}
    assert client.get(file["address"], headers=changed).status_code == 200
    with zipfile.ZipFile(io.BytesIO(body(client.get(f"{url}archive/")))) as archive:
        assert archive.read("sea-and-river-1.0.0/csv/relevance/ratings.csv") == whole
    for path in ("../settings.py", "csv", "%00", "csv/relevance/ratings.csv/"):
        problem(client.get(f"{url}files/{path}"), 404, "not-found")


def test_a_diff_counts_rows_states_and_files(world: World, campaign: Campaign) -> None:
    first, client = create(world, formats=["csv"]), program(world.mara, "read")
    problem(client.get(f"{first}diff/"), 409, "conflict")
    build(world, first)
    publish(world, first)
    natural = of_condition(world.items, "natural")
    give_ratings(campaign, world.brazil, world.bia, {natural[0]: "5"}, because="surplus")
    campaign.refresh_from_db()
    second = create(world, formats=["csv", "jsonl"])
    problem(client.get(f"{second}diff/"), 409, "conflict")
    build(world, second, "b2")
    changes = client.get(f"{second}diff/", {"from": "1.0.0"}).json()
    assert changes == client.get(f"{second}diff/").json()
    ratings = next(one for one in changes["tables"] if one["table"] == "relevance/ratings")
    assert (ratings["before"], ratings["now"], ratings["added"], ratings["removed"]) == (7, 8, 1, 0)
    assert "jsonl/relevance/ratings.jsonl" in changes["files"]["added"]
    assert "csv/relevance/ratings.csv" in changes["files"]["changed"]
    assert (changes["need"]["change"], changes["need"]["lowest"]) == ("minor", "1.1.0")
    [_brazil, egypt] = changes["numbers"]
    assert egypt["cohort"] == "Egypt" and egypt["before"] == egypt["now"] and egypt["now"]["items"] > 0
    assert client.get(second).json()["need"] == changes["need"]
    problem(client.get(f"{second}diff/", {"from": "7.0.0"}), 404, "not-found")


def test_a_version_below_what_changed_is_refused(world: World, campaign: Campaign) -> None:
    first, writer = create(world, formats=["csv"]), program(world.mara, "write")
    build(world, first)
    publish(world, first)
    give_ratings(campaign, world.brazil, world.bia, {of_condition(world.items, "natural")[0]: "5"})
    refused = send(writer, "POST", RELEASES, {"version": "1.0.1"}, idempotency_key="low")
    assert "Choose 1.1.0 or a higher one." in problem(refused, 422, "release-refused")["detail"]
    url = create(world, formats=["csv"])
    assert (writer.get(url).json()["version"], writer.get(url).json()["need"]) == ("1.1.0", None)
    refused = send(writer, "POST", f"{url}build/", {"version": "1.0.0"}, idempotency_key="b0")
    problem(refused, 422, "release-refused")
    reply = send(writer, "POST", f"{url}build/", {"version": "2.0.0"}, idempotency_key="b2")
    assert reply.json()["version"] == "2.0.0"


def test_rows_that_count_no_longer_are_counted_by_reason(world: World, campaign: Campaign) -> None:
    first = create(world, formats=["csv"])
    build(world, first)
    publish(world, first)
    annotation = campaign.assignments.order_by("pk")[0].annotations.get()
    type(annotation).objects.filter(pk=annotation.pk).update(counted=False, uncounted_because="excluded")
    second = create(world, formats=["csv"])
    build(world, second, "b2")
    [ratings] = [
        one for one in program(world.mara).get(f"{second}diff/").json()["tables"] if one["table"].endswith("ratings")
    ]
    assert ratings["states"] == [{"before": "counted", "now": "excluded", "rows": 1}] and ratings["restated"] == 1


def test_who_reads_a_release_by_a_token(world: World, campaign: Campaign) -> None:
    """Drafts are for those who work on it; a published one for all who see the benchmark, with the scope for files."""
    url = create(world)
    build(world, url)
    paths = (url, f"{url}files/", f"{url}files/MANIFEST.json", f"{url}archive/")
    for user in (world.reviewer, world.stranger, world.rival, world.nour):
        for path in paths:
            problem(program(user, "admin", "export").get(path), 404, "not-found")
    problem(program(world.mara, "write").get(paths[2]), 403, "insufficient-scope")
    publish(world, url)
    for path in paths:
        assert program(world.reviewer, "export").get(path).status_code == 200
        problem(program(world.stranger, "export").get(path), 404, "not-found")
    assert [row["version"] for row in program(world.reviewer).get(RELEASES).json()["results"]] == ["1.0.0"]
    create(world)
    assert len(program(world.reviewer).get(RELEASES).json()["results"]) == 1
    assert len(program(world.mara).get(RELEASES).json()["results"]) == 2
    problem(send(program(world.reviewer, "admin"), "POST", RELEASES, {}, idempotency_key="r"), 404, "not-found")


# ---- exports ---------------------------------------------------------------------------------------------------------


def export(world: World, **content: Any) -> Any:
    """Created and done; returns what the API says of it."""
    reply = send(
        program(world.mara, "export"), "POST", EXPORTS, {"stage": "relevance", **content},
        idempotency_key=f"e{Job.objects.count()}",
    )  # fmt: skip
    assert reply.status_code == 201, reply.content
    runner.run(reply.json()["id"])
    return program(world.mara, "export").get(reply["Location"]).json()


def test_an_export_is_the_archive_of_the_page(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    done = export(world, format="jsonl")
    assert (done["state"], done["format"], done["campaigns"]) == ("done", "jsonl", [campaign.pk])
    data = body(client.get(done["file"]["address"]))
    assert hashlib.sha256(data).hexdigest() == done["file"]["sha256"] and len(data) == done["file"]["bytes"]
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        ratings = next(name for name in archive.namelist() if name.endswith("/ratings.jsonl"))
        assert archive.read(ratings).count(b"\n") == 7
    part = client.get(done["file"]["address"], headers={"Range": "bytes=0-3"})
    assert (part.status_code, body(part)) == (206, b"PK\x03\x04")
    verbs = [event.verb for event in Event.objects.filter(verb__in=("ratings.exported", "export.read")).order_by("pk")]
    assert verbs == ["ratings.exported", "export.read"]
    page = world.client(world.mara).get(f"/jobs/{done['id']}/").content.decode()
    assert f"/b/sea-and-river/export/{done['id']}/" in page
    assert body(world.client(world.mara).get(f"/b/sea-and-river/export/{done['id']}/")) == data


def test_an_export_for_another_tool_has_the_files_of_that_tool(world: World, campaign: Campaign) -> None:
    done = export(world, **{"for": "label_studio"})
    assert (done["state"], done["format"]) == ("done", "label_studio")
    data = body(program(world.mara, "export").get(done["file"]["address"]))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert {name.partition("/")[2] for name in archive.namelist()} == {"tasks.json", "label-config.xml"}
    client = program(world.mara, "export")
    reply = send(client, "POST", EXPORTS, {"stage": "relevance", "for": "excel"}, idempotency_key="tool")
    assert reply.status_code in (400, 422)


def test_an_export_that_cannot_be_is_refused(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "export")
    problem(send(client, "POST", EXPORTS, {"stage": "relevance"}), 400, "idempotency-key-required")
    reply = send(client, "POST", EXPORTS, {"stage": "colour"}, idempotency_key="a")
    assert problem(reply, 422, "refused")["errors"][0]["pointer"] == "/stage"
    reply = send(client, "POST", EXPORTS, {"stage": "relevance", "campaign": 10**9}, idempotency_key="b")
    assert problem(reply, 422, "refused")["errors"][0]["pointer"] == "/campaign"
    waiting = send(client, "POST", EXPORTS, {"stage": "relevance"}, idempotency_key="c")
    problem(client.get(f"{waiting['Location']}file/"), 409, "conflict")
    lifecycle.request_cancel(Job.objects.get(pk=waiting.json()["id"]), world.mara)
    assert client.get(waiting["Location"]).json()["state"] == "cancelled"


def test_a_file_is_kept_for_a_week_and_not_after_a_withdrawal(
    world: World, campaign: Campaign, django_assert_num_queries: Any, settings: Any, tmp_path: Path
) -> None:
    own = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "default": own}  # other processes keep files in the common one
    client = program(world.mara, "export")
    old, new = export(world), export(world)
    job = Job.objects.get(pk=old["id"])
    job.result["file"]["at"] = (timezone.now() - timedelta(days=7, minutes=1)).isoformat()
    job.save()
    problem(client.get(f"{EXPORTS}{old['id']}/file/"), 410, "gone")
    assert client.get(f"{EXPORTS}{old['id']}/").json()["file"] is None
    with django_assert_num_queries(0):
        assert export_files.find_file(job) is None, "lateness needs no look-up"
    assert client.get(f"{EXPORTS}{new['id']}/file/").status_code == 200
    assert export_files.delete_old(timezone.now()) == 0
    withdraw_consent(world, world.tarek)
    problem(client.get(f"{EXPORTS}{new['id']}/file/"), 410, "gone")
    assert world.client(world.mara).get(f"/b/sea-and-river/export/{new['id']}/").status_code == 404
    assert export(world)["file"], "a new one leaves the person out"
    assert export_files.delete_old(timezone.now() + timedelta(days=8)) == 3


def test_exports_are_for_those_who_work_on_the_benchmark(world: World, campaign: Campaign) -> None:
    done = export(world)
    for user in (world.reviewer, world.nour, world.manager, world.rival, world.stranger):
        client = program(user, "admin", "export")
        for path in (EXPORTS, f"{EXPORTS}{done['id']}/", f"{EXPORTS}{done['id']}/file/"):
            problem(client.get(path), 404, "not-found")
        problem(send(client, "POST", EXPORTS, {"stage": "relevance"}, idempotency_key="x"), 404, "not-found")
        assert world.client(user).get(f"/b/sea-and-river/export/{done['id']}/").status_code == 404
    problem(program(world.mara, "write").get(EXPORTS), 403, "insufficient-scope")
    foreign = program(world.rival, "export").get(f"/api/v1/benchmarks/fjord-songs/exports/{done['id']}/")
    problem(foreign, 404, "not-found")


@pytest.fixture
def handed_on(world: World, campaign: Campaign) -> Stage:
    """A later stage, open, with a text that Nour wrote in the first one; in another step between both."""
    stages = [a_stage(world.benchmark, key, QUESTION) for key in ("between", "reply")]
    answer = Annotation.objects.filter(rater__user=world.nour)[0]
    source = answer.assignment.unit.item
    for stage in stages:
        item = Item.objects.create(stage=stage, key=f"{stage.key}-1", text="Who is my aunt?")
        stand_in([item])
        ItemSource.objects.create(item=item, source=source, annotation=answer if stage.key == "between" else None)
        source = item
    opened = campaigns.create(stages[1], "Replies", world.owner, {world.egypt: 1})
    campaigns.open_campaign(opened, world.owner, timezone.now())
    return stages[1]


def test_a_file_of_a_later_stage_is_not_given_out_after_a_withdrawal(world: World, handed_on: Stage) -> None:
    done, client = export(world, stage="reply"), program(world.mara, "export")
    assert client.get(f"{EXPORTS}{done['id']}/file/").status_code == 200
    withdraw_consent(world, world.tarek)
    assert client.get(f"{EXPORTS}{done['id']}/file/").status_code == 200, "nothing of theirs is in it"
    withdraw_consent(world, world.nour)
    problem(client.get(f"{EXPORTS}{done['id']}/file/"), 410, "gone")


def test_a_release_of_a_later_stage_is_not_published_after_a_withdrawal(world: World, handed_on: Stage) -> None:
    url = create(world, stages=["reply"], images="names")
    build(world, url)
    Benchmark.objects.update(licence="CC-BY-4.0")
    owner, publication = program(world.owner, "admin"), {"confirmed": True, "reason": "Looked through."}
    withdraw_consent(world, world.nour)
    refused = problem(send(owner, "POST", f"{url}publish/", publication), 422, "release-refused")
    assert "1 person, 1 answer" in refused["detail"] and "Build the release again" in refused["detail"]
