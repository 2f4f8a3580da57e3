"""The files of another tool by REST: a preview, then the import, with the same rules as the page."""

from typing import Any

from django.test import Client
from django.utils import timezone

from annotation.models import Annotation, Campaign
from benchmarks.models import Stage
from jobs.models import Job, JobRow
from jobs.services import runner
from releases.foreign.contract import ForeignMapping
from releases.foreign.registry import reader_for
from releases.foreign.scan import scan_files
from releases.services.foreign.foreign_sheet import campaign_of_imports, create_stage
from tests.api.clients import program
from tests.api.test_imports import B, media, start, upload
from tests.api.test_protocol import send
from tests.module_world import built_once
from tests.personas import World
from tests.releases.foreign_samples import LABEL_STUDIO, content, needs_peers, sample
from tests.releases.test_foreign_import import pack, pictures_zip

pytestmark = needs_peers
__all__ = ["media"]


@built_once
def campaign(world: World) -> Campaign:
    files = sample(*LABEL_STUDIO)
    stage = create_stage(
        world.benchmark, "Tool", world.owner, scan_files(files, reader_for(files), ForeignMapping())
    )  # fmt: skip
    return campaign_of_imports(stage, world.egypt, world.owner, timezone.now())


def body(client: Client, stage: Stage, **more: Any) -> dict[str, Any]:
    files = [{"upload": upload(client, content(path)), "name": path.rpartition("/")[2]} for path in LABEL_STUDIO]
    return {"format": "label_studio", "stage": stage.key, "files": files, **more}


def test_preview_and_import_of_label_studio(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    posted = body(client, campaign.stage)
    preview = send(client, "POST", f"{B}imports:preview/", posted).json()
    assert (preview["program"], preview["items"], preview["answers"], preview["skips"]) == ("Label Studio", 12, 34, 1)
    assert preview["mapping"]["picture"] == "image"
    assert {row["question"]: row["kind"] for row in preview["questions"]}["tags"] == "several"
    more = {"campaign": campaign.pk, "cohort": "Egypt", "archive": upload(client, pictures_zip())}
    reply = start(client, {**posted, **more, "mapping": {**preview["mapping"], "rotated": "upright"}})
    assert reply.status_code == 201, reply.content
    runner.run(reply.json()["id"])
    job = Job.objects.get(pk=reply.json()["id"])
    assert (job.state, job.result["counts"]) == ("done", {"created": 47})
    annotations = Annotation.objects.filter(assignment__campaign=campaign, live=True)
    assert sum(len(one.answers["box"]) for one in annotations) == 44
    reply = send(client, "POST", f"{B}imports/{job.pk}/withdraw/", {})
    assert (reply.status_code, annotations.all().count()) == (200, 0)


def test_what_is_wrong_is_named(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    posted = body(client, campaign.stage)
    wrong: list[tuple[dict[str, Any], int]] = [
        ({"files": []}, 422), ({"files": [{"upload": "none", "name": "a.json"}]}, 422), ({"format": "excel"}, 400),
        ({"mapping": {"rotated": "left"}}, 422), ({"mapping": {"key": ["a"]}}, 422), ({"campaign": 10**9}, 404),
        ({"campaign": campaign.pk, "cohort": "Atlantis"}, 422), ({"stage": "nothing"}, 422),
    ]  # fmt: skip
    for number, (change, status) in enumerate(wrong):
        reply = start(client, {**posted, **change}, key=f"wrong-{number}")
        assert reply.status_code == status, (change, reply.content)
    assert not Job.objects.filter(kind="import_foreign").exists()


def test_two_questions_or_columns_with_one_place_are_refused_and_lose_nothing(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    posted = body(client, campaign.stage, campaign=campaign.pk, cohort="Egypt")
    wrong = {"answers": {"kind": "kind", "tags": "kind"}, "roles": {"country": "origin", "image": "origin"}}
    for member, value in wrong.items():
        for reply in (
            start(client, {**posted, "mapping": {member: value}}, key=member),
            send(client, "POST", f"{B}imports:preview/", {**posted, "mapping": {member: value}}),
        ):
            assert reply.status_code == 422, reply.content
            assert reply.json()["errors"][0]["pointer"] == f"/mapping/{member}"
            assert "already" in reply.json()["detail"]
    assert not Job.objects.filter(kind="import_foreign").exists()


def test_hostile_files_are_refused_and_change_nothing(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    hostile = [
        pack({"../../export.json": content("label-studio/export.json")}), b"PK\x03\x04" + b"\x00" * 60, b"\x00" * 50,
        b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><View/>', b"[" * 100_000,
    ]  # fmt: skip
    for number, data in enumerate(hostile):
        files = [{"upload": upload(client, data), "name": "export.json"}]
        posted = {"format": "label_studio", "stage": campaign.stage.key, "files": files}
        assert send(client, "POST", f"{B}imports:preview/", posted).status_code in (200, 422)
        reply = start(client, {**posted, "campaign": campaign.pk}, key=f"hostile-{number}")
        if reply.status_code == 201:
            runner.run(reply.json()["id"])
        else:
            assert reply.status_code == 422, reply.content
    assert not campaign.stage.items.exists()
    assert not JobRow.objects.filter(job__kind="import_foreign", outcome="created").exists()


def test_who_may_not_work_on_the_benchmark_may_not_import(world: World, campaign: Campaign) -> None:
    posted = body(program(world.mara, "write"), campaign.stage)
    for person in (world.stranger, world.annotators[0]):
        assert start(program(person, "write"), posted).status_code == 404
        assert send(program(person, "write"), "POST", f"{B}imports:preview/", posted).status_code == 404
    assert start(program(world.mara, "read"), posted, key="r").status_code == 403
    other = start(program(world.owner, "write"), posted, key="o")  # uploads are their person's own
    assert other.status_code == 422


def test_a_stage_of_derived_items_takes_no_files_of_another_tool(world: World, campaign: Campaign) -> None:
    client = program(world.mara, "write")
    posted = body(client, campaign.stage)
    Stage.objects.filter(pk=campaign.stage.pk).update(derivation={"kind": "promote", "from": ["relevance"]})
    for reply in (send(client, "POST", f"{B}imports:preview/", posted), start(client, posted)):
        assert reply.status_code == 422, reply.content
        assert reply.json()["detail"] == "Items of this stage are derived. Choose another stage."
        assert reply.json()["errors"][0]["pointer"] == "/stage"
    assert not Job.objects.filter(kind="import_foreign").exists()
