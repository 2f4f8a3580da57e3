"""CSV that is safe to open in a spreadsheet, written as it goes."""

import csv
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

# The wide forms are typed in East Asian text, and some spreadsheets read them as the plain ones.
FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001
NEW_CELL = ("\t", "\r", "\n")  # what follows them may be read as a cell of its own
# What a spreadsheet may pass over: categories of Unicode, and letters and symbols that are drawn as nothing (fillers
# of Hangul, the blank pattern of Braille).
INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Me", "Mn", "Zl", "Zp", "Zs"}
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")


def escape_formula(value: Any) -> str:
    """Text that a spreadsheet would run gets an apostrophe before it; numbers stay numbers."""
    text = "" if value is None else str(value)
    return f"'{text}" if isinstance(value, str) and _is_risky(text) else text


def unescape_formula(cell: str) -> str:
    """A cell that `escape_formula` has made harmless, as it was before."""
    return cell[1:] if cell.startswith("'") and _is_risky(cell[1:]) else cell


def _is_risky(text: str) -> bool:
    for letter in text:
        if letter in NEW_CELL or letter in FORMULA_STARTS:
            return True
        if letter not in BLANK and unicodedata.category(letter) not in INVISIBLE:
            return False
    return False


def csv_lines(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """One line at a time, for StreamingHttpResponse. The mark at the start tells spreadsheets that it is UTF-8."""
    writer = csv.writer(_Echo())
    yield "\ufeff" + writer.writerow(header)
    for row in rows:
        yield writer.writerow([escape_formula(value) for value in row])


class _Echo:
    def write(self, value: str) -> str:
        return value
