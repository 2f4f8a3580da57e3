"""The agreement report as JSON and LaTeX; its CSV is made of evaluation.reports.agreement_tables."""

from typing import Any

from django.utils.translation import gettext as _

from evaluation.metrics.estimate import Estimate
from evaluation.rendering import json_file, latex
from evaluation.rendering.number_format import format_percent
from evaluation.rendering.reason_text import not_counted_sentence
from evaluation.rendering.report import Cell, Report, ReportColumn, number
from evaluation.rendering.report import Row as ReportRow
from evaluation.reports import agreement
from evaluation.reports.agreement import AgreementReport, QuestionRow, Row
from evaluation.reports.agreement_tables import question_label
from evaluation.selections.measures import LEVEL_LABELS
from evaluation.selections.selection import BY_LABELS
from people.models import Cohort


def to_json(report: AgreementReport, language: str) -> dict[str, Any]:
    catalogue, selection = report.catalogue, report.selection
    document: dict[str, Any] = json_file.to_json(
        {
            "benchmark": {"slug": catalogue.benchmark.slug, "name": catalogue.benchmark.name},
            "selection": selection.to_json(),
            "counted": selection.description(catalogue, language),
            "warnings": report.warnings,
            "watermark": report.watermark,
            "computed_at": report.computed_at,
            "n_ratings": report.n_ratings,
            "questions": [_question(row, report, language) for row in report.questions],
            "conditions": report.conditions,
            "rows": [_row(row) for row in report.rows],
        }
    )
    return document


def _question(row: QuestionRow, report: AgreementReport, language: str) -> dict[str, Any]:
    return {
        "field": row.field,
        "question": question_label(report, row.field, language),
        "level": row.level,
        "measure": row.asked_as,
        "cohort": _cohort(row.cohort),
        "n_ratings": row.n_ratings,
        "n_units_not_shown": row.n_hidden_units,
        "warnings": row.warnings,
        "estimates": {m.key: _estimate(e) for m, e in zip(row.measures, row.estimates, strict=True)},
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "cohort": _cohort(row.cohort),
        "part": row.part,
        "field": row.field,
        "level": row.level,
        "n_raters": row.n_raters,
        "missing_of_asked": row.not_answered_share,
        "cells": [_cell(cell, row) for cell in row.cells],
    }


def _cohort(cohort: Cohort) -> dict[str, Any]:
    return {"id": cohort.pk, "label": cohort.label, "country": cohort.country}


def _cell(cell: agreement.Cell, row: Row) -> dict[str, Any]:
    rated = ("n_units", "n_raters", "n_ratings", "missing_share")
    return {
        "condition": cell.condition,
        "n_units_asked": cell.n_asked,
        "n_pairable": cell.n_pairable,
        "rated": {name: getattr(cell, name) for name in rated},
        "estimates": {m.key: _estimate(e) for m, e in zip(row.measures, cell.estimates, strict=True)},
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    """With the digits that pages show, and what is left out in words."""
    cell = number(estimate)
    shown = {"shown": cell.shown, "shown_interval": cell.shown_interval}
    return {**estimate.to_json(), **shown, "left_out": not_counted_sentence(estimate)}


def to_latex(report: AgreementReport, language: str) -> str:
    """A column per condition and measure, what was counted in the caption."""
    by = report.selection.by
    several = len(report.selection.measures) > 1
    alone = "Agreement" if by == "field" else ""  # each row has a measure of its own
    heads = [
        f"{condition}, {measure.label}" if several else (condition or alone or str(measure.label))
        for condition in report.conditions
        for measure in report.selection.measures
    ]
    split = [str(BY_LABELS[by])] if by not in ("cohort", "all") else []
    columns = (*(ReportColumn(head, shape="text") for head in split), *map(ReportColumn, heads))
    rows = []
    for row in report.rows:
        part = _("week to %(day)s") % {"day": row.part} if by == "time" else row.part
        names = [Cell(text=part) for _head in split]
        numbers = [number(estimate) for cell in row.cells for estimate in cell.estimates]
        rows.append(ReportRow(row.cohort.label, (*names, *numbers)))
    caption = " ".join(report.selection.description(report.catalogue, language))
    return latex.to_latex(Report("Cohort", columns, tuple(rows)), caption)


def questions_to_latex(report: AgreementReport, language: str) -> str:
    """A line per question, cohort and measure; what was counted in the caption."""
    names = [ReportColumn(head, shape="text") for head in (_("Level"), _("Measure"), _("Cohort"))]
    columns = (*names, ReportColumn(_("Value")), ReportColumn(_("Missing")))
    rows = []
    for row in report.questions:
        for measure, estimate in zip(row.measures, row.estimates, strict=True):
            texts = [Cell(text=text) for text in (LEVEL_LABELS[row.level], measure.label, row.cohort.label)]
            missing = Cell(text=format_percent(estimate.missing_share))
            label = question_label(report, row.field, language)
            rows.append(ReportRow(label, (*texts, number(estimate), missing)))
    s = report.selection
    withdrawn = [report.catalogue.withdrawn.words] if report.catalogue.withdrawn.answers else []
    caption = " ".join([s.raters_text(report.catalogue, ""), s.inclusion_text(), *withdrawn, s.interval_words()])
    return latex.to_latex(Report(_("Question"), columns, tuple(rows)), caption)
