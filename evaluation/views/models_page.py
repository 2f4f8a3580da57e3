"""Models beside people: the page, and the same numbers as JSON and CSV."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.pages.status_text import time_zone_for
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from evaluation.reports.agreement_page import cached_state
from evaluation.reports.comparison_filters import comparison_filters, page_options
from evaluation.reports.models_page import STATISTIC_LABELS, TRUTH_LABELS, models_context
from evaluation.reports.models_report import ModelsReport
from evaluation.reports.report_requests import MODELS_OPTIONS, is_compared, params_with_stage
from evaluation.reports.stored_models import load_models
from evaluation.selections.catalogue import Catalogue, StageEntry, catalogue_of
from evaluation.selections.selection import SelectionError
from evaluation.views.boxes import boxes_response
from evaluation.views.downloads import download
from people.views.request_helpers import current_user


def _stage_of_texts(catalogue: Catalogue, request: HttpRequest) -> StageEntry | None:
    """The stage that the address names, where none of its questions can be compared: a run there leads here too."""
    asked = request.GET.get("stage", "")
    return next((stage for stage in catalogue.stages if stage.key == asked and not is_compared(stage)), None)


def _selected(request: HttpRequest, catalogue: Catalogue, report: ModelsReport) -> dict[str, Any]:
    """What the page shows numbers of. `stage_of_several`: the stage, where the benchmark has others besides."""
    selection = report.selection
    stages = catalogue.stages if len(catalogue.stages) > 1 else ()
    return {
        "query": urlencode(selection.to_params() + list(page_options(request.GET, MODELS_OPTIONS).items())),
        "campaign": selection.campaigns[-1],
        "report": report,
        "stage_of_several": next((stage for stage in stages if stage.key == selection.stage), None),
    }


def page_context(request: HttpRequest, benchmark: Benchmark, tab: str = "models") -> dict[str, Any]:
    """What every page of models and of the judge takes."""
    return {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, tab),
        "who_place": benchmark.name,
        "works": is_permitted(request.user, benchmark, "work_on"),
    }


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    catalogue = catalogue_of(benchmark)
    context = page_context(request, benchmark)
    if not catalogue.stages:
        return render(request, "evaluation/models.html", context)
    if stage := _stage_of_texts(catalogue, request):
        return render(request, "evaluation/models.html", context | {"stage_of_texts": stage})
    try:
        params = params_with_stage(catalogue, request.GET, is_compared)
        if boxes := boxes_response(request, catalogue, params, context):
            return boxes
        zone = time_zone_for(current_user(request))
        report, state = load_models(catalogue, request.GET, zone, timezone.now())
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    own = [
        ("statistic", {key: STATISTIC_LABELS[key] for key in report.statistics}, report.statistic),
        ("truth", {key: TRUTH_LABELS[key] for key in report.truths}, report.truth),
    ]
    offered = [stage.key for stage in catalogue.stages if is_compared(stage)]
    shown = comparison_filters(catalogue, report.selection, own, get_language() or "en", offered)
    context |= (
        models_context(report, get_language() or "en")
        | shown
        | cached_state(state, zone)
        | _selected(request, catalogue, report)
    )
    return render(request, "evaluation/models.html", context)


@login_required
@require_safe
@never_cache
def as_file(request: HttpRequest, slug: str, form: str) -> HttpResponse:
    return download(request, slug, "models", form)
