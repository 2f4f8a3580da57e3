"""Predictions made elsewhere: what is there, and the doors they come in by. For those who work on the benchmark."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, Item
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.model_conditions import is_judging
from jobs.formats.numbers import parse_id
from jobs.models import Job
from people.views.request_helpers import current_user
from predictions.access import run_for
from predictions.forms.files import CollectionForm, RunForm
from predictions.models import Query, Run
from predictions.pages.plan_sets import plan_set_rows
from predictions.pages.runs import run_rows, variant_of
from predictions.pages.variant_names import VariantNames
from predictions.queries.results import all_runs_of, collections_of
from predictions.services.collections import collection_import
from predictions.services.runs import result_runs

SHOWN = 10


@login_required
@require_safe
@never_cache
def index(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    jobs = Job.objects.filter(scope=benchmark.scope, kind__in=(collection_import.KIND, result_runs.KIND))
    names = VariantNames(benchmark)
    answers, further = run_rows(benchmark, parse_id(request.GET.get("before")))
    context = page_context(
        request,
        benchmark,
        plan_sets=plan_set_rows(benchmark),
        answers=answers,
        further=further,
        collections=collections_of(benchmark),
        runs=[(run, variant_of(run, names)) for run in all_runs_of(benchmark)],
        judging=[stage for stage in benchmark.stages.all() if is_judging(stage)],
        jobs=list(jobs.select_related("created_by").order_by("-pk")[:SHOWN]),
    )
    return render(request, "predictions/index.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def collection_new(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    form = CollectionForm(request.POST, request.FILES) if request.method == "POST" else CollectionForm()
    if request.method == "POST" and form.is_valid():
        file, values = form.cleaned_data["file"], form.collection_values()
        job = collection_import.start(benchmark, current_user(request), file, **values)
        return redirect("jobs:job", job.pk)
    status = 400 if form.errors else 200
    items = Item.objects.filter(stage__benchmark=benchmark, withdrawn_at=None).exists()
    context = page_context(request, benchmark, form=form, items=items)
    return render(request, "predictions/collection.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def run_new(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = RunForm(*posted, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        try:
            job = result_runs.start(benchmark, current_user(request), form.cleaned_data["file"], form.run_info())
        except result_runs.FileRunRefused as refused:
            form.add_error(None, str(refused))
        else:
            if job is not None:
                return redirect("jobs:job", job.pk)
            messages.info(request, _duplicate_message(form))
            return redirect("predictions:index", benchmark.slug)
    choosing = Query.objects.filter(collection__benchmark=benchmark).exclude(roles={}).exists()
    context = page_context(request, benchmark, form=form, held=collections_of(benchmark), choosing=choosing)
    return render(request, "predictions/run.html", context, status=400 if form.errors else 200)


def _duplicate_message(form: RunForm) -> str:
    if form.cleaned_data["about"]:
        return _("This file was already imported. The run is unchanged. Model details were added.")
    return _("This file is here already. Nothing was changed.")


@login_required
@require_POST
def run_action(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Withdraw a run, or bring it back."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    run = run_for(benchmark, run_id)
    try:
        messages.info(request, _perform_action(request, run))
    except result_runs.FileRunRefused as refused:
        messages.error(request, str(refused))
    return redirect("predictions:index", benchmark.slug)


def _perform_action(request: HttpRequest, run: Run) -> str:
    if request.POST.get("do") == "back":
        result_runs.restore(run, current_user(request))
        return _("The run was restored and is counted.")
    result_runs.withdraw(run, current_user(request), timezone.now())
    return _("The run was withdrawn. It is kept but not counted.")


def page_context(request: HttpRequest, benchmark: Benchmark, **more: Any) -> dict[str, Any]:
    """What every page of predictions takes."""
    nav = tabs_for(request.user, benchmark, "predictions")
    return {"benchmark": benchmark, "nav": nav, "who_place": benchmark.name, **more}
