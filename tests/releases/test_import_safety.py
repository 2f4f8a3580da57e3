"""What an import refuses, what a kill leaves, and what a later version changes."""

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.utils import timezone

from annotation.models import Annotation, Assignment, Campaign, Rating
from annotation.services.queue.recount import find_differences
from benchmarks.models import Benchmark, Image, Item, RaterName
from jobs.models import Job
from jobs.services import runner
from people.models import Rater, User
from releases.imports.writer import KindWriter
from releases.models import ImportedRow, Release
from releases.services.imports import ImportRefused
from tests.evaluation.data import an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.import_steps import archive_of, release_of, run, start, start_later, table_files

pytestmark = pytest.mark.django_db
Change = Callable[[dict[str, bytes], str], None]
"""Changes the members of an archive; the text is its folder."""


@built_once
def release(world: World) -> Release:
    world.add_items(4)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "12", world.tarek: "13"})
    return release_of(world, world.benchmark.pk, pictures="names")


def members(data: bytes) -> tuple[dict[str, bytes], str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        names = {name: archive.read(name) for name in archive.namelist()}
    return names, next(iter(names)).partition("/")[0] + "/"


def packed(names: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in names.items():
            archive.writestr(name, content)
    return file.getvalue()


def _change_answers(names: dict[str, bytes], folder: str) -> None:
    names[f"{folder}site/annotations.jsonl"] = names[f"{folder}site/annotations.jsonl"].replace(b'"1"', b'"2"', 1)


def _lose_items(names: dict[str, bytes], folder: str) -> None:
    del names[f"{folder}site/items.jsonl"]


def _add_file(names: dict[str, bytes], folder: str) -> None:
    names[f"{folder}more.html"] = b"<script>"


def _change_manifest(names: dict[str, bytes], folder: str) -> None:
    names[f"{folder}MANIFEST.json"] = names[f"{folder}MANIFEST.json"].replace(b'"watermark": ', b'"watermark": 9')


def _leave_folder(names: dict[str, bytes], folder: str) -> None:
    names[f"{folder}../../etc/passwd"] = b"root"


BY_JOB: dict[str, tuple[Change, str]] = {
    "a changed file": (_change_answers, "site/annotations.jsonl"),
    "a missing file": (_lose_items, "site/items.jsonl"),
    "a file that is not listed": (_add_file, "more.html"),
    "a changed manifest": (_change_manifest, "MANIFEST.json"),
    "a path out of its folder": (_leave_folder, "etc/passwd"),
}


def test_an_archive_that_is_not_as_published_is_refused_by_the_name_of_the_file(world: World, release: Release) -> None:
    data, before = archive_of(release, world.owner), Benchmark.objects.count()
    for case, (change, name) in BY_JOB.items():
        names, folder = members(data)
        change(names, folder)
        job = run(start(packed(names), world.other_team, world.stranger, slug="copy", name="Copy"))
        assert job.state == "failed" and name in job.error, (case, job.error)
        assert Benchmark.objects.count() == before and not ImportedRow.objects.exists(), case


def _no_manifest(names: dict[str, bytes], folder: str) -> None:
    del names[f"{folder}MANIFEST.json"]


def _wrong_types(names: dict[str, bytes], folder: str) -> None:
    manifest = json.loads(names[f"{folder}MANIFEST.json"])
    manifest["files"][0]["bytes"] = "many"
    names[f"{folder}MANIFEST.json"] = json.dumps(manifest).encode()


def _huge_count(names: dict[str, bytes], folder: str) -> None:
    manifest = json.loads(names[f"{folder}MANIFEST.json"])
    manifest["watermark"] = 10**40
    names[f"{folder}MANIFEST.json"] = json.dumps(manifest).encode()


def _deep(names: dict[str, bytes], folder: str) -> None:
    names[f"{folder}MANIFEST.json"] = b"[" * 100_000


def _listed_outside(names: dict[str, bytes], folder: str) -> None:
    manifest = json.loads(names[f"{folder}MANIFEST.json"])
    manifest["files"][0]["path"] = "../../secret"
    names[f"{folder}MANIFEST.json"] = json.dumps(manifest).encode()


def _bomb(names: dict[str, bytes], folder: str) -> None:
    names[f"{folder}MANIFEST.json"] = b" " * (17 * 1024**2)


def test_a_hostile_archive_is_refused_before_there_is_a_job(world: World, release: Release) -> None:
    data = archive_of(release, world.owner)
    for change in (_no_manifest, _wrong_types, _huge_count, _deep, _listed_outside, _bomb):
        names, folder = members(data)
        change(names, folder)
        with pytest.raises(ImportRefused):
            start(packed(names), world.other_team, world.stranger, slug="copy", name="Copy")
    for other in (b"GIF89a" + data[6:2000], b"", b"PK\x05\x06" + bytes(18), data[:-40]):
        with pytest.raises(ImportRefused):
            start(other, world.other_team, world.stranger, slug="copy", name="Copy")
    assert not Job.objects.filter(kind="import_release").exists()


def resealed(names: dict[str, bytes], folder: str) -> bytes:
    """With checksums that fit, as somebody who means harm would write them."""
    manifest = json.loads(names[f"{folder}MANIFEST.json"])
    for row in manifest["files"]:
        content = names[folder + row["path"]]
        row["sha256"], row["bytes"] = hashlib.sha256(content).hexdigest(), len(content)
    names[f"{folder}MANIFEST.json"] = json.dumps(manifest).encode()
    del names[f"{folder}SHA256SUMS"]
    return packed(names)


def changed_rows(data: bytes, kind: str, change: Callable[[dict[str, Any]], Any]) -> bytes:
    names, folder = members(data)
    path = f"{folder}site/{kind}.jsonl"
    rows = [json.loads(line) for line in names[path].splitlines()]
    for row in rows:
        change(row)
    names[path] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return resealed(names, folder)


def test_rows_that_mean_harm_are_rejected_one_by_one(world: World, release: Release) -> None:
    data = archive_of(release, world.owner)
    cases: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
        "answers that the sheet does not take": ("annotations", lambda row: row.update(answers={"relevance": "99"})),
        "an answer that is no object": ("annotations", lambda row: row.update(answers=[1])),
        "a context that is a list": ("items", lambda row: row.update(context=[])),
        "a context that is nothing": ("items", lambda row: row.update(context=None)),
        "a text that is too long": ("items", lambda row: row.update(concept="x" * 500)),
        "a NUL": ("items", lambda row: row.update(text="a\x00b")),
        "a sheet that cannot be read": ("sheet_versions", lambda row: row.update(definition={"fields": "all"})),
        "a stage of no display": ("stages", lambda row: row.update(sheet=7)),
        "a state that there is not": ("campaigns", lambda row: row.update(state="<b>open")),
        "a time without a zone": ("annotations", lambda row: row.update(submitted_at="2027-01-01T00:00:00")),
        "a rater who is a list": ("raters", lambda row: row.update(rater=[["a"], {}])),
    }  # fmt: skip
    for number, (case, (kind, change)) in enumerate(cases.items()):
        job = run(
            start(changed_rows(data, kind, change), world.other_team, world.stranger, slug=f"c{number}", name="C")
        )
        assert job.state == "done", (case, job.error)
        rejected = job.rows.filter(outcome="error", name__startswith=f"{kind} ")
        assert rejected.exists() and all(rejected.values_list("message", flat=True)), case


def test_switches_of_a_site_do_not_come_with_a_release(world: World, release: Release) -> None:
    """What everybody may see, and whether programs may answer, is decided by whoever owns the copy."""
    Benchmark.objects.filter(pk=release.benchmark.pk).update(is_public=True, answers_by_api=True)
    data = archive_of(release, world.owner)
    row = json.loads(members(data)[0][members(data)[1] + "site/benchmark.jsonl"])
    assert not {"is_public", "answers_by_api"} & set(row)
    added = changed_rows(data, "benchmark", lambda row: row.update(is_public=True, answers_by_api=True))
    for number, archive in enumerate((data, added)):
        job = run(start(archive, world.other_team, world.stranger, slug=f"copy-{number}", name="Copy"))
        assert job.state == "done", job.error
        copy = Benchmark.objects.get(slug=f"copy-{number}")
        assert (copy.is_public, copy.answers_by_api) == (False, False)


def test_people_are_in_the_order_of_their_pseudonyms(world: World, release: Release) -> None:
    """In the order of accounts the n-th person would be the n-th member of the cohort, in every release."""
    names, folder = members(archive_of(release, world.owner))
    people = [json.loads(line)["rater"] for line in names[folder + "site/raters.jsonl"].splitlines()]
    assert len(people) > 1 and people == sorted(people, key=lambda name: hashlib.md5(name.encode()).hexdigest()[:15])


def test_a_picture_of_another_team_is_not_given_away_by_its_checksum(world: World, release: Release) -> None:
    """The release names the checksum and has no file: the team gets a row without one, under another checksum."""
    names, folder = members(archive_of(release, world.owner))
    names[f"{folder}site/picture_files.jsonl"] = b""
    job = run(start(resealed(names, folder), world.other_team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "done", job.error
    theirs = Image.objects.filter(team=world.other_team)
    assert theirs.count() == 1 == job.result["remarks"]["no_file"]
    assert not set(theirs.values_list("sha256", flat=True)) & set(
        Image.objects.filter(team=world.team).values_list("sha256", flat=True)
    )
    assert not any(default_storage.exists(image.original_name) for image in theirs)


class Killed(BaseException):
    """What a kill leaves behind: the transaction is rolled back, and nothing else is done."""


def test_an_import_that_is_killed_goes_on_and_nothing_is_twice(
    world: World, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = table_files(release.benchmark)
    Benchmark.objects.filter(pk=release.benchmark_id).update(slug="old")
    job = start(
        archive_of(release, world.owner), world.other_team, world.stranger, slug=release.benchmark.slug, name="Copy"
    )
    write, calls = KindWriter.write, {"n": 0}

    def dying(self: KindWriter, lines: Any) -> Any:
        calls["n"] += 1
        rows = write(self, lines)
        if calls["n"] % 3 == 0:
            raise Killed
        return rows

    monkeypatch.setattr(KindWriter, "write", dying)
    kills = 0
    while True:
        try:
            runner.run(job.pk)
            break
        except Killed:
            kills += 1
            Job.objects.filter(pk=job.pk).update(state="queued", lease_until=None)
    job.refresh_from_db()
    assert job.state == "done" and kills > 4, job.error
    assert job.done == job.total
    benchmark = Benchmark.objects.get(slug=release.benchmark.slug)
    for model, path in ((Item, "stage__benchmark"), (Annotation, "assignment__campaign__stage__benchmark")):
        counts = [model.objects.filter(**{path: one}).count() for one in (release.benchmark, benchmark)]
        assert counts[0] == counts[1] > 0
    assert table_files(benchmark) == before
    assert find_differences() == []
    assert not default_storage.exists(job.params["upload"])


def test_people_keep_their_pseudonyms_and_get_no_account(world: World, release: Release) -> None:
    users = User.objects.count()
    job = run(start(archive_of(release, world.owner), world.other_team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "done", job.error
    benchmark = Benchmark.objects.get(slug="copy")
    names = RaterName.objects.filter(benchmark=benchmark)
    answered = Annotation.objects.filter(assignment__campaign__stage__benchmark=release.benchmark)
    assert User.objects.count() == users
    assert {row.name for row in names} == {
        release.benchmark.pseudonym(pk) for pk in answered.values_list("rater", flat=True)
    }
    assert all(benchmark.pseudonym(row.rater_id) == row.name for row in names)
    assert not Rater.objects.filter(pk__in=names.values("rater")).exclude(user=None).exists()
    assert Campaign.objects.get(stage__benchmark=benchmark).state == "paused"


def test_a_later_version_adds_what_is_new_and_withdraws_what_is_gone(world: World, release: Release) -> None:
    data, team = archive_of(release, world.owner), world.other_team
    job = run(start(data, team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "done", job.error
    copy = Benchmark.objects.get(slug="copy")
    again = run(start_later(copy, world.stranger, data))
    assert (again.state, again.result["counts"]) == ("done", {"unchanged": again.result["counts"]["unchanged"]})
    gone = Annotation.objects.filter(assignment__campaign__stage__benchmark=release.benchmark).order_by("pk").first()
    assert gone is not None
    Annotation.objects.filter(pk=gone.pk).update(live=False, counted=False, uncounted_because="undone")
    Rating.objects.filter(annotation=gone).update(live=False, counted=False)
    Assignment.objects.filter(pk=gone.assignment_id).update(state="released")
    Item.objects.filter(pk=world.items[3].pk).update(text="Another text", withdrawn_at=timezone.now())
    world.add_items(1)
    later = release_of(world, world.benchmark.pk, version="1.1.0", pictures="names")
    job = run(start_later(copy, world.stranger, archive_of(later, world.owner)))
    assert job.state == "done", job.error
    rows = {(row.name.partition(" ")[0], row.outcome, row.reason) for row in job.rows.all()}
    assert ("items", "created", "") in rows and ("items", "updated", "") in rows
    assert ("annotations", "updated", "withdrawn") in rows
    items = Item.objects.filter(stage__benchmark=copy)
    assert items.count() == 5 and items.get(text="Another text").withdrawn_at is not None
    answers = Annotation.objects.filter(assignment__campaign__stage__benchmark=copy)
    assert answers.filter(live=False, uncounted_because="withdrawn", counted=False).count() == 1
    assert not Rating.objects.filter(annotation__in=answers.filter(live=False), live=True).exists()


def test_a_release_of_another_benchmark_does_not_go_over_it(world: World, release: Release) -> None:
    with pytest.raises(ImportRefused):
        start_later(world.benchmark, world.owner, archive_of(release, world.owner))
