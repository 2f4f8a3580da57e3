"""The agreement report as JSON and back, so that it can be kept, and the way every door comes to it."""

from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Max

from annotation.models import Assignment, Participation, Rating
from annotation.queries.answers import watermark
from benchmarks.models import Benchmark
from evaluation.metrics.estimate import Estimate
from evaluation.reports.agreement import AgreementReport, Cell, QuestionRow, Row, agreement, catalogue_for
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.measures import measure_of
from evaluation.selections.selection import Params, Selection, SelectionError, select
from evaluation.services.snapshots import (
    THRESHOLD,
    ReportState,
    compute_if_unlocked,
    key_of,
    load_and_renew,
    request_recompute,
    stored_at,
)

REPORT = "agreement"
PAIRED = 100
CORRELATIONS = {"spearman", "pearson"}
_COUNTS = (
    "condition", "n_units", "n_raters", "n_ratings", "n_asked", "n_pairable", "n_hidden", "n_hidden_units",
    "n_others", "n_others_asked",
)  # fmt: skip
_OF_QUESTION = ("field", "level", "asked_as", "n_ratings", "n_hidden_units")
_OF_ROW = ("field", "level", "part", "n_raters")


def load_report(catalogue: Catalogue, selection: Selection, at: datetime) -> tuple[AgreementReport, ReportState]:
    """Live where it is quick; else as it was kept, and a newer one asked for when that is due."""
    benchmark = catalogue.benchmark
    key = key_of(benchmark, REPORT, selection)
    reports: list[AgreementReport] = []

    def compute() -> Any:
        reports.append(agreement(catalogue, selection, at))
        return to_data(reports[0])

    query = urlencode(selection.to_params())
    limit = live_limit(selection)
    report_state = load_and_renew(benchmark, REPORT, key, compute, at, query, selection.zone, threshold=limit)
    if reports and not report_state.stored:
        return reports[0], report_state
    return from_data(report_state.data, catalogue, selection, report_state), report_state


def version_of(catalogue: Catalogue, selection: Selection) -> list[object]:
    """The same list means the same report: of the selection, the watermark, names, and what is kept."""
    key = key_of(catalogue.benchmark, REPORT, selection)
    return [key, watermark(catalogue.benchmark), catalogue.names, stored_at(catalogue.benchmark, REPORT, key)]


def live_limit(selection: Selection) -> int:
    """Correlations of every two of more than PAIRED raters take seconds, however few answers each has given."""
    if not CORRELATIONS & {measure.key for measure in selection.measures}:
        return THRESHOLD
    seats = Participation.objects.filter(
        cohort__campaign__in=selection.campaigns, cohort__cohort__in=selection.cohorts
    ).order_by()
    most = seats.values("cohort__cohort").annotate(n=Count("rater", distinct=True)).aggregate(most=Max("n"))["most"]
    return 1 if max(most or 0, _count_most_from_files(selection)) > PAIRED else THRESHOLD


def _count_most_from_files(selection: Selection) -> int:
    """Raters of the largest cohort where some came in a file: those have no seat. Read only where there are any."""
    if not Assignment.objects.filter(campaign__in=selection.campaigns, participation=None).exists():
        return 0
    rows = Rating.objects.filter(
        campaign__in=selection.campaigns, field=selection.field, cohort__in=selection.cohorts, live=True
    ).order_by()
    counts = rows.values("cohort").annotate(n=Count("rater", distinct=True))
    return counts.aggregate(most=Max("n"))["most"] or 0


def recompute(benchmark: Benchmark, params: Params, zone: tzinfo, at: datetime) -> bool:
    """Compute and store it, for a worker. False where another worker is at it, or the parameters hold no longer."""
    catalogue = catalogue_of(benchmark)
    if not catalogue.stages:
        return False
    try:
        selection = select(catalogue, params, zone=zone, every_question=True)
    except SelectionError:
        return False
    key = key_of(benchmark, REPORT, selection)

    def compute() -> Any:
        return to_data(agreement(catalogue, selection, at))

    return compute_if_unlocked(benchmark, REPORT, key, compute, at) is not None


def request(benchmark: Benchmark, selection: Selection, at: datetime) -> bool:
    """Have a worker compute it. False where nothing is stored: it is computed at every visit."""
    key = key_of(benchmark, REPORT, selection)
    return request_recompute(benchmark, REPORT, key, urlencode(selection.to_params()), selection.zone, at)


def to_data(report: AgreementReport) -> dict[str, list[dict[str, Any]]]:
    return {"rows": _row_data(report), "questions": [_question_data(row) for row in report.questions]}


def _question_data(row: QuestionRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in _OF_QUESTION} | {
        "cohort": row.cohort.pk,
        "measures": [measure.key for measure in row.measures],
        "estimates": [estimate.to_json() for estimate in row.estimates],
    }


def _row_data(report: AgreementReport) -> list[dict[str, Any]]:
    return [
        {name: getattr(row, name) for name in _OF_ROW}
        | {
            "cohort": row.cohort.pk,
            "measures": [measure.key for measure in row.measures],
            "cells": [
                {name: getattr(cell, name) for name in _COUNTS}
                | {"estimates": [estimate.to_json() for estimate in cell.estimates]}
                for cell in row.cells
            ],
        }
        for row in report.rows
    ]


def from_data(data: Any, catalogue: Catalogue, selection: Selection, report_state: ReportState) -> AgreementReport:
    catalogue = catalogue_for(catalogue, selection)
    rows = tuple(
        Row(
            cohort=catalogue.cohorts[row["cohort"]],
            cells=tuple(
                Cell(
                    **{n: cell[n] for n in _COUNTS if n in cell},
                    estimates=tuple(Estimate.from_json(one) for one in cell["estimates"]),
                )
                for cell in row["cells"]
            ),
            measures=tuple(measure_of(key) for key in row["measures"]),
            **{name: row[name] for name in _OF_ROW},
        )
        for row in data["rows"]
    )
    questions = tuple(
        QuestionRow(
            cohort=catalogue.cohorts[row["cohort"]],
            measures=tuple(measure_of(key) for key in row["measures"]),
            estimates=tuple(Estimate.from_json(one) for one in row["estimates"]),
            **{name: row[name] for name in _OF_QUESTION},
        )
        for row in data["questions"]
    )
    mark, at = report_state.watermark, report_state.computed_at
    return AgreementReport(catalogue, selection, selection.conditions, rows, mark, at, questions)
