"""Requests for facts that local models compute, and the filter that a person calibrates on them."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.models import Rating
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, ItemFact, Stage
from jobs.formats.numbers import parse_id
from people.views.request_helpers import current_user
from predictions.access import fact_request_for
from predictions.backends import torch_setup
from predictions.forms.encoders import CalibrationForm, FactsForm, endpoints
from predictions.models import Endpoint, Run
from predictions.pages.fact_requests import request_rows
from predictions.retrieval import calibration
from predictions.services.encoders import fact_requests, score_filter
from predictions.services.runs.result_runs import FileRunRefused
from predictions.views.overview import page_context

SHOWN = 30
POINTS = 25


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
    """Pause, resume or retry, or cancel a request."""
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
        case "cancel":
            fact_requests.cancel(fact_request, user)
            text = _("The computation of %(fact)s for “%(stage)s” was cancelled. Existing facts are kept.")
        case _unknown:
            raise Http404
    messages.info(request, text % numbers)
    if request.POST.get("back") == "filters":
        return redirect("benchmarks:filters", benchmark.slug, fact_request.stage_id)
    return redirect("predictions:facts", benchmark.slug)


def _numbers(stage: Stage) -> list[str]:
    """Keys of facts that are numbers, as far as the newest of each says."""
    rows = ItemFact.objects.filter(item__stage=stage, item__withdrawn_at=None)
    newest = rows.order_by("key", "-pk").distinct("key").values_list("key", "value")
    return [key for key, value in newest if isinstance(value, int | float) and key != score_filter.FITS]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def calibrate(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """A score against what people say: look, then choose a threshold."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    stage = get_object_or_404(Stage, benchmark=benchmark, pk=stage_id)
    query = request.POST if request.method == "POST" else request.GET
    form = CalibrationForm(query if "fact" in query else None, facts=_numbers(stage), questions=_questions(stage))
    asked = form.cleaned_data if form.is_bound and form.is_valid() else None
    labelled = score_filter.labelled_scores(stage, asked["fact"], asked["field"], asked["codes"]) if asked else None
    threshold = _number(query.get("threshold", ""))
    if request.method == "POST" and asked and threshold is not None:
        fit, drop = score_filter.apply_threshold(
            stage, asked["fact"], threshold, current_user(request), timezone.now(), labelled
        )
        text = _(
            "Kept: %(fit)s items score at least %(t)s, %(drop)s score less. Rules and draws can name it as facts.fits."
        )
        messages.info(request, text % {"fit": fit, "drop": drop, "t": calibration.exact_text(threshold)})
        return redirect("predictions:facts", benchmark.slug)
    return _calibration_page(request, benchmark, stage, form, labelled, threshold, asked)


def _calibration_page(
    request: HttpRequest, benchmark: Benchmark, stage: Stage, form: CalibrationForm,
    labelled: score_filter.LabelledScores | None, threshold: float | None, asked: Any,
) -> HttpResponse:  # fmt: skip
    points = calibration.curve(labelled.scores, labelled.right, POINTS) if labelled else []
    best = calibration.best(labelled.scores, labelled.right) if labelled else None
    at = threshold if threshold is not None else best.threshold if best else None
    chosen = (
        calibration.point(labelled.scores, labelled.right, at)
        if labelled and labelled.items and at is not None
        else None
    )
    wrong = bool(form.errors) or request.method == "POST"  # nothing was kept: a number is missing
    context = page_context(
        request, benchmark, stage=stage, form=form, told=labelled, points=points, chosen=chosen,
        lines=_calibration_lines(points), at="" if at is None else calibration.exact_text(at), asked=asked,
        right=sum(labelled.right) if labelled else 0, scores=len(set(labelled.scores)) if labelled else 0,
    )  # fmt: skip
    return render(request, "predictions/encoding/calibrate.html", context, status=400 if wrong else 200)


def _calibration_lines(points: list[calibration.CalibrationPoint]) -> dict[str, str]:
    """Precision and recall as polylines in a box of 100 by 100, the lowest threshold at the left."""
    if len(points) < 2:
        return {}
    first, last = points[0].threshold, points[-1].threshold
    x = [100 * (point.threshold - first) / ((last - first) or 1) for point in points]
    lines = {}
    for name in ("precision", "recall"):
        values = [getattr(point, name) for point in points]
        lines[name] = " ".join(f"{a:.1f},{100 - 100 * v:.1f}" for a, v in zip(x, values, strict=True) if v is not None)
    return lines


def _questions(stage: Stage) -> list[tuple[str, str]]:
    """Fields of which people's ratings are there."""
    rows = Rating.objects.filter(unit__item__stage=stage, live=True, counted=True)
    return [(row, row) for row in rows.order_by("field").values_list("field", flat=True).distinct()]


def _number(text: str) -> float | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    return number if abs(number) < 1e9 else None
