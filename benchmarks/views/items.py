"""The explorer of a benchmark's items, and one item with everything known of it."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark, Item
from benchmarks.pages import panels
from benchmarks.pages.item_explorer import VIEWS, item_explorer
from benchmarks.pages.item_list import item_list
from benchmarks.pages.item_results import list_notices
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries import items as item_queries
from benchmarks.queries import overview
from jobs.formats.numbers import parse_id

VIEW = "items_view"  # in the session: grid or list


@login_required
@require_safe
def items(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    if not request.GET.get("stage") and not benchmark.stages.exists():
        return without_stage(request, benchmark, "items")
    explorer = item_explorer(benchmark, request.GET.dict())
    if explorer is None:
        raise Http404
    after, before = parse_id(request.GET.get("after")), parse_id(request.GET.get("before"))
    context = {
        "benchmark": benchmark,
        "condition_names": overview.condition_names(benchmark),
        "explorer": explorer,
        "list": item_list(explorer, after, before),
        "view": _view(request),
        "notices": list_notices(benchmark, request.GET.dict()),
        "works": is_permitted(request.user, benchmark, "work_on"),
        "nav": tabs_for(request.user, benchmark, "items"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/items.html", context)


def _view(request: HttpRequest) -> str:
    """Grid or list: what the address says, which is remembered, else what was chosen last."""
    asked = request.GET.get("view", "")
    if asked in VIEWS and request.session.get(VIEW, VIEWS[0]) != asked:
        request.session[VIEW] = asked
    return str(request.session.get(VIEW, VIEWS[0]))


@login_required
@require_safe
def item(request: HttpRequest, slug: str, item_id: int) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    item = (
        Item.objects.filter(pk=item_id, stage__benchmark=benchmark).select_related("stage__benchmark", "tally").first()
    )
    if item is None:
        raise Http404
    works = is_permitted(request.user, benchmark, "work_on")
    explorer = item_explorer(benchmark, {"stage": item.stage.key, **request.GET.dict()})
    before, after = explorer.selection.neighbours(item) if explorer is not None else (None, None)
    context = {
        "benchmark": benchmark,
        "condition_names": overview.condition_names(benchmark),
        "item": item,
        "told": item_queries.context_texts(item),
        "pictures": item_queries.pictures(item),
        "facts": item.facts.order_by("key", "source", "pk"),
        "panels": panels.item_panels(item, answers=works),
        "may_review": is_permitted(request.user, benchmark, "review"),
        "works": works,
        "explorer": explorer,
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
