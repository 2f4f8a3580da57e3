"""Manifests: one row says which file, and what it shows. CSV or JSON Lines, told apart by content."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, TypeVar

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem

LONGEST_LINE = 1024**2
MOST_BYTES = 256 * 1024**2
MOST_LINES = 1_000_000
ALIASES = {
    "filename": "file",
    "image": "file",
    "path": "file",
    "id": "key",
    "license": "licence",
    "description": "alt",
}
Row = tuple[int, Mapping[str, Any] | RowProblem]
Line = TypeVar("Line", str, bytes)


def no_progress() -> None:
    """Nothing has to be done while lines go by."""


def read_rows(file: BinaryIO, pulse: Callable[[], None] = no_progress) -> Iterator[Row]:
    """Row numbers as a person sees them (a spreadsheet's head is row 1), and the row or what is wrong with it.

    `pulse` is called again and again, also where many lines make no row.
    """
    start = file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    file.seek(0)
    if start.startswith(b"["):
        raise SourceProblem(_("The manifest is a JSON list. Write one JSON object per line instead."))
    return _json_lines(file, pulse) if start.startswith(b"{") else _csv(file, pulse)


def has_known_columns(file: BinaryIO) -> bool:
    """Whether `read_rows` knows what the rows mean: UTF-8 text whose first line names a file or a key.

    >>> has_known_columns(io.BytesIO(b"file;concept")), has_known_columns(io.BytesIO(b'{"key": "a"}'))
    (True, True)
    >>> has_known_columns(io.BytesIO(b"img_file,Image ID")), has_known_columns(io.BytesIO(b"file,image"))
    (False, False)
    """
    file.seek(0)
    start = file.readline(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf").strip()
    file.seek(0)
    line = next(iter(start.splitlines()), b"")  # lines of an old Mac end with a carriage return alone
    if b"\0" in line or line.startswith((b"[", b"PK", b"PAR1")):
        return False
    text = line.decode("utf-8", "replace")
    if text.startswith("{"):
        try:
            row = json.loads(text)
        except (ValueError, RecursionError):
            return True  # rows are read one by one, and each says what is wrong with it
        head = [_column(str(name)) for name in row] if isinstance(row, dict) else []
    else:
        head = _head(text)
    return len(set(head)) == len(head) and ("file" in head or "key" in head)


def _csv(file: BinaryIO, pulse: Callable[[], None]) -> Iterator[Row]:
    # Bytes that are not UTF-8 become lone surrogates here, so that one bad row does not end the reading.
    text = io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        yield from _csv_rows(text, pulse)
    finally:
        text.detach()


def _csv_rows(text: io.TextIOWrapper, pulse: Callable[[], None]) -> Iterator[Row]:
    first = text.readline(LONGEST_LINE)
    separator, head = _separator(first), _head(first)
    if "file" not in head and "key" not in head:
        raise SourceProblem(_("The manifest has no column “file”. Its first line must name the columns."))
    if len(set(head)) < len(head):
        raise SourceProblem(_("The manifest names a column twice. Rename one of them."))
    rows = csv.reader(_lines(text.readline, pulse), delimiter=separator)
    number = 1
    while True:
        number += 1
        try:
            cells = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield number, RowProblem("unreadable", _("This row cannot be read. Look for a stray quotation mark."))
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(head):
            text_ = _("There are %(n)s cells but only %(most)s columns. Quote cells that hold a separator.")
            yield number, RowProblem("too_many_cells", text_ % {"n": len(cells), "most": len(head)})
            continue
        yield number, _check_row(dict(zip(head, cells, strict=False)))


def _separator(first: str) -> str:
    return max(",;\t", key=first.count)


def _head(first: str) -> list[str]:
    """The columns that a first line names; none where it cannot be read."""
    try:
        return [_column(name) for name in next(csv.reader([first], delimiter=_separator(first)), [])]
    except csv.Error:
        return []


def _json_lines(file: BinaryIO, pulse: Callable[[], None]) -> Iterator[Row]:
    for number, line in enumerate(_lines(file.readline, pulse), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            yield number, _not_utf8()
            continue
        except (ValueError, RecursionError):
            yield number, RowProblem("unreadable", _("This line is not one JSON object. Look for a missing brace."))
            continue
        if not isinstance(row, dict):
            yield number, RowProblem("unreadable", _("This line is not one JSON object. Look for a missing brace."))
            continue
        yield number, {_column(str(name)): value for name, value in row.items()}


def _lines(readline: Callable[[int], Line], pulse: Callable[[], None]) -> Iterator[Line]:
    number = 0
    while line := readline(LONGEST_LINE):
        number += 1
        if number > MOST_LINES:
            text = _("The manifest has more than %(most)s lines. Split it into several.")
            raise SourceProblem(text % {"most": f"{MOST_LINES:,}"})
        if number % 1000 == 0:
            pulse()
        yield line


def _column(name: str) -> str:
    name = name.strip().lower().replace(" ", "_")
    return ALIASES.get(name, name)


def _check_row(row: dict[str, str]) -> Mapping[str, Any] | RowProblem:
    try:
        "".join(row.values()).encode()
    except UnicodeEncodeError:
        return _not_utf8()
    return row


def _not_utf8() -> RowProblem:
    return RowProblem("encoding", _("This row is not UTF-8. Save the manifest as UTF-8."))
