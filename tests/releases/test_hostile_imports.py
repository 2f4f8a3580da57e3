"""Files and addresses that mean harm, through every page and every REST call that imports: no error page, no row, no
picture, nothing outside the storage, and a sentence where a person reads it."""

import hashlib
import io
import json
import re
import socket
import stat
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.core.files.base import ContentFile
from django.urls import get_resolver, reverse

from annotation.models import Annotation, Assignment, Campaign, Slot
from benchmarks.models import Benchmark, Image, Item, LabelSet, SavedRecipe, Stage
from benchmarks.services import safe_fetch
from jobs.models import Job, JobRow
from jobs.services import runner
from papers.valueground.survey.models import SurveyQuestion
from people.models import CohortManager, Invitation
from predictions.models import (
    Collection,
    Endpoint,
    EntityLink,
    Entry,
    KnowledgeBase,
    KnowledgeEntry,
    KnowledgeImage,
    Query,
)
from releases.models import Release
from tests.api.clients import program
from tests.api.test_imports import B, media, upload
from tests.api.test_protocol import send
from tests.archives import pack_zip
from tests.benchmarks.test_fetching import PUBLIC, Elsewhere, elsewhere, http, redirect_to
from tests.evaluation.data import an_open_campaign
from tests.importing import page_of
from tests.personas import World
from tests.pictures import png
from tests.releases.release_steps import address as address_of
from tests.releases.release_steps import create
from tests.samples import assign

__all__ = ["elsewhere", "media"]
pytestmark = pytest.mark.django_db
PICTURE = png(60, 40, seed=1)
TEXT = b"key,file\na,a.png\n"
SCRIPT = b"GIF89a=1;/*<html><script>alert(1)</script>*/"


def _link() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        info = zipfile.ZipInfo("a.png")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    return target.getvalue()


HOSTILE: dict[str, bytes] = {
    "zip slip": pack_zip({"../../slip.png": PICTURE, "..\\..\\slip.json": b"[]"}),
    "absolute path": pack_zip({"/tmp/slip.png": PICTURE, "C:/slip.json": b"[]"}),
    "bomb": pack_zip({"a.png": b"0" * 30_000_000, "a.jsonl": b"0" * 30_000_000}, zipfile.ZIP_DEFLATED),
    "archive in an archive": pack_zip({"a.zip": pack_zip({"a.png": PICTURE})}),
    "link": _link(),
    "script that begins as a picture": pack_zip({"a.png": SCRIPT, "b.svg": b"<svg onload='alert(1)'/>"}),
    "picture that begins as a zip": b"PK\x03\x04" + PICTURE,
    "zip behind a picture": PICTURE + pack_zip({"a.png": SCRIPT}),
    "cut zip": pack_zip({"a.png": PICTURE})[:-30],
    "script alone": SCRIPT,
    "entities": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><annotations><image name="&x;"/></annotations>',
    "depth": b"[" * 100_000,
    "zeros": b"\x00" * 5000,
    "nothing": b"",
}
Door = Callable[[World, Campaign, bytes], list[Any]]
"""Sends the bytes, and says what the site replied."""


