"""Rows of a file of answers, one at a time: an export's zip, or its ratings.csv or ratings.jsonl alone.

`unit` is another name for `item`, as studies made elsewhere call it.
"""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.archive import Archive
from benchmarks.imports.problems import RowProblem, SourceProblem
from jobs.formats.csv_safety import unescape_formula

LONGEST_LINE = 1024**2
NAMES = ("ratings.jsonl", "ratings.csv")
TEXT_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n])|[^\r\n]+")  # lines of an old Mac end with a carriage return alone
Row = tuple[int, Mapping[str, Any] | RowProblem]


@contextmanager
def open_rows(file: BinaryIO, most_bytes: int) -> Iterator[BinaryIO]:
    """The file of rows, out of the archive if it is one. Raises SourceProblem."""
    zipped = file.read(4) == b"PK\x03\x04"
    file.seek(0)
    if not zipped:
        yield file
        return
    try:
        archive = Archive(file, most_bytes)
        names = [name for name in archive.names() if name.rpartition("/")[2] in NAMES]
    except (zipfile.BadZipFile, OSError) as error:
        raise SourceProblem(_("The zip is damaged or ends early. Download the export again.")) from error
    if len(names) != 1:
        text = _(
            "The zip holds %(n)s files called ratings.csv or ratings.jsonl; one is needed. Send an export as it came."
        )
        raise SourceProblem(text % {"n": len(names)})
    with archive.open(names[0]) as member:
        yield member


def rows(file: BinaryIO, needs: Sequence[str] = ("item",)) -> Iterator[Row]:
    """The number of each row as a person sees it (a spreadsheet's head is row 1), and the row or what is wrong.

    The head of a table must hold one of `needs`.
    """
    lines = io.BufferedReader(file) if isinstance(file, io.RawIOBase) else file
    first = _line(lines)
    if first.lstrip(b"\xef\xbb\xbf \t").startswith(b"{"):
        yield from _json_rows(first, lines)
    else:
        yield from _csv_rows(first, lines, needs)


def _line(file: BinaryIO) -> bytes:
    line = file.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise SourceProblem(_("A line is longer than 1 MB. Look whether this is the right file."))
    return line


def _lines(first: bytes, file: BinaryIO) -> Iterator[bytes]:
    line = first
    while line:
        yield line
        line = _line(file)


def _json_rows(first: bytes, file: BinaryIO) -> Iterator[Row]:
    for number, line in enumerate(_lines(first, file), start=1):
        if not line.strip():
            continue
        try:
            parsed = json.loads(line.decode("utf-8-sig"))
        except (ValueError, RecursionError):
            yield number, RowProblem("unreadable", _("This line is not JSON in UTF-8. Write one object per line."))
            continue
        if isinstance(parsed, dict):
            yield number, _check_header(parsed)
        else:
            yield number, RowProblem("unreadable", _("This line is not a JSON object. Write one object per line."))


def _csv_rows(first: bytes, file: BinaryIO, needs: Sequence[str]) -> Iterator[Row]:
    # Bytes that are not UTF-8 become lone surrogates, so that one bad row does not end the reading.
    decoded = (line.decode("utf-8-sig", "surrogateescape") for line in _lines(first, file))
    text = (match[0] for line in decoded for match in TEXT_LINE.finditer(line))
    start = first.partition(b"\r")[0].decode("utf-8", "replace")
    table = csv.reader(text, delimiter=max(",;\t", key=start.count))
    head = _head(table)
    if not set(needs) & set(head) or len(set(head)) < len(head):
        text_ = _("The first line must name the columns, each once, and one of them must be “%(name)s”.")
        raise SourceProblem(text_ % {"name": needs[0]})
    number = 1
    while True:
        number += 1
        try:
            cells = next(table)
        except StopIteration:
            return
        except csv.Error:
            yield number, RowProblem("unreadable", _("This row cannot be read. Look for a stray quotation mark."))
            continue
        if any(cells):
            yield number, _row(head, cells)


def _head(table: Iterator[list[str]]) -> list[str]:
    """The names of the columns; none where the first row cannot be read."""
    try:
        head = [name.strip() for name in next(table, [])]
    except csv.Error:
        return []
    return ["item" if name == "unit" and "item" not in head else name for name in head]


def _check_header(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return row if "item" in row or "unit" not in row else {"item": row["unit"], **row}


def is_long_format(rows: Iterator[Row]) -> bool:
    """Whether a row is one field of an answer: it names the field and its code. The first rows say it."""
    first = next((row for _number, row in islice(rows, 100) if isinstance(row, Mapping)), {})
    return "field" in first and "code" in first


def _row(head: list[str], cells: list[str]) -> Mapping[str, Any] | RowProblem:
    if len(cells) != len(head):
        text = _("There are %(n)s cells and %(most)s columns. Quote cells that hold a separator.")
        return RowProblem("wrong_cells", text % {"n": len(cells), "most": len(head)})
    if any("\ud800" <= letter <= "\udfff" for cell in cells for letter in cell):
        return RowProblem("not_utf8", _("This row is not in UTF-8. Save the file as UTF-8."))
    return {name: unescape_formula(cell) for name, cell in zip(head, cells, strict=True)}
