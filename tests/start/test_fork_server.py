"""The web server and the worker are forked from one process; without it they start on their own."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.local import forks, process
from config.local.binaries import ROOT
from config.local.forks import ForkedChild, ForkServer
from config.local.supervisor import Program
from tests.start.helpers import eventually

pytestmark = pytest.mark.skipif(not forks.is_possible(), reason="Linux only")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    home = tmp_path_factory.mktemp("home")
    (home / "logs").mkdir()
    server = ForkServer(Path(sys.executable), home, os.environ, ROOT)
    server.start()
    yield server
    server.stop()


def program(server: ForkServer, folder: Path, *command: str) -> Program:
    env = {**os.environ, "ONLY_HERE": "yes"}
    return Program("Test", [sys.executable, "-m", *command], env, folder / "log", folder, server)


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


def test_a_forked_program_leads_a_group_and_is_stopped(server: ForkServer, tmp_path: Path) -> None:
    web = program(server, tmp_path, "http.server", "0", "--bind", "127.0.0.1")
    web.start()
    assert isinstance(web.child, ForkedChild) and web.child.poll() is None
    pid = web.child.pid
    assert eventually(lambda: os.getpgid(pid) == pid)
    assert str(server._home).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()  # so that leftovers are ended
    killed = web.child
    os.kill(pid, signal.SIGKILL)
    assert killed.wait(10) == -signal.SIGKILL
    web.start()
    pid = web.child.pid
    web.stop()
    assert not process.is_alive(pid)


def test_programs_end_with_the_server_and_then_start_on_their_own(server: ForkServer, tmp_path: Path) -> None:
    web = program(server, tmp_path, "http.server", "0", "--bind", "127.0.0.1")
    web.start()
    lost = web.child
    assert isinstance(lost, ForkedChild) and server.child
    time.sleep(0.5)
    os.kill(server.child.pid, signal.SIGKILL)
    assert eventually(lambda: lost.poll() == -signal.SIGTERM)
    web.start()
    assert web.child and not isinstance(web.child, ForkedChild) and web.child.poll() is None
    web.stop()
