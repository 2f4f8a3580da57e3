"""Several models are asked under several conditions: looked at, started, paused and stopped together."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import BadRequest, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from jobs.formats.numbers import parse_id
from people.access import is_team_admin
from people.views.request_helpers import current_user
from predictions.access import plan_set_for
from predictions.forms.ask_models import MOST_MODELS, AskModelsForm, ModelRows, planned_runs
from predictions.models import Endpoint, PlanSet
from predictions.pages.plan_sets import (
    PlanOutlook,
    action_context,
    condition_rows,
    done_text,
    plan_outlook,
    plan_set_progress,
    start_problem,
    undescribed_models,
)
from predictions.queries.endpoints import models_of
from predictions.queries.model_conditions import OfferedCondition, condition_names, offered_conditions
from predictions.services.runs import answer_runs, plan_sets
from predictions.services.runs.plan_sets import PlannedRun, RunOutlook
from predictions.views.amounts import posted_budget
from predictions.views.overview import page_context


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def ask(request: HttpRequest, slug: str) -> HttpResponse:
    """One address for all steps: `do` says which. Nothing is sent before "start"."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    offers = offered_conditions(benchmark)
    page = _AskPage(benchmark, offers, request.POST if request.method == "POST" else None)
    if page.do not in ("look", "start") or not page.is_valid():
        return page.render(request)
    planned = page.planned()
    if planned is None:
        return page.render(request)
    now = timezone.now()
    outlooks = plan_sets.outlook(planned, page.form.cleaned_data["budget"], now)
    look = plan_outlook(outlooks, offers)
    if page.do == "look":
        return page.render(request, look)
    if problem := _start_problem(look, page.data):
        return page.render(request, look, problem)
    try:
        started = page.start(outlooks, request)
    except answer_runs.RunRefused as refused:
        return page.render(request, look, str(refused))
    if started is None:
        messages.info(request, _("Every run of this plan exists already. Nothing was started."))
        started = plan_sets.set_of(planned)
    if started is None:
        return redirect("predictions:index", benchmark.slug)
    return redirect("predictions:plan_set", benchmark.slug, started.pk)


def _start_problem(look: PlanOutlook, data: QueryDict) -> str:
    """Why the runs do not start now; empty where they do, or where all of them exist."""
    if look.new and data.get("seen") != look.seen:
        return _("The plan or its items changed since you looked. Check the numbers, then start.")
    return start_problem(look, parse_id(data.get("confirmed")))


class _AskPage:
    """The form with its rows. `data`: what was posted, or None."""

    def __init__(self, benchmark: Benchmark, offers: list[OfferedCondition], posted: QueryDict | None) -> None:
        self.benchmark, self.offers = benchmark, offers
        self.ready = [offer for offer in offers if offer.is_ready]
        self.endpoints = Endpoint.objects.filter(team=benchmark.team, retired_at=None).order_by("name")
        self.data = posted if posted is not None else QueryDict()
        self.do = self.data.get("do", "")
        self.form = AskModelsForm(posted, ready=self.ready)
        adds = posted is not None and self.do == "add"
        data = _with_another_row(posted, self.endpoints) if posted is not None and adds else posted
        options = {"endpoints": self.endpoints, "ready": self.ready, "checks": not adds}
        self.rows = ModelRows(data, prefix="m", form_kwargs=options)

    def is_valid(self) -> bool:
        return all((self.form.is_valid(), self.rows.is_valid()))

    def planned(self) -> list[PlannedRun] | None:
        """None, with the error in the form, where a prompt has nothing to choose from."""
        try:
            return planned_runs(self.benchmark, self.form, self.rows, self.ready)
        except ValidationError as error:
            self.form.add_error(None, error)
            return None

    def start(self, outlooks: list[RunOutlook], request: HttpRequest) -> PlanSet | None:
        """Raises answer_runs.RunRefused."""
        planned = plan_sets.confirmed_runs(outlooks)
        data = self.form.cleaned_data
        user, now = current_user(request), timezone.now()
        return plan_sets.start(self.benchmark, planned, data["budget"], data["seed"], user, now)

    def render(self, request: HttpRequest, look: PlanOutlook | None = None, problem: str = "") -> HttpResponse:
        checked = self.do in ("look", "start")
        wrong = bool(problem) or (checked and not look)
        context: dict[str, Any] = {
            "form": self.form,
            "rows": self.rows,
            "conditions": condition_rows(self.offers),
            "names": condition_names(self.offers),
            "ready": bool(self.ready),
            "endpoints": self.endpoints,
            "models": sorted({name for endpoint in self.endpoints for name in models_of(endpoint)}),
            "look": look,
            "problem": problem,
            "checked": checked,
            "may_add": len(self.rows.forms) < MOST_MODELS,
            "practice": settings.PRACTICE_MODEL,
            "manages": is_team_admin(current_user(request), self.benchmark.team),
        }
        page = page_context(request, self.benchmark, **context)
        return render(request, "predictions/ask_models.html", page, status=400 if wrong else 200)


def _with_another_row(posted: QueryDict, endpoints: "QuerySet[Endpoint]") -> QueryDict:
    """The new row has the endpoint chosen where there is only one, as the rows of an empty form."""
    data, known = posted.copy(), list(endpoints[:2])
    n = parse_id(posted.get("m-TOTAL_FORMS"))
    data["m-TOTAL_FORMS"] = str(min(MOST_MODELS, n + 1))
    if len(known) == 1:
        data.setdefault(f"m-{n}-endpoint", str(known[0].pk))
    return data


@login_required
@require_safe
@never_cache
def plan_set(request: HttpRequest, slug: str, plan_set_id: int) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    row = plan_set_for(benchmark, plan_set_id)
    progress = plan_set_progress(row)
    context = {"plan_set": row, "progress": progress, **action_context(row, progress)}
    context["undescribed"] = undescribed_models(benchmark, progress)
    return render(request, "predictions/plan_set.html", page_context(request, benchmark, **context))


@login_required
@require_safe
@never_cache
def live(request: HttpRequest, slug: str, plan_set_id: int) -> HttpResponse:
    """204 while nothing changed; the whole page again once nothing more will."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    row = plan_set_for(benchmark, plan_set_id)
    progress = plan_set_progress(row)
    if not progress.live:
        return HttpResponse(headers={"HX-Refresh": "true"})
    if request.GET.get("seen") == progress.seen:
        return HttpResponse(status=204)
    context = {"plan_set": row, "progress": progress, "benchmark": benchmark}
    return render(request, "predictions/plan_set_progress.html", context)


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, plan_set_id: int) -> HttpResponse:
    """Pause, resume or stop all runs, ask failed calls again, or raise the budget."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    row = plan_set_for(benchmark, plan_set_id)
    acts = {
        "pause": plan_sets.pause, "resume": plan_sets.resume, "retry": plan_sets.retry_failed, "stop": plan_sets.cancel,
    }  # fmt: skip
    do, user, now = request.POST.get("do", ""), current_user(request), timezone.now()
    if do not in acts and do != "budget":
        raise BadRequest
    try:
        if do == "budget":
            n = plan_sets.raise_budget(row, posted_budget(request), user, now)
        else:
            n = acts[do](row, user, now)
        messages.info(request, done_text(do, n))
    except answer_runs.RunRefused as refused:
        messages.error(request, str(refused))
    return redirect("predictions:plan_set", benchmark.slug, row.pk)
