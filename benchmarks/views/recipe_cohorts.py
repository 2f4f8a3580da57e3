"""The cohorts of a recipe: which the team has, and one button that creates the others."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for, is_permitted, may_create_cohorts
from benchmarks.forms.recipe_cohorts import RecipeCohortsForm
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.recipe_cohorts import RecipeCohort, cohort_creators, recipe_cohorts
from benchmarks.services.recipe_cohorts import CreatedCohort, create_recipe_cohorts
from people.views.one_time_link import links_file
from people.views.request_helpers import current_user, link_maker


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohorts(request: HttpRequest, slug: str) -> HttpResponse:
    """Everybody who sees the benchmark reads who can create its cohorts; only these can."""
    benchmark = benchmark_for(request.user, slug)
    rows = recipe_cohorts(benchmark)
    if request.method != "POST":
        return _page(request, benchmark, rows, RecipeCohortsForm(specs=[row.spec for row in rows]))
    if not may_create_cohorts(request.user, benchmark):
        raise Http404
    form = RecipeCohortsForm(request.POST, specs=[row.spec for row in rows])
    if not form.is_valid():
        return _page(request, benchmark, rows, form)
    labels, actor = form.cleaned_data["labels"], current_user(request)
    new = create_recipe_cohorts(benchmark, labels, actor, link_maker(request), timezone.now())
    if not new:
        messages.info(request, _("The team has these cohorts already. Nothing was created."))
        return redirect("benchmarks:cohorts", slug)
    return _page(request, benchmark, recipe_cohorts(benchmark), form, new)


def _page(
    request: HttpRequest,
    benchmark: Benchmark,
    rows: list[RecipeCohort],
    form: RecipeCohortsForm,
    new: list[CreatedCohort] | None = None,
) -> HttpResponse:
    """`new`: the cohorts of this request; their links are on this page and nowhere else."""
    chosen = set(form.data.getlist("labels")) if form.is_bound else {row.spec.label for row in rows}  # type: ignore[attr-defined]
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "rows": rows,
        "missing": [row for row in rows if row.cohort is None],
        "chosen": chosen,
        "form": form,
        "new": new,
        "download": links_file(("cohort", "link"), [(row.cohort.label, row.url) for row in new]) if new else "",
        "may_create": may_create_cohorts(request.user, benchmark),
        "works": is_permitted(request.user, benchmark, "work_on"),
        "creators": cohort_creators(benchmark),
        "nav": tabs_for(request.user, benchmark, "cohorts"),
        "who_place": benchmark.name,
    }
    return render(request, "benchmarks/cohorts.html", context, status=400 if form.errors else 200)
