"""Figures of a benchmark: all on one page, and each as SVG, PNG and CSV."""

from collections.abc import Iterator
from io import BytesIO
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
from PIL import Image

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from evaluation.figures.figure import Figure
from evaluation.figures.figure_builder import (
    SHOWN_ROWS,
    build_figure,
    check_own_options,
    figure_data,
    form_of,
    page_figures,
)
from evaluation.figures.pictures import data_address
from evaluation.figures.registry import figure_of
from evaluation.figures.spec import FigureData
from evaluation.rendering.csv_file import to_csv
from evaluation.selections.selection import SelectionError
from evaluation.tables.table import MissingData
from evaluation.views.tables import reader_zone

# A drawing that is opened by itself may show the pictures inside it, and nothing else.
POLICY = "default-src 'none'; img-src data:; sandbox"
TYPES = {"svg": "image/svg+xml; charset=utf-8", "png": "image/png", "csv": "text/csv; charset=utf-8"}
PLACE = "<!-- figures -->"  # where they come in the page
PIXELS = 2.0  # of a PNG for one of the drawing


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
    headers = {
        "Content-Disposition": f'attachment; filename="{slug}-{key}.{form}"',
        "Content-Security-Policy": POLICY,
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(_format_figure(benchmark, figure, form), content_type=TYPES[form], headers=headers)


def _format_figure(benchmark: Benchmark, figure: Figure, form: str) -> str | bytes:
    if form == "csv":
        return "".join(to_csv(figure.report))
    svg = figure.svg(href=data_address(benchmark))
    return svg if form == "svg" else _png(svg)


def _png(svg: str) -> bytes:
    """In 256 colours, which drawings have enough of; those with pictures in them keep all of theirs."""
    import vl_convert  # it brings a whole renderer along; only who asks for a PNG pays for it

    drawn = Image.open(BytesIO(vl_convert.svg_to_png(svg, scale=PIXELS))).convert("RGB")
    bytes_io = BytesIO()
    (drawn if "<image" in svg else drawn.quantize(256, dither=Image.Dither.NONE)).save(bytes_io, "PNG", optimize=True)
    return bytes_io.getvalue()
