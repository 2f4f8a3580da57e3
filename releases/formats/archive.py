"""Rows as lines of JSON or CSV, and a zip archive that is made while it is sent."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from jobs.formats import csv_safety
from releases.rows.columns import Row

_BLOCK = 64 * 1024
DATED = datetime(1980, 1, 1, tzinfo=UTC)  # the first day that an archive knows: the same bytes whenever it is made


@dataclass
class FileSummary:
    """What the codebook says about a file of rows; filled while it is written."""

    rows: int = 0
    sha: Any = field(default_factory=hashlib.sha256)


def json_lines(rows: Iterable[Row], names: Sequence[str], written: FileSummary) -> Iterator[bytes]:
    for row in rows:
        written.rows += 1
        yield json.dumps({name: row[name] for name in names}, ensure_ascii=False).encode() + b"\n"


def csv_lines(
    rows: Iterable[Row], names: Sequence[str], answer_columns: Sequence[str], written: FileSummary
) -> Iterator[bytes]:
    """The sheet's columns follow the fixed ones, as `answer.<name>`; nested values are JSON."""

    def values() -> Iterator[list[Any]]:
        for row in rows:
            written.rows += 1
            cells = row.get("cells", {})
            yield [_plain_value(value) for value in (*(row[n] for n in names), *(cells.get(n) for n in answer_columns))]

    header = [*names, *(f"answer.{name}" for name in answer_columns)]
    return (line.encode() for line in csv_safety.csv_lines(header, values()))


def _plain_value(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value


def json_document(content: Mapping[str, Any]) -> Iterator[bytes]:
    """One JSON document, in pieces."""
    for piece in json.JSONEncoder(ensure_ascii=False).iterencode(content):
        yield piece.encode()


class ZipStream(io.RawIOBase):
    """What was written since it was last asked. Cannot seek, so the archive is written straight on."""

    def __init__(self) -> None:
        self.waiting = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.waiting += data
        return len(data)

    def take(self) -> bytes:
        taken = bytes(self.waiting)
        self.waiting.clear()
        return taken


def archive(members: Iterable[tuple[str, Iterable[bytes], FileSummary]], at: datetime) -> Iterator[bytes]:
    """A zip archive in pieces. One that broke off has no directory at its end: it does not open, so nobody takes it for
    whole.

    Each member's checksum stands in its `written` when it is through.
    """
    pipe = ZipStream()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, chunks, written in members:
            info = zipfile.ZipInfo(name, at.timetuple()[:6])
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            with zip_file.open(info, "w", force_zip64=True) as member:
                for block in _blocks(chunks):
                    written.sha.update(block)
                    member.write(block)
                    if pipe.waiting:
                        yield pipe.take()
            yield pipe.take()
    yield pipe.take()


def _blocks(chunks: Iterable[bytes]) -> Iterator[bytes]:
    block = bytearray()
    for chunk in chunks:
        block += chunk
        if len(block) >= _BLOCK:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)
