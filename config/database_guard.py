"""Web requests do not wait for a database that hangs: after seconds they answer 503 and say why.

A server that hangs (a stopped process, a lost disk) obeys no `statement_timeout`, so the client has to notice. A query
without an answer for `PATIENCE_SECONDS` makes one thread of the process try a new connection. A query that is merely
slow goes on, because the new connection succeeds. If it does not, all queries that wait fail, and requests are refused
until a new connection succeeds. Only web processes do this (`config/wsgi.py`); the worker waits.
"""

import os
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import psycopg
from django.contrib.auth.models import AnonymousUser
from django.db import OperationalError, connection, connections
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from config.postgresql.base import use_connections

PATIENCE_SECONDS = 3.0  # without an answer, after which the server is asked whether it lives
CONNECT_SECONDS = 4  # libpq takes whole seconds, at least 2
POOL_SECONDS = 5.0  # for a connection of the pool
KEPT_SECONDS = 3600  # after which a thread makes a new connection
ALIVE_SECONDS, SILENT_SECONDS = 5.0, 1.0  # how long the last finding holds
RETRY_SECONDS = 5
ALWAYS_ANSWERED = ("/healthz", "/readyz")
CONNECTION_LOST = ("08", "57P")  # classes of SQLSTATE: connection exceptions, and a server that shuts down


class DatabaseSilentError(psycopg.OperationalError):
    """A query was given up, because the server does not answer a new connection either."""


def connection_fault(seconds: int) -> str:
    """Why no new connection can be used, as words for a monitor; "" where it can. Takes up to `seconds`."""
    parameters: dict[str, Any] = {**connection.get_connection_params(), "connect_timeout": seconds}
    try:
        with psycopg.connect(**parameters) as line:
            line.execute("SELECT 1")
    except psycopg.errors.ConnectionTimeout:
        return f"does not answer within {seconds} s"
    except psycopg.OperationalError as error:
        return "refuses connections" if "FATAL" in str(error) else "cannot be reached"
    return ""


class Guard:
    """What this process knows about the database; one thread at a time finds out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_silent = False
        self._checked = float("-inf")

    def is_silent(self) -> bool:
        """Whether the database answers no new connection. Without cost while the last check found that it does."""
        return self._is_silent and self.check()

    def suspect(self) -> None:
        """A connection was lost or could not be had: find out why, unless that is known."""
        if not self._is_silent:
            self.check()

    def check(self) -> bool:
        """Like `is_silent`, but also try a new connection if the last check found that the database answers."""
        age = time.monotonic() - self._checked
        if age < (SILENT_SECONDS if self._is_silent else ALIVE_SECONDS) or not self._lock.acquire(blocking=False):
            return self._is_silent
        try:
            # A server that refuses, for it has too many connections or starts, is alive: what it works on goes on.
            self._is_silent = connection_fault(CONNECT_SECONDS) not in ("", "refuses connections")
            self._checked = time.monotonic()
        finally:
            self._lock.release()
        return self._is_silent


guard = Guard()


class GuardedConnection(psycopg.Connection[Any]):
    """A connection whose queries are given up when the server hangs."""

    def wait(self, gen: Any, *arguments: Any, **named: Any) -> Any:
        try:
            return super().wait(_guard_wait(gen), *arguments, **named)
        except DatabaseSilentError:
            self.pgconn.finish()
            raise


def _guard_wait(gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
    """The same generator; psycopg resumes it with 0 ten times a second while nothing arrives."""
    patience_ends = time.monotonic() + PATIENCE_SECONDS
    try:
        state = next(gen)
        while True:
            ready = yield state
            if not ready and time.monotonic() > patience_ends and guard.check():
                raise DatabaseSilentError("the database does not answer")
            state = gen.send(ready)
    except StopIteration as end:
        return end.value


def install() -> None:
    """Guard the connections that this process will make.

    Where there are as many as threads, each thread keeps its own from one request to the next, for taking one out of a
    pool costs a round trip in each request. Where there are fewer, threads share a pool.
    """
    settings = connections["default"].settings_dict
    options = settings["OPTIONS"]
    options.setdefault("connect_timeout", CONNECT_SECONDS)
    pool = options.get("pool")
    if pool and pool["max_size"] >= int(os.environ.get("EMIC_WEB_THREADS", "8")):
        options["pool"] = False
        settings["CONN_MAX_AGE"] = KEPT_SECONDS
        use_connections(GuardedConnection)
    elif pool:
        options["pool"] = {**pool, "connection_class": GuardedConnection, "timeout": POOL_SECONDS}


class SilentDatabase:
    """Middleware: 503 while the database does not answer, without asking it, so that threads stay free."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info not in ALWAYS_ANSWERED and guard.is_silent():
            return unavailable(request)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return unavailable(request) if is_database_away(error) else None


def unavailable(request: HttpRequest) -> HttpResponse:
    """Made without the database, so without the person. Sheets keep what they have and send it again."""
    request.user = AnonymousUser()  # middleware that asks who it is must not wait for the database once more
    if "text/html" in request.headers.get("Accept", ""):
        response = HttpResponse(render_to_string("503.html"), status=503)
    else:
        words = _("The database is not responding. Nothing was saved. Try again in a moment.")
        response = HttpResponse(words, "text/plain; charset=utf-8", 503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    response.headers["Cache-Control"] = "no-store"
    return response


def is_database_away(error: BaseException | None) -> bool:
    """Whether a connection was lost or could not be had. The next request then finds out whether the database hangs."""
    away = any(_is_lost(cause) for cause in _iter_causes(error))
    if away:
        guard.suspect()
    return away


def _is_lost(error: BaseException) -> bool:
    return isinstance(error, psycopg.OperationalError) and (
        error.sqlstate is None or error.sqlstate.startswith(CONNECTION_LOST)
    )


def _iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        yield error
        error = error.__cause__ or (error.__context__ if isinstance(error, OperationalError) else None)
