"""A full disk: the supervisor lives, what fails says why, and answers go on as long as the database takes them."""

import contextlib
import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile, TemporaryUploadedFile
from django.db import OperationalError
from psycopg.errors import DiskFull

from config.full_disk import is_disk_full
from config.local import ballast, console, data_folder
from config.local.data_folder import DataFolder
from config.local.errors import EmicError
from config.local.process import is_alive
from config.local.run import has_heartbeat
from config.local.supervisor import Program, Supervisor
from jobs.models import Job
from tests.load.instance import running
from tests.load.server import annotators
from tests.personas import World
from tests.start.helpers import eventually

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refuse(*_arguments: Any, **_named: Any) -> Any:
    raise FULL


@pytest.fixture(autouse=True)
def nothing_printed_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_printed", {})


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    home = DataFolder(tmp_path)
    for name in ("run", "logs"):
        (tmp_path / name).mkdir()
    return home


def test_notes_that_cannot_be_written_are_told_once_and_stop_nothing(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(data_folder, "_write", refuse)
    for _ in range(3):
        folder.record_child("Worker", 1)
        folder.remember_run(address="http://127.0.0.1:1")
    folder.write_notes()
    monkeypatch.undo()
    assert not folder.current_run()
    folder.write_notes()  # there is room again
    assert folder.current_run() == {"address": "http://127.0.0.1:1"}
    assert (folder.path / "run" / "children.json").exists()
    output = capsys.readouterr().out
    assert output.count("children.json was not written: No space left on device.") == 1
    assert output.count("now.json was not written") == 1


class Broken:
    """A service that cannot be looked after: its notes, its pid file, ... are on the full disk."""

    name = "Broken"
    child = None

    def start(self) -> None:
        raise FULL

    def stop(self) -> None:
        pass


def program(folder: DataFolder) -> Program:
    return Program("Sleeper", ["sleep", "60"], dict(os.environ), folder.path / "logs" / "sleeper.log", folder.path)


def test_a_service_that_the_full_disk_stops_hinders_no_other(
    folder: DataFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    supervisor = Supervisor(folder.record_child)
    sleeper = program(folder)
    with pytest.raises(OSError):
        supervisor.start(Broken())
    supervisor.watched[0].again_at = 0.0
    supervisor.start(sleeper)
    try:
        supervisor.check()
        assert "No space left on device; starting it again in" in capsys.readouterr().out
        assert sleeper.child and sleeper.child.poll() is None
    finally:
        supervisor.stop()


def test_a_program_starts_without_its_log_where_that_cannot_be_opened(folder: DataFolder) -> None:
    sleeper = program(folder)
    sleeper.log = folder.path / "no-such-folder" / "sleeper.log"
    sleeper.start()
    try:
        assert sleeper.child and sleeper.child.poll() is None
    finally:
        sleeper.stop()


def test_only_a_first_start_needs_much_room(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    def free(megabytes: int) -> None:
        usage = (10**12, 10**12, megabytes * data_folder.MEGABYTE)
        monkeypatch.setattr(data_folder.shutil, "disk_usage", lambda path: data_folder.shutil._ntuple_diskusage(*usage))

    free(400)
    with pytest.raises(EmicError, match="Only 400 MB are free"):
        folder.check_room()
    folder.remember(demo="none")  # it has been started before
    folder.check_room()
    free(60)
    folder.check_room()
    free(40)
    with pytest.raises(EmicError, match="Emic needs 50 MB"):
        folder.check_room()


def test_the_ballast_goes_when_room_is_short_and_comes_back_when_there_is_plenty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look(megabytes: int) -> bool:
        usage = (10**12, 10**12, megabytes * ballast.MEGABYTE)
        monkeypatch.setattr(ballast.shutil, "disk_usage", lambda path: ballast.shutil._ntuple_diskusage(*usage))
        ballast.adjust_ballast(tmp_path)
        return (tmp_path / ballast.NAME).exists()

    assert not look(600)
    assert look(1100)
    file = tmp_path / ballast.NAME
    assert file.stat().st_size == file.stat().st_blocks * 512 == ballast.SIZE, "it takes its room"
    assert look(300)
    assert not look(90)
    assert not look(900)


def test_a_full_disk_is_known_by_its_number_however_it_is_wrapped() -> None:
    assert is_disk_full(FULL)
    assert is_disk_full(OSError(errno.EDQUOT, "quota"))
    wrapped = OperationalError("could not extend file")
    wrapped.__cause__ = DiskFull()
    assert is_disk_full(wrapped)
    assert not is_disk_full(OSError(errno.EACCES, "no"))
    assert not is_disk_full(None)


def zip_upload() -> SimpleUploadedFile:
    return SimpleUploadedFile("pictures.zip", b"PK\x03\x04" + b"x" * 100)


UPLOADS = [
    ("/b/sea-and-river/import/", lambda: {"archive": zip_upload()}),
    ("/b/sea-and-river/predictions/collection/", lambda: {"file": SimpleUploadedFile("a.csv", b"item,ranks\n")}),
]


@pytest.mark.parametrize(("path", "form"), UPLOADS)
def test_an_upload_on_a_full_disk_is_507_and_says_so(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str, form: Callable[[], dict[str, Any]]
) -> None:
    client = world.client(world.owner)
    page = client.get(path).content.decode()
    monkeypatch.setattr(default_storage, "save", refuse)
    name = "collection" if "collection" in path else "stage"
    reply = client.post(path, form() | {name: world.stage.pk, "name": "A", "version": "1", "stage": world.stage.pk},
                        headers={"Accept": "text/html", "Referer": f"http://testserver{path}"})  # fmt: skip
    assert reply.status_code == 507, page
    text = reply.content.decode()
    assert "disk is full, so nothing was saved." in text
    assert f'href="http://testserver{path}"' in text
    assert not Job.objects.exists()


def test_an_upload_that_fills_the_disk_before_its_page_is_called_is_507_as_well(
    world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10
    monkeypatch.setattr(TemporaryUploadedFile, "write", refuse, raising=False)
    client = world.client(world.owner)
    client.raise_request_exception = False
    client.handler.enforce_csrf_checks = True
    client.cookies["csrftoken"] = "x" * 32
    reply = client.post(UPLOADS[0][0], {"archive": zip_upload()})
    assert reply.status_code == 507
    assert "full" in reply.content.decode()


def test_half_a_file_is_not_left_on_the_full_disk(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    real = default_storage.save

    def half(name: str, content: Any) -> str:
        real(name, SimpleUploadedFile("half", b"half of it"))
        raise FULL

    monkeypatch.setattr(default_storage, "save", half)
    before = set(stored_uploads())
    world.client(world.owner).post(UPLOADS[0][0], {"stage": world.stage.pk, "archive": zip_upload()})
    assert set(stored_uploads()) == before


def stored_uploads() -> list[str]:
    return list(default_storage.listdir("uploads")[1]) if default_storage.exists("uploads") else []


def test_another_error_stays_a_500(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: Any) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(default_storage, "save", fail)
    client = world.client(world.owner)
    client.raise_request_exception = False
    assert client.post(UPLOADS[0][0], {"stage": world.stage.pk, "archive": zip_upload()}).status_code == 500


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_site_whose_disk_is_full_to_the_last_byte_goes_on_and_recovers(tmp_path: Path) -> None:
    """The worker is killed meanwhile: it is back within 35 s of the moment there is room."""
    with small_disk(tmp_path / "disk") as disk, running(disk) as instance:
        world = instance.world("make", "200", "2")
        assert eventually((disk / "run" / ballast.NAME).exists), "there is plenty of room at first"
        filler = disk / "filler"
        fill(filler)
        instance.kill("Worker")
        report = annotators(instance.port, world["sessions"], 60, campaign=world["campaign"], patient=True)
        assert instance.home.current_run()["pid"] == instance.pid and is_alive(instance.pid)
        filler.unlink()
        assert eventually(lambda: has_heartbeat(instance.home), 35)
        acknowledged = {key: code for person in report["people"] for key, code in person["acknowledged"].items()}
        assert acknowledged
        stored = instance.world("count")["stored"]
        assert {key: stored.get(key) for key in acknowledged} == acknowledged


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1700m,mode=711", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(path: Path) -> None:
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(64 * 1024)):
            pass
    with path.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"\0"):
            pass
