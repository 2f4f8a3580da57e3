"""Tables of text: values with a separator between them, and a first line with the names of the columns."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem

SEPARATORS = ("\t", ";", ",", "|")
"""In this order where two fit equally well."""
LOOKED_AT = 200
SAMPLE = 1024 * 1024
LONGEST_LINE = 1024**2
Cells = list[str]
NumberedCells = tuple[int, Cells | RowProblem]


@contextmanager
def open_text(file: BinaryIO, encoding: str) -> Iterator[io.TextIOWrapper]:
    """The file as text from its start. Bytes that the encoding does not know become marks that `check_text` finds."""
    file.seek(0)
    errors = "replace" if encoding.startswith("utf-16") else "surrogateescape"
    text = io.TextIOWrapper(file, encoding, errors=errors, newline="")
    try:
        yield text
    finally:
        if not text.closed:  # a reading that was given up may outlive its file
            text.detach()


def named_separator(line: str) -> str:
    """The separator that a first line such as `sep=;` names; empty where it is no such line.

    >>> named_separator("sep=;\\r\\n"), named_separator("sep=\\t"), named_separator("separator;x")
    (';', '\\t', '')
    """
    bare = line.strip("\r\n\ufeff")
    return bare[4] if len(bare) == 5 and bare.lower().startswith("sep=") else ""


def find_separator(text: str) -> str:
    """The one that gives most records the same number of fields, at least two; a comma for a table of one column.

    >>> find_separator('a;b\\n"x, y";2\\nz;3'), find_separator("a,b|c\\n1,2|3"), find_separator("key\\none\\ntwo")
    (';', ',', ',')
    """
    best, share = ",", 0.0
    for separator in SEPARATORS:
        counts = Counter(len(cells) for cells in _records(text, separator) if any(cells))
        usual = max((number for size, number in counts.items() if size > 1), default=0)
        if counts.total() and usual / counts.total() > share:
            best, share = separator, usual / counts.total()
    return best


def _records(text: str, separator: str) -> Iterator[Cells]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for _number in range(LOOKED_AT):
        try:
            yield next(reader)
        except StopIteration:
            return
        except csv.Error:
            continue


def column_names(cells: Cells) -> list[str]:
    """As they are written; one without a name is called by its place, and a repeated one gets a number.

    >>> column_names(["País ", "", "WTF?!", "País"])
    ['País', 'column_2', 'WTF?!', 'País_2']
    """
    names: list[str] = []
    for place, cell in enumerate(cells, start=1):
        name = stem = cell.strip() or f"column_{place}"
        number = 2
        while name in names:
            name, number = f"{stem}_{number}", number + 1
        names.append(name)
    return names


def read_separated(
    file: BinaryIO, encoding: str, separator: str, pulse: Callable[[], None]
) -> Iterator[NumberedCells]:  # fmt: skip
    """The number of each record, and its cells or what is wrong. The first is the head: number 1."""
    with open_text(file, encoding) as text:
        first = text.readline(LONGEST_LINE)
        if not named_separator(first):
            text.seek(0)
        rows = csv.reader(_lines(text, pulse), delimiter=separator)
        number = 0
        while True:
            number += 1
            try:
                cells = next(rows)
            except StopIteration:
                return
            except csv.Error:
                problem = RowProblem("unreadable", _("This row cannot be read. Look for a stray quotation mark."))
                yield number, problem
                continue
            if any(cell.strip() for cell in cells):
                yield number, _check_cells(cells, rows.line_num, encoding)


def look_at_text(file: BinaryIO, encoding: str) -> tuple[str, str]:
    """The beginning of the text, without a line that names its separator; and that separator, or the one that fits."""
    with open_text(file, encoding) as text:
        sample = text.read(SAMPLE).removeprefix("\ufeff")
    line, end, rest = sample.partition("\n")
    if separator := named_separator(line):
        return rest, separator
    if not sample.strip():
        raise SourceProblem(_("The file is empty."))
    return line + end + rest, find_separator(sample)


def _lines(text: io.TextIOWrapper, pulse: Callable[[], None]) -> Iterator[str]:
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if number % 1000 == 0:
            pulse()
        yield line.removeprefix("\ufeff") if number == 1 else line


def _check_cells(cells: Cells, line: int, encoding: str) -> Cells | RowProblem:
    for place, cell in enumerate(cells, start=1):
        if any("\udc80" <= letter <= "\udcff" or letter == "\ufffd" for letter in cell if letter > "\ud7ff"):
            text = _("Line %(line)s, column %(column)s has bytes that are not %(encoding)s. Correct the cell.")
            problem = text % {"line": line, "column": place, "encoding": encoding}
            return RowProblem("encoding", problem)
    return [cell.replace("\x00", "") for cell in cells]
