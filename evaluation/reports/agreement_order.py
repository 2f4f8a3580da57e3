"""The rows of the agreement page by a column: for a look, so that files and the headline stay in their own order."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import QueryDict

from evaluation.metrics.estimate import Estimate
from evaluation.rendering.sorting import NAME, SortLink, SortOrder, parse_order, sort_links, sort_rows
from evaluation.reports.agreement import AgreementReport, QuestionRow, Row
from evaluation.selections.catalogue import POOLED

DEFAULT = SortOrder(NAME)  # the order of the report, which is that of the names of cohorts, and of versions and weeks


@dataclass(frozen=True)
class ReportOrder:
    """The orders of the two tables, each its own where the address asks for a column of the other.

    `value`: as the address has it; empty where it names no column.
    """

    rows: SortOrder = DEFAULT
    questions: SortOrder = DEFAULT
    value: str = ""


def report_order(report: AgreementReport, value: str) -> ReportOrder:
    rows, questions = (parse_order(value, keys, DEFAULT) for keys in (_row_keys(report), _question_keys(report)))
    return ReportOrder(rows, questions, value if value in (rows.value, questions.value) else "")


def sort_report(report: AgreementReport, order: ReportOrder) -> AgreementReport:
    """Within each question, cohort or whatever heads a block of rows; the row of all cohorts together stays first."""
    by = report.selection.by
    rows = sort_rows(
        report.rows,
        _row_keys(report)[order.rows.key],
        order.rows,
        lambda row: (row.cohort.pk == POOLED, {"cohort": "", "all": "", "field": row.part}.get(by, row.cohort.pk)),
    )
    questions = sort_rows(
        report.questions,
        _question_keys(report)[order.questions.key],
        order.questions,
        lambda row: (row.field, row.cohort.pk == POOLED),
    )
    return replace(report, rows=tuple(rows), questions=tuple(questions))


def order_links(report: AgreementReport, order: ReportOrder) -> tuple[dict[str, SortLink], dict[str, SortLink]]:
    """Of the table by condition, and of that of every question."""
    params = QueryDict(urlencode(report.selection.to_params()))
    rows, questions = (
        sort_links(chosen, {key: key != NAME for key in keys}, params)
        for chosen, keys in ((order.rows, _row_keys(report)), (order.questions, _question_keys(report)))
    )
    return rows, questions


def _row_keys(report: AgreementReport) -> Mapping[str, Callable[[Row], Any]]:
    keys: dict[str, Callable[[Row], Any]] = {
        NAME: _places(report.rows),
        "not_answered": lambda row: row.not_answered_share,
    }
    for condition in report.conditions:
        keys |= {f"value.{condition}": _of_cell(condition, _value), f"n.{condition}": _of_cell(condition, _n)}
    return keys


def _of_cell(condition: str, read: Callable[[tuple[Estimate, ...]], Any]) -> Callable[[Row], Any]:
    return lambda row: read(next(cell.estimates for cell in row.cells if cell.condition == condition))


def _question_keys(report: AgreementReport) -> Mapping[str, Callable[[QuestionRow], Any]]:
    def of_first(read: Callable[[Estimate], Any]) -> Callable[[QuestionRow], Any]:
        return lambda row: read(row.estimates[0]) if row.estimates else None

    return {
        NAME: _places(report.questions),
        "value": lambda row: _value(row.estimates),
        "items": of_first(lambda estimate: estimate.n_units),
        "people": of_first(lambda estimate: estimate.n_raters),
        "missing": of_first(lambda estimate: estimate.missing_share),
    }


def _places(rows: tuple[Any, ...]) -> Callable[[Any], int]:
    """The place of a row in the report."""
    places = {id(row): place for place, row in enumerate(rows)}
    return lambda row: places[id(row)]


def _value(estimates: tuple[Estimate, ...]) -> float | None:
    """Of several measures, the first one's."""
    return estimates[0].value if estimates else None


def _n(estimates: tuple[Estimate, ...]) -> tuple[int, int] | None:
    """Items, then people, as they stand beside a value; None where there is none beside which they would."""
    return (estimates[0].n_units, estimates[0].n_raters) if _value(estimates) is not None else None
