"""Models beside people: the page, and the same numbers as JSON and CSV."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.pages.status_text import time_zone_for
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from evaluation.rendering.csv_file import to_csv
from evaluation.reports.comparison_filters import EVERYBODY, comparison_filters, page_options
from evaluation.reports.models_page import STATISTIC_LABELS, TRUTH_LABELS, models_context, models_table, to_json
from evaluation.reports.models_report import ModelsReport, models_report
from evaluation.selections.catalogue import Catalogue, StageEntry, catalogue_of
from evaluation.selections.selection import Selection, SelectionError, refuse_unknown, select
from evaluation.views.boxes import boxes_response
from evaluation.views.downloads import as_table, download

OWN = ("statistic", "truth")


def selection_with_models(catalogue: Catalogue, request: HttpRequest, *, judging: bool = False) -> Selection:
    """What the address selects, people and models alike; where it names neither stage nor campaign, the first stage in
    which a model has answered, and of these one with a question that has codes. With `judging`, a stage in which
    people and models judge answers goes before the others. Raises SelectionError."""
    assert request.user.is_authenticated
    params = _params_with_stage(catalogue, request, has_codes, judging=judging)
    return replace(select(catalogue, params, zone=time_zone_for(request.user)), raters=EVERYBODY)


def has_codes(stage: StageEntry) -> bool:
    """Whether a question of the stage is answered with codes, whose agreement has a measure."""
    return bool(stage.current[0].fields)


def _params_with_stage(
    catalogue: Catalogue, request: HttpRequest, accepts: Callable[[StageEntry], bool], *, judging: bool = False
) -> QueryDict:
    asked = request.GET.copy()

    def is_judged(stage: StageEntry) -> bool:
        return judging and stage.judges and stage.id in catalogue.answered

    if not any(asked.getlist("stage") + asked.getlist("campaign")):
        by_use = sorted(catalogue.stages, key=lambda stage: (not stage.has_models, not is_judged(stage)))
        first = next((stage for stage in by_use if accepts(stage)), catalogue.stages[0])
        if first is not catalogue.shown_first or not first.current[0].fields:
            asked["stage"] = first.key
    return asked


def is_compared(stage: StageEntry) -> bool:
    """Whether a question of the stage can be compared: any but a text."""
    sheet = stage.current[0].sheet
    return any(sheet.level(field.key) not in ("text", "none") for field in sheet.fields)


def _stage_of_texts(catalogue: Catalogue, request: HttpRequest) -> StageEntry | None:
    """The stage that the address names, where none of its questions can be compared: a run there leads here too."""
    asked = request.GET.get("stage", "")
    return next((stage for stage in catalogue.stages if stage.key == asked and not is_compared(stage)), None)


def _report(catalogue: Catalogue, request: HttpRequest) -> ModelsReport:
    asked = page_options(request.GET, OWN)
    report = models_report(catalogue, selection_with_models(catalogue, request), asked, timezone.now())
    refuse_unknown("statistic", asked.get("statistic", ""), report.statistics)
    refuse_unknown("truth", asked.get("truth", ""), report.truths)
    return report


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
        if boxes := boxes_response(request, catalogue, _params_with_stage(catalogue, request, is_compared), context):
            return boxes
        report = _report(catalogue, request)
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    own = [
        ("statistic", {key: STATISTIC_LABELS[key] for key in report.statistics}, report.statistic),
        ("truth", {key: TRUTH_LABELS[key] for key in report.truths}, report.truth),
    ]
    offered = [stage.key for stage in catalogue.stages if is_compared(stage)]
    shown = comparison_filters(catalogue, report.selection, own, get_language() or "en", offered)
    query = urlencode(report.selection.to_params() + list(page_options(request.GET, OWN).items()))
    campaign = report.selection.campaigns[-1]
    context |= (
        models_context(report, get_language() or "en")
        | shown
        | {"query": query, "campaign": campaign, "report": report}
    )
    return render(request, "evaluation/models.html", context)


@login_required
@require_safe
@never_cache
def as_json(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, _report, lambda report: JsonResponse(to_json(report)))


@login_required
@require_safe
@never_cache
def as_csv(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, _report, lambda report: as_table(to_csv(models_table(report)), f"{slug}-models.csv"))
