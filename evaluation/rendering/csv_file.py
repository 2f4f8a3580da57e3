"""A report as CSV: one line for each number, with what all lines of its row, column and report share; or its rows."""

from collections.abc import Iterator
from typing import Any

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, Report
from jobs.formats.csv_safety import csv_lines


def to_csv(*reports: Report) -> Iterator[str]:
    """The lines of reports that have the same columns, each in the order of its rows."""
    first = reports[0]
    if not first.csv_columns:
        heads = [str(head) for head in (first.corner, *(column.label for column in first.columns))]
        return csv_lines(
            heads, ([row.label, *map(_plain_value, row.cells)] for report in reports for row in report.rows)
        )
    return csv_lines(first.csv_columns, (line for report in reports for line in _lines(report)))


def _plain_value(cell: Cell) -> Any:
    return cell.plain if cell.plain is not None else str(cell.text)


def _lines(report: Report) -> Iterator[list[Any]]:
    for row in report.rows:
        for column, cell in zip(report.columns, row.cells, strict=True):
            if cell.empty or not column.in_files:
                continue
            for one in cell.numbers:
                facts = {**report.facts, **column.facts, **row.facts, **_of_number(one), **cell.facts, **one.facts}
                yield [facts.get(name) for name in report.csv_columns]


def _of_number(cell: Cell) -> dict[str, Any]:
    shown = {"shown": cell.shown, "shown_interval": cell.shown_interval}
    return shown | (estimate_facts(cell.estimate) if cell.estimate else {})


def estimate_facts(estimate: Estimate) -> dict[str, Any]:
    """The columns that every CSV of numbers has."""
    names = ("value", "low", "high", "n_units", "n_raters", "n_ratings", "missing_share", "resampled", "method",
             "reason", "interval_reason")  # fmt: skip
    return {name: getattr(estimate, name) for name in names} | {"confidence": estimate.level}
