"""The agreement report as a page sees it: words, and positions on an axis that all its rows share."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.conditions import condition_name
from annotation.sheets import Field, localise
from annotation.status_text import format_moment
from evaluation.measures import LEVEL_LABELS, Measure, default_measure, measure_labels, option_of
from evaluation.metrics.estimate import Estimate
from evaluation.reason_text import interval_sentence, not_counted_sentence, reason_sentence, reason_title
from evaluation.reports.agreement import AgreementReport, Cell, QuestionRow, Row
from evaluation.reports.agreement_formats import to_latex
from evaluation.reports.number_format import MINUS, format_interval, format_number, format_percent
from evaluation.selection import BY_LABELS
from evaluation.snapshots import MOST, ReportState

WIDTH = 240.0


@dataclass(frozen=True)
class Axis:
    """`key` is a class of evaluation.css, which writes the ends on phones."""

    key: str
    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{WIDTH * min(max(share, 0.0), 1.0):.1f}"

    @property
    def marks(self) -> list[dict[str, Any]]:
        """Each tick: where, what is written there, and whether it is the zero line."""
        return [{"at": self.at(t), "label": f"{t:g}".replace("-", MINUS), "zero": t == 0} for t in self.ticks]


SHORT = Axis("axis-short", -0.2, 1, (-0.2, 0, 0.2, 0.4, 0.6, 0.8, 1))
FULL = Axis("axis-full", -1, 1, (-1, -0.5, 0, 0.5, 1))
SHARE = Axis("axis-share", 0, 1, (0, 0.25, 0.5, 0.75, 1))


def axis_for(estimates: list[Estimate], *, from_zero: bool = False) -> Axis:
    """The short axis while everything lies on it. What lies beyond the full one is cut, and an arrow says so."""
    if from_zero:
        return SHARE
    ends = [end for e in estimates for end in (e.value, e.low) if end is not None]
    return FULL if ends and min(ends) < SHORT.low else SHORT


def estimate_bar(estimate: Estimate, axis: Axis, label: str = "") -> dict[str, Any]:
    """One estimate ready to draw."""
    drawn: dict[str, Any] = {"label": label, "axis": axis}
    if estimate.value is None:
        return drawn | {"title": reason_title(estimate), "reason": reason_sentence(estimate)}
    drawn |= {
        "value": format_number(estimate.value),
        "n": f"n = {estimate.n_units} × {estimate.n_raters}",
        "left_out": not_counted_sentence(estimate),
        "at": axis.at(estimate.value),
        "cut": min(estimate.value, estimate.low if estimate.low is not None else estimate.value) < axis.low,
    }
    if "least" in estimate.extras:  # a mean over raters: how far they lie apart
        ends = {name: format_number(float(estimate.extras[name] or 0)) for name in ("least", "most")}
        return drawn | {"no_interval": _("raters: %(least)s to %(most)s") % ends}
    if estimate.low is None or estimate.high is None:
        return drawn | {"no_interval": interval_sentence(estimate)}
    return drawn | {"interval": format_interval(estimate), "low": axis.at(estimate.low), "high": axis.at(estimate.high)}


def report_context(report: AgreementReport, language: str) -> dict[str, Any]:
    """What templates/evaluation/parts/report.html takes."""
    estimates = [e for row in report.rows for cell in row.cells for e in cell.estimates]
    axis = axis_for(estimates, from_zero=all(m.from_zero for m in report.measures))
    several = len(report.measures) > 1
    by = report.selection.by
    names = {c: condition_name(report.catalogue.benchmark, c, language) for c in report.conditions}
    count = ngettext("%(n)s rating", "%(n)s ratings", report.n_ratings) % {"n": f"{report.n_ratings:,}"}
    return {
        "axis": axis,
        "beyond_chance": not any(m.from_zero for m in report.measures),
        "caption": ", ".join(str(m.label) for m in report.measures),
        "columns": [names[condition] for condition in report.conditions],
        "by": by,
        "head": str(BY_LABELS[by]) if by in ("version", "time") else _("Cohort"),
        "groups": [
            {"title": title, "rows": [_row(row, report, names, axis, several, language) for row in rows]}
            for title, rows in _groups(report, language)
        ],
        "warnings": report.warnings,
        "counted": report.selection.description(report.catalogue, language),
        "watermark": report.watermark,
        "computed_at": report.computed_at,
        "count": count,
        "latex": to_latex(report, language),
        "part_title": part_title(report, language),
    } | questions_context(report, language)


def questions_context(report: AgreementReport, language: str) -> dict[str, Any]:
    """The table that the page opens with: each question of the sheet under its own heading, a row for each cohort."""
    entry = report.entry
    groups: list[dict[str, Any]] = []
    axis = axis_for([e for row in report.questions for e in row.estimates])  # one for the whole column
    rest = [pair for pair in report.selection.to_params() if pair[0] not in ("field", "measure", "by")]
    for field in entry.sheet.fields:
        rows = [row for row in report.questions if row.field == field.key]
        groups.append(
            {
                "key": field.key,
                "title": localise(field.label, language).replace("{target}", "…"),
                "level": str(LEVEL_LABELS[rows[0].level]) if rows else "",
                "measures": _ask_as(field.key, rows[0], entry.options_of(field.key)) if rows else [],
                "conditional": field.show_if is not None,
                "chosen": report.selection.by != "field" and report.selection.field == field.key,
                "query": urlencode([*rest, ("field", field.key)]),
                "rows": [_question(row, axis, field, language) for row in rows],
            }
        )
    return {
        "questions": groups,
        "questions_axis": axis,
        "benchmark": report.catalogue.benchmark,
        "query": urlencode(report.selection.to_params()),
    }


def _ask_as(key: str, row: QuestionRow, options: tuple[str, ...]) -> list[tuple[str, str, bool]]:
    """Values of the select, the default first and without a value, so that it leaves no trace in the address."""
    labels = measure_labels(row.level, options)
    default = default_measure(row.level)
    return [("" if m == default else f"{key}:{m}", str(label), m == row.asked_as) for m, label in labels.items()]


def _question(row: QuestionRow, axis: Axis, field: Field, language: str) -> dict[str, Any]:
    labels = [measure_label(m, field, language) if len(row.measures) > 1 else "" for m in row.measures]
    lines = [{**estimate_bar(e, axis, label), "n": ""} for e, label in zip(row.estimates, labels, strict=True)]
    notes = [drawn["left_out"] for drawn in lines if drawn.get("left_out")]
    if row.n_hidden_units:
        text = ngettext("Not shown for %(n)s item.", "Not shown for %(n)s items.", row.n_hidden_units)
        notes.append(text % {"n": f"{row.n_hidden_units:,}"})
    first = row.estimates[0] if row.estimates else None
    return {
        "name": row.cohort.name,
        "lines": lines,
        "units": f"{first.n_units:,}" if first else "",
        "raters": f"{first.n_raters:,}" if first else "",
        "missing": format_percent(first.missing_share) if first else "",
        "notes": list(dict.fromkeys([*notes, *row.warnings])),
    }


def measure_label(measure: Measure, field: Field, language: str) -> str:
    """The alpha of an option by the option's label."""
    option = option_of(measure.key)
    for one in field.spec.agreement_options(field.config) if option is not None else ():
        if one.code == option:
            return localise(one.label, language)
    return str(measure.label)


