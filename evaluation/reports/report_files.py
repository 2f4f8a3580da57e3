"""The reports of a benchmark and the forms each has: what files of pages and REST are written from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext_lazy

from benchmarks.access import Can
from evaluation.rendering.csv_file import to_csv
from evaluation.rendering.report import Report, Words
from evaluation.reports import agreement_formats, judge_page, models_page
from evaluation.reports.agreement import AgreementReport
from evaluation.reports.agreement_tables import conditions_table, questions_table
from evaluation.reports.alpha_check import check_json
from evaluation.reports.report_requests import (
    JUDGE_OPTIONS,
    MODELS_OPTIONS,
    agreement_selection,
    judge_for,
    reviewed_stages,
)
from evaluation.reports.reviewers import reviewer_agreement
from evaluation.reports.stored_agreement import load_report
from evaluation.reports.stored_models import models_for
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.selection import NAMES

TYPES = {"csv": "text/csv; charset=utf-8", "tex": "text/x-tex; charset=utf-8"}
SECOND = "second"
"""The parameter that asks for each alpha once more, by another package."""
Builder = Callable[[Catalogue, QueryDict, tzinfo, datetime], Any]
Writer = Callable[[Any, QueryDict, str], Any]
"""From a report, the parameters of the address and the reader's language to a text, or to data for JSON."""


@dataclass(frozen=True)
class ReportKind:
    """`names`: what of an address it reads. `can`: who may read it, besides those who see the benchmark. `kept`:
    whether it is kept for large data, as agreement is."""

    key: str
    title: Words
    build: Builder
    forms: Mapping[str, Writer]
    names: tuple[str, ...] = NAMES
    can: Can = "see"
    kept: bool = False
    needs_campaign: bool = True


def _agreement(catalogue: Catalogue, params: QueryDict, zone: tzinfo, at: datetime) -> AgreementReport:
    report, _state = load_report(catalogue, agreement_selection(catalogue, params, zone), at)
    return report


def _agreement_json(report: AgreementReport, params: QueryDict, language: str) -> dict[str, Any]:
    return agreement_formats.to_json(report, language) | check_json(report, params)


def _questions_json(report: AgreementReport, params: QueryDict, language: str) -> dict[str, Any]:
    names = ("benchmark", "selection", "warnings", "watermark", "computed_at", "n_ratings", "questions")
    document = agreement_formats.to_json(report, language)
    return {name: document[name] for name in names}


def _reviewers(catalogue: Catalogue, params: QueryDict, zone: tzinfo, at: datetime) -> Report:
    return reviewer_agreement(reviewed_stages(catalogue.benchmark))


def _reviewers_json(report: Report, params: QueryDict, language: str) -> dict[str, Any]:
    stages = [
        {
            "stage": row.label,
            **{
                column.key: cell.estimate.to_json()
                for column, cell in zip(report.columns, row.cells, strict=True)
                if cell.estimate
            },
        }
        for row in report.rows
    ]
    return {"stages": stages}


def _csv(*tables: Callable[[Any, str], Report]) -> Writer:
    def write(report: Any, params: QueryDict, language: str) -> str:
        return "".join(to_csv(*(table(report, language) for table in tables)))

    return write


REPORTS = (
    ReportKind(
        "agreement",
        gettext_lazy("Agreement within each cohort"),
        _agreement,
        {
            "json": _agreement_json,
            "csv": _csv(conditions_table),
            "tex": lambda report, _params, language: agreement_formats.to_latex(report, language),
        },
        names=(*NAMES, SECOND),
        kept=True,
    ),
    ReportKind(
        "questions",
        gettext_lazy("Agreement of every question"),
        _agreement,
        {
            "json": _questions_json,
            "csv": _csv(questions_table),
            "tex": lambda report, _params, language: agreement_formats.questions_to_latex(report, language),
        },
        kept=True,
    ),
    ReportKind(
        "models",
        gettext_lazy("Models beside people"),
        models_for,
        {
            "json": lambda report, _params, _language: models_page.to_json(report),
            "csv": _csv(lambda report, _language: models_page.models_table(report)),
        },
        names=(*NAMES, *MODELS_OPTIONS),
    ),
    ReportKind(
        "judge",
        gettext_lazy("A model as a judge"),
        judge_for,
        {
            "json": lambda report, _params, _language: judge_page.to_json(report),
            "csv": _csv(
                lambda report, _language: judge_page.judge_table(report),
                lambda report, _language: judge_page.panel_table(report),
            ),
        },
        names=(*NAMES, *JUDGE_OPTIONS),
    ),
    ReportKind(
        "reviewers",
        gettext_lazy("Agreement of reviewers"),
        _reviewers,
        {"json": _reviewers_json, "csv": _csv(lambda report, _language: report)},
        names=(),
        can="review",
        needs_campaign=False,
    ),
)


def report_kind(key: str) -> ReportKind | None:
    return next((kind for kind in REPORTS if kind.key == key), None)
