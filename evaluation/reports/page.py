"""The agreement report as a page sees it: words, and positions on an axis that all its rows share."""

from dataclasses import dataclass
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.conditions import condition_name
from annotation.sheets import say
from evaluation.catalogue import Catalogue
from evaluation.metrics.estimate import Estimate
from evaluation.reports.agreement import AgreementReport, Cell
from evaluation.reports.numbers import MINUS, shown, shown_interval, shown_share
from evaluation.reports.renderings import to_latex
from evaluation.selection import COUNTED_LABELS, INTERVAL_LABELS, REPEATS_LABELS, Selection, measure_labels
from evaluation.words import interval_sentence, reason_sentence, reason_title

WIDTH = 240.0
# What another stage, campaign or question need not have.
CLEARS = {
    "stage": "campaign field measure cohort condition concept",
    "campaign": "field measure cohort condition",
    "field": "measure",
}


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


def line(estimate: Estimate, axis: Axis, label: str = "") -> dict[str, Any]:
    """One estimate ready to draw."""
    drawn: dict[str, Any] = {"label": label, "axis": axis}
    if estimate.value is None:
        return drawn | {"title": reason_title(estimate), "reason": reason_sentence(estimate)}
    drawn |= {
        "value": shown(estimate.value),
        "n": f"n = {estimate.n_units} × {estimate.n_raters}",
        "at": axis.at(estimate.value),
        "cut": min(estimate.value, estimate.low if estimate.low is not None else estimate.value) < axis.low,
    }
    if estimate.low is None or estimate.high is None:
        return drawn | {"no_interval": interval_sentence(estimate)}
    return drawn | {"interval": shown_interval(estimate), "low": axis.at(estimate.low), "high": axis.at(estimate.high)}


def report_context(report: AgreementReport, language: str) -> dict[str, Any]:
    """What templates/evaluation/parts/report.html takes."""
    estimates = [e for row in report.rows for cell in row.cells for e in cell.estimates]
    axis = axis_for(estimates, from_zero=all(m.from_zero for m in report.measures))
    several = len(report.measures) > 1
    names = {c: condition_name(report.catalogue.benchmark, c, language) for c in report.conditions}
    labels = [str(m.label) if several else "" for m in report.measures]
    count = ngettext("%(n)s rating", "%(n)s ratings", report.n_ratings) % {"n": f"{report.n_ratings:,}"}
    return {
        "axis": axis,
        "beyond_chance": not any(m.from_zero for m in report.measures),
        "caption": ", ".join(str(m.label) for m in report.measures),
        "columns": [names[condition] for condition in report.conditions],
        "rows": [
            {
                "cohort": row.cohort.name,
                "cells": [_cell(cell, names[cell.condition], axis, labels) for cell in row.cells],
                "missing": shown_share(row.missing_of_asked),
            }
            for row in report.rows
        ],
        "warnings": report.warnings,
        "counted": report.selection.words(report.catalogue, language),
        "watermark": report.watermark,
        "computed_at": report.computed_at,
        "count": count,
        "latex": to_latex(report, language),
    }


def _cell(cell: Cell, name: str, axis: Axis, labels: list[str]) -> dict[str, Any]:
    first, *rest = cell.estimates
    same = all(e.reason == first.reason is not None for e in rest) if rest else False
    if same:  # one reason is said once
        return {"name": name, "lines": [line(first, axis)]}
    lines = [line(e, axis, label) for e, label in zip(cell.estimates, labels, strict=True)]
    return {"name": name, "lines": lines}


def filters(catalogue: Catalogue, selection: Selection, language: str) -> dict[str, Any]:
    """The form above the table: selects where there is something to choose, the rest carried along."""
    stage = next(s for s in catalogue.stages if s.key == selection.stage)
    selects = [_select("measure", _("Measure"), measure_labels(selection.level), selection.measure)]
    selects.append(_select("interval", _("Interval"), INTERVAL_LABELS, selection.interval))
    selects.append(_select("counted", _("Counted"), COUNTED_LABELS, selection.counted))
    if len(catalogue.stages) > 1:
        selects.append(_select("stage", _("Stage"), {s.key: s.called for s in catalogue.stages}, selection.stage))
    campaigns = [c for c in stage.campaigns if c.id in selection.campaigns]
    fields = campaigns[0].fields
    if len(fields) > 1:
        questions = {f.key: say(f.label, language).replace("{target}", "…") for f in fields}
        selects.append(_select("field", _("Question"), questions, selection.field))
    if len(stage.campaigns) > 1:
        selects += _some(selection, "campaign", _("Campaign"), {str(c.id): c.name for c in stage.campaigns})
    in_campaigns = {one for c in campaigns for one in c.cohorts}
    asked = {one for c in campaigns for one in (c.conditions or stage.conditions)}
    cohorts = {str(pk): cohort.name for pk, cohort in catalogue.cohorts.items() if pk in in_campaigns}
    conditions = {c: condition_name(catalogue.benchmark, c, language) for c in stage.conditions if c and c in asked}
    selects += _some(selection, "cohort", _("Cohort"), cohorts)
    selects += _some(selection, "condition", _("Condition"), conditions)
    if len(selection.campaigns) > 1:
        selects.append(_select("repeats", _("Answered twice"), REPEATS_LABELS, selection.repeats))
    selects += _some(selection, "concept", _("Concepts"), {c: capfirst(c) for c in stage.concepts})
    names = {select["name"] for select in selects}
    carried = [(name, value) for name, value in selection.asked if name not in names]
    return {"selects": selects, "carried": carried}


def _some(selection: Selection, name: str, label: str, labels: dict[str, Any]) -> list[dict[str, Any]]:
    """All or one of them; nothing where there is no choice, or where the address asks for several."""
    asked = [value for one, value in selection.asked if one == name]
    if len(labels) < 2 or len(asked) > 1:
        return []
    every = {"": _("All %(n)s") % {"n": len(labels)}, **labels}
    return [_select(name, label, every, asked[0] if asked else "")]


def _select(name: str, label: str, labels: dict[str, Any], chosen: str) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "clears": CLEARS.get(name, ""),
        "options": [(v, text, v == chosen) for v, text in labels.items()],
    }
