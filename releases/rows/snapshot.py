"""All rows of a query as they were at one moment, with their number first."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from django.db import connection, transaction

from releases.rows.columns import Row
from releases.rows.filters import Condition
from releases.rows.kinds import RowKind, RowScope


class SnapshotRows:
    """Rows that are counted and read in one transaction, which ends with `close`. Iterate once.

    `begin` is called first in the transaction; what it raises ends the transaction.
    """

    def __init__(
        self, kind: RowKind, scope: RowScope, conditions: Sequence[Condition], begin: Callable[[], None] = lambda: None
    ) -> None:
        self._stack = ExitStack()
        with ExitStack() as stack:
            stack.enter_context(repeatable_read())
            begin()
            self.number = kind.count(scope, conditions)
            self._rows = kind.rows(scope, conditions)
            self._stack = stack.pop_all()

    def __iter__(self) -> Iterator[Row]:
        yield from self._rows
        self.close()

    def close(self) -> None:
        if isinstance(self._rows, Iterator) and hasattr(self._rows, "close"):
            self._rows.close()
        self._stack.close()


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Every statement sees the same moment. Inside a transaction that has begun, each sees its own.

    Whoever reads the rows may be slow, so the server waits ten minutes for the next statement, not one.
    """
    begun = connection.in_atomic_block
    with transaction.atomic():
        if not begun:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '10min'")
        yield
