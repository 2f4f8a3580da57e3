"""What a kind of rows is: its columns, and the query that streams them in a fixed order, whole or page by page.

There is one definition of each kind. The archive, its codebook and REST read it; docs/decisions/0014-rows-once.md says
why. Memory does not grow with the number of rows.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from benchmarks.models import Benchmark
from releases.rows.columns import Row, RowColumn
from releases.rows.filters import Condition, RowFilter

Finish = Callable[[Row], Row]


@dataclass(frozen=True)
class RowScope:
    """Whose rows: of a benchmark, all campaigns and stages named by their ids."""

    benchmark: Benchmark
    campaigns: tuple[int, ...]
    stages: tuple[int, ...] = ()


@dataclass(frozen=True)
class Window:
    """A part of the rows in their order: those after, or before, a key. `before` reads backwards from the key."""

    after: tuple[Any, ...] | None = None
    before: tuple[Any, ...] | None = None
    limit: int | None = None


ALL = Window()


@dataclass(frozen=True)
class RowKind:
    """One kind of rows.

    Attributes:
        source: SQL from FROM on, up to the conditions that always hold; ends within WHERE.
        order: SQL of the key that sorts the rows. Rows have no two equal ones.
        params: of `source`, for a scope.
        finish: makes, for a scope, what completes each row: pseudonyms, cells. Queries are made before the rows come.
        filters: what may narrow the rows.
        state: SQL of what a release remembers of a row beside its checksum, such as whether it counts.
        content: SQL of a checksum of what a release must not change without a new major version; empty: there is none.
        item: SQL of the id of the item that a row is about; empty: it is about none. A release that withholds answers
            leaves out the rows of withheld items, and all rows about no item that only `export` may read.
    """

    key: str
    meaning: str
    columns: Sequence[RowColumn]
    source: str
    order: Sequence[str]
    params: Callable[[RowScope], list[Any]]
    finish: Callable[[RowScope], Finish] = lambda scope: lambda row: row
    filters: Mapping[str, RowFilter] = field(default_factory=dict)
    state: str = "''"
    content: str = ""
    item: str = ""

    @property
    def written(self) -> list[RowColumn]:
        """The columns that a file or a reply has."""
        return [column for column in self.columns if not column.is_internal]

    @property
    def scope(self) -> str:
        """What a token needs to read any of it."""
        return "read" if any(column.scope == "read" for column in self.written) else "export"

    def rows(self, scope: RowScope, conditions: Sequence[Condition] = (), window: Window = ALL) -> Iterator[Row]:
        """The rows in order, streamed; under "_key" the key of each. A backward window comes in order, too."""
        keys = [RowColumn(f"_key{place}", f"({sql})::text", "text", "") for place, sql in enumerate(self.order)]
        source, params = self._narrowed(scope, conditions, window)
        finish = self.finish(scope)
        rows = stream_query([*self.columns, *keys], source, params)
        if window.before is not None:
            rows = reversed(list(rows))
        for row in rows:
            key = tuple(row.pop(column.name) for column in keys)
            yield {**finish(row), "_key": key}

    def count(self, scope: RowScope, conditions: Sequence[Condition] = ()) -> int:
        source, params = self.conditional(scope, conditions)
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) {source}", params)
            [number] = cursor.fetchone()
        return int(number)

    def conditional(self, scope: RowScope, conditions: Sequence[Condition]) -> tuple[str, list[Any]]:
        """SQL from FROM on, with its parameters."""
        parts = [self.source, *(f"AND {condition.sql}" for condition in conditions)]
        return "\n".join(parts), [*self.params(scope), *(value for c in conditions for value in c.params)]

    def _narrowed(self, scope: RowScope, conditions: Sequence[Condition], window: Window) -> tuple[str, list[Any]]:
        source, params = self.conditional(scope, conditions)
        key = ", ".join(self.order)
        for bound, sign in ((window.after, ">"), (window.before, "<")):
            if bound is not None:
                source += f"\nAND ({key}) {sign} ({', '.join(['%s'] * len(bound))})"
                params += bound
        backwards = " DESC" if window.before is not None else ""
        source += f"\nORDER BY {', '.join(sql + backwards for sql in self.order)}"
        if window.limit is not None:
            source += "\nLIMIT %s"
            params.append(window.limit)
        return source, params


def stream_query(columns: Sequence[RowColumn], source: str, params: Sequence[Any]) -> Iterator[Row]:
    """What a query finds, streamed. `source`: it from FROM on."""
    select = ", ".join(column.select for column in columns)
    with connection.cursor() as cursor:
        statement = cursor.mogrify(f"COPY (SELECT {select} {source}) TO STDOUT", params)
        with cursor.copy(statement) as copy:
            copy.set_types([column.postgres_type for column in columns])
            for values in copy.rows():
                yield {c.name: c.read(value) for c, value in zip(columns, values, strict=True)}


def cached_pseudonyms(benchmark: Benchmark) -> Callable[[int], str]:
    """A pseudonym is made once for each rater. All queries are made now, before rows are streamed."""
    benchmark.read_rater_names()
    pseudonym, names = benchmark.pseudonym, dict[int, str]()

    def named(rater: int) -> str:
        if rater not in names:
            names[rater] = pseudonym(rater)
        return names[rater]

    return named
