"""Figures of a benchmark: all on one page, and each as SVG, PNG and CSV."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils import timezone, translation
from django.utils.translation import get_language
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for
from benchmarks.pages.tabs import tabs_for
from evaluation.figures.figure_builder import (
    SHOWN_ROWS,
    build_figure,
    check_own_options,
    figure_data,
    form_of,
    page_figures,
)
from evaluation.figures.figure_files import POLICY, TYPES, figure_file
from evaluation.figures.pictures import data_address
from evaluation.figures.registry import figure_of
from evaluation.figures.spec import FigureData
from evaluation.selections.selection import SelectionError
from evaluation.tables.table import MissingData
from evaluation.views.tables import reader_zone

PLACE = "<!-- figures -->"  # where they come in the page


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponseBase:
    benchmark = benchmark_for(request.user, slug)
    ground = figure_data(benchmark, request.GET, timezone.now(), reader_zone(request))
    context = {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "figures"),
        "who_place": benchmark.name,
        "at": ground.at,
    }
    try:
        context |= form_of(ground)
    except SelectionError as error:
        return render(request, "evaluation/figures/refused.html", context | {"error": error}, status=400)
    before, after = render_to_string("evaluation/figures/page.html", context, request).split(PLACE)
    drawn = _iter_figures(ground, context, get_language() or "en")
    return StreamingHttpResponse(chain([before], drawn, [after]))


def _iter_figures(ground: FigureData, context: dict[str, Any], language: str) -> Iterator[str]:
    """Each figure is sent as soon as it is drawn: with many cohorts and models the last one takes seconds. By then the
    request's language is over, so it is given."""
    missing = []
    with translation.override(language):
        for page_figure in page_figures(ground):
            if page_figure.figure is None:
                missing.append(page_figure)
            else:
                yield render_to_string(
                    "evaluation/figures/figure.html",
                    context | {"placed": page_figure, "figure": page_figure.figure, "shown": SHOWN_ROWS},
                )
        if missing:
            yield render_to_string("evaluation/figures/missing.html", context | {"figures": missing})


@login_required
@require_safe
@never_cache
def download(request: HttpRequest, slug: str, key: str, form: str) -> HttpResponse:
    """409 while there is nothing to make it from."""
    benchmark = benchmark_for(request.user, slug)
    spec = figure_of(benchmark, key)
    if spec is None:
        raise Http404
    try:
        ground = figure_data(benchmark, request.GET, timezone.now(), reader_zone(request))
        check_own_options(ground)
        figure = build_figure(ground, spec)
    except MissingData as missing:
        return JsonResponse({"error": str(missing.message)}, status=409)
    except SelectionError as error:
        return JsonResponse({"error": error.message, "parameter": error.name}, status=400)
    content = figure_file(figure, form, data_address(benchmark))
    headers = {
        "Content-Disposition": f'attachment; filename="{slug}-{key}.{form}"',
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, content_type=TYPES[form], headers=headers)