def _items_archive(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    posted = {"stage": campaign.stage_id, "archive": ContentFile(data, "a.zip")}
    return [world.client(world.mara).post(page_of(campaign.stage), posted)]


def _items_table(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    posted = {"stage": campaign.stage_id, "manifest": ContentFile(data, "a.csv")}
    reply = world.client(world.mara).post(page_of(campaign.stage), posted)
    return [reply, *_follow(world, reply)]


def _follow(world: World, reply: Any) -> Iterator[Any]:
    """The preview behind an upload, looked at and confirmed."""
    if reply.status_code == 302 and "?" in reply["Location"]:
        client = world.client(world.mara)
        yield client.get(reply["Location"])
        yield client.post(reply["Location"], {"do": "sheet"})
        yield client.post(reply["Location"], {"do": "import", "column_0": "key"})


def _tool_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = f"/b/{world.benchmark.slug}/import/other-tool/"
    reply = world.client(world.mara).post(address, {"exports": ContentFile(data, "export.json")})
    return [reply, *_follow(world, reply)]


def _tool_pictures(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = f"/b/{world.benchmark.slug}/import/other-tool/"
    tasks = json.dumps([{"id": 1, "data": {"image": "a.png"}, "annotations": []}]).encode()
    posted = {"exports": ContentFile(tasks, "export.json"), "pictures": ContentFile(data, "a.zip")}
    reply = world.client(world.mara).post(address, posted)
    return [reply, *_follow(world, reply)]


def _answers_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = f"/b/{world.benchmark.slug}/campaigns/{campaign.pk}/answers/import/"
    return [world.client(world.mara).post(address, {"file": ContentFile(data, "ratings.csv"), "create_items": "on"})]


def _release_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    return [world.client(world.mara).post("/releases/import/", {"file": ContentFile(data, "r.zip")})]


@pytest.fixture(autouse=True)
def one_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person has a few tokens only, and these tests send many things."""
    clients: dict[int, Any] = {}
    make = program

    def same_client(user: Any, scope: str) -> Any:
        if user.pk not in clients:
            clients[user.pk] = make(user, scope)
        return clients[user.pk]

    monkeypatch.setattr(f"{__name__}.program", same_client)


def _rest(world: World, address: str, content: dict[str, Any]) -> list[Any]:
    client = program(world.mara, "write")
    preview = send(client, "POST", f"{address}:preview/", content)
    return [preview, send(client, "POST", f"{address}/", content, idempotency_key=str(Job.objects.count()))]


def _sent(world: World, data: bytes) -> str:
    return upload(program(world.mara, "write"), data or b" ")


def _rest_archive(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    return _rest(world, f"{B}imports", {"table": _sent(world, TEXT), "archive": _sent(world, data)})


def _rest_table(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    content = {"table": _sent(world, data), "mapping": {"key": "key"}}
    return _rest(world, f"{B}imports", content)


def _rest_tool(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    files = [{"upload": _sent(world, data), "name": "export.json"}]
    content = {"format": "label_studio", "stage": campaign.stage.key, "files": files, "campaign": campaign.pk}
    return _rest(world, f"{B}imports", content)


def _rest_answers(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    return _rest(world, f"{B}imports", {"kind": "answers", "campaign": campaign.pk, "table": _sent(world, data)})


def _rest_picture(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    name = hashlib.sha256(data).hexdigest()
    return [program(world.mara, "write").put(f"{B}images/{name}/", data, "image/png")]


def _rest_release(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    return _rest(world, f"/api/v1/teams/{world.team.slug}/release-imports", {"upload": _sent(world, data)})


def _rest_predictions(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    content = {"kind": "predictions", "campaign": campaign.pk, "table": _sent(world, data)}
    return _rest(world, f"{B}imports", {**content, "described": {"model": "m", "field": "relevance"}})


def _rest_people(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    CohortManager.objects.get_or_create(cohort=world.egypt, user=world.owner)
    client = program(world.owner, "admin")
    content = {"kind": "people", "cohort": world.egypt.label, "table": upload(client, data or b" ")}
    preview = send(client, "POST", f"{B}imports:preview/", content)
    return [preview, send(client, "POST", f"{B}imports/", content, idempotency_key=str(len(data)))]


def _post(world: World, address: str, content: dict[str, Any], user: Any = None) -> list[Any]:
    return [world.client(user or world.mara).post(address, content)]


def _raters_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    tasks = ContentFile(json.dumps([{"id": 1, "data": {"image": "a.png"}, "annotations": []}]).encode(), "export.json")
    address = f"/b/{world.benchmark.slug}/import/other-tool/"
    [reply] = _post(world, address, {"exports": tasks, "raters": ContentFile(data, "raters.csv")})
    return [reply, *_follow(world, reply)]


def _model_answers_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = reverse("predictions:answers_new", args=[world.benchmark.slug])
    first = _post(world, address, {"campaign": campaign.pk, "file": ContentFile(data, "log.jsonl")})
    match = re.search(r'name="sent" value="([^"]+)"', first[0].content.decode())
    more = {"sent": match[1], "do": "begin", "model": "m", "field": "relevance"} if match else {}
    boxes = ContentFile(b'[{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1]}]', "b.json")
    names = {"campaign": campaign.pk, "file": boxes, "names": ContentFile(data, "names.json")}
    return [*first, *(_post(world, address, more) if more else []), *_post(world, address, names)]


def _collection_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    content = {"name": f"c{Collection.objects.count()}", "version": "1", "file": ContentFile(data, "c.jsonl")}
    return _post(world, reverse("predictions:collection_new", args=[world.benchmark.slug]), content)


def _model_run_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    kept, _new = Collection.objects.get_or_create(benchmark=world.benchmark, key="kept", version="1", name="Kept")
    content = {"collection": kept.pk, "task": "retrieval", "query_set": "", "model": "m"}
    address = reverse("predictions:run_new", args=[world.benchmark.slug])
    return _post(world, address, {**content, "file": ContentFile(data, "r.csv")})


def _base(world: World) -> KnowledgeBase:
    return KnowledgeBase.objects.get_or_create(team=world.team, key="kb", name="KB", version="1")[0]


def _knowledge_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = reverse("predictions:knowledge_import", args=[world.team.slug, _base(world).pk])
    return _post(world, address, {"entries": ContentFile(data, "e.jsonl")})


def _knowledge_pictures(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    """The entries have nothing to them that could be kept, so only what the zip does shows."""
    address = reverse("predictions:knowledge_import", args=[world.team.slug, _base(world).pk])
    entries = ContentFile(b'{"id": "", "images": ["a.png"]}\n', "e.jsonl")
    return _post(world, address, {"entries": entries, "pictures": ContentFile(data, "p.zip")})


def _vectors_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    encoder, _new = Endpoint.objects.get_or_create(team=world.team, name="CLIP", kind=Endpoint.Kind.OPEN_CLIP)
    address = reverse("predictions:knowledge_index", args=[world.team.slug, _base(world).pk])
    content = {
        "endpoint": encoder.pk,
        "model": "ViT-B-32",
        "over": "images",
        "kind": "",
        "names": ContentFile(b"a", "n.txt"),
    }
    return _post(world, address, {**content, "vectors": ContentFile(data, "v.npy")})


def _links_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    content = {"stage": campaign.stage_id, "base": _base(world).pk, "method": "lemma_vt", "model": "m"}
    address = reverse("predictions:links_import", args=[world.benchmark.slug])
    return _post(world, address, {**content, "file": ContentFile(data, "l.jsonl")})


def _survey_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    Benchmark.objects.filter(pk=world.benchmark.pk).update(recipe="valueground")
    address = reverse("benchmarks:plugin_page", args=[world.benchmark.slug, "import"])
    codebook = b"question,text,code,label\nQ1,Is it so?,1,Yes\nQ1,Is it so?,2,No\n"
    replies = []
    for name in ("codebook", "metadata", "adjustment", "counts"):
        files = {"codebook": ContentFile(codebook, "c.csv"), name: ContentFile(data, f"{name}.json")}
        replies += _post(world, address, {"name": "Survey", "label_set": "countries", **files})
    return replies


def _label_set_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    content = {"label_set": "", "name": "Set", "kind": "cultures", "lines": "", "file": ContentFile(data, "l.csv")}
    return _post(world, reverse("benchmarks:target_new", args=[world.team.slug]), content, world.team_admin)


def _recipe_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = reverse("annotation:recipes", args=[world.team.slug])
    return _post(world, address, {"file": ContentFile(data, "r.json")})


def _invitations_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = reverse("people:invite_list", args=[world.egypt.pk])
    content = {"text": "", "do": "send", "key": str(len(data)), "file": ContentFile(data, "p.csv")}
    return _post(world, address, content, world.manager)


def _accounts_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    address = reverse("releases:tool_export", args=[world.benchmark.slug])
    content = {"stage": campaign.stage_id, "form": "label_studio", "emails": ContentFile(data, "a.csv")}
    return _post(world, address, content)


def _checksums_page(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    release = Release.objects.filter(benchmark=world.benchmark).first() or create(world)
    return _post(world, address_of(release, "check/"), {"sums": "", "file": ContentFile(data, "SHA256SUMS")})


def _sheet_picture(world: World, campaign: Campaign, data: bytes) -> list[Any]:
    place = campaign.cohorts.get(cohort=world.egypt)
    held = Assignment.objects.filter(rater__user=world.nour).first()
    held = held or assign(place, world.nour, Slot.objects.filter(cohort=place)[0])
    address = reverse("annotation:picture", args=[held.pk])
    return _post(world, address, {"file": ContentFile(data, "a.png")}, world.nour)


DOORS: list[Door] = [
    _items_archive, _items_table, _tool_page, _tool_pictures, _raters_page, _answers_page, _release_page,
    _model_answers_page, _collection_page, _model_run_page, _knowledge_page, _knowledge_pictures, _vectors_page,
    _links_page, _survey_page, _label_set_page, _recipe_page, _invitations_page, _accounts_page, _checksums_page,
    _sheet_picture, _rest_archive, _rest_table, _rest_tool, _rest_answers, _rest_predictions, _rest_people,
    _rest_picture, _rest_release,
]  # fmt: skip
PAGES_WITH_FILES = {
    "ImportForm", "ForeignFilesForm", "AnswersForm", "ReleaseFileForm", "AnswerFileForm", "CollectionForm", "RunForm",
    "EntriesForm", "IndexForm", "LinkFileForm", "SurveyForm", "LabelSetForm", "RecipeFileForm", "InviteListForm",
    "ToolExportForm", "ChecksumForm",
}  # fmt: skip
"""Forms that take a file; each has a door above. ToolExportForm makes its field when it is made."""


def test_every_form_that_takes_a_file_has_a_door() -> None:
    def subclasses(kind: type) -> set[type]:
        return {each for one in kind.__subclasses__() for each in (one, *subclasses(one))}

    get_resolver().url_patterns  # noqa: B018  (imports all pages)
    own = {one for one in subclasses(forms.BaseForm) if not one.__module__.startswith(("django", "tests"))}
    with_files = {
        one.__name__ for one in own
        if any(isinstance(field, forms.FileField) for field in getattr(one, "base_fields", {}).values())
    }  # fmt: skip
    assert with_files | {"ToolExportForm"} == PAGES_WITH_FILES


def finish_jobs() -> None:
    for job in Job.objects.filter(state__in=("queued", "waiting", "running")).order_by("pk"):
        runner.run(job.pk)
    for job in Job.objects.all():
        assert job.state in ("done", "failed"), (job.kind, job.state)
        assert job.state == "done" or job.error, "a person reads why"


def state() -> tuple[int, ...]:
    """How many there are of what an import makes. A survey brings the countries, which are ours."""
    models = (Item, Image, Annotation, Benchmark, Entry, Query, KnowledgeEntry, KnowledgeImage, SavedRecipe, Invitation,
              EntityLink, SurveyQuestion)  # fmt: skip
    return (*(model.objects.count() for model in models), LabelSet.objects.exclude(key="countries").count())


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__.strip("_"))
def test_hostile_files_are_refused_through_every_page_and_call(world: World, door: Door, tmp_path: Path) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    before, folders = state(), set(tmp_path.parent.iterdir())
    for name, data in HOSTILE.items():
        for reply in door(world, campaign, data):
            assert reply.status_code < 500, (name, reply.content[:300])
        finish_jobs()
        if door in (_rest_picture, _sheet_picture) and name == "zip behind a picture":
            before = state()  # it is a picture, and is only ever shown as one
        assert state() == before, name
    assert set(tmp_path.parent.iterdir()) == folders and not Path("/tmp/slip.png").exists()
    wrong = JobRow.objects.exclude(outcome__in=("error", "unchanged"))
    assert not wrong.exists(), list(wrong.values())


def _endless(line: socket.socket) -> None:
    line.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n")
    while True:
        line.sendall(PICTURE + b"\x00" * 65536)


ADDRESSES = {
    "http://127.0.0.1/a.png": "private", "http://169.254.169.254/a.png": "private", "http://[::1]/b.png": "private",
    "http://10.1.2.3/c.png": "private", "http://inside.example/d.png": "private",
    "http://moved.example/inside.png": "private", "http://round.example/loop.png": "redirects",
    "http://endless.example/e.png": "too_large",
}  # fmt: skip


def _page_addresses(world: World, stage: Stage) -> None:
    table = "\n".join(["file,key", *(f"{address},k{n}" for n, address in enumerate(ADDRESSES))])
    posted = {"stage": stage.pk, "manifest": ContentFile(table.encode(), "t.csv")}
    assert world.client(world.mara).post(page_of(stage), posted).status_code == 302


def _rest_addresses(world: World, stage: Stage) -> None:
    table = "\n".join(["file,key", *(f"{address},k{n}" for n, address in enumerate(ADDRESSES))])
    reply = _rest(world, f"{B}imports", {"table": _sent(world, table.encode()), "stage": stage.key})[-1]
    assert reply.status_code == 201, reply.content


def _tasks() -> bytes:
    return json.dumps(
        [{"id": n, "data": {"image": url}, "annotations": []} for n, url in enumerate(ADDRESSES)]
    ).encode()


def _tool_page_addresses(world: World, stage: Stage) -> None:
    client, page = world.client(world.mara), f"/b/{world.benchmark.slug}/import/other-tool/"
    address = client.post(page, {"exports": ContentFile(_tasks(), "export.json")})["Location"]
    posted = {"do": "import", "tool": "label_studio", "stage": stage.pk, "campaign": "", "column_0": "picture"}
    assert client.post(address, posted)["Location"].startswith("/jobs/")


def _rest_tool_addresses(world: World, stage: Stage) -> None:
    files = [{"upload": _sent(world, _tasks()), "name": "export.json"}]
    content = {"format": "label_studio", "stage": stage.key, "files": files}
    assert _rest(world, f"{B}imports", content)[-1].status_code == 201


@pytest.mark.parametrize(
    "door", [_page_addresses, _rest_addresses, _tool_page_addresses, _rest_tool_addresses],
    ids=lambda door: door.__name__.strip("_"),
)  # fmt: skip
def test_addresses_lead_nowhere_inside_and_bodies_end(
    world: World, door: Callable[[World, Stage], None], elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:  # fmt: skip
    settings.IMAGE_MAX_BYTES = 200_000
    elsewhere.names["inside.example"] = [["10.0.0.7"]]
    elsewhere.pages = {
        "/inside.png": redirect_to("http://192.168.0.1/a.png"), "/loop.png": redirect_to("http://round.example/loop.png"),
        "/e.png": _endless, "/a.png": http(PICTURE, "Content-Type: image/png"),
    }  # fmt: skip
    monkeypatch.setattr(safe_fetch, "resolve_name", elsewhere.resolve)
    monkeypatch.setattr(safe_fetch, "_connect", elsewhere.connect)
    door(world, world.stage)
    finish_jobs()
    assert {number for number, _port in elsewhere.connected} == {PUBLIC}, "nothing inside was connected to"
    reasons = list(JobRow.objects.filter(outcome="error").values_list("reason", flat=True))
    assert sorted(reasons) == sorted(ADDRESSES.values())
    assert not Item.objects.exists() and not Image.objects.exists()
