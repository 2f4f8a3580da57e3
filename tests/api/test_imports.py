"""Imports by REST: uploads in parts, pictures by their hash, tables with and without a mapping, once per key."""

import hashlib
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.test.client import BOUNDARY, encode_multipart
from django.utils import timezone

from annotation.models import Campaign
from benchmarks.models import Image
from benchmarks.services.images import store_image
from jobs.models import Job
from jobs.services import runner, upload_parts, uploads
from tests import pictures as draw
from tests.api.clients import program
from tests.api.test_protocol import problem, send
from tests.archives import pack_zip
from tests.evaluation.data import an_open_campaign
from tests.importing import draw_pictures
from tests.personas import World

B = "/api/v1/benchmarks/sea-and-river/"
UPLOADS = "/api/v1/uploads/"
TABLES = Path(__file__).parents[1] / "data" / "tables"
NAMES = [f"pic-{number:02}.png" for number in range(1, 13)]
MAPPING = {"file": "img_file", "key": "Image ID", "rater": "annotator", "context": ["País"]}


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }


def part(client: Client, key: str, offset: int, data: bytes) -> Any:
    headers = {"upload-offset": str(offset)}
    return client.generic("PATCH", f"{UPLOADS}{key}/", data, "application/offset+octet-stream", headers=headers)


def upload(client: Client, data: bytes) -> str:
    reply = send(client, "POST", UPLOADS, {"size": len(data)})
    assert reply.status_code == 201, reply.content
    key: str = reply.json()["upload"]
    for offset in range(0, len(data), upload_parts.PART_BYTES):
        reply = part(client, key, offset, data[offset : offset + upload_parts.PART_BYTES])
        assert reply.status_code == 200, reply.content
    assert reply.json()["offset"] == len(data)
    return key


def start(client: Client, content: Any, key: str = "k") -> Any:
    return send(client, "POST", f"{B}imports/", content, idempotency_key=key)


def finished(reply: Any) -> Job:
    assert reply.status_code == 201, reply.content
    runner.run(reply.json()["id"])
    job: Job = Job.objects.get(pk=reply.json()["id"])
    assert job.state == "done", job.error
    return job


def test_an_upload_goes_on_where_the_site_has_received_so_far(world: World) -> None:
    client, data = program(world.mara, "write"), bytes(range(256)) * 6000
    key = send(client, "POST", UPLOADS, {"size": len(data)}).json()["upload"]
    assert part(client, key, 0, data[:1000])["Upload-Offset"] == "1000"
    lost = part(client, key, 0, data[:1000])  # sent again, since the reply was lost
    assert problem(lost, 409, "wrong-offset") and lost["Upload-Offset"] == "1000"
    problem(part(client, key, 5000, b"gap"), 409, "wrong-offset")
    assert client.get(f"{UPLOADS}{key}/").json()["offset"] == 1000
    assert part(client, key, 1000, data[1000 : 1000 + 1024**2]).status_code == 200
    problem(part(client, key, 1000 + 1024**2, b"x" * (1024**2 + 1)), 422, "refused")
    problem(part(client, key, 1000 + 1024**2, data[1000 + 1024**2 :] + b"x"), 422, "refused")
    assert part(client, key, 1000 + 1024**2, data[1000 + 1024**2 :]).json()["offset"] == len(data)
    stored = upload_parts.find(world.mara.pk, key)
    assert stored is not None and stored.is_whole
    with Path(uploads.default_storage.path(stored.stored)).open("rb") as file:
        assert file.read() == data


def test_an_upload_is_its_persons_alone_and_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = program(world.mara, "write")
    key = upload(client, b"abc")
    for user in (world.owner, world.stranger, world.rival):
        other = program(user, "write")
        assert other.get(f"{UPLOADS}{key}/").status_code == 404
        assert part(other, key, 0, b"x").status_code == other.delete(f"{UPLOADS}{key}/").status_code == 404
    problem(send(program(world.nour, "write"), "POST", UPLOADS, {"size": 1}), 403, "forbidden")
    problem(send(program(world.mara, "read"), "POST", UPLOADS, {"size": 1}), 403, "insufficient-scope")
    problem(send(client, "POST", UPLOADS, {"size": 2**50}), 422, "refused")
    monkeypatch.setattr(upload_parts, "MOST_OPEN", 1)
    problem(send(client, "POST", UPLOADS, {"size": 1}), 409, "conflict")
    assert client.delete(f"{UPLOADS}{key}/").status_code == 204
    assert send(client, "POST", UPLOADS, {"size": 1}).status_code == 201


