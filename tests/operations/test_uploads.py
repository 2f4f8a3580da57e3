"""Uploaded files of jobs go when no job needs them, and stay out of backups from the moment their job has stopped."""

import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.utils import timezone

from benchmarks.services.storage import keep_upload
from config.local.backup import backup, media_files, needed_uploads
from config.local.data_folder import DataFolder
from config.local.database import Database
from jobs import tasks
from jobs.models import Job
from jobs.services import uploads
from tests.operations.servers import database_url

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=8)


@pytest.fixture
def store(settings: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Keep a file that was uploaded at that time, in a storage of this test's own."""
    monkeypatch.setattr(default_storage, "location", str(tmp_path), raising=False)
    monkeypatch.setattr(default_storage, "base_location", str(tmp_path), raising=False)

    def keep(at: datetime = OLD, folder: str = "uploads") -> str:
        name = keep_upload(ContentFile(b"bytes"), folder)
        os.utime(default_storage.path(name), (at.timestamp(), at.timestamp()))
        return name

    return keep


def job(state: str, finished_at: datetime | None = None, **params: object) -> Job:
    return Job.objects.create(kind="k", title="t", scope="s", state=state, finished_at=finished_at, params=params)


@pytest.mark.django_db
def test_files_go_a_week_after_their_job_stopped_whatever_its_kind(store: Callable[..., str]) -> None:
    gone = [store() for _ in range(6)]
    job("cancelled", OLD, archive="", manifest=gone[0])  # the manifest of an import without an archive
    job("failed", OLD, archive=gone[1])
    job("failed", OLD, file={"name": gone[2], "names": gone[3]})
    job("done", NOW, vectors=gone[4])  # no job names the last one: its upload was cut off
    staying = [store() for _ in range(3)]
    job("queued", None, file=staying[0])
    job("running", None, file=staying[1])
    job("failed", NOW - timedelta(days=6), archive=staying[2])
    staying.append(store(NOW - timedelta(days=6)))
    assert uploads.sweep(NOW) == 6
    assert [name for name in gone if default_storage.exists(name)] == []
    assert all(map(default_storage.exists, staying))
    assert uploads.sweep(NOW) == 0


@pytest.mark.django_db
def test_files_in_folders_of_their_own_are_swept_as_well(store: Callable[..., str]) -> None:
    name = store(folder="uploads/looked-at")
    tasks.sweep_uploads()
    assert not default_storage.exists(name)


@pytest.mark.django_db
def test_what_killed_programs_left_goes_after_a_day(
    store: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half, growing = store(NOW - timedelta(hours=25), "incoming"), store(NOW - timedelta(hours=23), "incoming")
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    received, arriving, other = (folder / name for name in ("tmp1.upload.zip", "tmp2.upload.zip", "notes.txt"))
    for path, hours in ((received, 25), (arriving, 23), (other, 25)):
        path.write_bytes(b"bytes")
        changed = (NOW - timedelta(hours=hours)).timestamp()
        os.utime(path, (changed, changed))
    assert uploads.sweep(NOW) == 1, "a folder that is not Emic's is left alone"
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)
    assert uploads.sweep(NOW) == 1
    assert not default_storage.exists(half) and default_storage.exists(growing)
    assert [path.exists() for path in (received, arriving, other)] == [False, True, True]


@pytest.mark.django_db(transaction=True)
def test_a_backup_has_the_files_of_waiting_jobs_only(store: Callable[..., str], tmp_path: Path) -> None:
    names = {state: store() for state in ("queued", "running", "failed", "cancelled", "done")}
    for state, name in names.items():
        job(state, None if state in Job.LIVE else timezone.now(), file={"name": name})
    original = tmp_path / "originals" / "aa"
    original.parent.mkdir()
    original.write_bytes(b"picture")
    names_in_backup = {
        path.relative_to(tmp_path).as_posix()
        for path in media_files(tmp_path, needed_uploads(Database(database_url())))
    }
    assert names_in_backup == {"originals/aa", names["queued"], names["running"]}


@pytest.mark.django_db(transaction=True)
def test_a_backup_removes_the_dump_that_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = DataFolder(tmp_path / "data")
    home.prepare()

    def killed(database: Database, file: Path) -> dict[str, int]:
        file.write_bytes(b"half of a dump")
        os._exit(9)

    if (child := os.fork()) == 0:
        try:
            monkeypatch.setattr(Database, "dump", killed)
            backup(home, {"DATABASE_URL": database_url()}, tmp_path / "first.tar")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    [left] = (home.path / "run").rglob("database.dump")
    assert backup(home, {"DATABASE_URL": database_url()}, tmp_path / "second.tar") == 0
    assert left.exists(), "it may be of a backup that runs"
    day_ago = time.time() - 25 * 3600
    os.utime(left.parent, (day_ago, day_ago))
    assert backup(home, {"DATABASE_URL": database_url()}, tmp_path / "third.tar") == 0
    assert not left.parent.exists()
