"""Rows as lines of JSON, sent while they are read; at most a few such streams at once."""

import json
import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from django.db import connection
from django.http import StreamingHttpResponse

from api.protocol.problems import TooManyStreams
from releases.rows.changes import GONE
from releases.rows.columns import Row
from releases.rows.snapshot import SnapshotRows

MEDIA_TYPE = "application/x-ndjson"
PER_PERSON, PER_PROCESS = 2, 4
RETRY_SECONDS = 5
BLOCK = 64 * 1024
PLACE = "SELECT pg_try_advisory_xact_lock(hashtextextended('stream of rows', %s) + %s)"


class StreamSlots:
    """How many streams this process of the site sends now, by person."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: Counter[int] = Counter()

    def take(self, person: int) -> None:
        """Raises TooManyStreams."""
        with self._lock:
            if self._open[person] >= PER_PERSON or self._open.total() >= PER_PROCESS:
                raise TooManyStreams(RETRY_SECONDS)
            self._open[person] += 1

    def release(self, person: int) -> None:
        with self._lock:
            self._open[person] -= 1

    def is_open(self, person: int) -> bool:
        return self._open[person] > 0


SLOTS = StreamSlots()


def take_place(person: int) -> None:
    """One of the places that a person has in all processes of the site, until the transaction ends.

    Raises TooManyStreams.
    """
    with connection.cursor() as cursor:
        for number in range(PER_PERSON):
            cursor.execute(PLACE, [person, number])
            if cursor.fetchone() == (True,):
                return
    raise TooManyStreams(RETRY_SECONDS)


class RowStream:
    """The bytes of a stream. Closing it ends its transaction and frees its slot, whether it was read or not."""

    def __init__(self, rows: SnapshotRows, names: list[str], person: int, *, compressed: bool) -> None:
        self.rows, self.person, self.closed = rows, person, False
        lines = _blocks(_lines(rows, names))
        self._pieces = _gzip(lines) if compressed else lines

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            try:
                self.rows.close()
            finally:
                SLOTS.release(self.person)


def stream_response(stream: RowStream, headers: dict[str, str], *, compressed: bool) -> StreamingHttpResponse:
    response = StreamingHttpResponse(stream, content_type=MEDIA_TYPE, headers=headers)
    response.headers["Vary"] = "Accept, Accept-Encoding"
    if compressed:
        response.headers["Content-Encoding"] = "gzip"
    return response


def shown_row(row: Row, names: Sequence[str]) -> Row:
    """These columns; of a row that is gone, what is there of it."""
    return {name: value for name, value in row.items() if name != "_key"} if GONE in row else {n: row[n] for n in names}


def _lines(rows: Iterable[Row], names: list[str]) -> Iterator[bytes]:
    for row in rows:
        yield json.dumps(shown_row(row, names), ensure_ascii=False).encode() + b"\n"


def _blocks(lines: Iterable[bytes]) -> Iterator[bytes]:
    block = bytearray()
    for line in lines:
        block += line
        if len(block) >= BLOCK:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)


def _gzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    gzip = zlib.compressobj(6, zlib.DEFLATED, 31)
    for piece in pieces:
        if data := gzip.compress(piece):
            yield data
    yield gzip.flush()
