"""Tables that are no text: Parquet, and the workbooks of spreadsheets (.xlsx)."""

import datetime
import struct
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import SourceProblem
from benchmarks.imports.tables.objects import NumberedRow, as_text
from benchmarks.imports.tables.separated import Cells

MOST_UNPACKED = 200 * 1024**2
MOST_ROWS = 100_000
MOST_COLUMNS = 1000
BATCH = 1000
WORKBOOK = "xl/workbook.xml"


def check_workbook(file: BinaryIO) -> None:
    """Raises SourceProblem unless the zip is a workbook of a bounded size."""
    file.seek(0)
    try:
        archive = zipfile.ZipFile(file)
        members = archive.infolist()
        kind = archive.read("mimetype")[:80] if "mimetype" in archive.namelist() else b""
    except (zipfile.BadZipFile, struct.error, ValueError, OSError, NotImplementedError, RuntimeError) as error:
        raise SourceProblem(_("The file is damaged or ends early. Save it again.")) from error
    if b"opendocument" in kind:
        raise SourceProblem(_("Tables of OpenDocument (.ods) are not read. Save it as .xlsx or as CSV."))
    if WORKBOOK not in {member.filename for member in members}:
        raise SourceProblem(_("This zip holds no table. Choose the table itself: CSV, JSON, Parquet or .xlsx."))
    if sum(member.file_size for member in members) > MOST_UNPACKED:
        text = _("Unpacked the workbook has more than %(most)s MB. Save the sheet as CSV.")
        raise SourceProblem(text % {"most": MOST_UNPACKED // 1024**2})


def sheet_names(file: BinaryIO) -> list[str]:
    """Raises SourceProblem."""
    book = _workbook(file)
    try:
        return list(book.sheetnames)
    finally:
        book.close()


def read_sheet(file: BinaryIO, sheet: str, pulse: Callable[[], None]) -> Iterator[tuple[int, Cells]]:
    """The number of each row, and its cells: a formula as the value that was stored. Raises SourceProblem."""
    book = _workbook(file)
    try:
        if sheet not in book.sheetnames:
            raise SourceProblem(_("The workbook has no sheet “%(name)s”.") % {"name": sheet})
        rows = book[sheet].iter_rows(values_only=True, max_col=MOST_COLUMNS)
        for number, values in enumerate(_unharmed(rows), start=1):
            if number > MOST_ROWS + 1:
                text = _("The sheet has more than %(most)s rows. Save it as CSV.")
                raise SourceProblem(text % {"most": f"{MOST_ROWS:,}"})
            if number % BATCH == 0:
                pulse()
            cells = [cell_text(value) for value in values]
            while cells and not cells[-1]:
                cells.pop()
            if any(cell.strip() for cell in cells):
                yield number, cells
    finally:
        book.close()


def _unharmed(rows: Iterator[Any]) -> Iterator[Any]:
    """What is damaged inside shows while it is read."""
    try:
        yield from rows
    except SourceProblem:
        raise
    except Exception as error:
        raise SourceProblem(_("The file is damaged or ends early. Save it again.")) from error


def _workbook(file: BinaryIO) -> Any:
    import openpyxl

    check_workbook(file)
    file.seek(0)
    try:
        return openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
    except Exception as error:
        raise SourceProblem(_("The file is damaged or ends early. Save it again.")) from error


def cell_text(value: Any) -> str:
    """
    >>> cell_text(3.0), cell_text(2.5), cell_text(True), cell_text(None)
    ('3', '2.5', 'true', '')
    >>> cell_text(datetime.datetime(2026, 3, 1)), cell_text(datetime.datetime(2026, 3, 1, 12, 30))
    ('2026-03-01', '2026-03-01T12:30:00')
    """
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return as_text(value)


def read_parquet(file: BinaryIO, pulse: Callable[[], None]) -> Iterator[NumberedRow]:
    """Raises SourceProblem. A value that is no text becomes one; bytes, such as a picture inside, are left out."""
    parquet = _parquet(file)
    number = 0
    try:
        for batch in parquet.iter_batches(batch_size=BATCH):
            pulse()
            for row in batch.to_pylist():
                number += 1
                yield number, {name: _parquet_text(value) for name, value in row.items()}
    except (OSError, ValueError, NotImplementedError) as error:
        raise SourceProblem(_("The file is damaged or ends early. Save it again.")) from error


def parquet_columns(file: BinaryIO) -> list[str]:
    """Raises SourceProblem."""
    return list(_parquet(file).schema_arrow.names)


def _parquet(file: BinaryIO) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file.seek(0)
    try:
        return pq.ParquetFile(file)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise SourceProblem(_("The file is damaged or ends early. Save it again.")) from error


def _parquet_text(value: Any) -> str:
    if isinstance(value, bytes):
        return ""
    if isinstance(value, dict):
        if isinstance(value.get("bytes"), bytes) and isinstance(value.get("path"), str):
            return str(value["path"])  # a picture as Hugging Face keeps it
        value = {name: part for name, part in value.items() if not isinstance(part, bytes)}
    return cell_text(value)
