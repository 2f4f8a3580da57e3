"""One transaction, run again when the database chose it as the victim of a deadlock."""

import functools
import random
import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection, transaction
from psycopg.errors import DeadlockDetected, SerializationFailure

P = ParamSpec("P")
R = TypeVar("R")
TRIES = 5


class RetryTransaction(Exception):
    """What was read turned out to be old: roll back and run the transaction again."""


def in_transaction(function: Callable[P, R]) -> Callable[P, R]:
    """Run in a transaction of its own. Lock order everywhere: Campaign, its cohort, Participation, Assignment, Slot,
    Tally."""

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        outermost = not connection.in_atomic_block
        for attempt in range(1, TRIES + 1):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except (OperationalError, RetryTransaction) as error:
                if not outermost or attempt == TRIES or not is_retryable(error):
                    raise
                time.sleep(random.uniform(0, 0.02 * attempt))  # noqa: S311  (spreads the retries)
        raise AssertionError("unreachable")

    return wrapped


def is_retryable(error: Exception) -> bool:
    """Whether the database gave a transaction up for the sake of another one."""
    return isinstance(error, RetryTransaction) or isinstance(error.__cause__, DeadlockDetected | SerializationFailure)
