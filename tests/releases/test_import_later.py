"""A later version of a release over the benchmark of an earlier one, and rows that a release must not bring."""

import io
import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Annotation, Rating, Resolution, Tally
from annotation.queries.answers import watermark
from annotation.services.answers.annotation_writing import retract
from benchmarks.models import Benchmark, Label, LabelSet
from jobs.models import Job
from jobs.services.job_context import JobContext
from releases.imports import answers, pictures
from releases.imports.files import ReleaseZip
from releases.models import Release
from releases.services import importing
from releases.services.imports import ImportRefused
from tests.evaluation.data import NOON, an_open_campaign, of_condition, table
from tests.module_world import built_once
from tests.personas import World
from tests.releases.import_steps import archive_of, release_of, run, start, start_later
from tests.releases.test_import_safety import changed_rows, members, resealed

pytestmark = pytest.mark.django_db


@built_once
def release(world: World) -> Release:
    """With an answer that settles a question."""
    world.add_items(4)
    campaign = an_open_campaign(world)
    table(campaign, world.egypt, of_condition(world.items, "natural"), {world.nour: "12", world.tarek: "13"})
    _resolve(Annotation.objects.earliest("pk"), 1)
    return release_of(world, world.benchmark.pk, pictures="names")


def _imported(world: World, data: bytes) -> Benchmark:
    job = run(start(data, world.other_team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "done" and not job.rows.filter(outcome="error").exists(), job.error
    return Benchmark.objects.get(slug="copy")


def _resolve(annotation: Annotation, version: int) -> None:
    Resolution.objects.create(
        unit=annotation.assignment.unit, field="relevance", code="1", answer="1", annotation=annotation,
        reason="Clear.", by=annotation.rater, at=NOON, version=version,
    )  # fmt: skip


def _revise(annotation: Annotation, code: str) -> None:
    """As its author does; the question is settled anew."""
    rating = annotation.ratings.get()
    retract(annotation.pk, "superseded")
    Resolution.objects.filter(annotation=annotation).update(live=False, ended_at=NOON)
    annotation.pk, annotation._state.adding = None, True  # type: ignore[assignment]
    annotation.version, annotation.client_key, annotation.answers = 2, "again", {"relevance": code}
    annotation.save()
    rating.pk, rating._state.adding = None, True  # type: ignore[assignment]
    rating.annotation, rating.code, rating.value = annotation, code, float(code)
    rating.save()
    _resolve(annotation, 2)


@pytest.mark.parametrize("versions", [False, True])
def test_a_revised_answer_takes_the_place_of_the_earlier_one(world: World, release: Release, versions: bool) -> None:
    copy = _imported(world, archive_of(release, world.owner))
    _revise(Annotation.objects.filter(assignment__campaign__stage__benchmark=world.benchmark).earliest("pk"), "5")
    later = release_of(world, world.benchmark.pk, version="1.1.0", pictures="names", versions=versions)
    job = run(start_later(copy, world.stranger, archive_of(later, world.owner)))
    assert job.state == "done", job.error
    assert not job.rows.filter(outcome="error").exists(), list(job.rows.values_list("name", "message"))
    rows = Annotation.objects.filter(assignment__campaign__stage__benchmark=copy, assignment__annotations__version=2)
    old, new = rows.order_by("version")
    assert (old.live, old.counted, old.uncounted_because) == (False, False, "superseded")
    assert (new.live, new.counted, new.answers) == (True, True, {"relevance": "5"})
    ratings = Rating.objects.filter(annotation__in=[old, new]).order_by("annotation__version")
    assert list(ratings.values_list("code", "live", "counted")) == [("1", False, False), ("5", True, True)]
    resolutions = Resolution.objects.filter(unit=new.assignment.unit)
    assert [row.version for row in resolutions.filter(live=True)] == [2]


def test_numbers_from_before_a_later_version_are_computed_again(world: World, release: Release) -> None:
    """The watermark is ahead of the release's, since people here have answered as well."""
    copy = _imported(world, archive_of(release, world.owner))
    here = Tally.objects.filter(cohort__campaign__stage__benchmark=copy).order_by("pk")[:1]
    Tally.objects.filter(pk__in=list(here.values_list("pk", flat=True))).update(changes=1000)
    before = watermark(copy)
    _revise(Annotation.objects.filter(assignment__campaign__stage__benchmark=world.benchmark).earliest("pk"), "5")
    later = archive_of(release_of(world, world.benchmark.pk, version="1.1.0", pictures="names"), world.owner)
    assert run(start_later(copy, world.stranger, later)).state == "done"
    assert watermark(copy) > before


def test_a_rejected_row_of_a_later_version_withdraws_nothing(world: World, release: Release) -> None:
    data = archive_of(release, world.owner)
    copy = _imported(world, data)
    of_copy = Annotation.objects.filter(assignment__campaign__stage__benchmark=copy, live=True, counted=True)
    before = of_copy.count()
    bad = changed_rows(data, "annotations", lambda row: row.update(answers={"relevance": "99"}))
    job = run(start_later(copy, world.stranger, bad))
    assert job.state == "done", job.error
    assert job.rows.filter(outcome="error", name__startswith="annotations ").count() == before == of_copy.count() > 0
    assert "withdrawn" not in job.result["remarks"]


def test_an_answer_that_the_database_refuses_leaves_the_earlier_one_in_its_place(
    world: World, release: Release
) -> None:
    """Two live answers of one assignment with one version number: the second is refused."""
    data = archive_of(release, world.owner)
    copy = _imported(world, data)
    of_copy = Annotation.objects.filter(assignment__campaign__stage__benchmark=copy)
    before = list(of_copy.order_by("pk").values_list("pk", "live", "counted"))
    names, folder = members(data)
    path = f"{folder}site/annotations.jsonl"
    second = json.loads(names[path].splitlines()[0]) | {"number": 10**9}
    names[path] += json.dumps(second).encode() + b"\n"
    job = run(start_later(copy, world.stranger, resealed(names, folder)))
    assert job.state == "done", job.error
    refused = job.rows.get(outcome="error")
    assert (refused.name, refused.reason) == (f"annotations {10**9}", "refused")
    assert list(of_copy.order_by("pk").values_list("pk", "live", "counted")) == before
    assert Rating.objects.filter(annotation__in=of_copy, live=True, counted=True).count() == len(before)


def test_a_row_that_is_no_json_withdraws_nothing_of_its_kind(world: World, release: Release) -> None:
    data = archive_of(release, world.owner)
    copy = _imported(world, data)
    of_copy = Annotation.objects.filter(assignment__campaign__stage__benchmark=copy, live=True, counted=True)
    before = of_copy.count()
    names, folder = members(data)
    path = f"{folder}site/annotations.jsonl"
    first, *others = names[path].splitlines(keepends=True)
    names[path] = b"".join([first[:-3] + b"\n", *others])
    job = run(start_later(copy, world.stranger, resealed(names, folder)))
    assert job.state == "done", job.error
    assert job.rows.filter(outcome="error", reason="not_json").count() == 1
    assert of_copy.count() == before


@pytest.mark.parametrize(
    "values",
    [{"card": {"x": 1}}, {"card": []}, {"authors": ["Ada"]}, {"authors": {}}, {"authors": [{"name": 1}]}],
    ids=str,
)
def test_texts_of_a_benchmark_have_the_shape_that_pages_read(
    world: World, release: Release, values: dict[str, Any]
) -> None:
    data = changed_rows(archive_of(release, world.owner), "benchmark", lambda row: row.update(values))
    job = run(start(data, world.other_team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "failed" and next(iter(values)) in job.error
    assert not Benchmark.objects.filter(slug="copy").exists()


def test_a_row_that_cannot_be_read_does_not_stop_the_import(
    world: World, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_values: Any) -> Any:
        raise OverflowError

    monkeypatch.setattr(answers, "build_shown", fail)
    monkeypatch.setattr(pictures.ReleasedPictures, "read", fail)
    job = run(start(archive_of(release, world.owner), world.other_team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "done", job.error
    damaged = {name.partition(" ")[0] for name in job.rows.filter(reason="damaged").values_list("name", flat=True)}
    assert "images" in damaged
    assert not Annotation.objects.filter(assignment__campaign__stage__benchmark__slug="copy").exists()


def test_the_lease_is_kept_while_files_are_read(
    world: World, release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    beats: list[int] = []
    monkeypatch.setattr(importing, "BEAT_SECONDS", 0.0)
    monkeypatch.setattr(JobContext, "beat", lambda work: beats.append(work.job.pk))
    data = archive_of(release, world.owner)
    job = run(start(data, world.other_team, world.stranger, slug="copy", name="Copy"))
    assert job.state == "done" and len(beats) > len(ReleaseZip(io.BytesIO(data)).manifest.files)


def test_the_lease_is_kept_while_pictures_are_copied(world: World, release: Release) -> None:
    names, folder = members(archive_of(release, world.owner))
    names[f"{folder}images.zip"] = _empty_zip()
    manifest = json.loads(names[f"{folder}MANIFEST.json"])
    manifest["files"].append({"path": "images.zip", "sha256": "0" * 64, "bytes": 0, "rows": None})
    names[f"{folder}MANIFEST.json"] = json.dumps(manifest).encode()
    beats: list[int] = []
    with ReleaseZip(io.BytesIO(resealed(names, folder))).pictures(lambda: beats.append(1)) as archives:
        assert len(archives) == 1 and beats


def _empty_zip() -> bytes:
    return b"PK\x05\x06" + bytes(18)


def test_imports_into_one_benchmark_start_one_after_the_other(world: World, release: Release) -> None:
    data = archive_of(release, world.owner)
    copy = _imported(world, data)
    with CaptureQueriesContext(connection) as captured:
        start_later(copy, world.stranger, data)
    sent = [query["sql"] for query in captured]
    lock = next(n for n, sql in enumerate(sent) if "benchmarks_benchmark" in sql and "FOR NO KEY UPDATE" in sql)
    check = next(n for n, sql in enumerate(sent) if "releases_releaseimport" in sql and '"state" IN' in sql)
    assert lock < check
    assert Job.objects.filter(kind="import_release", state__in=Job.LIVE).count() == 1


def _with_labels(data: bytes, *keys: str) -> bytes:
    names, folder = members(data)
    label_set = {"key": "faiths", "version": 1, "name": "Faiths", "kind": "religions", "source": "", "licence": "",
                 "digest": "d" * 64}  # fmt: skip
    labels = [
        {"label_set": ["faiths", 1], "key": key, "position": n, "text": key, "names": {}, "aliases": [], "about": {}}
        for n, key in enumerate(keys)
    ]
    manifest = json.loads(names[f"{folder}MANIFEST.json"])
    for kind, rows in (("label_sets", [label_set]), ("labels", labels)):
        path = f"site/{kind}.jsonl"
        names[folder + path] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        if path not in {file["path"] for file in manifest["files"]}:
            manifest["files"].append({"path": path, "sha256": "0" * 64, "bytes": 0, "rows": len(rows)})
    names[f"{folder}MANIFEST.json"] = json.dumps(manifest).encode()
    return resealed(names, folder)


def test_a_release_adds_no_label_to_a_label_set_that_the_team_has(world: World, release: Release) -> None:
    data = archive_of(release, world.owner)
    copy = _imported(world, _with_labels(data, "a", "b"))
    label_set = LabelSet.objects.get(team=world.other_team, key="faiths")
    assert [label.key for label in label_set.labels.all()] == ["a", "b"]
    more = _with_labels(data, "a", "b", "c")
    jobs = [start_later(copy, world.stranger, more)]
    run(jobs[0])
    jobs.append(run(start(more, world.other_team, world.stranger, slug="more", name="More")))
    for job in jobs:
        job.refresh_from_db()
        assert job.state == "done", job.error
        refused = job.rows.get(outcome="error")
        assert (refused.reason, '"c"' in refused.name) == ("differs", True)
    assert Label.objects.filter(label_set=label_set).count() == 2


def test_an_earlier_version_is_not_imported_over_a_later_one(world: World, release: Release) -> None:
    data = archive_of(release, world.owner)
    names, folder = members(data)
    manifest = {**json.loads(names[f"{folder}MANIFEST.json"]), "version": "1.10.0"}
    copy = _imported(world, resealed({**names, f"{folder}MANIFEST.json": json.dumps(manifest).encode()}, folder))
    with pytest.raises(ImportRefused, match=r"This is version 1\.0\.0, and the benchmark is of 1\.10\.0"):
        start_later(copy, world.stranger, data)
