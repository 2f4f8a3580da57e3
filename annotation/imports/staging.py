"""Rows of a file that belong together, wherever in the file they stand."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import groupby, islice
from typing import Any

from annotation.imports.rows import clean
from annotation.imports.source import Row
from benchmarks.imports.problems import RowProblem

SOME = 2000


def group_by_key(
    rows: Iterable[Row], key: Callable[[Mapping[str, Any]], list[Any]], most: int, beat: Callable[[], None]
) -> Iterator[list[Row]]:
    """Rows with one key, in the order in which the keys first come; at most `most` at a time. A row that cannot be read
    is alone.

    They are brought together in a temporary database of SQLite's, which lies on disk and is gone with the process:
    memory stays bounded, nothing is left behind by a kill, no table of ours has to be emptied, and, being made of the
    file alone, it is the same again when the work goes on.
    """
    with closing(sqlite3.connect("")) as staged:
        _stage(staged, rows, key, beat)
        cursor = staged.execute("SELECT place, number, row FROM rows ORDER BY place, number")
        for _place, part in groupby(cursor, key=lambda row: row[0]):
            while some := list(islice(part, most)):
                yield [(number, _decode_row(text)) for _key, number, text in some]


def _stage(
    staged: sqlite3.Connection,
    rows: Iterable[Row],
    key: Callable[[Mapping[str, Any]], list[Any]],
    beat: Callable[[], None],
) -> None:
    staged.executescript("""
        PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA cache_size = -32768;
        CREATE TABLE places (id INTEGER PRIMARY KEY, key TEXT UNIQUE);
        CREATE TABLE rows (place INTEGER, number INTEGER, row TEXT, PRIMARY KEY (place, number)) WITHOUT ROWID;
    """)
    source = iter(rows)
    while some := [_encode_row(number, row, key) for number, row in islice(source, SOME)]:
        staged.executemany("INSERT OR IGNORE INTO places (key) VALUES (?)", [(name,) for name, _n, _text in some])
        staged.executemany(
            "INSERT INTO rows SELECT id, ?, ? FROM places WHERE key = ?", [(n, text, name) for name, n, text in some]
        )
        beat()


def _encode_row(
    number: int, row: Mapping[str, Any] | RowProblem, key: Callable[[Mapping[str, Any]], list[Any]]
) -> tuple[str, int, str]:
    try:
        if isinstance(row, RowProblem):
            raise row
        cleaned = dict(clean(row))
    except RowProblem as problem:
        return f"#{number}", number, json.dumps({"wrong": [problem.code, problem.message]})
    return json.dumps([str(part).strip() for part in key(cleaned)]), number, json.dumps({"row": cleaned})


def _decode_row(text: str) -> Mapping[str, Any] | RowProblem:
    stored = json.loads(text)
    return RowProblem(*stored["wrong"]) if "wrong" in stored else dict(stored["row"])
