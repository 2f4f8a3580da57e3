"""What a page needs of each of its rows is read for all of them at once, while it is made and changes nothing."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db.models import Model

T = TypeVar("T")


@dataclass(frozen=True)
class _Together:
    """`values`: by what was read, then by the key of the row."""

    rows: Mapping[tuple[type[Model], int], Model]
    values: dict[Hashable, Mapping[int, Any]] = field(default_factory=dict)


_TOGETHER: ContextVar[_Together | None] = ContextVar("rows of one page", default=None)


@contextmanager
def read_together(rows: Sequence[Model]) -> Iterator[None]:
    """Inside, `read_for_each` reads for all of these rows, of one or several models, when it is first asked for one."""
    token = _TOGETHER.set(_Together({(type(row), row.pk): row for row in rows}))
    try:
        yield
    finally:
        _TOGETHER.reset(token)


def read_for_each(row: Any, read: Callable[..., Mapping[int, T]], *args: Hashable) -> T | None:
    """What `read(rows, *args)` returns for the key of this row; None where it has nothing. Who changes it makes a copy
    first. `read` takes a fixed number of queries, and every row is of one model.
    """
    page = _TOGETHER.get()
    if page is None or (type(row), row.pk) not in page.rows:
        return read([row], *args).get(row.pk)
    question = (type(row), read, args)
    if question not in page.values:
        page.values[question] = read([other for (model, _pk), other in page.rows.items() if model is type(row)], *args)
    values: Mapping[int, T] = page.values[question]
    return values.get(row.pk)
