"""Tables that are JSON: one object a line, or one array of flat objects. Each value becomes a text."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.tables.separated import LONGEST_LINE, open_text

MOST_ARRAY_BYTES = 64 * 1024**2  # an array is read whole
TableRow = dict[str, str]
NumberedRow = tuple[int, TableRow | RowProblem]


def read_lines(file: BinaryIO, encoding: str, pulse: Callable[[], None]) -> Iterator[NumberedRow]:
    """The number of each line, and its values or what is wrong with it."""
    with open_text(file, encoding) as text:
        number = 0
        while line := text.readline(LONGEST_LINE):
            number += 1
            if number % 1000 == 0:
                pulse()
            if line.strip(" \r\n\t\ufeff"):
                yield number, _read_line(line.removeprefix("\ufeff"))


def _read_line(line: str) -> TableRow | RowProblem:
    try:
        line.encode()
        row = json.loads(line)
    except UnicodeEncodeError:
        return RowProblem("encoding", _("This line has bytes that are not of the file's encoding. Correct it."))
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        return RowProblem("unreadable", _("This line is not one JSON object. Look for a missing brace."))
    return as_texts(row)


def read_array(file: BinaryIO, encoding: str) -> Iterator[NumberedRow]:
    """The place of each object in the array, from 1, and its values. Raises SourceProblem."""
    with open_text(file, encoding) as text:
        content = text.read(MOST_ARRAY_BYTES + 1)
    if len(content) > MOST_ARRAY_BYTES:
        text_ = _("A JSON list is read whole and may have %(most)s MB. Write one JSON object per line instead.")
        raise SourceProblem(text_ % {"most": MOST_ARRAY_BYTES // 1024**2})
    try:
        rows = json.loads(content.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise SourceProblem(_("The JSON cannot be read. Look at line %(line)s.") % {"line": line}) from error
    if not isinstance(rows, list):
        raise SourceProblem(_("The JSON is not a list of objects."))
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            yield number, as_texts(row)
        else:
            yield number, RowProblem("unreadable", _("This entry of the list is not an object."))


def as_texts(row: Mapping[str, Any]) -> TableRow:
    """
    >>> as_texts({"key": "0042", "n": 3, "ok": True, "none": None, "set": ["a", "b"]})
    {'key': '0042', 'n': '3', 'ok': 'true', 'none': '', 'set': '["a", "b"]'}
    """
    return {str(name).strip(): as_text(value) for name, value in row.items()}


def as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(value, bool | int | float | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
