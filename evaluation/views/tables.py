"""The paper's tables of a benchmark: the list, each as a page, and each as a file."""

from datetime import tzinfo
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.pages.status_text import time_zone_for
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError
from evaluation.tables.label_names import label_names
from evaluation.tables.page import action_links, form_context, query_of, table_context
from evaluation.tables.registry import has_paper, table_of, tables_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData
from evaluation.tables.table_builder import build_or_load, missing_data
from evaluation.tables.table_formats import to_csv, to_latex
from evaluation.tables.table_inputs import InvalidOption
from evaluation.tables.table_report import Data
from jobs.queries.read_once import rows_read_once
from predictions.pages.variant_names import VariantNames


def reader_zone(request: HttpRequest) -> tzinfo:
    """Whose days the dates of an address are, as on the page of agreement."""
    assert request.user.is_authenticated
    return time_zone_for(request.user)


def _frame(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "tables"),
        "who_place": benchmark.name,
        "works": is_permitted(request.user, benchmark, "work_on"),
    }


@login_required
@require_safe
@never_cache
@rows_read_once()
def index(request: HttpRequest, slug: str) -> HttpResponse:
    """Every table, and whether there is something to make it from."""
    benchmark = benchmark_for(request.user, slug)
    catalogue, nothing = catalogue_of(benchmark), QueryDict()
    found = [(spec, missing_data(catalogue, spec, nothing, timezone.now())) for spec in tables_of(benchmark)]
    rows = [(spec, lack and lack.message, action_links(lack, benchmark) if lack else []) for spec, lack in found]
    return render(
        request,
        "evaluation/tables/list.html",
        _frame(request, benchmark) | {"rows": rows, "of_paper": has_paper(benchmark)},
    )


def _spec(benchmark: Benchmark, key: str) -> TableSpec:
    spec = table_of(benchmark, key)
    if spec is None:
        raise Http404
    return spec


@login_required
@require_safe
@never_cache
@rows_read_once()
def page(request: HttpRequest, slug: str, key: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    spec = _spec(benchmark, key)
    frame = _frame(request, benchmark) | {"spec": spec, "query": query_of(spec, request.GET)}
    try:
        data = build_or_load(benchmark, spec, request.GET, timezone.now(), reader_zone(request))
    except MissingData as missing:
        frame |= {"missing": missing, "doors": action_links(missing, benchmark)}
        return render(request, "evaluation/tables/missing.html", frame)
    except (InvalidOption, SelectionError) as error:
        return render(request, "evaluation/tables/refused.html", frame | {"error": error}, status=400)
    catalogue = catalogue_of(benchmark)
    variants = VariantNames(benchmark)
    names = label_names(catalogue, data, variants, spec.code_texts)
    context = table_context(data, request.GET, names) | form_context(catalogue, spec, data, request.GET, variants)
    return render(request, "evaluation/tables/table.html", frame | context)


@login_required
@require_safe
@never_cache
@rows_read_once()
def download(request: HttpRequest, slug: str, key: str, form: str) -> HttpResponse:
    """409 while there is nothing to make it from."""
    benchmark = benchmark_for(request.user, slug)
    spec = _spec(benchmark, key)
    try:
        data = build_or_load(benchmark, spec, request.GET, timezone.now(), reader_zone(request))
    except MissingData as missing:
        return JsonResponse({"error": str(missing.message)}, status=409)
    except (InvalidOption, SelectionError) as error:
        return JsonResponse({"error": error.message, "parameter": error.name}, status=400)
    return _format_table(data, form, f"{slug}-{key}")


def _format_table(data: Data, form: str, name: str) -> HttpResponse:
    if form == "json":
        return JsonResponse(data)
    text, kind = ("".join(to_csv(data)), "text/csv") if form == "csv" else (to_latex(data), "text/x-tex")
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'}
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=headers)
