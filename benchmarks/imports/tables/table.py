"""A table of any kind: what it is, its columns, and its rows as texts by column, one at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem
from benchmarks.imports.tables import binary, encodings, objects, separated
from benchmarks.imports.tables.objects import NumberedRow

SAMPLE_ROWS = 1000
KINDS = ("csv", "lines", "array", "parquet", "workbook")
OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"


def no_progress() -> None:
    """Nothing has to be done while rows go by."""


@dataclass(frozen=True)
class TableFormat:
    """How a table is read. `encoding` and `separator` are of text, `sheet` of a workbook."""

    kind: str
    encoding: str = ""
    separator: str = ""
    sheet: str = ""


class NeedsAnswer(Exception):
    """A person has to say something before the table can be read: `name` is encoding or sheet.

    Attributes:
        choices: what there is, the likeliest first; of an encoding with the lines as it reads them.
    """

    def __init__(self, name: str, choices: dict[str, list[str]]) -> None:
        super().__init__(name)
        self.name, self.choices = name, choices


@dataclass(frozen=True)
class TableLook:
    """The beginning of a table. `number` of its rows is not known before it was read whole."""

    format: TableFormat
    columns: tuple[str, ...]
    rows: tuple[dict[str, str], ...]


def look(file: BinaryIO, *, encoding: str = "", separator: str = "", sheet: str = "") -> TableLook:
    """The format, the columns, and the first rows. Raises SourceProblem and NeedsAnswer."""
    format = find_format(file, encoding=encoding, separator=separator, sheet=sheet)
    rows: list[dict[str, str]] = []
    for _number, row in islice(read_table(file, format), SAMPLE_ROWS):
        if not isinstance(row, RowProblem):
            rows.append(row)
    columns = _columns(file, format, rows)
    if not columns:
        raise SourceProblem(_("The table has no columns. Its first line must name them."))
    return TableLook(format, tuple(columns), tuple(rows))


def find_format(file: BinaryIO, *, encoding: str = "", separator: str = "", sheet: str = "") -> TableFormat:
    """Raises SourceProblem and NeedsAnswer."""
    file.seek(0)
    start = file.read(8)
    if not start:
        raise SourceProblem(_("The file is empty."))
    if start.startswith(OLD_WORKBOOK):
        raise SourceProblem(_("Workbooks of the old kind (.xls) are not read. Save it as .xlsx or as CSV."))
    if start.startswith(b"PAR1"):
        return TableFormat("parquet")
    if start.startswith(b"PK"):
        return TableFormat("workbook", sheet=_sheet(file, sheet))
    encoding = _encoding(file, encoding)
    text, fitting = separated.look_at_text(file, encoding)
    if text.lstrip().startswith(("{", "[")):
        return TableFormat("lines" if text.lstrip().startswith("{") else "array", encoding)
    return TableFormat("csv", encoding, separator or fitting)


def _sheet(file: BinaryIO, sheet: str) -> str:
    names = binary.sheet_names(file)
    if not sheet and len(names) != 1:
        raise NeedsAnswer("sheet", {name: [] for name in names})
    return sheet or names[0]


def _encoding(file: BinaryIO, encoding: str) -> str:
    certain = encodings.find_encoding(file)
    if certain or encoding in encodings.ACCEPTED:
        return certain or encoding
    possible = encodings.possible_encodings(file)
    if possible == [encodings.WITH_BAD_ROWS] and not encodings.begins_as_text(file):
        raise SourceProblem(_("This is no table of text that can be read. Save it as CSV in UTF-8."))
    raise NeedsAnswer("encoding", {name: encodings.sample_lines(file, name) for name in possible})


def read_table(
    file: BinaryIO, format: TableFormat, pulse: Callable[[], None] = no_progress, *, whole_rows: bool = False
) -> Iterator[NumberedRow]:  # fmt: skip
    """The number of each row as a person sees it (a head is row 1), and its values by column or what is wrong.

    A row with fewer cells than the head is filled up with empty cells; with `whole_rows` it is a problem.
    """
    if format.kind == "lines":
        return objects.read_lines(file, format.encoding, pulse)
    if format.kind == "array":
        return objects.read_array(file, format.encoding)
    if format.kind == "parquet":
        return binary.read_parquet(file, pulse)
    if format.kind == "workbook":
        return _named(binary.read_sheet(file, format.sheet, pulse), whole_rows)
    return _named(separated.read_separated(file, format.encoding, format.separator, pulse), whole_rows)


def _named(records: Iterator[separated.NumberedCells], whole_rows: bool) -> Iterator[NumberedRow]:
    """The first record names the columns of the others."""
    _number, head = next(records, (0, []))
    if isinstance(head, RowProblem):
        raise SourceProblem(head.message)
    names = separated.column_names(head)
    ragged = False
    for (number, cells), is_last in _with_last(records):
        if isinstance(cells, RowProblem):
            yield number, cells
        elif len(cells) > len(names):
            text = _("There are %(n)s cells but only %(most)s columns. Quote cells that hold a separator.")
            yield number, RowProblem("too_many_cells", text % {"n": len(cells), "most": len(names)})
        elif is_last and len(cells) < len(names) and not ragged:
            text = _("The file ends within this row: it has %(n)s cells of %(most)s. Save the table again.")
            yield number, RowProblem("cut", text % {"n": len(cells), "most": len(names)})
        elif whole_rows and len(cells) < len(names):
            text = _("There are %(n)s cells and %(most)s columns. Fill in the row, with a separator for each cell.")
            yield number, RowProblem("too_few_cells", text % {"n": len(cells), "most": len(names)})
        else:
            ragged = ragged or len(cells) < len(names)
            cells = [*cells, *[""] * (len(names) - len(cells))]
            yield number, dict(zip(names, cells, strict=True))


def _with_last(records: Iterator[separated.NumberedCells]) -> Iterator[tuple[separated.NumberedCells, bool]]:
    """Each record, and whether it is the last."""
    waiting = next(records, None)
    while waiting is not None:
        following = next(records, None)
        yield waiting, following is None
        waiting = following


def _columns(file: BinaryIO, format: TableFormat, rows: list[dict[str, str]]) -> list[str]:
    if format.kind == "parquet":
        return binary.parquet_columns(file)
    if format.kind in ("lines", "array"):
        return list(dict.fromkeys(name for row in rows for name in row))
    records = (
        binary.read_sheet(file, format.sheet, no_progress)
        if format.kind == "workbook"
        else separated.read_separated(file, format.encoding, format.separator, no_progress)
    )
    _number, head = next(records, (0, []))
    return [] if isinstance(head, RowProblem) else separated.column_names(head)
