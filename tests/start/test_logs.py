"""Logs of the children are bounded while they run, and what a child writes afterwards is in the log."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from config.local import logs
from tests.start.helpers import eventually

LIMIT = 1000


def test_a_child_that_writes_on_is_rotated_and_the_whole_is_bounded(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab") as file:
        child = subprocess.Popen(
            [sys.executable, "-u", "-c", "import sys\nfor line in sys.stdin: print('x' * 99, line.strip())"],
            stdin=subprocess.PIPE, stdout=file, text=True,
        )  # fmt: skip
    assert child.stdin
    for number in range(100):
        child.stdin.write(f"{number}\n")
        child.stdin.flush()
        mark = f" {number}\n"
        assert eventually(lambda mark=mark: log.read_text().endswith(mark))  # type: ignore[misc]
        logs.rotate_all(tmp_path, LIMIT)
    child.stdin.close()
    child.wait()
    older = sorted(path.name for path in tmp_path.iterdir())
    assert older == ["web.log", "web.log.1", "web.log.2", "web.log.3", "web.log.4"]
    whole = "".join((tmp_path / name).read_text() for name in ("web.log.4", "web.log.3", "web.log.2", "web.log.1"))
    lines = [int(line.split()[1]) for line in (whole + log.read_text()).splitlines()]
    assert lines == list(range(lines[0], 100)), "none is lost here, and none is there twice"
    assert all(path.stat().st_size < 2 * LIMIT for path in tmp_path.iterdir())


def test_a_short_log_is_left_alone(tmp_path: Path) -> None:
    log = tmp_path / "worker.log"
    log.write_text("x" * LIMIT)
    logs.rotate(log, LIMIT)
    assert [path.name for path in tmp_path.iterdir()] == ["worker.log"]


def test_on_a_full_disk_the_log_is_emptied_without_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_paths: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    log = tmp_path / "web.log"
    log.write_text("x" * (LIMIT + 1))
    logs.rotate_all(tmp_path, LIMIT)
    assert log.stat().st_size == 0
    logs.rotate(tmp_path / "nothing.log", LIMIT)