def test_uploads_of_imports_that_wait_for_a_worker_are_not_open_ones(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_parts, "MOST_OPEN", 2)
    client, table = program(world.mara, "write"), (TABLES / "comma-utf8.csv").read_bytes()
    for number in range(3):
        used = {"table": upload(client, table), "archive": upload(client, pack_zip(draw_pictures(NAMES)))}
        assert start(client, {**used, "mapping": MAPPING}, f"k{number}").status_code == 201
    upload(client, b"unused")
    upload(client, b"unused, too")
    problem(send(client, "POST", UPLOADS, {"size": 1}), 409, "conflict")


def test_what_nothing_used_is_deleted_after_a_day_and_what_a_job_needs_is_kept(world: World) -> None:
    client = program(world.mara, "write")
    unused, used = upload(client, b"unused"), upload(client, (TABLES / "comma-utf8.csv").read_bytes())
    archive = upload(client, pack_zip(draw_pictures(NAMES)))
    assert start(client, {"table": used, "archive": archive, "mapping": MAPPING}).status_code == 201
    assert uploads.sweep(timezone.now() + timedelta(hours=23)) == 0
    assert uploads.sweep(timezone.now() + timedelta(hours=25)) == 1
    assert client.get(f"{UPLOADS}{unused}/").status_code == 404
    assert client.get(f"{UPLOADS}{used}/").status_code == 200


def test_pictures_are_sent_once_by_their_hash(world: World) -> None:
    client = program(world.mara, "write")
    data = draw.png(60, 40, seed=3)
    sha = hashlib.sha256(data).hexdigest()
    asked = {"sha256": [sha, "0" * 64]}
    assert send(client, "POST", f"{B}images:missing/", asked).json() == asked
    reply = client.put(f"{B}images/{sha}/", data, "image/png")
    assert (reply.status_code, reply.json()["width"]) == (200, 60), reply.content
    assert client.put(f"{B}images/{sha}/", data, "image/png").status_code == 200
    assert send(client, "POST", f"{B}images:missing/", asked).json() == {"sha256": ["0" * 64]}
    assert Image.objects.filter(team=world.team, sha256=sha).count() == 1
    uploads.default_storage.delete(Image.objects.get(sha256=sha).original_name)
    assert send(client, "POST", f"{B}images:missing/", asked).json() == asked, "its file is lost"
    problem(client.put(f"{B}images/{'0' * 64}/", data, "image/png"), 422, "refused")
    fake = b"<svg onload='x()'/>"
    problem(client.put(f"{B}images/{hashlib.sha256(fake).hexdigest()}/", fake, "image/png"), 422, "refused")
    for user in (world.stranger, world.rival, world.reviewer):
        other = program(user, "write")
        assert other.put(f"{B}images/{sha}/", data, "image/png").status_code == 404
        assert send(other, "POST", f"{B}images:missing/", asked).status_code == 404


def test_a_table_with_a_mapping_and_pictures_by_hash_gives_the_items(world: World) -> None:
    client = program(world.mara, "write")
    listed = {}
    for name, data in draw_pictures(NAMES[:11]).items():
        listed[name] = hashlib.sha256(data).hexdigest()
        assert client.put(f"{B}images/{listed[name]}/", data, "image/png").status_code == 200
    table = upload(client, (TABLES / "semicolon-utf8-bom.csv").read_bytes())
    preview = send(client, "POST", f"{B}imports:preview/", {"table": table}).json()
    assert (preview["separator"], preview["needs_mapping"]) == (";", True)
    assert preview["mapping"]["file"] == "img_file" and preview["mapping"]["answers"]["relevance"] == "relevance"
    content = {"table": table, "pictures": upload(client, json.dumps(listed).encode()), "mapping": MAPPING}
    job = finished(start(client, content))
    assert job.result["counts"] == {"created": 11, "error": 1}
    assert job.rows.get(outcome="error").reason == "missing"
    item = world.stage.items.get(key="0001")
    assert item.context == {"País": "Côte d\u2019Ivoire"} and item.images.get().file_name == "pic-01.png"
    [line] = client.get(f"{B}imports/").json()["results"]
    assert line["id"] == job.pk


