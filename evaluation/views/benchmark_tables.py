"""Tables that researchers compose: choose a kind, say what it is of; change it, or remove it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from evaluation.forms.benchmark_tables import ABOUT, BenchmarkTableForm, initial_of
from evaluation.models import BenchmarkTable
from evaluation.services.benchmark_tables import remove_table, save_table
from people.views.request_helpers import current_user


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit_table(request: HttpRequest, slug: str) -> HttpResponse:
    """A new table of `?kind=`, or the one of `?table=`; without either the kinds there are. `?question=`: what the
    answers and rows to choose from are of."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    table = _table(benchmark, request.GET.get("table", ""))
    kind = table.kind if table else request.GET.get("kind", "")
    if not kind:
        return render(request, "evaluation/tables/kinds.html", _frame(request, benchmark) | {"kinds": _kinds()})
    if kind not in BenchmarkTable.Kind.values:
        raise Http404
    if table and request.POST.get("do") == "remove":
        remove_table(table, current_user(request), timezone.now())
        messages.success(request, _("The table “%(name)s” is removed.") % {"name": table.name})
        return redirect("evaluation:tables", slug)
    initial = initial_of(table) if table else None
    form = BenchmarkTableForm(
        request.POST or None, benchmark=benchmark, kind=kind, initial=initial, question=request.GET.get("question", "")
    )
    if request.method == "POST" and form.is_valid():
        saved = save_table(benchmark, table, form.values(), current_user(request))
        return redirect("evaluation:table", slug, saved.key)
    context = {"form": form, "table": table, "kind": BenchmarkTable.Kind(kind), "about": ABOUT[kind]}
    return render(
        request, "evaluation/tables/edit.html", _frame(request, benchmark) | context,
        status=400 if form.errors else 200,
    )  # fmt: skip


def _table(benchmark: Benchmark, key: str) -> BenchmarkTable | None:
    if not key:
        return None
    return get_object_or_404(BenchmarkTable, benchmark=benchmark, key=key, removed_at=None)


def _kinds() -> list[tuple[str, Any, Any]]:
    return [(kind.value, kind.label, ABOUT[kind]) for kind in BenchmarkTable.Kind]


def _frame(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any]:
    return {"benchmark": benchmark, "nav": tabs_for(request.user, benchmark, "tables"), "who_place": benchmark.name}