def client_state(found: ReportState) -> str:
    """What a live page has before it: the watermark; of a kept report, also how far it was behind."""
    return f"{found.watermark}-{found.now}" if found.stored else str(found.watermark)


def cached_state(found: ReportState, zone: ZoneInfo) -> dict[str, Any]:
    """Of a kept report: since when, and what has come since. Nothing of a live one."""
    if not found.stored:
        return {}
    said = _("As of %(moment)s; nothing has changed since.")
    if found.newer >= MOST:
        said = _("As of %(moment)s; more than %(n)s newer answers are not in it.")
    elif found.newer:
        said = ngettext(
            "As of %(moment)s; %(n)s newer answer is not in it.",
            "As of %(moment)s; %(n)s newer answers are not in it.",
            found.newer,
        )
    elif found.changed:
        said = _("As of %(moment)s; answers have been taken back or counted otherwise since, or items came in.")
    moment = format_moment(found.computed_at, zone)
    return {
        "watermark": client_state(found),
        "kept": said % {"moment": moment, "n": f"{found.newer:,}"},
        "behind": found.changed,
    }


def part_title(report: AgreementReport, language: str) -> str:
    """Of the second table."""
    if report.selection.by == "field":
        return _("Every question, by condition")
    title = localise(report.entry.sheet.field(report.selection.field).label, language).replace("{target}", "…")
    return _("By condition: %(question)s") % {"question": title} if report.selection.by == "cohort" else title


def _groups(report: AgreementReport, language: str) -> list[tuple[str, list[Row]]]:
    """Rows under a heading: cohorts under each question, versions and weeks under each cohort."""
    by = report.selection.by
    if by == "cohort":
        return [("", list(report.rows))]
    found: dict[str, list[Row]] = {}
    for row in report.rows:
        title = row_group_name(report, row, language) if by == "field" else row.cohort.name
        found.setdefault(title, []).append(row)
    return list(found.items())


def row_group_name(report: AgreementReport, row: Row, language: str) -> str:
    """A question in words, a version, or the last day of a week."""
    if report.selection.by == "field":
        return localise(report.entry.sheet.field(row.field).label, language).replace("{target}", "…")
    if report.selection.by == "time":
        return _("week to %(day)s") % {"day": date_format(date.fromisoformat(row.part), "SHORT_DATE_FORMAT")}
    return row.part


def _row(
    row: Row, report: AgreementReport, names: dict[str, str], axis: Axis, several: bool, language: str
) -> dict[str, Any]:
    field = report.entry.sheet.field(row.field)
    labels = [measure_label(m, field, language) if several else "" for m in row.measures]
    within = report.selection.by in ("version", "time")
    return {
        "name": row_group_name(report, row, language) if within else row.cohort.name,
        "cells": [_cell(cell, names[cell.condition], axis, labels) for cell in row.cells],
        "missing": format_percent(row.not_answered_share),
    }


def _cell(cell: Cell, name: str, axis: Axis, labels: list[str]) -> dict[str, Any]:
    first, *rest = cell.estimates
    same = all(e.reason == first.reason is not None for e in rest) if rest else False
    if same:  # one reason is said once
        return {"name": name, "lines": [estimate_bar(first, axis)]}
    lines = [estimate_bar(e, axis, label) for e, label in zip(cell.estimates, labels, strict=True)]
    left_out = list(dict.fromkeys(drawn["left_out"] for drawn in lines if drawn.get("left_out")))
    return {"name": name, "lines": lines, "left_out": left_out}