def test_a_hash_of_another_teams_picture_gives_no_item(world: World) -> None:
    data = draw.png(60, 40, seed=3)
    theirs, _new = store_image(world.other_team, data, name="a.png")
    client = program(world.mara, "write")
    assert send(client, "POST", f"{B}images:missing/", {"sha256": [theirs.sha256]}).json() == {
        "sha256": [theirs.sha256]
    }
    listed, rows = json.dumps({"a.png": theirs.sha256}).encode(), b"file,key\na.png,one\nfolder/a.png,two\n"
    job = finished(start(client, {"table": upload(client, rows), "pictures": upload(client, listed)}))
    assert list(job.rows.values_list("outcome", "reason")) == [("error", "missing")] * 2
    assert not Image.objects.filter(team=world.team).exists() and not world.stage.items.exists()
    assert client.put(f"{B}images/{theirs.sha256}/", data, "image/png").status_code == 200
    job = finished(start(client, {"table": upload(client, rows), "pictures": upload(client, listed)}, "again"))
    assert job.result["counts"] == {"created": 2}


def test_ten_equal_requests_with_one_key_make_one_job(world: World) -> None:
    client = program(world.mara, "write")
    content = {"archive": upload(client, pack_zip(draw_pictures(NAMES[:2])))}
    ids = {start(client, content).json()["id"] for _attempt in range(10)}
    assert len(ids) == 1 == Job.objects.count()
    problem(send(client, "POST", f"{B}imports/", content), 400, "idempotency-key-required")


@pytest.mark.parametrize(
    ("content", "pointer"),
    [
        ({"mapping": None}, "/mapping"),
        ({"mapping": {"file": "no such column"}}, "/mapping/file"),
        ({"mapping": {"colour": "img_file"}}, "/mapping/colour"),
        ({"stage": "none"}, "/stage"),
        ({"table": "1-2-3"}, "/table"),
        ({"archive": None}, "/archive"),
        ({"licence": "x" * 121}, "/licence"),
    ],
)
def test_what_is_refused_is_named_and_starts_nothing(world: World, content: Any, pointer: str) -> None:
    client = program(world.mara, "write")
    whole = {
        "table": upload(client, (TABLES / "comma-utf8.csv").read_bytes()),
        "archive": upload(client, pack_zip(draw_pictures(NAMES))), "mapping": MAPPING,
    } | content  # fmt: skip
    reply = start(client, {name: value for name, value in whole.items() if value is not None})
    assert reply.status_code in (400, 422), reply.content
    assert [error["pointer"] for error in reply.json()["errors"]] == [pointer]
    assert not Job.objects.exists()


def test_a_table_of_web_addresses_needs_no_zip(world: World) -> None:
    client = program(world.mara, "write")
    table = upload(client, b"file,key,concept\nhttps://pictures.example/a.png,a,tea\n")
    assert start(client, {"table": table}).status_code == 201
    other = {"table": upload(client, b"file,key,concept\na.png,a,tea\n")}
    assert problem(start(client, other, "other"), 422, "refused")["errors"][0]["pointer"] == "/archive"


def test_an_encoding_that_the_file_does_not_say_has_to_be_sent(world: World) -> None:
    client = program(world.mara, "write")
    table = upload(client, (TABLES / "semicolon-cp1252.csv").read_bytes())
    content = {"table": table, "archive": upload(client, pack_zip(draw_pictures(NAMES))), "mapping": MAPPING}
    refused = start(client, content)
    assert problem(refused, 422, "refused")["errors"][0]["pointer"] == "/encoding"
    assert "cp1252" in refused.json()["detail"]
    assert finished(start(client, {**content, "encoding": "cp1252"})).result["counts"] == {"created": 12}


def test_answers_are_imported_and_taken_back(world: World) -> None:
    world.add_items(2)
    campaign: Campaign = an_open_campaign(world)
    client = program(world.mara, "write")
    rows = "item,cohort,rater,field,code\nitem-00000,Egypt,x,relevance,3\nitem-00001,Egypt,x,relevance,4\n"
    content = {"kind": "answers", "campaign": campaign.pk, "table": upload(client, rows.encode())}
    job = finished(start(client, content))
    assert job.result["counts"] == {"created": 2}, [row.message for row in job.rows.all()]
    for user in (world.stranger, world.rival):
        assert send(program(user, "write"), "POST", f"{B}imports/{job.pk}/withdraw/").status_code == 404
    assert send(client, "POST", f"{B}imports/{job.pk}/withdraw/").status_code == 200
    assert program(world.mara, "export").get(f"{B}annotations/count/").json() == {"count": 0}
    problem(start(client, {**content, "campaign": 10**6}, "other"), 404, "not-found")


def test_only_those_who_import_on_the_page_may(world: World) -> None:
    content = {"archive": upload(program(world.mara, "write"), pack_zip(draw_pictures(NAMES[:1])))}
    for user in (world.stranger, world.rival, world.reviewer, world.nour, world.team_admin):
        problem(start(program(user, "write"), content), 404, "not-found")
        problem(program(user, "write").get(f"{B}imports/"), 404, "not-found")
    refused = start(program(world.owner, "write"), content)
    assert problem(refused, 422, "refused")["errors"][0]["pointer"] == "/archive", "another's upload"
    problem(start(program(world.mara, "read"), content), 403, "insufficient-scope")


