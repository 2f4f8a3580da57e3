"""Rows that belong together, wherever in a file they stand, in bounded memory. Pure."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import groupby, islice
from typing import Any

from benchmarks.imports.problems import RowProblem

SOME = 2000
MOST = 1000


def group_rows(
    rows: Iterable[tuple[int, Any]], key: Callable[[Any], str]
) -> Iterator[list[tuple[int, Any]]]:  # fmt: skip
    """Rows with one key, in the order in which keys first come, at most MOST at a time. A RowProblem is alone.

    They wait in a temporary database on disk, which is gone with the process.
    """
    with closing(sqlite3.connect("")) as staged:
        staged.executescript("""
            PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;
            CREATE TABLE rows (first INTEGER, number INTEGER, row TEXT);
            CREATE TABLE keys (first INTEGER PRIMARY KEY, key TEXT UNIQUE);
        """)
        source = iter(rows)
        while some := list(islice(source, SOME)):
            packed = [(_key(number, row, key), number, _pack(row)) for number, row in some]
            staged.executemany("INSERT OR IGNORE INTO keys (key) VALUES (?)", [(name,) for name, _n, _row in packed])
            statement = "INSERT INTO rows SELECT first, ?, ? FROM keys WHERE key = ?"
            staged.executemany(statement, [(number, text, name) for name, number, text in packed])
        cursor = staged.execute("SELECT first, number, row FROM rows ORDER BY first, number")
        for _first, part in groupby(cursor, key=lambda row: row[0]):
            while some := [(number, _unpack(text)) for _key_number, number, text in islice(part, MOST)]:
                yield some


def _key(number: int, row: Any, key: Callable[[Any], str]) -> str:
    name = f"#{number}" if isinstance(row, RowProblem) else key(row)
    return name.encode("utf-8", "replace").decode()


def _pack(row: Any) -> str:
    return json.dumps({"problem": [row.code, row.message]} if isinstance(row, RowProblem) else {"row": row})


def _unpack(text: str) -> Any:
    stored = json.loads(text)
    return RowProblem(*stored["problem"]) if "problem" in stored else stored["row"]
