"""Requests for facts that local models compute."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, ItemFact, Stage
from benchmarks.rules.filters.contract import is_number
from jobs.formats.numbers import parse_id
from people.views.request_helpers import current_user
from predictions.access import fact_request_for
from predictions.backends import torch_setup
from predictions.forms.encoders import FactLimitForm, FactsForm, endpoints
from predictions.models import Endpoint, Run
from predictions.pages.fact_requests import request_rows
from predictions.services.encoders import fact_requests
from predictions.services.runs.result_runs import FileRunRefused
from predictions.views.overview import page_context

SHOWN = 30


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def facts(request: HttpRequest, slug: str) -> HttpResponse:
    """Requests for facts; posted, a new one."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST,) if request.method == "POST" else ()
    form = FactsForm(*posted, benchmark=benchmark, initial=_asked_of(request, benchmark))
    if posted and form.is_valid():
        try:
            created = fact_requests.create(form.plan(), current_user(request), timezone.now())
        except FileRunRefused as refused:
            form.add_error(None, str(refused))
        else:
            if created.run.job_id:
                return redirect("jobs:job", created.run.job_id)
            messages.info(request, _("The request was created. Facts are computed when items arrive."))
            return redirect("predictions:facts", benchmark.slug)
    kinds = (Endpoint.Kind.OPEN_CLIP, Endpoint.Kind.DETECTOR)
    rows = request_rows(benchmark)
    runs = Run.objects.filter(benchmark=benchmark, task=Run.Task.FACTS).select_related("rater", "job")
    earlier = runs.exclude(pk__in=[row.request.run_id for row in rows]).order_by("-pk")[:SHOWN]
    scored = [(stage, keys) for stage in benchmark.stages.all() if (keys := _numbers(stage))]
    context = page_context(
        request, benchmark, form=form, requests=rows, runs=earlier, scored=scored,
        models=torch_setup.known_models(),
        missing=torch_setup.missing_packages_text(), finders=endpoints(benchmark, *kinds).exists(),
    )  # fmt: skip
    return render(request, "predictions/encoding/facts.html", context, status=400 if form.errors else 200)


def _asked_of(request: HttpRequest, benchmark: Benchmark) -> dict[str, Any]:
    """What a link to the form chooses: the stage and the fact."""
    chosen = {"stage": parse_id(request.GET.get("stage")), "what": request.GET.get("what", "")}
    return {name: value for name, value in chosen.items() if value}


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, request_id: int) -> HttpResponse:
    """Pause, resume or retry, change the limit of, or cancel a request."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    fact_request, user = fact_request_for(benchmark, request_id), current_user(request)
    numbers = {"fact": fact_request.what, "stage": fact_request.stage.name}
    match request.POST.get("do"):
        case "pause":
            fact_requests.pause(fact_request, user)
            text = _("The computation of %(fact)s for “%(stage)s” is paused.")
        case "resume":
            fact_requests.resume(fact_request, user)
            text = _("The computation of %(fact)s for “%(stage)s” was resumed.")
        case "limit":
            form = FactLimitForm(request.POST)
            if not form.is_valid():
                messages.error(request, _("Enter a number from 1 to 1,000,000, or leave the limit empty."))
                return redirect("predictions:facts", benchmark.slug)
            fact_requests.raise_limit(fact_request, form.cleaned_data["at_most"], user)
            text = _("The limit of %(fact)s for “%(stage)s” was changed.")
        case "cancel":
            fact_requests.cancel(fact_request, user)
            text = _("The computation of %(fact)s for “%(stage)s” was cancelled. Existing facts are kept.")
        case _unknown:
            return HttpResponseBadRequest()
    messages.info(request, text % numbers)
    if request.POST.get("back") == "filters":
        return redirect("benchmarks:filters", benchmark.slug, fact_request.stage_id)
    return redirect("predictions:facts", benchmark.slug)


def _numbers(stage: Stage) -> list[str]:
    """Keys of facts that are numbers, as far as the newest of each says."""
    rows = ItemFact.objects.filter(item__stage=stage, item__withdrawn_at=None)
    newest = rows.order_by("key", "-pk").distinct("key").values_list("key", "value")
    return [key for key, value in newest if is_number(value)]
