"""How our own statements are run: prepared, for planning one takes longer than running it."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import JSONField, Model
from django.db.models.base import ModelState

Params = Mapping[str, Any] | Sequence[Any]
M = TypeVar("M", bound=Model)
ONLY_WHEN_TOLD = 10**9
MARK = re.compile(r"%(?:\((\w+)\)s|s|%)")


def fetch(sql: str, params: Params) -> list[tuple[Any, ...]]:
    """Run one of our own statements, prepared once in each connection. `sql` is never put together from values."""
    database: Any = connections[DEFAULT_DB_ALIAS]  # `connection` would look it up at each step
    if database.queries_logged:
        with database.cursor() as logged:
            logged.execute(sql, params)
            return logged.fetchall() if logged.description else []
    database.close_if_health_check_failed()
    database.ensure_connection()
    line = database.connection
    if line.prepare_threshold is None:  # Django's way to switch it off
        line.prepare_threshold = ONLY_WHEN_TOLD
    text, names = _numbered(sql)
    values = params if names is None else [params[name] for name in names]  # type: ignore[call-overload]
    with database.wrap_database_errors, psycopg.RawCursor(line) as cursor:
        cursor.execute(text, values, prepare=True)
        answer = cursor.pgresult  # `description` would make an object for each of some eighty columns
        return cursor.fetchall() if answer is not None and answer.nfields else []


@lru_cache(maxsize=1024)
def _numbered(sql: str) -> tuple[str, tuple[str, ...] | None]:
    """The statement with PostgreSQL's own marks, $1 and so on, and the names in their order; None where it has none.

    psycopg would look for the marks of a long statement each time.
    """
    names: dict[str, int] = {}
    count = 0

    def number(mark: re.Match[str]) -> str:
        nonlocal count
        if mark[0] == "%%":
            return "%"
        if mark[0] == "%s":
            count += 1
            return f"${count}"
        return f"${names.setdefault(mark[1], len(names) + 1)}"

    text = MARK.sub(number, sql)
    assert not (names and count), "named and unnamed marks in one statement"
    return text, tuple(names) if names else None


def execute(sql: str, params: Params) -> int:
    """Run a statement that is seldom; says how many rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount)


class Columns:
    """The columns of a model in a statement of ours, and the object that comes back.

    `only`: names of columns; Django reads another one when it is asked for, as after `QuerySet.only`.
    """

    def __init__(self, model: type[M], alias: str, only: Collection[str] = ()) -> None:
        fields = [field for field in model._meta.concrete_fields if not only or field.attname in only]
        assert model._meta.pk in fields and len(fields) >= len(only), f"{model.__name__} has no such column"
        self.model = model
        self.names = [field.attname for field in fields]
        self.json = [number for number, field in enumerate(fields) if isinstance(field, JSONField)]
        self.sql = ", ".join(f'{alias}."{field.column}"' for field in fields)

    def read(self, row: Sequence[Any], start: int) -> Any:
        """The object, or None where an outer join found nothing.

        As `Model.from_db` makes it, without the work for each column: none has code that runs when it is set.
        """
        values = list(row[start : start + len(self.names)])
        if values[0] is None:
            return None
        for number in self.json:
            if isinstance(values[number], str | bytes):
                values[number] = json.loads(values[number])
        instance: Any = self.model.__new__(self.model)
        instance._state = state = ModelState()
        state.adding, state.db = False, "default"
        vars(instance).update(zip(self.names, values, strict=True))
        return instance


class JoinedColumns:
    """Several models side by side in one row. `only`: the columns to read, by alias; all of those not named."""

    def __init__(self, only: Mapping[str, Collection[str]] | None = None, **models: type[Model]) -> None:
        self.parts = {alias: Columns(model, alias, (only or {}).get(alias, ())) for alias, model in models.items()}
        self.sql = ", ".join(part.sql for part in self.parts.values())
        self.width = sum(len(part.names) for part in self.parts.values())

    def read(self, row: Sequence[Any], start: int = 0) -> dict[str, Any]:
        parts = {}
        for alias, part in self.parts.items():
            parts[alias] = part.read(row, start)
            start += len(part.names)
        return parts
