from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for, is_permitted
from benchmarks.imports.records import clean
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages import panels
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries import items as item_queries
from benchmarks.queries import overview
from jobs.formats.numbers import parse_id


@login_required
@require_safe
def items(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    if not request.GET.get("stage") and not benchmark.stages.exists():
        return without_stage(request, benchmark, "items")
    stage = _stage(benchmark, clean(request.GET.get("stage")))
    chosen = {name: clean(request.GET.get(name)) for name in item_queries.FACETS}
    offered = panels.available_filters(stage, request.GET.dict())
    selection = panels.apply_filters(item_queries.items(stage, chosen), offered)
    rows, further = item_queries.page(selection, parse_id(request.GET.get("after")))
    picked = chosen | {filter_view.filter.name: filter_view.chosen for filter_view in offered}
    query = {name: value for name, value in picked.items() if value} | {"stage": stage.key}
    context = {
        "benchmark": benchmark,
        "condition_names": overview.condition_names(benchmark),
        "stage": stage,
        "stages": benchmark.stages.all(),
        "facets": [
            (name, values, chosen[name]) for name, values in item_queries.filter_choices(stage).items() if values
        ],
        "offered": offered,
        "filtered": any(picked.values()),
        "total": selection.count(),
        "items": rows,
        "further": urlencode(query | {"after": further}) if further else "",
        "works": is_permitted(request.user, benchmark, "work_on"),
        "nav": tabs_for(request.user, benchmark, "items"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/items.html", context)


@login_required
@require_safe
def item(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    item = Item.objects.filter(pk=item_id, stage__benchmark=benchmark).select_related("stage").first()
    if item is None:
        raise Http404
    before, after = item_queries.neighbours(item)
    context = {
        "benchmark": benchmark,
        "condition_names": overview.condition_names(benchmark),
        "item": item,
        "told": item_queries.context_texts(item),
        "pictures": item_queries.pictures(item),
        "facts": item.facts.order_by("key", "source", "pk"),
        "panels": panels.item_panels(item),
        "may_review": is_permitted(request.user, benchmark, "review"),
        "works": is_permitted(request.user, benchmark, "work_on"),
        "before": before,
        "after": after,
        "nav": tabs_for(request.user, benchmark, "items"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/item.html", context)


def without_stage(request: HttpRequest, benchmark: Benchmark, tab: str) -> HttpResponse:
    """What a page about items says while the benchmark has no stage."""
    context = {
        "benchmark": benchmark, "works": is_permitted(request.user, benchmark, "work_on"),
        "nav": tabs_for(request.user, benchmark, tab), "who_place": benchmark.name,
    }  # fmt: skip
    return render(request, "benchmarks/no_stage.html", context)


def _stage(benchmark: Benchmark, key: str) -> Stage:
    """The stage asked for, or the first; 404 if there is no such stage."""
    stages = benchmark.stages.filter(key=key) if key else benchmark.stages.all()
    stage = stages.first()
    if stage is None:
        raise Http404
    return stage
