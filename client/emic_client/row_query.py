"""Rows that match some filters: read one by one, counted, or written to a file or a data frame."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import httpx

from .connection import Connection
from .errors import BrokenStream
from .records import ColumnShape, R, read_value, shapes_of

if TYPE_CHECKING:
    import pandas

STREAM = {"Accept": "application/x-ndjson"}
PARQUET_ROWS = 50_000  # in memory at once
DTYPES: Mapping[ColumnShape, str] = {"int": "Int64", "float": "float64", "bool": "boolean", "str": "string"}


class RowQuery(Generic[R]):
    """Nothing is asked before rows are read. Each reading is of one moment, and one row is in memory at a time."""

    def __init__(self, connection: Connection, path: str, kind: type[R], filters: Mapping[str, Any]) -> None:
        self._connection = connection
        self._path = path
        self._kind = kind
        self._filters = dict(filters)
        self.changed_after: str | None = None
        """After a reading of all rows: what to give as the filter `changed_after` to read what changed since."""
        self.gone: list[dict[str, Any]] = []
        """After a reading of changes: the numbers of rows that nobody may read any more, and why. Delete them."""

    def __repr__(self) -> str:
        return f"<rows of {self._path} where {self._filters}>"

    def __iter__(self) -> Iterator[R]:
        for row in self._rows():
            yield self._kind.from_json(row)

    def count(self) -> int:
        return int(self._connection.get(f"{self._path}count/", self._filters)["count"])

    def to_dicts(self) -> Iterator[dict[str, Any]]:
        """The rows as the site sends them: with members that this version of the client does not know, and of changes
        also what is gone."""
        for line in self._lines():
            yield json.loads(line)

    def to_ndjson(self, path: str | Path) -> int:
        """Write one row a line; returns how many. A file of this name is replaced once all rows are there."""
        number = 0
        with _replaced(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
            for line in self._lines():
                file.write(f"{line}\n")
                number += 1
        return number

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame with a type for each column: a number or text that is not known is NA, never 0 or ""."""
        import pandas as pd

        shapes = shapes_of(self._kind)
        columns = self._columns(shapes)
        series = {
            name: pd.to_datetime(pd.Series(values, dtype="object"), utc=True, format="ISO8601")
            if shapes[name] == "datetime"
            else pd.Series(values, dtype=DTYPES.get(shapes[name], "object"))
            for name, values in columns.items()
        }
        return pd.DataFrame(series)

    def to_parquet(self, path: str | Path) -> int:
        """Write a Parquet file; returns the number of rows. A file of this name is replaced once all rows are there.
        What is JSON becomes text. Needs emic-client[parquet]."""
        import pyarrow.parquet as pq

        shapes = shapes_of(self._kind)
        schema = _arrow_schema(shapes)
        number = 0
        with _replaced(path) as part, pq.ParquetWriter(str(part), schema) as writer:
            for columns in self._blocks(shapes):
                writer.write_table(_arrow_table(columns, shapes, schema))
                number += len(next(iter(columns.values())))
        return number

    def to_datasets(self) -> Any:
        """A `datasets.Dataset`. What is JSON becomes text. Needs emic-client[datasets]."""
        import datasets

        shapes = shapes_of(self._kind)
        table = _arrow_table(self._columns(shapes), shapes, _arrow_schema(shapes))
        return datasets.Dataset(datasets.table.InMemoryTable(table))

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Without those that are gone, which are kept."""
        self.gone = []
        for line in self._lines():
            row = json.loads(line)
            if "gone" in row:
                self.gone.append(row)
            else:
                yield row

    def _lines(self) -> Iterator[str]:
        """Raises BrokenStream if the rows end before the number that came first."""
        number = 0
        self.changed_after = None
        with self._connection.stream(self._path, self._filters, STREAM) as reply:
            changed_after = reply.headers.get("x-emic-changed-after")
            announced = int(reply.headers.get("x-emic-rows", "-1"))
            try:
                for line in split_lines(reply.iter_bytes()):
                    if line:
                        number += 1
                        yield line
            except httpx.TransportError as error:
                raise BrokenStream(_broken(number, announced)) from error
        if announced not in (-1, number):
            raise BrokenStream(_broken(number, announced))
        self.changed_after = changed_after

    def _columns(self, shapes: Mapping[str, ColumnShape]) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {name: [] for name in shapes}
        for row in self._rows():
            _append(columns, row)
        return columns

    def _blocks(self, shapes: Mapping[str, ColumnShape]) -> Iterator[dict[str, list[Any]]]:
        columns: dict[str, list[Any]] = {name: [] for name in shapes}
        for number, row in enumerate(self._rows(), start=1):
            _append(columns, row)
            if number % PARQUET_ROWS == 0:
                yield columns
                columns = {name: [] for name in shapes}
        if next(iter(columns.values())):
            yield columns


@contextmanager
def _replaced(path: str | Path) -> Iterator[Path]:
    """Where to write; it takes the place of the file once it is whole."""
    target = Path(path)
    part = target.with_name(f"{target.name}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _append(columns: Mapping[str, list[Any]], row: Mapping[str, Any]) -> None:
    for name, values in columns.items():
        values.append(row.get(name))


def split_lines(blocks: Iterable[bytes]) -> Iterator[str]:
    """The lines of a text in blocks. Only a line feed ends one: within a row JSON may hold every other separator.

    >>> list(split_lines([b"a\\xe2\\x80", b"\\xa8b\\nc", b"\\n"])) == ["a\\u2028b", "c"]
    True
    """
    rest: list[bytes] = []
    for block in blocks:
        first, *others = block.split(b"\n")
        rest.append(first)
        for line in others:
            yield b"".join(rest).decode()
            rest = [line]
    if last := b"".join(rest):
        yield last.decode()


def _broken(number: int, announced: int) -> str:
    return f"The stream broke off after {number:,} of {announced:,} rows. Read them again."


def _arrow_schema(shapes: Mapping[str, ColumnShape]) -> Any:
    import pyarrow as pa

    types = {
        "int": pa.int64(),
        "float": pa.float64(),
        "bool": pa.bool_(),
        "datetime": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema([(name, types.get(shape, pa.string())) for name, shape in shapes.items()])


def _arrow_table(columns: Mapping[str, list[Any]], shapes: Mapping[str, ColumnShape], schema: Any) -> Any:
    import pyarrow as pa

    arrays = {
        name: [
            json.dumps(value, ensure_ascii=False)
            if shapes[name] == "Any" and value is not None
            else read_value(value, shapes[name])
            for value in values
        ]
        for name, values in columns.items()
    }
    return pa.table(arrays, schema=schema)
