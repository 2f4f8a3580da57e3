"""Agreement of a release: the report of every stage, computed of the same moment as its rows.

A stage with more than MAX_RATINGS ratings, or one whose answers are withheld in part, has a reason instead.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.http import QueryDict
from django.utils import translation

from annotation.models import Campaign, Rating
from benchmarks.models import Benchmark
from evaluation.rendering.csv_file import to_csv
from evaluation.reports import agreement_formats
from evaluation.reports.agreement import AgreementReport, agreement
from evaluation.reports.agreement_tables import conditions_table, questions_table
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError, select
from releases.descriptions.computed import count_of

MAX_RATINGS = 200_000


def agreement_facts(
    benchmark: Benchmark, stages: Sequence[tuple[str, Sequence[Campaign]]], at: datetime, *, withheld: bool
) -> dict[str, Any]:
    """`stages`: keys with their campaigns. "json" is a text, "csv" are texts by the name of their file, "lines" are
    sentences."""
    documents: dict[str, Any] = {}
    tables: dict[str, str] = {}
    lines: list[str] = []
    with translation.override("en"):
        for stage, campaigns in stages:
            document, report = _report(benchmark, stage, campaigns, at, withheld=withheld)
            documents[stage] = document
            if report:
                tables[stage] = "".join(to_csv(conditions_table(report, "en")))
                tables[f"{stage}/questions"] = "".join(to_csv(questions_table(report, "en")))
                lines += _lines(stage, document)
    return {"json": json.dumps(documents, ensure_ascii=False, indent=2), "csv": tables, "lines": lines}


def _report(
    benchmark: Benchmark, stage: str, campaigns: Sequence[Campaign], at: datetime, *, withheld: bool
) -> tuple[dict[str, Any], AgreementReport | None]:
    """As JSON and as it is; None where there is a reason."""
    ids = [campaign.pk for campaign in campaigns]
    if withheld:
        return {"reason": "answers_withheld"}, None
    if not ids:
        return {"reason": "no_campaign"}, None
    if Rating.objects.filter(campaign__in=ids).count() > MAX_RATINGS:
        return {"reason": "too_many_ratings"}, None
    params = QueryDict(mutable=True)
    params["stage"] = stage
    params.setlist("campaign", [str(pk) for pk in ids])
    catalogue = catalogue_of(benchmark)
    try:
        report = agreement(catalogue, select(catalogue, params, every_question=True), at)
    except SelectionError as error:
        return {"reason": "not_comparable", "message": error.message}, None
    document = agreement_formats.to_json(report, "en")
    del document["computed_at"]  # the same bytes whenever it is made
    return document, report


def _lines(stage: str, document: dict[str, Any]) -> list[str]:
    return [
        f"{stage}, {question['question']}, {question['cohort']['label']}: {measure}{_value(estimate)}"
        for question in document["questions"]
        for measure, estimate in question["estimates"].items()
    ]


def _value(estimate: dict[str, Any]) -> str:
    """With its counts; the reason where there is none."""
    if not estimate["shown"]:
        return f": no value. {estimate['reason_text'] or ''}".rstrip()
    counts = f"{count_of(estimate['n_units'], 'item')}, {count_of(estimate['n_raters'], 'rater')}"
    return " " + " ".join(filter(None, (estimate["shown"], estimate["shown_interval"], f"({counts})")))
