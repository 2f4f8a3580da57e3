"""A model as a judge: the page, and the same numbers as JSON and CSV."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.pages.status_text import time_zone_for
from benchmarks.access import benchmark_for
from evaluation.reports.comparison_filters import comparison_filters
from evaluation.reports.judge_page import chosen_of, judge_context, judges_of
from evaluation.reports.judge_report import JudgeReport
from evaluation.reports.report_requests import has_codes, judge_for, judge_ids
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError
from evaluation.tables.registry import tables_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table_builder import missing_data
from evaluation.views.downloads import download
from evaluation.views.models_page import page_context
from people.views.request_helpers import current_user


def _related_table(report: JudgeReport) -> TableSpec | None:
    """The table that sets the judge beside people, where people said in another stage what it judges in this one."""
    catalogue = report.catalogue
    specs = [one for one in tables_of(catalogue.benchmark) if one.judges_stage == report.selection.stage]
    spec = specs[0].within(catalogue.benchmark) if specs else None
    if spec is None or report.n_things or missing_data(catalogue, spec, QueryDict(), report.computed_at):
        return None
    return spec


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    catalogue = catalogue_of(benchmark)
    context = page_context(request, benchmark, "judge")
    if not any(has_codes(stage) for stage in catalogue.stages):
        return render(request, "evaluation/judge.html", context | {"no_codes": bool(catalogue.stages)})
    try:
        report = judge_for(catalogue, request.GET, time_zone_for(current_user(request)), timezone.now())
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    own = [("judge", judges_of(report), chosen_of(report))]
    language = get_language() or "en"
    judge = [("judge", chosen_of(report))] if judge_ids(request.GET) else []
    query = urlencode(report.selection.to_params() + judge)
    offered = [stage.key for stage in catalogue.stages if has_codes(stage)]
    context |= judge_context(report, language) | comparison_filters(catalogue, report.selection, own, language, offered)
    context |= {"query": query, "report": report, "campaign": report.selection.campaigns[-1]}
    context["table"] = _related_table(report)
    return render(request, "evaluation/judge.html", context)


@login_required
@require_safe
@never_cache
def as_file(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    return download(request, slug, "judge", form)
