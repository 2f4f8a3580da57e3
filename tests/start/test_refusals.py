"""Mistakes of the machine or of the hand end in one clear sentence, and in nothing half done."""

import io
import json
import os
import runpy
import sys
import tarfile
from pathlib import Path

import pytest

from config.local import environment, setup
from tests.start.helpers import ROOT, emic, one_sentence


def test_help_names_every_command(tmp_path: Path) -> None:
    done = emic(tmp_path, "--help")
    assert done.returncode == 0
    for command in ("run", "test", "models", "backup", "restore", "manage"):
        assert f"\n    {command} " in done.stdout
    assert not (tmp_path / "run").exists(), "asking for help must not make anything"


def test_an_old_python_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    monkeypatch.setenv("PATH", os.devnull)  # so that no newer one is found
    with pytest.raises(SystemExit) as refused:
        runpy.run_path(str(ROOT / "emic"), run_name="__main__")
    assert str(refused.value).startswith("Emic needs Python 3.11 or newer, and this is 3.9.")


def test_a_nearly_full_disk_is_refused_before_anything_starts(tmp_path: Path) -> None:
    message = one_sentence(emic(tmp_path / "data", "run", "--port", "0", EMIC_MIN_FREE_MB="99999999"))
    assert "MB are free on the disk of" in message
    assert not (tmp_path / "data" / "postgres").exists()


@pytest.mark.parametrize("place", ["/dev/null", "/proc/nowhere"])
def test_a_folder_that_cannot_be_is_refused(place: str) -> None:
    assert one_sentence(emic(Path(place), "run", "--port", "0")).startswith(f"{place} cannot be made")


def test_the_network_needs_a_name(tmp_path: Path) -> None:
    message = one_sentence(emic(tmp_path / "data", "run", "--host", "0.0.0.0"))
    assert "Set EMIC_HOSTS" in message


def test_an_address_that_is_not_ours_is_refused(tmp_path: Path) -> None:
    message = one_sentence(emic(tmp_path / "data", "run", "--host", "192.0.2.1"))
    assert "cannot listen on 192.0.2.1" in message


def test_debug_with_a_public_host_refuses_to_start(tmp_path: Path) -> None:
    done = emic(tmp_path / "data", "run", "--port", "0", EMIC_DEBUG="1", EMIC_HOSTS="emic.example.org")
    assert "EMIC_DEBUG is on, and EMIC_HOSTS names a public host." in one_sentence(done)


def test_a_silent_database_is_named_without_its_password(tmp_path: Path) -> None:
    url = "postgres://someone:s3cret@127.0.0.1:9/emic"
    message = one_sentence(emic(tmp_path / "data", "run", "--port", "0", DATABASE_URL=url))
    assert message.startswith("The database does not answer")
    assert "s3cret" not in message


@pytest.mark.parametrize(
    ("output", "told"),
    [
        (
            "NewConnectionError('[Errno -3] Temporary failure in name resolution')",
            "does not answer",
        ),
        ("error: Failed to fetch\n  dns error: failed to lookup address", "does not answer"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.", "not the one that was locked"),
        ("OSError: [Errno 28] No space left on device", "is full"),
        ("ERROR: something nobody foresaw", "something nobody foresaw"),
    ],
)
def test_a_failed_installation_is_told_by_its_cause(output: str, told: str) -> None:
    assert told in setup.explain_failure(output, "install the packages", Path("log"))


def test_a_disk_that_fills_up_on_the_way_is_told_as_that() -> None:
    output = "psycopg.errors.DiskFull: could not extend file: No space left on device"
    assert "is full" in environment.explain_failure(output, "migrate", Path("/data"), Path("log"))


def backup_file(path: Path, members: dict[str, bytes], *, link: str = "") -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        if link:
            entry = tarfile.TarInfo(link)
            entry.type, entry.linkname = tarfile.SYMTYPE, "/etc"
            tar.addfile(entry)
    return path


@pytest.mark.parametrize("name", ["../outside", "/tmp/outside", "media/../../outside", "settings.py"])
def test_a_backup_that_reaches_outside_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    source = backup_file(tmp_path / "evil.tar", {name: b"x"})
    message = one_sentence(emic(tmp_path / "in" / "data", "restore", str(source)))
    assert "which no backup of Emic does" in message
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["evil.tar", "in"]


def test_a_backup_with_a_link_is_refused(tmp_path: Path) -> None:
    source = backup_file(tmp_path / "evil.tar", {}, link="media/originals")
    assert "which no backup of Emic does" in one_sentence(emic(tmp_path / "data", "restore", str(source)))


def test_a_damaged_backup_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    manifest = {"format": 1, "rows": {}, "files": {"database.dump": {"bytes": 4, "sha256": "0" * 64}}}
    members = {"database.dump": b"dump", "manifest.json": json.dumps(manifest).encode()}
    source = backup_file(tmp_path / "damaged.tar", members)
    message = one_sentence(emic(tmp_path / "data", "restore", str(source)))
    assert "is damaged: database.dump is not what was saved" in message
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.tar").write_text("shopping list")
    message = one_sentence(emic(tmp_path / "data", "restore", str(tmp_path / "notes.tar")))
    assert "is not a whole backup of Emic" in message
