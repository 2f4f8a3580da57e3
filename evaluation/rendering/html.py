"""A report as a page shows it: what templates/evaluation/report/table.html takes."""

import re
from collections.abc import Collection, Mapping
from itertools import groupby
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.axis import Axis
from evaluation.rendering.number_format import MINUS, format_interval, format_number
from evaluation.rendering.reason_text import NOT_COMPARED, interval_sentence, not_counted_sentence, resampled_text
from evaluation.rendering.report import Cell, Report, ReportColumn, Row, Words, number
from evaluation.rendering.sorting import NAME, SortLink

MARK_WORDS: Mapping[str, str | Promise] = {
    "same": gettext_lazy("same"),
    "rounding": gettext_lazy("same after rounding"),
    "differs": gettext_lazy("differs"),
}
MARK_CHIPS = {"same": "ok", "rounding": "wait", "differs": "back"}


def page_table(
    report: Report,
    style: str,
    caption: Words = "",
    keys: Collection[str] | None = None,
    heads: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    about: bool = True,
    sorts: Mapping[str, SortLink] | None = None,
) -> dict[str, Any]:
    """`keys`: the columns to show, all without; a column or row that has no cell of them is left out. `heads`: of
    groups whose head is more than their name, in their order, for templates/evaluation/parts/question_head.html.
    `about`: whether rows show more of a model than its name. `sorts`: links that sort the rows, by the key of the
    column; the first column, of the names of the rows, has the key NAME."""
    places = [
        (at, column)
        for at, column in enumerate(report.columns)
        if keys is None or (column.key in keys and any(not row.cells[at].empty for row in report.rows))
    ]
    axes = [column.axis.key for _at, column in places if column.axis]
    rows = [row for row in report.rows if keys is None or any(not row.cells[at].empty for at, _column in places)]
    groups = [(title, list(block)) for title, block in groupby(rows, key=lambda row: row.group)]
    if heads is not None:
        groups = [(title, [row for row in rows if row.group == title]) for title in heads]
    return {
        "style": " ".join([style, *axes[:1]]),
        "about": about,
        "caption": caption,
        "corner": report.corner,
        "corner_sort": (sorts or {}).get(NAME),
        "sorts": bool(sorts),
        "columns": [_head(column, sorts or {}) for _at, column in places],
        "width": len(places) + 1,
        "groups": [
            {"title": title, "head": (heads or {}).get(title), "rows": [_row(row, places) for row in block]}
            for title, block in groups
        ],
    }


def _head(column: ReportColumn, sorts: Mapping[str, SortLink]) -> dict[str, Any]:
    """For the head of templates/evaluation/report/table.html. A column may sort by its values and by their n."""
    sort, n_sort = sorts.get(column.sort_key), sorts.get(column.n_key)
    direction = next((link.direction for link in (sort, n_sort) if link and link.direction), "")
    shown = {"label": column.label, "axis": column.axis, "style": column.style}
    return shown | {"sort": sort, "n_sort": n_sort, "direction": direction}


def _row(row: Row, places: list[tuple[int, ReportColumn]]) -> dict[str, Any]:
    cells = [page_cell(row.cells[at], column) for at, column in places]
    shown = {"name": row.name or row.label, "setting": row.setting, "about": row.about}
    return shown | {"href": row.href, "opens": row.opens, "cells": cells}


def page_cell(cell: Cell, column: ReportColumn) -> dict[str, Any]:
    """For templates/evaluation/report/cell.html."""
    shown: dict[str, Any] = {"column": column, "notes": cell.notes, "empty": cell.empty}
    shown |= {"text": cell.text, "chip": cell.chip}
    if cell.empty:
        return shown
    if column.shape == "paper":
        return shown | _paper_cell(cell)
    if column.shape == "short":
        return shown | {"number": short_number(cell)}
    if column.axis is None:
        return shown | {"text": cell.text or cell.shown, "at": cell.at}
    lines = [_range(one, column.axis, with_n=column.with_n) for one in one_reason(cell.numbers)]
    if column.shape == "strip":
        shown |= {"people_at": [column.axis.at(one.value) for one in cell.people if one.value is not None]}
        ceiling = cell.ceiling.value if cell.ceiling else None
        shown |= {"ceiling_at": column.axis.at(ceiling) if ceiling is not None else ""}
    return shown | {"lines": lines}


def _paper_cell(cell: Cell) -> dict[str, Any]:
    """For templates/evaluation/tables/cell.html."""
    drawn: dict[str, Any] = {"shown": cell.shown}
    if cell.printed is not None:
        drawn |= {
            "printed": re.sub(r"^-(?=[\d.])", MINUS, cell.printed.text),
            "mark": MARK_WORDS[cell.mark],
            "chip": MARK_CHIPS[cell.mark],
            "note": cell.footnote,
        }
    estimate = cell.estimate
    if estimate is None:
        return drawn
    drawn |= {
        "number": True,
        "undefined": estimate.value is None,
        "n": cell.n,
        "left_out": "; ".join(map(str, cell.notes)),
    }
    drawn |= {"resampled": resampled_text(estimate), "shown": cell.shown.replace("-", MINUS)}
    drawn["interval"] = cell.shown_interval.replace("-", MINUS)
    return drawn | ({"title": cell.why.title, "words": cell.why.sentence} if cell.why else {})


def one_reason(numbers: tuple[Cell, ...]) -> tuple[Cell, ...]:
    """Several numbers that are missing for one reason are shown as one."""
    first, *others = numbers
    reasons = [one.estimate.reason if one.estimate else None for one in numbers]
    if others and reasons[0] is not None and len(set(reasons)) == 1:
        return (number(first.estimate, reason=first.reason),)
    return numbers


def _range(cell: Cell, axis: Axis, *, with_n: bool) -> dict[str, Any]:
    assert cell.estimate is not None
    drawn = estimate_bar(cell.estimate, axis, cell.label)
    if cell.estimate.value is None:
        return drawn | _no_value(cell)
    return drawn | {"n": (cell.n or drawn["n"]) if with_n else ""}


def estimate_bar(estimate: Estimate, axis: Axis, label: str = "") -> dict[str, Any]:
    """One estimate with its range on an axis, for templates/evaluation/parts/estimate.html."""
    drawn: dict[str, Any] = {"label": label, "axis": axis}
    if estimate.value is None:
        return drawn | _no_value(number(estimate))
    drawn |= {
        "value": format_number(estimate.value),
        "n": n_text(estimate),
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


def short_number(cell: Cell) -> dict[str, Any]:
    """One estimate in a narrow cell, without a ruler, for templates/evaluation/parts/brief.html."""
    estimate = cell.estimate
    assert estimate is not None
    if estimate.value is None:
        return _no_value(cell)
    interval = cell.shown_interval or interval_sentence(estimate)
    return {"value": cell.shown, "interval": interval, "n": cell.n or n_text(estimate)}


def n_text(estimate: Estimate) -> str:
    """Units and raters."""
    return f"n = {estimate.n_units} × {estimate.n_raters}"


def _no_value(cell: Cell) -> dict[str, Any]:
    """`is_compared`: whether a number would be there with more answers."""
    is_compared = cell.estimate is None or cell.estimate.reason not in NOT_COMPARED
    return {"title": cell.why_no_value.title, "reason": cell.why_no_value.sentence, "is_compared": is_compared}
