"""The web server and the worker are forked from one process; without it they start on their own."""

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config.local import fork_server, forks, process
from config.local.binaries import ROOT
from config.local.forks import ForkedChild, ForkServer
from config.local.supervisor import Program, WatchedService
from tests.start.helpers import eventually, own_environment

pytestmark = pytest.mark.skipif(not forks.is_possible(), reason="Linux only")


def site_environment(home: Path) -> dict[str, str]:
    return own_environment(home, DJANGO_SETTINGS_MODULE="config.settings")


def new_server(home: Path, python: str = sys.executable) -> ForkServer:
    (home / "logs").mkdir()
    return ForkServer(Path(python), home, site_environment(home), ROOT)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    server = new_server(tmp_path_factory.mktemp("home"))
    server.start()
    yield server
    server.stop()


def program(server: ForkServer, folder: Path, *command: str) -> Program:
    env = {**site_environment(folder), "ONLY_HERE": "yes"}
    return Program("Test", [sys.executable, "-m", *command], env, folder / "log", folder, server)


def running(server: ForkServer, folder: Path, *, stubborn: bool = False) -> Program:
    waiting = program(server, folder, "tests.start.forked_program", "stubborn" if stubborn else "stay")
    waiting.start()
    assert eventually(lambda: "ready" in waiting.log.read_text(), 20)
    return waiting


def description(server: ForkServer, folder: Path) -> dict[str, Any]:
    described = program(server, folder, "tests.start.forked_program", "out.json")
    described.start()
    assert isinstance(described.child, ForkedChild) and described.child.wait(20) == 0
    return dict(json.loads((folder / "out.json").read_text()))


def test_a_forked_program_has_its_own_arguments_folder_log_and_exit_status(server: ForkServer, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"a": 1}')
    good = program(server, tmp_path, "json.tool", "in.json", "out.json")
    good.start()
    assert isinstance(good.child, ForkedChild) and good.child.wait(10) == 0
    assert (tmp_path / "out.json").read_text().split() == ["{", '"a":', "1", "}"]
    bad = program(server, tmp_path, "json.tool", "missing.json")
    bad.start()
    assert isinstance(bad.child, ForkedChild) and bad.child.wait(10) == 2
    assert "missing.json" in bad.log.read_text()


def test_a_forked_program_shares_packages_but_no_file_connection_or_random_number(
    server: ForkServer, tmp_path: Path
) -> None:
    first, second = description(server, tmp_path), description(server, tmp_path)
    assert first["loaded"] == ["numpy", "evaluation.views"]
    assert first["files"] == [0, 1, 2]
    assert first["folder"] == str(tmp_path) and first["only_here"] == "yes" and first["session"]
    assert first["keys"] == sorted({*program(server, tmp_path).env})
    assert first["name"] == "tests.start.forked_program"[:15]
    assert not first["connections"]
    assert not first["static_files_are_read"], "their list may be of the version before, for they are collected later"
    assert not set(first["random"]) & set(second["random"])


def test_the_server_has_one_thread_and_opens_nothing(server: ForkServer) -> None:
    assert server.child
    own = Path("/proc") / str(server.child.pid)
    assert len(list((own / "task").iterdir())) == 1
    opened = sorted(str(file.readlink()).split(":")[0] for file in (own / "fd").iterdir())
    assert opened[:1] == ["/dev/null"] and opened[3:] == ["socket"]
    assert {Path(name).name for name in opened[1:3]} == {"fork-server.log"}


def test_a_forked_program_leads_a_group_and_is_stopped(server: ForkServer, tmp_path: Path) -> None:
    web = running(server, tmp_path)
    assert isinstance(web.child, ForkedChild) and web.child.poll() is None
    pid = web.child.pid
    assert os.getpgid(pid) == pid
    assert str(server._home) in process.command_line(pid)  # so that leftovers are ended
    killed = web.child
    os.kill(pid, signal.SIGKILL)
    assert killed.wait(10) == -signal.SIGKILL
    web.start()
    pid = web.child.pid
    web.stop()
    assert not process.is_alive(pid)


def test_a_program_is_stopped_though_the_server_hangs(server: ForkServer, tmp_path: Path) -> None:
    web = running(server, tmp_path)
    assert web.child and server.child
    pid = web.child.pid
    os.kill(server.child.pid, signal.SIGSTOP)
    try:
        web.stop()
        assert not process.is_alive(pid)
    finally:
        os.kill(server.child.pid, signal.SIGCONT)


def test_a_server_that_hangs_is_ended_and_the_program_starts_on_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = new_server(tmp_path)
    server.start()
    assert server._wait_until_ready() and server.child
    hung = server.child.pid
    monkeypatch.setattr(forks, "READY_SECONDS", 0.5)
    os.kill(hung, signal.SIGSTOP)
    web = program(server, tmp_path, "json.tool", "missing.json")
    web.start()
    assert web.child and not isinstance(web.child, ForkedChild) and web.child.wait(10) == 2
    assert server.child is None and not process.is_alive(hung)


def test_a_program_that_does_not_end_with_its_server_is_killed_though_another_server_runs(
    server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forks, "LOST_SECONDS", 1.0)
    worker = running(server, tmp_path, stubborn=True)
    assert isinstance(worker.child, ForkedChild) and server.child
    os.kill(server.child.pid, signal.SIGKILL)
    server.child.wait(10)
    server.start()
    time.sleep(0.5)
    assert worker.child.poll() is None
    assert eventually(lambda: worker.child is not None and worker.child.poll() is not None, 10)
    worker.start()
    assert isinstance(worker.child, ForkedChild) and worker.child.poll() is None
    os.kill(worker.child.pid, signal.SIGKILL)
    assert worker.child.wait(10) == -signal.SIGKILL


def test_programs_end_with_the_server_and_then_start_on_their_own(server: ForkServer, tmp_path: Path) -> None:
    web = running(server, tmp_path)
    lost = web.child
    assert isinstance(lost, ForkedChild) and server.child
    os.kill(server.child.pid, signal.SIGKILL)
    assert eventually(lambda: lost.poll() == -signal.SIGTERM)
    web.start()
    assert web.child and not isinstance(web.child, ForkedChild) and web.child.poll() is None
    web.stop()


def test_a_system_that_refuses_to_fork_ends_no_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(os, "fork", refuse)
    server = new_server(tmp_path)
    server.line, line = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    fork_server.send(line, ready=True)
    assert fork_server.fork(line) is None
    with line:
        assert server.fork(["python", "-m", "json.tool"], {}, 0, tmp_path) is None
        assert server.line, "it can be asked again"
    server.stop()


def test_a_server_that_never_starts_is_given_up(tmp_path: Path) -> None:
    server = new_server(tmp_path, "false")
    watched = WatchedService(server)
    for _ in range(forks.TRIES):
        watched.start()
        assert server.child and server.child.wait(10)
    watched.start()
    assert server.child is None
    watched.check(time.monotonic() + 3600)
    assert server.child is None and watched.again_at is None
    alone = program(server, tmp_path, "json.tool", "missing.json")
    alone.start()
    assert alone.child and not isinstance(alone.child, ForkedChild) and alone.child.wait(10) == 2
