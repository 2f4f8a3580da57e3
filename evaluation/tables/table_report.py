"""The report of a paper's table, from the JSON that is stored of it."""

from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.report import Cell, Facts, PrintedValue, Report, ReportColumn, Rounding, Row

Data = Mapping[str, Any]
CSV_COLUMNS = (
    "table", "group", "row", "column", "shown", "shown_interval", "value", "low", "high", "n_units", "n_raters",
    "n_ratings", "left_out", "worst", "best", "missing_share", "confidence", "resampled", "method", "reason",
    "interval_reason",
    "decimals", "scale", "cut", "printed", "mark", "known", "options", "watermark", "computed_at",
)  # fmt: skip
_OF_ESTIMATE = [field.name for field in fields(Estimate)]


def table_report(
    data: Data, names: Mapping[str, str] | None = None, footnotes: Mapping[str, int] | None = None
) -> Report:
    """`names`: of cohorts in the language of the page, by label; files keep the labels. `footnotes`: the numbers of
    the reasons why the paper's values differ."""
    names, footnotes = names or {}, footnotes or {}
    with_numbers = [
        any(row["cells"][place]["estimate"] for row in data["rows"]) for place in range(len(data["columns"]))
    ]
    columns = tuple(
        ReportColumn(names.get(label, label), label, "paper", style="num" if numbers else "", facts={"column": label})
        for label, numbers in zip(data["columns"], with_numbers, strict=True)
    )
    rows = tuple(
        Row(
            row["label"],
            tuple(_cell(cell, footnotes) for cell in row["cells"]),
            group=names.get(row["group"], row["group"]),
            name=names.get(row["label"], ""),
            facts={"group": row["group"], "row": row["label"]},
        )
        for row in data["rows"]
    )
    facts = {
        "table": data["key"],
        "options": "; ".join(f"{key}={value}" for key, value in data["options"].items()),
        "watermark": data["watermark"],
        "computed_at": data["computed_at"],
    }
    return Report(data["corner"], columns, rows, facts, CSV_COLUMNS)


def _cell(cell: Data, footnotes: Mapping[str, int]) -> Cell:
    printed = PrintedValue(**cell["printed"]) if cell["printed"] else None
    footnote = footnotes.get(str(printed.known)) if printed and cell["mark"] != "same" else None
    if cell["estimate"] is None:
        return Cell(
            text=cell["shown"], printed=printed, empty=cell["empty"], footnote=footnote, facts=_facts(cell, printed)
        )
    estimate = Estimate(**{name: cell["estimate"][name] for name in _OF_ESTIMATE})
    notes = (cell["left_out"],) if cell["left_out"] else ()
    n = f"n = {estimate.n_units:,}" + (f" × {estimate.n_raters:,}" if estimate.n_raters > 1 else "")
    return Cell(
        estimate, rounding=Rounding(**cell["rounding"]), printed=printed, notes=notes, footnote=footnote,
        n=n, facts=_facts(cell, printed),
    )  # fmt: skip


def _facts(cell: Data, printed: PrintedValue | None) -> Facts:
    """The columns of its line in CSV; of `left_out` cells `worst` and `best` would be the number with them."""
    facts = {"mark": cell["mark"], "printed": printed and printed.text, "known": printed and printed.known}
    if cell["estimate"] is None:
        return facts
    extras = cell["estimate"]["extras"]
    facts |= cell["rounding"] | {"worst": extras.get("worst"), "best": extras.get("best")}
    facts["left_out"] = extras.get("n_unreadable", extras.get("n_left_out"))
    if cell["estimate"]["value"] is not None:
        facts["shown"] = Decimal(cell["shown"])
    return facts


def without_printed(report: Report) -> Report:
    """The same numbers without what the paper prints."""
    rows = (replace(row, cells=tuple(replace(cell, printed=None) for cell in row.cells)) for row in report.rows)
    return replace(report, rows=tuple(rows))
