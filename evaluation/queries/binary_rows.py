"""Rows out of the database in packs: by the million, a row of its own costs the client far more than it costs the
database. What many rows share comes once; the rest of them is one run of bytes, which numpy reads where it lies.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection

SENT = {"int8": ">i8", "int4": ">i4", "float8": ">f8"}


def pack_sql(columns: Mapping[str, tuple[str, str]]) -> str:
    """SQL for one pack: `columns` names a type of SENT and an expression each; none of them may be null."""
    sent = " || ".join(f"{kind}send({expression})" for kind, expression in columns.values())
    return f"string_agg({sent}, ''::bytea)"


def unpack(pack: bytes, columns: Mapping[str, tuple[str, str]]) -> npt.NDArray[np.void]:
    """The rows of a pack, as a structured array of these columns."""
    return np.frombuffer(pack, np.dtype([(name, SENT[kind]) for name, (kind, _expression) in columns.items()]))


def fetch_packed(query: str, params: Mapping[str, Any], types: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query as they come, parsed by these types of the database: a pack is a bytea."""
    with connection.cursor() as cursor:
        copying = f"COPY ({query}) TO STDOUT (FORMAT binary)"
        statement = cursor.mogrify(copying, params)  # COPY takes no parameters; psycopg quotes them here
        with cursor.copy(statement) as copy:
            copy.set_types(types)
            yield from copy.rows()
