"""Figures for programs: their data as JSON and CSV, their drawing as SVG and PNG."""

from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.pages.status_text import time_zone_for
from api.protocol.authentication import has_scope
from api.protocol.contents import check_parameters
from api.protocol.file_forms import described_reply, file_response, renderers_for
from api.protocol.preconditions import is_known, not_modified, report_tag
from api.schemas import numbers as schemas
from api.views.base import KEY, PROBLEMS, REFUSED, SLUG, ReadOnlyView
from api.views.numbers import SELECTING
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from evaluation.figures.figure import Figure
from evaluation.figures.figure_builder import build_figure, check_own_options, figure_data
from evaluation.figures.figure_files import figure_file, to_png
from evaluation.figures.pictures import data_address
from evaluation.figures.registry import figure_of, figures_of
from evaluation.figures.spec import OWN_OPTIONS, FigureSpec
from evaluation.selections.selection import NAMES


class FigureList(ReadOnlyView):
    @extend_schema(
        operation_id="figures",
        summary="The figures of a benchmark, and what each needs",
        parameters=[SLUG],
        responses={200: schemas.Figures, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )
    def get(self, request: Request, slug: str) -> Response:
        check_parameters(request, ())
        benchmark = benchmark_for(request.user, slug)
        return Response({"figures": [_figure_line(benchmark, spec) for spec in figures_of(benchmark)]})


def _figure_line(benchmark: Benchmark, spec: FigureSpec) -> dict[str, Any]:
    words = {"number": spec.number, "title": str(spec.title), "needs": str(spec.needs)}
    return {"key": spec.key, **words, "address": reverse("api:figure", args=[benchmark.slug, spec.key])}


class FigureView(ReadOnlyView):
    """One figure in one form. It is known by what is drawn, so that every change of it is seen."""

    form = "json"

    def get(self, request: Request, slug: str, key: str) -> Any:
        benchmark = benchmark_for(request.user, slug)
        spec = figure_of(benchmark, key)
        if spec is None:
            raise Http404
        check_parameters(request, known := (*NAMES, *OWN_OPTIONS))
        ground = figure_data(benchmark, request.query_params, timezone.now(), time_zone_for(request.user))
        check_own_options(ground)
        figure = build_figure(ground, spec)
        if self.form == "json":
            content: Any = figure_json(figure) | {"watermark": ground.watermark}
        else:  # a PNG is made of its SVG, but only for who does not have it yet
            content = figure_file(figure, "csv" if self.form == "csv" else "svg", _pictures(request, benchmark))
        tag = report_tag(content, self.form, [sorted(request.query_params.getlist(name)) for name in known])
        if is_known(request, tag):
            return not_modified(tag)
        if self.form == "json":
            return Response(content, headers={"ETag": tag})
        return file_response(to_png(content) if self.form == "png" else content, self.form, f"{slug}-{key}", tag)


def _pictures(request: Request, benchmark: Benchmark) -> Any:
    """Pictures of items are for tokens that may read them; without, their places stay empty."""
    return data_address(benchmark) if has_scope(request, "export") else lambda _sha: ""


def figure_json(figure: Figure) -> dict[str, Any]:
    texts = {"key": figure.key, "title": str(figure.title), "alt": figure.alt}
    words = [str(sentence) for sentence in figure.words]
    return {**texts, "columns": list(figure.columns), "rows": [list(row) for row in figure.rows], "words": words}


def figure_view(form: str) -> Any:
    name = "figure" if form == "json" else f"figure_{form}"
    described = extend_schema(
        operation_id=name,
        summary="The data of one figure" if form == "json" else f"One figure, as the page's .{form}",
        description="Pictures of items are in a drawing where the token has the scope `export`.",
        parameters=[SLUG, KEY, *SELECTING],
        responses={**described_reply(form, schemas.FigureSerializer), **REFUSED, **PROBLEMS},
        extensions={"x-emic-scope": "read"},
    )

    def get(self: Any, request: Request, slug: str, key: str) -> Any:
        return FigureView.get(self, request, slug, key)

    facts = {"form": form, "renderer_classes": renderers_for(form), "get": described(get)}
    return type(f"Figure{form.capitalize()}View", (FigureView,), facts).as_view()  # type: ignore[attr-defined]
