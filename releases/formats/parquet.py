"""Rows as Parquet: typed columns, written a few thousand rows at a time. Imported only where it is used."""

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import pyarrow as arrow
import pyarrow.parquet as parquet

from releases.formats.archive import FileSummary
from releases.rows.columns import Row, RowColumn

ROWS = 5000  # of one group: memory holds no more of them
PICTURE_BYTES = 16_000_000  # of the pictures of one group
_ANSWERS: dict[str, Any] = {
    "string": "text", "json": "json", "number": "float8", "integer": "int8", "codes": "codes", "boxes": "boxes",
    "code": "code", "integer_code": "int2", "flag": "flag",
}  # fmt: skip


def parquet_blocks(
    rows: Iterable[Row], columns: Sequence[RowColumn], answers: Mapping[str, str], written: FileSummary
) -> Iterator[bytes]:
    """A file in pieces. `answers`: the sheets' own columns, by name with their type; they follow as `answer.<name>`."""
    own = [RowColumn(name, "", _ANSWERS[kind], "") for name, kind in answers.items()]
    fields = [_field(column.name, column) for column in columns] + [_field(f"answer.{c.name}", c) for c in own]
    pictures = [column.name for column in columns if column.type in ("file", "files")]
    schema, pipe = arrow.schema(fields, _features(columns, own) if pictures else None), _Pipe()
    with parquet.ParquetWriter(pipe, schema, compression="zstd") as writer:
        for group in _groups(iter(rows), pictures):
            written.rows += len(group)
            arrays = [_array(column, (row[column.name] for row in group)) for column in columns]
            arrays += [_array(column, (row.get("cells", {}).get(column.name) for row in group)) for column in own]
            writer.write_batch(arrow.record_batch(arrays, schema=schema))
            yield pipe.take()
    yield pipe.take()


def _groups(rows: Iterator[Row], pictures: Sequence[str]) -> Iterator[list[Row]]:
    """Rows that are in memory together. Pictures make a group shorter."""
    if not pictures:
        while group := list(islice(rows, ROWS)):
            yield group
        return
    group, size = [], 0
    for row in rows:
        group.append(row)
        for value in (row[name] for name in pictures):
            files = value if isinstance(value, list) else [value]
            size += sum(len(file["bytes"]) for file in files if file)
        if size >= PICTURE_BYTES or len(group) == ROWS:
            yield group
            group, size = [], 0
    if group:
        yield group


def _features(columns: Sequence[RowColumn], own: Sequence[RowColumn]) -> dict[str, str]:
    """What Hugging Face reads: without it a picture stays a struct of bytes and path. All columns must be named."""
    features: dict[str, Any] = {}
    for name, kind in [*((c.name, c.type) for c in columns), *((f"answer.{c.name}", c.type) for c in own)]:
        if kind == "file":
            features[name] = {"_type": "Image"}
        elif kind == "files":
            features[name] = {"feature": {"_type": "Image"}, "_type": "List"}
        elif kind == "codes":
            features[name] = {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"}
        else:
            features[name] = {"dtype": _DTYPES.get(kind, "string"), "_type": "Value"}
    return {"huggingface": json.dumps({"info": {"features": features}})}


def _field(name: str, column: RowColumn) -> Any:
    return arrow.field(name, _TYPES[column.typed][0], metadata={"meaning": column.meaning, "unit": column.unit})


def _array(column: RowColumn, values: Iterable[Any]) -> Any:
    kind, convert = _TYPES[column.typed]
    return arrow.array([None if value is None else convert(value) for value in values], kind)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _flag(value: str) -> bool:
    return value == "true"


def _codes(value: str) -> list[str]:
    return value.split("|") if value else []


def _as_it_is(value: Any) -> Any:
    return value


_BOX = arrow.struct([*((name, arrow.float64()) for name in ("x", "y", "width", "height")), ("label", arrow.string())])
_PICTURE = arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
_DTYPES = {
    "int2": "int16",
    "int4": "int32",
    "int8": "int64",
    "float8": "float64",
    "bool": "bool",
    "flag": "bool",
    "time": "timestamp[us, tz=UTC]",
}
_TYPES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "int2": (arrow.int16(), int),
    "int8": (arrow.int64(), int),
    "int4": (arrow.int32(), int),
    "float8": (arrow.float64(), float),
    "bool": (arrow.bool_(), bool),
    "flag": (arrow.bool_(), _flag),
    "code": (arrow.dictionary(arrow.int32(), arrow.string()), _text),
    "text": (arrow.string(), _text),
    "person": (arrow.string(), _text),
    "json": (arrow.string(), _json),
    "time": (arrow.timestamp("us", tz="UTC"), datetime.fromisoformat),
    "codes": (arrow.list_(arrow.string()), _codes),
    "boxes": (arrow.list_(_BOX), _as_it_is),
    "file": (_PICTURE, _as_it_is),
    "files": (arrow.list_(_PICTURE), _as_it_is),
}


class _Pipe(io.RawIOBase):
    """What was written since it was last asked. It knows its place, since the end of a file names places in it."""

    def __init__(self) -> None:
        self.waiting = bytearray()
        self.place = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.place

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        self.waiting += data
        self.place += size
        return size

    def take(self) -> bytes:
        taken = bytes(self.waiting)
        self.waiting.clear()
        return taken
