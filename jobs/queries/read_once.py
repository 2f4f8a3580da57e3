"""What several parts of a page need is read once, while a page is made that changes nothing."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
_KNOWN: ContextVar[dict[Hashable, Any] | None] = ContextVar("known_rows", default=None)


@contextmanager
def rows_read_once() -> Iterator[None]:
    """Inside, `read_once` remembers what was read."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def read_once(key: Hashable, read: Callable[[], T]) -> T:
    """What `read` returned for this key before, else now. Who changes it makes a copy first."""
    known = _KNOWN.get()
    if known is None:
        return read()
    if key not in known:
        known[key] = read()
    value: T = known[key]
    return value
