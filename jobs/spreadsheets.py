"""CSV that is safe to open in a spreadsheet, written as it goes."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# The wide forms are typed in East Asian text, and some spreadsheets read them as the plain ones.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001
BLANKS = " \u00a0\u3000\ufeff\u200b"


def neutral(value: Any) -> str:
    """Text that a spreadsheet would run gets an apostrophe before it; numbers stay numbers."""
    text = "" if value is None else str(value)
    risky = isinstance(value, str) and text.lstrip(BLANKS).startswith(FORMULA_STARTS)
    return f"'{text}" if risky else text


def as_written(cell: str) -> str:
    """A cell that `neutral` has made harmless, as it was before."""
    return cell[1:] if cell.startswith("'") and cell[1:].lstrip(BLANKS).startswith(FORMULA_STARTS) else cell


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """One line at a time, for StreamingHttpResponse. The mark at the start tells spreadsheets that it is UTF-8."""
    writer = csv.writer(_Echo())
    yield "\ufeff" + writer.writerow(header)
    for row in rows:
        yield writer.writerow([neutral(value) for value in row])


class _Echo:
    def write(self, value: str) -> str:
        return value
