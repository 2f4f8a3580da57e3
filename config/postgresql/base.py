"""Django's PostgreSQL, but a connection that was kept since the last request is checked without a statement.

A server that ends a connection says so on its socket. While nothing has arrived there, a statement that asks whether
the connection works would find nothing either, and would cost a round trip in each request.
"""

import select
from types import SimpleNamespace
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg.pq import TransactionStatus


class DatabaseWrapper(base.DatabaseWrapper):
    health_check_done: bool

    def close_if_health_check_failed(self) -> None:
        """Ask the server only where something arrived that nobody waits for: its last word, as a rule."""
        if self.connection is not None and not self.health_check_done and is_quiet(self.connection):
            self.health_check_done = True
        else:
            super().close_if_health_check_failed()


def is_quiet(line: psycopg.Connection[Any]) -> bool:
    """Whether an idle connection is open, and its server has sent nothing since its last answer."""
    if line.closed or line.pgconn.transaction_status != TransactionStatus.IDLE:
        return False
    poll = select.poll()
    poll.register(line.pgconn.socket, select.POLLIN | select.POLLPRI)
    return not poll.poll(0)


def use_connections(kind: type[psycopg.Connection[Any]]) -> None:
    """Let the connections that this process will make be of this kind."""
    driver: Any = SimpleNamespace(**{**vars(psycopg), "connect": kind.connect})
    DatabaseWrapper.Database = driver
