"""Units that people disagree about, the most first; and one of them with every answer beside the others."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.models import Unit
from annotation.pages.status_text import time_zone_for
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.tabs import tabs_for
from evaluation.reports.agreement_page import cached_state
from evaluation.reports.disagreement import disagreement_selection
from evaluation.reports.items_page import list_context, list_filters, unit_context
from evaluation.reports.linked_stages import linked_stages
from evaluation.reports.stored_disagreement import load_order
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.selection import Selection, SelectionError
from jobs.formats.numbers import parse_int
from people.views.request_helpers import current_user


def _language() -> str:
    return get_language() or "en"


def _frame(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any]:
    nav = tabs_for(request.user, benchmark, "disagreement")
    works = is_permitted(request.user, benchmark, "work_on")
    return {"benchmark": benchmark, "nav": nav, "who_place": benchmark.name, "works": works}


def _requested_selection(request: HttpRequest, catalogue: Catalogue, stage: str = "") -> tuple[Selection, int]:
    """`stage`: a unit's own, whatever the address says."""
    assert request.user.is_authenticated
    params = request.GET.copy()
    if stage:
        params["stage"] = stage
    return disagreement_selection(catalogue, params, time_zone_for(request.user))


def _query(request: HttpRequest, selection: Selection, **more: str) -> str:
    """What every link carries: what was asked for, and the least number of raters."""
    least = [("least", value) for value in request.GET.getlist("least") if value]
    return urlencode([*selection.to_params(), *least, *more.items()])


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    catalogue = catalogue_of(benchmark)
    context = _frame(request, benchmark)
    if not catalogue.stages:
        return render(request, "evaluation/items_empty.html", context)
    try:
        selection, least = _requested_selection(request, catalogue)
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    number = parse_int(request.GET.get("page", "1"), maximum=9_999_999)
    zone, now = time_zone_for(current_user(request)), timezone.now()
    order, state = load_order(benchmark, selection, least, now)
    context |= cached_state(state, zone) | list_context(catalogue, selection, order, max(number, 1), _language())
    if number < 1 or (number > 1 and not context["rows"]):
        raise Http404
    context |= list_filters(catalogue, selection, least, _language())
    context["linked"] = linked_stages(benchmark, selection.stage, now, zone)
    return render(request, "evaluation/items.html", context | {"query": _query(request, selection)})


@login_required
@require_safe
@never_cache
def unit(request: HttpRequest, slug: str, unit_id: int) -> HttpResponse:
    """One unit of this benchmark, between its neighbours in the same order."""
    benchmark = benchmark_for(request.user, slug)
    rows = Unit.objects.filter(item__stage__benchmark=benchmark).select_related("item__stage")
    unit = get_object_or_404(rows.prefetch_related("item__images__image", "item__facts"), pk=unit_id)
    stage: Stage = unit.item.stage
    catalogue = catalogue_of(benchmark)
    context = _frame(request, benchmark)
    if stage.key not in {stage_entry.key for stage_entry in catalogue.stages}:
        raise Http404
    try:
        selection, least = _requested_selection(request, catalogue, stage.key)
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    order, _state = load_order(benchmark, selection, least, timezone.now())
    at, before, after = order.around(unit.pk)
    context |= unit_context(catalogue, stage, unit, selection, _language())
    context |= {"unit": unit, "at": at, "total": len(order.units), "before": before, "after": after}
    return render(request, "evaluation/item.html", context | {"query": _query(request, selection)})
