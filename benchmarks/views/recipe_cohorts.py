"""The cohorts of a benchmark: those of its recipe that the team lacks, or others, created by one form."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import BaseFormSet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for, is_permitted, may_create_cohorts
from benchmarks.forms.own_cohorts import MOST_ROWS, ROWS, LinksForm, OwnCohorts
from benchmarks.forms.recipe_cohorts import RecipeCohortsForm
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.recipe_cohorts import RecipeCohort, cohort_creators, recipe_cohorts
from benchmarks.services.recipe_cohorts import CreatedCohort, create_cohorts, create_recipe_cohorts
from jobs.formats.numbers import parse_int
from people.views.one_time_link import links_file
from people.views.request_helpers import current_user, link_maker


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cohorts(request: HttpRequest, slug: str) -> HttpResponse:
    """Everybody who sees the benchmark reads who can create its cohorts; only these can."""
    benchmark = benchmark_for(request.user, slug)
    rows = recipe_cohorts(benchmark)
    if not rows:
        return _own_cohorts(request, benchmark)
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


def _own_cohorts(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """Where no recipe names cohorts, they are written: a row for each."""
    may_create = may_create_cohorts(request.user, benchmark)
    options: dict[str, Any] = {"prefix": "cohorts", "form_kwargs": {"team": benchmark.team}}
    new: list[CreatedCohort] = []
    cohorts: Any = OwnCohorts(**options)
    invitations, status = LinksForm(), 200
    if request.method == "POST":
        if not may_create:
            raise Http404
        if "more" in request.POST:
            cohorts, invitations = _one_row_more(request, options), LinksForm(request.POST)
        else:
            cohorts, invitations = OwnCohorts(request.POST, **options), LinksForm(request.POST)
            if all([cohorts.is_valid(), invitations.is_valid()]):
                count, actor = invitations.cleaned_data["count"], current_user(request)
                new = create_cohorts(benchmark, cohorts.cohorts, count, actor, link_maker(request), timezone.now())
                cohorts, invitations = OwnCohorts(**options), LinksForm()
            else:
                status = 400
    existing = benchmark.team.cohorts.order_by("label")
    context = {"own": cohorts, "links": invitations, "existing": existing, **_created(request, benchmark, new)}
    return render(request, "benchmarks/own_cohorts.html", context, status=status)


def _one_row_more(request: HttpRequest, options: dict[str, Any]) -> BaseFormSet:  # type: ignore[type-arg]
    posted = request.POST.copy()
    total = f"{options['prefix']}-TOTAL_FORMS"
    posted[total] = str(min(parse_int(posted.get(total), default=ROWS) + 1, MOST_ROWS))
    return OwnCohorts(posted, **options)


def _created(request: HttpRequest, benchmark: Benchmark, new: list[CreatedCohort]) -> dict[str, Any]:
    """`new`: the cohorts of this request; their links are on this page and nowhere else."""
    links = [(row.cohort.label, url) for row in new for url in row.urls]
    return {
        "benchmark": benchmark,
        "new": new,
        "download": links_file(("cohort", "link"), links) if new else "",
        "may_create": may_create_cohorts(request.user, benchmark),
        "works": is_permitted(request.user, benchmark, "work_on") and benchmark.stages.exists(),
        "creators": cohort_creators(benchmark),
        "nav": tabs_for(request.user, benchmark, "cohorts"),
        "who_place": benchmark.name,
    }


def _page(
    request: HttpRequest,
    benchmark: Benchmark,
    rows: list[RecipeCohort],
    form: RecipeCohortsForm,
    new: list[CreatedCohort] | None = None,
) -> HttpResponse:
    offered = set() if request.GET.get("select") == "none" else {row.spec.label for row in rows}
    chosen = set(form.data.getlist("labels")) if form.is_bound else offered  # type: ignore[attr-defined]
    context: dict[str, Any] = {
        "rows": rows,
        "missing": [row for row in rows if row.cohort is None],
        "chosen": chosen,
        "form": form,
        **_created(request, benchmark, new or []),
    }
    return render(request, "benchmarks/cohorts.html", context, status=400 if form.errors else 200)
