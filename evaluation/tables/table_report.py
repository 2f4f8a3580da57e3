"""The report of a paper's table, from the JSON that is stored of it."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from decimal import Decimal
from typing import Any

from evaluation.rendering.json_file import rows_from_json
from evaluation.rendering.report import Cell, Facts, Report, ReportColumn, Words

Data = Mapping[str, Any]
CSV_COLUMNS = (
    "table", "group", "row", "column", "shown", "shown_interval", "value", "low", "high", "n_units", "n_raters",
    "n_ratings", "left_out", "worst", "best", "missing_share", "confidence", "resampled", "method", "reason",
    "interval_reason",
    "decimals", "scale", "cut", "printed", "mark", "known", "options", "watermark", "computed_at",
)  # fmt: skip


def table_report(data: Data, names: Mapping[str, str] | None = None) -> Report:
    """`names`: of rows, groups and columns on the page, by label; files keep the labels."""
    names, footnotes = names or {}, dict[Words, int]()
    rows = rows_from_json(data["rows"])
    with_numbers = [any(row.cells[place].estimate for row in rows) for place in range(len(data["columns"]))]
    columns = tuple(
        ReportColumn(names.get(label, label), label, "paper", style="num" if numbers else "", facts={"column": label})
        for label, numbers in zip(data["columns"], with_numbers, strict=True)
    )
    rows = tuple(
        replace(
            row,
            cells=tuple(_complete_cell(cell, footnotes) for cell in row.cells),
            group=names.get(row.group, row.group),
            name=names.get(row.label, ""),
            facts={"group": row.group, "row": row.label},
        )
        for row in rows
    )
    facts = {
        "table": data["key"],
        "options": "; ".join(f"{key}={value}" for key, value in data["options"].items()),
        "watermark": data["watermark"],
        "computed_at": data["computed_at"],
    }
    return Report(data["corner"], columns, rows, facts, CSV_COLUMNS, tuple(footnotes))


def _complete_cell(cell: Cell, footnotes: dict[Words, int]) -> Cell:
    """With n, the columns of its line in CSV, and the footnote for why the paper's number is another."""
    n, footnote = "", None
    if estimate := cell.estimate:
        n = f"n = {estimate.n_units:,}" + (f" × {estimate.n_raters:,}" if estimate.n_raters > 1 else "")
    if cell.printed and cell.printed.known and cell.mark != "same":
        footnote = footnotes.setdefault(cell.printed.known, len(footnotes) + 1)
    return replace(cell, n=n, footnote=footnote, facts=_facts(cell))


def _facts(cell: Cell) -> Facts:
    """The columns of its line in CSV; of `left_out` cells `worst` and `best` would be the number with them."""
    printed, estimate = cell.printed, cell.estimate
    facts: dict[str, Any] = {"mark": cell.mark, "printed": printed and printed.text, "known": printed and printed.known}
    if estimate is None or cell.rounding is None:
        return facts
    extras = estimate.extras
    facts |= asdict(cell.rounding) | {"worst": extras.get("worst"), "best": extras.get("best")}
    facts["left_out"] = extras.get("n_unreadable", extras.get("n_left_out"))
    return facts | ({"shown": Decimal(cell.shown)} if estimate.value is not None else {})


def without_printed(report: Report) -> Report:
    """The same numbers without what the paper prints."""
    rows = (replace(row, cells=tuple(replace(cell, printed=None) for cell in row.cells)) for row in report.rows)
    return replace(report, rows=tuple(rows), footnotes=())
