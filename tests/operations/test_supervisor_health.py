"""The supervisor replaces what is alive and does not respond."""

import os
import signal
import time
from pathlib import Path

import pytest

from config.local import run, supervisor
from config.local.data_folder import DataFolder
from config.local.servers import Valkey
from config.local.supervisor import Health, Program, Supervisor, WatchedService
from tests.load.instance import Instance, running
from tests.load.server import wait_until_healthy
from tests.start.helpers import eventually


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "PROBE_SECONDS", 0.1)
    monkeypatch.setattr(supervisor, "FIRST_DELAY", 0.0)


def test_a_frozen_queue_is_replaced(tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    supervised = Supervisor(note=lambda name, pid: None)
    server = Valkey(tmp_path)
    supervised.start(server, server.responds)
    try:
        health = supervised.watched[0].health
        assert health and eventually(lambda: health.has_responded)
        assert server.child
        frozen = server.child.pid
        os.kill(frozen, signal.SIGSTOP)

        def is_replaced() -> bool:
            supervised.check()
            return bool(server.child and server.child.pid != frozen and server.is_ready())

        assert eventually(is_replaced)
    finally:
        supervised.stop()


class Silent:
    """A service that does not respond, and is never replaced for good."""

    def __init__(self, folder: Path) -> None:
        self.program = Program("Silent", ["sleep", "60"], dict(os.environ), folder / "log", folder)
        self.health = Health(lambda: False)
        self.watched = WatchedService(self.program, self.health)
        self.watched.start()

    def is_killed(self, now: float) -> bool:
        self.watched.check(now)
        child = self.program.child
        assert child
        time.sleep(0.1)
        return child.poll() is not None


@pytest.mark.usefixtures("quick")
def test_a_service_is_replaced_once_in_five_minutes_and_not_while_it_starts(tmp_path: Path) -> None:
    silent = Silent(tmp_path)
    try:
        begun = silent.watched.started
        assert eventually(lambda: silent.health.failures >= supervisor.FAILED_PROBES)
        assert not silent.is_killed(begun + 60), "it may still be starting"
        assert silent.is_killed(begun + supervisor.START_SECONDS + 1)
        silent.watched.start()
        silent.health.has_responded = True
        assert eventually(lambda: silent.health.failures >= supervisor.FAILED_PROBES)
        assert not silent.is_killed(silent.watched.replaced + 290)
        assert silent.is_killed(silent.watched.replaced + 301)
    finally:
        silent.program.stop()


def test_a_worker_that_touches_its_file_no_more_is_lost(tmp_path: Path) -> None:
    home = DataFolder(tmp_path)
    (tmp_path / "run").mkdir()
    assert not run.has_heartbeat(home)
    run.heartbeat(home).touch()
    assert run.has_heartbeat(home)
    long_ago = time.time() - run.HEARTBEAT_SECONDS - 1
    os.utime(run.heartbeat(home), (long_ago, long_ago))
    assert not run.has_heartbeat(home)


def freeze(instance: Instance, name: str) -> int:
    pid = instance.children()[name]
    os.killpg(pid, signal.SIGSTOP)
    return pid


@pytest.mark.slow
def test_frozen_parts_of_a_running_site_are_replaced_within_45_seconds() -> None:
    with running() as instance:
        time.sleep(supervisor.PROBE_SECONDS + 5)  # each part has responded once
        frozen = {name: freeze(instance, name) for name in ("Web server", "Worker", "Valkey")}
        begun = time.monotonic()
        for name, pid in frozen.items():
            assert eventually(lambda name=name, pid=pid: instance.children().get(name) != pid, 60), name  # type: ignore[misc]
            took = time.monotonic() - begun
            print(f"{name} was replaced after {took:.0f} s")
            assert took < 45, name
        wait_until_healthy(instance.port, 60)
