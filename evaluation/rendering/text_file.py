"""A report for a terminal: columns in line."""

from collections.abc import Sequence
from itertools import groupby

from evaluation.rendering.report import Cell, Report, Row


def to_text(report: Report) -> str:
    """The head and a line for each row, each block of rows under its name."""
    head = [str(text) for text in (report.corner, *(column.label for column in report.columns))]
    widths = [len(text) for text in head]
    for row in report.rows:
        widths = [max(width, len(text)) for width, text in zip(widths, _texts(row), strict=True)]
    widths[0] = max(widths[0], 1 + max((len(row.label) for row in report.rows), default=0))
    lines = [_line(head, widths)]
    for name, rows in groupby(report.rows, key=lambda row: row.group):
        lines += [name] if name else []
        lines += [_line(_texts(row), widths) for row in rows]
    return "\n".join(lines)


def _texts(row: Row) -> list[str]:
    return [row.label, *map(_text, row.cells)]


def _text(cell: Cell) -> str:
    if cell.estimate is not None and cell.estimate.value is None:
        return f"({cell.estimate.reason})"
    return f"{cell.shown} {cell.shown_interval}".strip() if cell.estimate else cell.shown


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = zip(texts, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in rest)]).rstrip()
