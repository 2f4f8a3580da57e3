"""The embedded servers keep what was committed, whatever kills them."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from config.local import process, servers
from config.local.database import Database
from config.local.servers import Postgres, Valkey, most_connections
from config.local.supervisor import Supervisor
from tests.start.helpers import sql


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Postgres]:
    server = Postgres(tmp_path)
    server.start()
    yield server
    server.stop()


def test_committed_rows_survive_kill_9(postgres: Postgres) -> None:
    sql(postgres.url, "CREATE TABLE kept (n int)")
    for round_number in range(1, 4):
        assert sql(postgres.url, f"INSERT INTO kept VALUES ({round_number}) RETURNING n") == str(round_number)
        assert postgres.child
        os.kill(postgres.child.pid, signal.SIGKILL)
        postgres.child.wait()
        postgres.start()
        assert sql(postgres.url, "SELECT count(*) FROM kept") == str(round_number)


def test_the_tools_of_a_backup_reach_a_data_folder_with_a_space_in_its_name(tmp_path: Path) -> None:
    server = Postgres(tmp_path / "our data")
    server.start()
    try:
        sql(server.url, "CREATE TABLE noted (n int)")
        assert Database(server.url).counts() == {"noted": 0}
        assert Database(f"{server.url}&options=-c%20search_path%3Dpg_catalog").counts() == {"noted": 0}
    finally:
        server.stop()


def test_there_is_a_connection_for_each_thread_of_many_web_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads keep theirs, so one that finds none left would answer 503 until another restarts."""
    assert most_connections() == 100
    monkeypatch.setenv("EMIC_WEB_WORKERS", "16")
    assert most_connections() == 188 > 16 * 8


def test_a_server_that_outlived_its_supervisor_is_ended_before_the_next_start(postgres: Postgres) -> None:
    assert postgres.child
    left_behind = postgres.child.pid
    second = Postgres(postgres.cluster.parent)
    second.start()
    try:
        assert postgres.child.wait(10) is not None
        assert not process.is_alive(left_behind)
        assert sql(second.url, "SELECT 1") == "1"
    finally:
        second.stop()


def test_a_stale_pid_file_naming_a_stranger_harms_nobody(postgres: Postgres) -> None:
    postgres.stop()
    stranger = os.getpid()
    (postgres.cluster / "postmaster.pid").write_text(f"{stranger}\n")
    postgres.start()
    assert process.is_alive(stranger)
    assert sql(postgres.url, "SELECT 1") == "1"


def test_only_the_owner_can_reach_the_socket(postgres: Postgres) -> None:
    assert postgres.sockets.stat().st_mode & 0o077 == 0
    assert sql(postgres.url, "SHOW listen_addresses") == ""
    assert sql(postgres.url, "SHOW fsync") == "on"


def test_a_long_path_gets_a_short_socket_folder(tmp_path: Path) -> None:
    deep = tmp_path / ("a-very-long-name-" * 6) / "data"
    server = Valkey(deep)
    server.start()
    try:
        assert len(str(server.socket)) < 100
        assert server.is_ready()
        assert Valkey(deep).socket == server.socket
        assert Valkey(tmp_path).socket != server.socket
    finally:
        server.stop()
        server.socket.parent.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to become somebody else")
def test_where_namespaces_are_refused_root_runs_postgres_as_another_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "root_runs_as", lambda: "nobody")
    server = Postgres(tmp_path)
    server.start()
    try:
        assert sql(server.url, "SELECT 1") == "1"
    finally:
        server.stop()
    monkeypatch.undo()
    again = Postgres(tmp_path)  # namespaces are back, but the cluster keeps its owner
    again.start()
    assert again.user == "nobody"
    again.stop()


def test_the_supervisor_restarts_what_died_and_says_so_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes: list[tuple[str, int]] = []
    supervisor = Supervisor(note=lambda name, pid: notes.append((name, pid)))
    server = Valkey(tmp_path)
    supervisor.start(server)
    try:
        assert server.child
        first = server.child.pid
        os.kill(first, signal.SIGKILL)
        server.child.wait()
        supervisor.check()
        assert "Valkey ended (SIGKILL); starting it again in 0.5 s." in capsys.readouterr().out
        watched = supervisor.watched[0]
        assert watched.delay == 1.0
        watched.again_at = 0.0
        supervisor.check()
        assert server.is_ready()
        assert [name for name, _ in notes] == ["Valkey", "Valkey"]
        assert notes[1][1] != first
    finally:
        supervisor.stop()
    assert not server.is_ready()


@pytest.mark.slow
def test_every_acknowledged_row_survives_ten_kills_under_load(postgres: Postgres) -> None:
    sql(postgres.url, "CREATE TABLE kept (n int PRIMARY KEY)")
    acknowledged: set[str] = set()
    over = threading.Event()

    def write(first: int) -> None:
        for number in range(first, first + 1_000_000):
            if over.is_set():
                return
            answer = sql(postgres.url, f"INSERT INTO kept VALUES ({number}) RETURNING n")
            if answer:
                acknowledged.add(answer)

    writers = [threading.Thread(target=write, args=(part * 1_000_000,)) for part in range(4)]
    for writer in writers:
        writer.start()
    rng = Random(20261120)
    for _ in range(10):
        time.sleep(rng.uniform(0.3, 1.0))
        assert postgres.child
        os.kill(postgres.child.pid, signal.SIGKILL)
        postgres.child.wait()
        postgres.start()
    over.set()
    for writer in writers:
        writer.join()
    stored = set(sql(postgres.url, "SELECT n FROM kept").split())
    assert len(acknowledged) > 20
    assert acknowledged <= stored
