"""Samples of authors' answers: draw them, accept an author's other answers together, undo that."""

import random
from collections.abc import Callable
from functools import partial

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.access import batch_for
from annotation.forms.review_samples import SampleForm, SecondReviewForm
from annotation.models import ReviewBatch
from annotation.pages.review_samples import (
    REFUSED,
    SEEDS,
    accepted_text,
    answers_text,
    authors_named,
    drawn_text,
    samples_page,
    samples_url,
    second_text,
    undone_text,
)
from annotation.pages.review_turns import Reader
from annotation.pages.sheet_view import language
from annotation.pages.status_text import time_zone_for
from annotation.queries.review_list import LARGEST_MOMENT, moment_of
from annotation.services.review import batches
from annotation.services.review.batches import BatchRefused
from annotation.services.review.second_draws import set_share
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.tabs import tabs_for
from jobs.formats.numbers import parse_id, parse_int
from people.views.request_helpers import current_user


@never_cache
@login_required
@require_safe
def samples(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="review")
    stages = _stages(benchmark)
    chosen = parse_id(request.GET.get("stage"))
    stage = next((stage for stage in stages if stage.pk == chosen), stages[0] if stages else None)
    return _page(request, benchmark, stages, stage, SampleForm(), 200)


@never_cache
@login_required
@require_POST
def set_second(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """The share of decisions that a second reviewer makes too, by those who run the benchmark."""
    benchmark, user = benchmark_for(request.user, slug, can="work_on"), current_user(request)
    stage = _stage(benchmark, stage_id)
    form = SecondReviewForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, _stages(benchmark), stage, SampleForm(), 422, form)
    seed = random.SystemRandom().randrange(SEEDS)
    waiting = set_share(stage, form.cleaned_data["percent"], seed, user, timezone.now())
    messages.success(request, second_text(waiting))
    return redirect(samples_url(stage))


@never_cache
@login_required
@require_POST
def draw(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    stage = _stage(benchmark, stage_id)
    form = SampleForm(request.POST)
    if not form.is_valid():
        return _page(request, benchmark, _stages(benchmark), stage, form, 422)
    pseudonym = form.cleaned_data["author"]
    authors = authors_named(stage, user, pseudonym) if pseudonym else None
    seed = form.cleaned_data["seed"]
    seed = random.SystemRandom().randrange(SEEDS) if seed is None else seed
    size, limit = form.size_of_sample, form.cleaned_data["limit"] / 100
    try:
        result = batches.draw_samples(stage, user, size, limit, seed, timezone.now(), authors=authors)
        messages.success(request, drawn_text(result))
    except BatchRefused as error:
        messages.error(request, str(REFUSED[error.reason]))
    return redirect(samples_url(stage))


@never_cache
@login_required
@require_POST
def accept_all(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """The others of every author whose sample passed."""
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    stage = _stage(benchmark, stage_id)
    messages.success(request, accepted_text(batches.accept_passed(stage, user, timezone.now())))
    return redirect(samples_url(stage))


@never_cache
@login_required
@require_POST
def accept(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    user = current_user(request)
    return _act(request, slug, batch_id, lambda batch: answers_text(batches.accept_others(batch, user, timezone.now())))


@never_cache
@login_required
@require_POST
def undo_all(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """What one press accepted for several authors."""
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    stage = _stage(benchmark, stage_id)
    press = moment_of(parse_int(request.POST.get("press"), maximum=LARGEST_MOMENT))
    runs = is_permitted(user, benchmark, "work_on")
    messages.success(request, undone_text(batches.undo_press(stage, press, user, timezone.now(), runs=runs)))
    return redirect(samples_url(stage))


@never_cache
@login_required
@require_POST
def undo(request: HttpRequest, slug: str, batch_id: int) -> HttpResponse:
    benchmark, user = benchmark_for(request.user, slug, can="review"), current_user(request)
    take_back = partial(batches.undo_acceptance, runs=is_permitted(user, benchmark, "work_on"))
    return _act(request, slug, batch_id, lambda batch: undone_text(take_back(batch, user, timezone.now())))


def _act(request: HttpRequest, slug: str, batch_id: int, act: Callable[[int], str]) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="review")
    batch: ReviewBatch = batch_for(current_user(request), benchmark, batch_id)
    try:
        messages.success(request, act(batch.pk))
    except BatchRefused as error:
        messages.error(request, str(REFUSED[error.reason]))
    return redirect(samples_url(batch.stage, parse_int(request.POST.get("page"), default=1)))


def _stages(benchmark: Benchmark) -> list[Stage]:
    rows = benchmark.stages.filter(acceptance=Stage.Acceptance.BY_REVIEW).order_by("position", "pk")
    return list(rows.select_related("benchmark"))


def _stage(benchmark: Benchmark, stage_id: int) -> Stage:
    for stage in _stages(benchmark):
        if stage.pk == stage_id:
            return stage
    raise Http404


def _reader(request: HttpRequest, benchmark: Benchmark) -> Reader:
    user = current_user(request)
    return Reader(benchmark, user, timezone.now(), time_zone_for(user), language())


def _page(
    request: HttpRequest,
    benchmark: Benchmark,
    stages: list[Stage],
    stage: Stage | None,
    form: SampleForm,
    status: int,
    second_form: SecondReviewForm | None = None,
) -> HttpResponse:
    user = current_user(request)
    runs = is_permitted(user, benchmark, "work_on")
    number = parse_int(request.GET.get("page"), default=1)
    page = samples_page(stage, stages, _reader(request, benchmark), number, runs=runs) if stage else None
    nav = tabs_for(user, benchmark, "review")
    context = {"benchmark": benchmark, "nav": nav, "who_place": benchmark.name, "page": page, "form": form}
    if page and runs:
        context["second_form"] = second_form or SecondReviewForm(initial={"percent": f"{page.second.percent:g}"})
    return render(request, "annotation/reviews/samples.html", context, status=status)
