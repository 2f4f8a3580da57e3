"""Rows out of the database by COPY, block by block into numpy: never an object per row."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from django.db import connection

_HEADER, _TRAILER = 19, 2
_ROWS = 32_768


def copied(query: str, params: Mapping[str, Any], kept: Mapping[str, str]) -> Any:
    """A structured array of the query's rows.

    `query` is a COPY ... TO STDOUT (FORMAT binary) whose columns are int8, the last one float8; none may be null.
    `kept` names them, with the numpy type each is kept in.
    """
    row = _row(list(kept))
    whole = np.empty(0, np.dtype(list(kept.items())))
    blocks = []
    for block in _blocks(query, params, row):
        part = np.empty(block.size, whole.dtype)
        for name in kept:
            part[name] = block[name]
        blocks.append(part)
    return np.concatenate(blocks) if blocks else whole


def _row(names: list[str]) -> np.dtype[np.void]:
    """COPY's binary form: two bytes for the number of columns, then a length and eight bytes for each."""
    parts: list[tuple[str, str]] = [("columns of the row", ">i2")]
    for name in names:
        parts += [(f"length of {name}", ">i4"), (name, ">f8" if name == names[-1] else ">i8")]
    return np.dtype(parts)


def _blocks(query: str, params: Mapping[str, Any], row: np.dtype[np.void]) -> Iterator[Any]:
    full = _ROWS * row.itemsize
    with connection.cursor() as cursor:
        statement = cursor.mogrify(query, params)  # COPY takes no parameters; psycopg quotes them here
        begun, buffer = False, bytearray()
        with cursor.copy(statement) as copy:
            for data in copy:
                buffer += data
                if not begun and len(buffer) >= _HEADER:
                    begun = True
                    del buffer[:_HEADER]
                if len(buffer) > full + row.itemsize:
                    yield np.frombuffer(bytes(buffer[:full]), row)
                    del buffer[:full]
        if len(buffer) > _TRAILER:
            yield np.frombuffer(bytes(buffer[:-_TRAILER]), row)
