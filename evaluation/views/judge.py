"""A model as a judge: the page, and the same numbers as JSON and CSV."""

from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for
from evaluation.rendering.csv_file import to_csv
from evaluation.reports.comparison_filters import comparison_filters
from evaluation.reports.judge_page import chosen_of, judge_context, judge_table, judges_of, panel_table, to_json
from evaluation.reports.judge_report import JudgeReport, judge_report
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.selection import SelectionError
from evaluation.tables.registry import tables_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table_builder import missing_data
from evaluation.views.downloads import as_table, download
from evaluation.views.models_page import has_codes, page_context, selection_with_models


def _judge_ids(request: HttpRequest) -> list[str]:
    """Who is to judge: ids, each in a `judge` of its own, or joined by "+", which may have been read as a blank."""
    return [one for value in request.GET.getlist("judge") for one in value.replace("+", " ").split()]


def _report(catalogue: Catalogue, request: HttpRequest) -> JudgeReport:
    return judge_report(
        catalogue, selection_with_models(catalogue, request, judging=True), _judge_ids(request), timezone.now()
    )


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
        report = _report(catalogue, request)
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    own = [("judge", judges_of(report), chosen_of(report))]
    language = get_language() or "en"
    judge = [("judge", chosen_of(report))] if _judge_ids(request) else []
    query = urlencode(report.selection.to_params() + judge)
    offered = [stage.key for stage in catalogue.stages if has_codes(stage)]
    context |= judge_context(report, language) | comparison_filters(catalogue, report.selection, own, language, offered)
    context |= {"query": query, "report": report, "campaign": report.selection.campaigns[-1]}
    context["table"] = _related_table(report)
    return render(request, "evaluation/judge.html", context)


@login_required
@require_safe
@never_cache
def as_json(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, _report, lambda report: JsonResponse(to_json(report)))


@login_required
@require_safe
@never_cache
def as_csv(request: HttpRequest, slug: str) -> HttpResponse:
    def write(report: JudgeReport) -> HttpResponse:
        return as_table(to_csv(judge_table(report), panel_table(report)), f"{slug}-judge.csv")

    return download(request, slug, _report, write)
