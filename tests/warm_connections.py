"""Connections of the live server: those to the database outlive the browser's, and those to the browser send at once.

A new connection of PostgreSQL knows no table yet, so that its first statements take ten times as long. A browser opens
several lines to the live server in each test, each with a thread and, without this, a connection of its own.

Django's server sends the head and the body of a reply apart. By Nagle's algorithm the second would wait for the receipt
of the first, which the other side delays by 40 ms.
"""

import threading
from typing import Any

import pytest
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.db.backends.postgresql.base import DatabaseWrapper
from django.db.backends.postgresql.psycopg_any import IsolationLevel
from django.test import TransactionTestCase
from psycopg.pq import TransactionStatus

_idle: list[Any] = []
_thread = threading.local()


def keep(patch: pytest.MonkeyPatch) -> None:
    """From now on threads of the live server hand their connections on, and a test that commits keeps its own."""
    connect, close, serve = (
        DatabaseWrapper.get_new_connection, DatabaseWrapper._close, ThreadedWSGIServer.process_request_thread
    )  # fmt: skip

    def serve_and_hand_on(server: Any, *request: Any) -> None:
        _thread.serves = True
        serve(server, *request)

    def take_idle(wrapper: Any, parameters: dict[str, Any]) -> Any:
        while getattr(_thread, "serves", False) and _idle:
            line = _idle.pop()
            if not line.closed and line.info.dbname == parameters["dbname"]:
                wrapper.isolation_level = IsolationLevel.READ_COMMITTED
                return line
            line.close()
        return connect(wrapper, parameters)

    def hand_on(wrapper: Any) -> None:
        line = wrapper.connection
        if getattr(_thread, "serves", False) and line is not None and is_idle(line):
            _idle.append(line)
        else:
            close(wrapper)

    patch.setattr(ThreadedWSGIServer, "process_request_thread", serve_and_hand_on)
    patch.setattr(WSGIRequestHandler, "disable_nagle_algorithm", True)
    patch.setattr(DatabaseWrapper, "get_new_connection", take_idle)
    patch.setattr(DatabaseWrapper, "_close", hand_on)
    patch.setattr(TransactionTestCase, "_should_reload_connections", lambda _case: False)


def is_idle(line: Any) -> bool:
    return not line.closed and line.info.transaction_status == TransactionStatus.IDLE


def close_all() -> None:
    while _idle:
        _idle.pop().close()
