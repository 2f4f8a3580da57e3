"""The agreement report as JSON, CSV and LaTeX."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from evaluation.measures import Measure
from evaluation.metrics.estimate import Estimate
from evaluation.reason_text import not_counted_sentence
from evaluation.reports.agreement import AgreementReport, Cell, Row
from evaluation.reports.latex import tex
from evaluation.reports.number_format import format_interval
from evaluation.reports.question_files import in_json, questions_in_json, shown_value, tex_estimate
from evaluation.selection import BY_LABELS
from jobs.csv_safety import csv_lines


def to_json(report: AgreementReport, language: str) -> dict[str, Any]:
    catalogue, selection = report.catalogue, report.selection
    return {
        "benchmark": {"slug": catalogue.benchmark.slug, "name": catalogue.benchmark.name},
        "selection": selection.to_json(),
        "counted": selection.description(catalogue, language),
        "warnings": report.warnings,
        "watermark": report.watermark,
        "computed_at": report.computed_at.isoformat(),
        "n_ratings": report.n_ratings,
        "questions": questions_in_json(report, language),
        "conditions": list(report.conditions),
        "rows": [_row(row, report) for row in report.rows],
    }


def _row(row: Row, report: AgreementReport) -> dict[str, Any]:
    return {
        "cohort": {"id": row.cohort.pk, "label": row.cohort.label, "country": row.cohort.country},
        "part": row.part,
        "field": row.field,
        "level": row.level,
        "n_raters": row.n_raters,
        "missing_of_asked": row.not_answered_share,
        "cells": [_cell(cell, row) for cell in row.cells],
    }


def _cell(cell: Cell, row: Row) -> dict[str, Any]:
    return {
        "condition": cell.condition,
        "n_units_asked": cell.n_asked,
        "n_pairable": cell.n_pairable,
        "rated": {
            "n_units": cell.n_units,
            "n_raters": cell.n_raters,
            "n_ratings": cell.n_ratings,
            "missing_share": cell.missing_share,
        },
        "estimates": {
            measure.key: in_json(estimate) for measure, estimate in zip(row.measures, cell.estimates, strict=True)
        },
    }


CSV_COLUMNS = (
    "cohort", "condition", "measure", "value", "low", "high", "shown", "shown_interval",
    "n_units_asked", "n_units_rated", "n_pairable", "n_units", "n_raters", "n_ratings", "left_out",
    "missing_share", "missing_of_asked", "confidence", "resampled", "method", "reason", "interval_reason",
    "stage", "field", "level", "counted", "by", "part", "withdrawn", "watermark", "computed_at",
)  # fmt: skip


def to_csv(report: AgreementReport) -> Iterator[str]:
    """One line per cohort, condition and measure, each with what was counted."""
    return csv_lines(CSV_COLUMNS, _csv_rows(report))


def _csv_rows(report: AgreementReport) -> Iterator[list[Any]]:
    s = report.selection
    for row, cell, measure, estimate in _each(report):
        yield [
            row.cohort.label, cell.condition, measure.key, estimate.value, estimate.low, estimate.high,
            shown_value(estimate), format_interval(estimate), cell.n_asked, cell.n_units, cell.n_pairable,
            estimate.n_units, estimate.n_raters, estimate.n_ratings, not_counted_sentence(estimate),
            estimate.missing_share, row.not_answered_share, estimate.level, estimate.resampled, estimate.method,
            estimate.reason, estimate.interval_reason, s.stage, row.field, row.level, s.counted, s.by, row.part,
            report.catalogue.withdrawn.words, report.watermark, report.computed_at.isoformat(),
        ]  # fmt: skip


def _each(report: AgreementReport) -> Iterator[tuple[Row, Cell, Measure, Estimate]]:
    for row in report.rows:
        for cell in row.cells:
            for measure, estimate in zip(row.measures, cell.estimates, strict=True):
                yield row, cell, measure, estimate


def to_latex(report: AgreementReport, language: str) -> str:
    """A booktabs table: a column per condition and measure, what was counted in the caption."""
    several = len(report.selection.measures) > 1
    columns: list[tuple[str, Any]] = [(c, m) for c in report.conditions for m in report.selection.measures]
    alone = "Agreement" if report.selection.by == "field" else ""  # each row has a measure of its own
    heads = [tex(f"{c}, {m.label}" if several else (c or alone or str(m.label))) for c, m in columns]
    cut = [str(BY_LABELS[report.selection.by])] if report.selection.by != "cohort" else []
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        r"\begin{tabular}{l" + "l" * len(cut) + "r" * len(columns) + "}",
        r"\toprule",
        " & ".join(["Cohort", *map(tex, cut), *heads]) + r" \\",
        r"\midrule",
    ]
    for row in report.rows:
        estimates = [estimate for cell in row.cells for estimate in cell.estimates]
        part = _("week to %(day)s") % {"day": row.part} if report.selection.by == "time" else row.part
        named = [row.cohort.label, *[part] * len(cut)]
        lines.append(" & ".join([*map(tex, named), *map(tex_estimate, estimates)]) + r" \\")
    caption = " ".join(report.selection.description(report.catalogue, language))
    lines += [r"\bottomrule", r"\end{tabular}", r"\caption{" + tex(caption) + "}", r"\end{table}", ""]
    return "\n".join(lines)
