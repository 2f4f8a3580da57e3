"""A thread keeps its connection from one request to the next, and notices without a statement when it was lost."""

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from config import database_guard
from config.postgresql import base
from config.postgresql.base import DatabaseWrapper, is_quiet


@pytest.fixture
def wrapper(db: None) -> Iterator[DatabaseWrapper]:
    """A connection of its own, used once, as at the start of the next request."""
    own = connections.create_connection("default")
    assert isinstance(own, DatabaseWrapper)
    ask(own)
    own.close_if_unusable_or_obsolete()
    assert own.connection is not None
    yield own
    own.close()


def ask(wrapper: DatabaseWrapper) -> int:
    with wrapper.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end_connection(pid: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    time.sleep(0.3)


def test_a_kept_connection_is_used_again_without_a_question(wrapper: DatabaseWrapper, monkeypatch: Any) -> None:
    pid = wrapper.connection.info.backend_pid
    with monkeypatch.context() as patch:
        patch.setattr(DatabaseWrapper, "is_usable", lambda _self: pytest.fail("the server was asked"))
        assert ask(wrapper) == pid
        wrapper.close_if_unusable_or_obsolete()
        assert ask(wrapper) == pid


def test_a_connection_that_the_server_ended_is_replaced(wrapper: DatabaseWrapper) -> None:
    pid = wrapper.connection.info.backend_pid
    assert is_quiet(wrapper.connection)
    end_connection(pid)
    assert not is_quiet(wrapper.connection)
    with CaptureQueriesContext(wrapper):
        assert ask(wrapper) != pid


def test_without_the_check_a_lost_connection_would_fail(wrapper: DatabaseWrapper, monkeypatch: Any) -> None:
    monkeypatch.setattr(base, "is_quiet", lambda _line: True)
    end_connection(wrapper.connection.info.backend_pid)
    with pytest.raises(Exception, match=r"terminat|closed"):
        ask(wrapper)


@pytest.mark.parametrize(("size", "keeps"), [(8, True), (12, True), (4, False)])
def test_threads_keep_connections_where_there_are_enough(size: int, keeps: bool, monkeypatch: Any) -> None:
    settings = {"OPTIONS": {"pool": {"max_size": size}}, "CONN_MAX_AGE": 0}
    monkeypatch.setattr(database_guard, "connections", {"default": type("Wrapper", (), {"settings_dict": settings})})
    monkeypatch.setattr(DatabaseWrapper, "Database", psycopg, raising=False)
    monkeypatch.setenv("EMIC_WEB_THREADS", "8")
    database_guard.install()
    options: Any = settings["OPTIONS"]
    if keeps:
        assert options["pool"] is False
        assert settings["CONN_MAX_AGE"] == database_guard.KEPT_SECONDS
        assert DatabaseWrapper.Database.connect.__self__ is database_guard.GuardedConnection  # type: ignore[attr-defined]
    else:
        assert options["pool"]["connection_class"] is database_guard.GuardedConnection
        assert settings["CONN_MAX_AGE"] == 0