# ---- files that come with the import ---------------------------------------------------------------------------------


def in_parts(client: Client, content: Any = None, key: str = "p", boundary: str = BOUNDARY, **files: Any) -> Any:
    posted = {**({} if content is None else {"request": json.dumps(content)}), **files}
    headers = {"idempotency-key": key} if key else {}
    body = encode_multipart(boundary, posted)
    return client.generic("POST", f"{B}imports/", body, f"multipart/form-data; boundary={boundary}", headers=headers)


def table_file(name: str = "comma-utf8.csv") -> ContentFile:  # type: ignore[type-arg]
    return ContentFile((TABLES / name).read_bytes(), name)


def archive_file(data: bytes = b"") -> ContentFile:  # type: ignore[type-arg]
    return ContentFile(data or pack_zip(draw_pictures(NAMES)), "pictures.zip")


def test_an_import_in_parts_takes_effect_once(world: World) -> None:
    client, pictures = program(world.mara, "write"), pack_zip(draw_pictures(NAMES))
    first = in_parts(client, {"mapping": MAPPING}, table=table_file(), archive=archive_file(pictures))
    job = finished(first)
    assert (job.state, job.result["counts"], job.title) == ("done", {"created": 12}, "Import of comma-utf8.csv")
    again = in_parts(client, {"mapping": MAPPING}, boundary="other", table=table_file(),
                     archive=archive_file(pictures))  # fmt: skip
    assert (again.status_code, again["Idempotency-Replayed"]) == (201, "true"), "another boundary, the same content"
    assert Job.objects.filter(kind="import_items").count() == 1
    changed = in_parts(client, {"mapping": MAPPING}, table=table_file("lines.jsonl"), archive=archive_file())
    problem(changed, 422, "idempotency-key-reused")
    problem(
        in_parts(client, {"mapping": MAPPING}, key="", table=table_file(), archive=archive_file(pictures)),
        400,
        "idempotency-key-required",
    )
    assert upload_parts._keys_of(world.mara.pk) == [], "what was not used is deleted"


def test_files_of_another_tool_come_in_parts(world: World) -> None:
    lines = b'{"id": 1, "text": "Tea", "label": ["yes"], "Comments": []}\n'
    content = {"format": "doccano", "stage": world.stage.key}
    reply = in_parts(program(world.mara, "write"), content, files=[ContentFile(lines, "ann1.jsonl")])
    assert reply.status_code == 201, reply.content


def test_wrong_parts_are_named_and_leave_nothing(world: World, settings: Any) -> None:
    client = program(world.mara, "write")
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        ({"mapping": MAPPING}, {"picture": archive_file()}, "/picture"),
        ({}, {"table": [table_file(), table_file()]}, "/table"),
        ({}, {"table": "text"}, "/table"),
        ({"table": "x"}, {"table": table_file()}, "/request"),
        ([], {"table": table_file()}, "/request"),
        ({"colour": 1}, {"table": table_file()}, "/colour"),
    ]
    for content, files, pointer in wrong:
        errors = problem(in_parts(client, content, **files), 400, "invalid-content")["errors"]
        assert pointer in [error["pointer"] for error in errors], (content, errors)
    for body in (b"", b"--x", b'--x\r\nContent-Disposition: form-data; name="request"\r\n\r\n{\r\n--x--\r\n'):
        reply = client.generic("POST", f"{B}imports/", body, "multipart/form-data; boundary=x",
                               headers={"idempotency-key": "w"})  # fmt: skip
        assert reply.status_code in (400, 422) and reply["Content-Type"] == "application/problem+json", body
    problem(in_parts(client, {"stage": "nowhere"}, table=table_file()), 422, "refused")
    assert upload_parts._keys_of(world.mara.pk) == [] and not Job.objects.filter(kind="import_items").exists()
    for user in (world.nour, world.stranger, world.rival):
        problem(in_parts(program(user, "write"), {}, table=table_file()), 404, "not-found")
    settings.BODY_MAX_BYTES, settings.IMPORT_MAX_BYTES = 100_000, 300_000
    weak = in_parts(program(world.nour, "write"), {}, table=ContentFile(b"x" * 200_000, "t.csv"))
    problem(weak, 413, "content-too-large")  # of no team
    assert in_parts(client, {"stage": "nowhere"}, table=ContentFile(b"x" * 200_000, "t.csv")).status_code == 422
