"""Rows with a checksum of all that they say: for freezing them, and for reading frozen ones as they were.

The checksum is made by the database, of the same columns that the files have. One that differs later says that
something was changed in between; it proves nothing to others.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from releases.rows.columns import Row
from releases.rows.filters import Condition
from releases.rows.kinds import RowKind, RowScope


class RowsChanged(Exception):
    """A row is not as it was when it was frozen."""


@dataclass(frozen=True)
class FrozenKey:
    number: int
    part: str
    digest: UUID


def digest_query(kind: RowKind, scope: RowScope, conditions: Sequence[Condition]) -> tuple[str, list[Any]]:
    """All rows by their columns number, part, state, item, content and digest."""
    inner, params = _inner(kind, scope, conditions, f", ({kind.content or 'NULL'})::uuid AS content")
    columns = f"x.number, x.part, x.state, x.item, x.content, {_digest(kind)} AS digest"
    return f"SELECT {columns} FROM ({inner}) x", params  # noqa: S608


def read_frozen(
    kind: RowKind, scope: RowScope, conditions: Sequence[Condition], keys: Sequence[FrozenKey],
    finish: Callable[[Row], Row],
) -> Iterator[Row]:  # fmt: skip
    """The rows of these keys, in their order, as they were. All of them are in memory. Raises RowsChanged."""
    rows = {}
    for number, part, digest, row in _rows_with_digest(kind, scope, conditions, keys):
        rows[number, part] = (digest, row)
    for key in keys:
        digest, row = rows.pop((key.number, key.part), ("", {}))
        if not row or UUID(digest) != key.digest:
            raise RowsChanged
        yield finish(row)


def _rows_with_digest(
    kind: RowKind, scope: RowScope, conditions: Sequence[Condition], keys: Sequence[FrozenKey]
) -> Iterator[tuple[int, str, str, Row]]:
    chosen = Condition(f"{kind.order[0]} = ANY(%s)", ([key.number for key in keys],))
    inner, params = _inner(kind, scope, [*conditions, chosen])
    columns = ", ".join(f"x.c{place}" for place in range(len(kind.columns)))
    sql = f"COPY (SELECT {columns}, x.number, x.part, {_digest(kind)}::text FROM ({inner}) x) TO STDOUT"  # noqa: S608
    types = [*(column.postgres_type for column in kind.columns), "int8", "text", "text"]
    with connection.cursor() as cursor, cursor.copy(cursor.mogrify(sql, params)) as copy:
        copy.set_types(types)
        for *values, number, part, digest in copy.rows():
            yield number, part, digest, {c.name: c.read(v) for c, v in zip(kind.columns, values, strict=True)}


def _inner(kind: RowKind, scope: RowScope, conditions: Sequence[Condition], more: str = "") -> tuple[str, list[Any]]:
    """The rows with their key, their state and `more`. OFFSET keeps the planner from working columns out twice."""
    source, params = kind.conditional(scope, conditions)
    columns = ", ".join(f"{column.select} AS c{place}" for place, column in enumerate(kind.columns))
    part = f"({kind.order[1]})::text" if len(kind.order) > 1 else "''::text"
    key = f"{kind.order[0]} AS number, {part} AS part, ({kind.state})::text AS state"
    key += f", ({kind.item or 'NULL'})::bigint AS item{more}"
    return f"SELECT {columns}, {key} {source} OFFSET 0", params


def _digest(kind: RowKind) -> str:
    columns = ", ".join(f"x.c{place}" for place in range(len(kind.columns)))
    return f"md5(ROW({columns})::text)::uuid"
