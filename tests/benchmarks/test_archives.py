"""Archives that lie about themselves, and manifests without end, stop with a sentence before they cost anything."""

import io
import struct
import zipfile
from typing import Any

import pytest
from django.core.files.base import ContentFile

from benchmarks.imports import archive, manifest
from benchmarks.imports.archive import Archive
from benchmarks.imports.problems import SourceProblem
from benchmarks.imports.records import Defaults
from benchmarks.services import imports
from benchmarks.services.benchmarks import create_blank
from jobs.models import Job
from jobs.services import job_context, lifecycle, runner
from tests import pictures as draw
from tests.archives import pack_zip

pytestmark = pytest.mark.django_db


@pytest.fixture
def blank(world):
    return create_blank(world.team, "Stamps", "stamps", world.mara, question="Is it yours?").stages.get()


def import_archive(stage, data: bytes) -> Job:
    upload = ContentFile(data, "a.zip")
    job = imports.start_upload(stage, stage.benchmark.created_by, archive=upload, manifest=None, defaults=Defaults())
    runner.run(job.pk)
    job.refresh_from_db()
    return job


def with_member_count(data: bytes, members: int) -> bytes:
    """The same archive, saying that it holds so many."""
    at = data.rindex(b"PK\x05\x06")
    return data[: at + 8] + struct.pack("<2H", members, members) + data[at + 12 :]


def with_zip64(data: bytes, length: int | None = None) -> bytes:
    """The same archive, with the big form of its end beside the small one, which Python believes first."""
    at = data.rindex(b"PK\x05\x06")
    _mark, _a, _b, here, all_, size, start, _comment = archive.END.unpack_from(data, at)
    size = size if length is None else length
    record = archive.BIG_END.pack(b"PK\x06\x06", 44, 45, 45, 0, 0, here, all_, size, start)
    locator = archive.LOCATOR.pack(b"PK\x06\x07", 0, at, 1)
    small = archive.END.pack(b"PK\x05\x06", 0, 0, 1, 1, 46, 0, 0)
    return data[:at] + record + locator + small


def archive_names(data: bytes) -> list[str]:
    return list(Archive(io.BytesIO(data), 10**9).names())


def test_members_are_counted_not_believed(monkeypatch):
    monkeypatch.setattr(archive, "MOST_MEMBERS", 3)
    three = pack_zip({f"{n}.png": b"x" for n in range(3)})
    four = pack_zip({f"{n}.png": b"x" for n in range(4)})
    opened: list[Any] = []
    real = zipfile.ZipFile
    monkeypatch.setattr(zipfile, "ZipFile", lambda file: opened.append(file) or real(file))
    for good in (three, with_zip64(three), with_member_count(three, 0)):
        assert archive_names(good) == ["0.png", "1.png", "2.png"]
    assert len(opened) == 3
    for bad in (four, with_member_count(four, 1), with_zip64(four), with_member_count(four, 0)):
        with pytest.raises(SourceProblem, match="more than 3 files"):
            archive_names(bad)
    assert len(opened) == 3, "Python never read them"


def test_the_list_of_members_is_bounded_wherever_it_is_stated(monkeypatch):
    data = pack_zip({"a.png": b"x"})
    with pytest.raises(SourceProblem, match="more than"):
        archive_names(with_zip64(data, length=2**40))
    monkeypatch.setattr(archive, "LONGEST_DIRECTORY", 20)
    with pytest.raises(SourceProblem, match="more than"):
        archive_names(data)


def test_a_name_that_comes_twice_is_told_and_neither_is_taken(blank):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file, pytest.warns(UserWarning, match="Duplicate"):
        file.writestr("a.png", draw.png(seed=1))
        file.writestr("b.png", draw.png(seed=2))
        file.writestr("a.png", draw.png(seed=3))
    job = import_archive(blank, out.getvalue())
    assert {row.name: (row.outcome, row.reason) for row in job.rows.all()} == {
        "a.png": ("error", "twice"),
        "b.png": ("created", ""),
    }


def test_methods_that_take_any_memory_are_refused_by_row(blank):
    assert [
        row.reason for row in import_archive(blank, pack_zip({"a.png": draw.png()}, zipfile.ZIP_LZMA)).rows.all()
    ] == ["method"]
    assert [
        row.reason for row in import_archive(blank, pack_zip({"a.png": draw.png()}, zipfile.ZIP_DEFLATED)).rows.all()
    ] == [""]


def test_a_manifest_has_a_bound_in_bytes_and_in_lines(blank, monkeypatch):
    data = pack_zip({"manifest.csv": b"file\n" + b"a.png\n" * 5, "a.png": draw.png()})
    monkeypatch.setattr(manifest, "MOST_LINES", 4)
    assert "more than 4 lines" in import_archive(blank, data).error
    monkeypatch.setattr(manifest, "MOST_LINES", 5)
    monkeypatch.setattr(manifest, "MOST_BYTES", 34)
    assert "manifest is larger" in import_archive(blank, data).error
    monkeypatch.setattr(manifest, "MOST_BYTES", 35)
    job = import_archive(blank, data)
    assert (job.state, job.result["counts"]) == ("done", {"created": 1, "unchanged": 4})


def test_counting_can_be_stopped_and_keeps_its_lease(blank, world, monkeypatch):
    monkeypatch.setattr(job_context, "BEAT_SECONDS", 0.0)
    monkeypatch.setattr(job_context, "CHECK_SECONDS", 0.0)
    data = pack_zip({"manifest.csv": b"file\n" + b"\n" * 5000 + b"a.png\n", "a.png": draw.png()})
    beats: list[int] = []
    real = job_context.JobContext.beat

    def beating(work):
        beats.append(1)
        before = Job.objects.get(pk=work.job.pk).lease_until
        real(work)
        assert Job.objects.get(pk=work.job.pk).lease_until > before
        if len(beats) == 3:
            lifecycle.request_cancel(work.job, world.mara)

    monkeypatch.setattr(job_context.JobContext, "beat", beating)
    job = import_archive(blank, data)
    assert (job.state, job.total, len(beats)) == ("cancelled", None, 4)
    monkeypatch.setattr(job_context.JobContext, "beat", real)
    lifecycle.resume(job, world.mara)
    runner.run(job.pk)
    job.refresh_from_db()
    assert (job.state, blank.items.count()) == ("done", 1)
