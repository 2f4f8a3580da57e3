"""The two tables of the agreement report: one condition in each column, and every question of the sheet."""

from collections.abc import Iterator
from datetime import date
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.sheets.conditions import condition_name
from annotation.sheets.sheet import Field, localise
from evaluation.metrics.estimate import Estimate
from evaluation.rendering.axis import axis_for
from evaluation.rendering.number_format import format_percent
from evaluation.rendering.reason_text import not_counted_sentence
from evaluation.rendering.report import NOTHING, Cell, Report, ReportColumn, number
from evaluation.rendering.report import Row as ReportRow
from evaluation.reports import agreement
from evaluation.reports.agreement import AgreementReport, QuestionRow, Row
from evaluation.selections.measures import Measure, option_of
from evaluation.selections.selection import BY_LABELS

CONDITION_COLUMNS = (
    "cohort", "condition", "measure", "value", "low", "high", "shown", "shown_interval",
    "n_units_asked", "n_units_rated", "n_pairable", "n_units", "n_raters", "n_ratings", "left_out",
    "missing_share", "missing_of_asked", "confidence", "resampled", "method", "reason", "interval_reason",
    "stage", "field", "level", "counted", "by", "part", "withdrawn", "watermark", "computed_at",
)  # fmt: skip
QUESTION_COLUMNS = (
    "question", "level", "measure", "cohort", "value", "low", "high", "shown", "shown_interval", "n_units", "n_raters",
    "n_ratings", "missing_share", "left_out", "n_units_not_shown", "confidence", "resampled", "method", "reason",
    "interval_reason", "stage", "counted", "withdrawn", "watermark", "computed_at",
)  # fmt: skip


def conditions_table(report: AgreementReport, language: str) -> Report:
    """One row per cohort, and per question, version or week where the selection asks for these."""
    estimates = [estimate for row in report.rows for cell in row.cells for estimate in cell.estimates]
    axis = axis_for(estimates, from_zero=all(measure.from_zero for measure in report.measures))
    benchmark, by = report.catalogue.benchmark, report.selection.by
    columns = [
        ReportColumn(
            condition_name(benchmark, key, language),
            axis=axis,
            sort_key=f"value.{key}",
            n_key=f"n.{key}",
            facts={"condition": key},
        )
        for key in report.conditions
    ]
    missing = ReportColumn(_("Not answered"), shape="text", style="num", sort_key="not_answered", in_files=False)
    corner = str(BY_LABELS[by]) if by in ("version", "time") else _("Cohort")
    rows = tuple(_condition_row(row, report, language) for row in report.rows)
    return Report(corner, (*columns, missing), rows, _shared_data(report) | {"by": by}, CONDITION_COLUMNS)


def _shared_data(report: AgreementReport) -> dict[str, Any]:
    return {
        "stage": report.selection.stage,
        "counted": report.selection.counted,
        "withdrawn": report.catalogue.withdrawn.words,
        "watermark": report.watermark,
        "computed_at": report.computed_at.isoformat(),
    }


def _condition_row(row: Row, report: AgreementReport, language: str) -> ReportRow:
    by, part = report.selection.by, row_group_name(report, row, language)
    field = report.entry.sheet.field(row.field)
    several = len(report.measures) > 1
    cells = [_condition_cell(cell, row, field, language, several=several) for cell in row.cells]
    missing = row.not_answered_share
    facts = {"cohort": row.cohort.label, "part": row.part, "field": row.field, "level": row.level}
    return ReportRow(
        label=row.cohort.label,
        cells=(*cells, Cell(text=format_percent(missing))),
        group={"cohort": "", "all": "", "field": part}.get(by, row.cohort.name),
        name=part if by in ("version", "time") else row.cohort.name,
        facts=facts | {"missing_of_asked": missing},
    )


def _condition_cell(cell: agreement.Cell, row: Row, field: Field, language: str, *, several: bool) -> Cell:
    facts = {"n_units_asked": cell.n_asked, "n_units_rated": cell.n_units, "n_pairable": cell.n_pairable}
    left_out = dict.fromkeys(filter(None, map(not_counted_sentence, cell.estimates)))
    return _numbers(row.measures, cell.estimates, field, language, facts, tuple(left_out), several=several)


def _numbers(
    measures: tuple[Measure, ...], estimates: tuple[Estimate, ...], field: Field, language: str,
    facts: dict[str, Any], notes: tuple[str, ...] = (), *, several: bool,
) -> Cell:  # fmt: skip
    """One cell with a number for each measure, labelled where there are several."""
    first, *others = [
        number(
            estimate, label=measure_label(measure, field, language) if several else "", notes=notes,
            facts={**facts, "measure": measure.key, "left_out": not_counted_sentence(estimate)},
        )
        for measure, estimate in zip(measures, estimates, strict=True)
    ] or [NOTHING]  # fmt: skip
    return first.with_others(others)


def questions_table(report: AgreementReport, language: str) -> Report:
    """The table that the page opens with: one row per cohort under each question, whose key is the group."""
    axis = axis_for([estimate for row in report.questions for estimate in row.estimates])  # one for the whole column
    texts = {"items": _("Items"), "people": _("People"), "missing": _("Missing")}
    columns = (
        ReportColumn(_("Value and interval"), axis=axis, style="value", with_n=False, sort_key="value"),
        *(ReportColumn(t, shape="text", style="num", sort_key=key, in_files=False) for key, t in texts.items()),
        ReportColumn(_("Notes"), shape="text", style="notes", in_files=False),
    )
    rows = tuple(_question_row(row, report.entry.sheet.field(row.field), language) for row in report.questions)
    return Report(_("Question and cohort"), columns, rows, _shared_data(report), QUESTION_COLUMNS)


def _question_row(row: QuestionRow, field: Field, language: str) -> ReportRow:
    shared = {"n_units_not_shown": row.n_hidden_units}
    value = _numbers(row.measures, row.estimates, field, language, shared, several=len(row.measures) > 1)
    texts = ["", "", ""]
    if row.estimates:
        first = row.estimates[0]
        texts = [f"{first.n_units:,}", f"{first.n_raters:,}", format_percent(first.missing_share)]
    return ReportRow(
        label=row.cohort.label,
        cells=(value, *(Cell(text=text) for text in texts), Cell(notes=tuple(dict.fromkeys(_question_notes(row))))),
        group=row.field,
        name=row.cohort.name,
        facts={"question": row.field, "level": row.level, "cohort": row.cohort.label},
    )


def _question_notes(row: QuestionRow) -> Iterator[str]:
    yield from filter(None, map(not_counted_sentence, row.estimates))
    if row.n_hidden_units:
        text = ngettext("Not shown for %(n)s item.", "Not shown for %(n)s items.", row.n_hidden_units)
        yield text % {"n": f"{row.n_hidden_units:,}"}
    yield from row.warnings


def measure_label(measure: Measure, field: Field, language: str) -> str:
    """The alpha of an option by the option's label."""
    option = option_of(measure.key)
    for one in field.spec.agreement_options(field.config) if option is not None else ():
        if one.code == option:
            return localise(one.label, language)
    return str(measure.label)


def question_label(report: AgreementReport, key: str, language: str) -> str:
    return localise(report.entry.sheet.field(key).label, language).replace("{target}", "…")


def row_group_name(report: AgreementReport, row: Row, language: str) -> str:
    """A question in words, a version, or the last day of a week."""
    if report.selection.by == "field":
        return question_label(report, row.field, language)
    if report.selection.by == "time":
        return _("week to %(day)s") % {"day": date_format(date.fromisoformat(row.part), "SHORT_DATE_FORMAT")}
    return row.part
