"""A database that hangs (SIGSTOP) stops no request for good: 503 with the reason, and all goes on once it is back."""

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections
from django.http import HttpRequest
from django.test import Client

from config import database_guard, health
from config.local.database import Database
from config.local.servers import Postgres
from tests.operations import servers
from tests.servers import THROWAWAY
from tests.start.helpers import eventually


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[Postgres]:
    server = Postgres(tmp_path, options=THROWAWAY)
    server.start()
    yield server
    if server.child:
        servers.signal_database(server, signal.SIGCONT)
    server.stop()


def use(server: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let the checks of this process ask this server; returns its address."""
    url = server.url.replace("postgres:", "postgresql:")
    monkeypatch.setattr(type(connections["default"]), "get_connection_params", lambda _self: {"conninfo": url})
    return url


def page(port: int) -> int:
    """The status of a page that reads the session; 0 where none came in 20 seconds."""
    return servers.get(port, "/me", 20.0, Cookie="sessionid=" + "x" * 32)


def copy_tables(server: Postgres, folder: Path) -> None:
    """Those of the tests' own database, in a fifth of the time that migrations take."""
    Database(servers.database_url()).dump(folder / "tables.dump")
    Database(server.url).load(folder / "tables.dump")


def test_pages_answer_503_while_the_database_hangs_and_recover(
    django_db_setup: None, postgres: Postgres, tmp_path: Path
) -> None:
    copy_tables(postgres, tmp_path)
    with servers.gunicorn(postgres.url) as port, ThreadPoolExecutor(24) as threads:
        assert set(threads.map(page, [port] * 24)) == {302}
        servers.signal_database(postgres, signal.SIGSTOP)
        assert set(threads.map(page, [port] * 24)) == {503}
        assert servers.get(port, "/readyz") == 503
        assert servers.get(port, "/healthz") == 200
        assert page(port) == 503
        servers.signal_database(postgres, signal.SIGCONT)
        assert eventually(lambda: set(threads.map(page, [port] * 24)) == {302}, 30)
        assert eventually(lambda: servers.get(port, "/readyz") == 200, 30)


def test_readyz_says_why_the_database_is_not_ready(
    db: Any, client: Client, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(postgres, monkeypatch)
    monkeypatch.setattr(health, "_migrated", [True])

    def database() -> tuple[int, str, str]:
        health.PARTS["database"].forget()
        reply = client.get("/readyz")
        body = reply.json()
        return reply.status_code, body["parts"]["database"], body["reasons"].get("database", "")

    assert database() == (200, "ok", "")
    servers.signal_database(postgres, signal.SIGSTOP)
    state, reason = "does not answer within 2 s", "PostgreSQL accepts no new connection: it hangs or is overloaded."
    assert database() == (503, state, reason)
    servers.signal_database(postgres, signal.SIGCONT)
    assert database()[0] == 200
    postgres.stop()
    assert database() == (503, "cannot be reached", "Nothing listens at the address of DATABASE_URL.")
    health.PARTS["database"].forget()


def test_a_slow_query_goes_on_and_one_that_hangs_is_given_up(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = use(postgres, monkeypatch)
    monkeypatch.setattr(database_guard, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(database_guard, "guard", database_guard.Guard())
    monkeypatch.setattr(database_guard, "CONNECT_SECONDS", 2)
    line = database_guard.GuardedConnection.connect(url)
    assert line.execute("SELECT pg_sleep(1), 7").fetchone() == ("", 7)
    monkeypatch.setattr(database_guard, "ALIVE_SECONDS", 0.0)
    servers.signal_database(postgres, signal.SIGSTOP)
    with pytest.raises(database_guard.DatabaseSilentError):
        line.execute("SELECT 1")
    assert line.closed
    assert database_guard.guard.is_silent()
    servers.signal_database(postgres, signal.SIGCONT)
    monkeypatch.setattr(database_guard, "SILENT_SECONDS", 0.0)
    assert eventually(lambda: not database_guard.guard.is_silent(), 30)


@pytest.mark.parametrize("accept, text", [("text/html", "<h1>"), ("*/*", "Nothing was saved")])
def test_the_refusal_is_a_page_for_people_and_a_sentence_for_programs(accept: str, text: str) -> None:
    request = HttpRequest()
    request.META["HTTP_ACCEPT"] = accept
    reply = database_guard.unavailable(request)
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
    assert "database" in reply.content.decode() and text in reply.content.decode()


@pytest.mark.parametrize("code, away", [(None, True), ("08006", True), ("57P01", True), ("40P01", False)])
def test_only_a_lost_connection_counts_as_a_database_that_is_away(code: str | None, away: bool) -> None:
    error = psycopg.OperationalError()
    error.sqlstate = code
    assert database_guard.is_database_away(error) is away
