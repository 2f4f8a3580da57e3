"""Runs of models: planned, created, started, paused and withdrawn as on their pages."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.http import Http404
from django.urls import reverse
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from api.forms.run_plans import plan_of
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import with_etag
from api.schemas.pages import page_of_shape
from api.schemas.runs import CallSerializer, NewRun, RunCost, RunPlanReply, RunSerializer
from api.views.base import ResourceView
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from predictions.access import answer_run_for
from predictions.models import Run
from predictions.queries.exports import call_records, calls_of
from predictions.queries.progress import progress_of
from predictions.requests.serialization import request_json
from predictions.services.runs import answer_runs
from predictions.services.runs.plans import CostEstimate, RunPlan, UnitPreview

NUMBERS = ("repeats", "seed", "follows")
TEXTS = ("task", "state", "stopped_because", "model", "revision", "prompt", "prompt_version")
OBJECTS = ("prompt_options", "decoding", "selection")
TIMES = ("created_at", "started_at", "finished_at", "withdrawn_at")


class RunList(ResourceView):
    @operation("runs", "Runs of models", parameters=PAGING, reply=page_of_shape(RunSerializer))
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        return page_of(request, runs_of(benchmark), "runs", lambda page: [run_json(r) for r in page], benchmark.pk)

    @operation(
        "run_create",
        "Create a run, which waits to be started",
        scope="write",
        body=NewRun,
        reply=RunSerializer,
        status=201,
        needs_key=True,
    )
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        plan, confirmed = plan_of(benchmark, self.content), self.content.get("confirmed", 0)
        run = answer_runs.open_run(plan, request.user, timezone.now(), confirmed, starts=False)
        return with_etag(request, run_json(run), 201, reverse("api:run", args=[slug, run.pk]))


class RunPlanView(ResourceView):
    @operation(
        "run_plan", "What a run would ask and cost; nothing is sent", scope="write", body=NewRun, reply=RunPlanReply
    )
    def post(self, request: Request, slug: str) -> Response:
        plan = plan_of(benchmark_for(request.user, slug, can="work_on"), self.content)
        return Response(plan_json(plan, answer_runs.estimate(plan), answer_runs.preview(plan)))


class RunDetail(ResourceView):
    @operation("run", "One run", reply=RunSerializer)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        return with_etag(request, run_json(run_for(benchmark_for(request.user, slug, can="work_on"), run_id)))


class RunCostView(ResourceView):
    @operation("run_cost", "How far a run is, and what it cost so far", reply=RunCost)
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        return Response(cost_json(answer_run_for(benchmark, run_id)))


class CallList(ResourceView):
    @operation(
        "run_calls",
        "Calls of a run with their attempts, replies and answers",
        scope="export",
        parameters=PAGING,
        reply=page_of_shape(CallSerializer),
    )
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        run = answer_run_for(benchmark_for(request.user, slug, can="work_on"), run_id)
        return page_of(request, calls_of(run), "calls", _call_rows, run.pk)


def _call_rows(calls: list[Any]) -> list[dict[str, Any]]:
    return [{"id": call.pk, **record} for call, record in zip(calls, call_records(calls), strict=True)]


def action_view(name: str, summary: str, act: Callable[..., Any], *, needs_key: bool = False) -> Any:
    """A POST that calls a service with the run, the person and the time."""

    class RunAction(ResourceView):
        @operation(
            f"run_{name}",
            summary,
            scope="write",
            reply=RunSerializer,
            needs_key=needs_key,
        )
        def post(self, request: Request, slug: str, run_id: int) -> Response:
            benchmark = benchmark_for(request.user, slug, can="work_on")
            act(answer_run_for(benchmark, run_id), request.user, timezone.now())
            return with_etag(request, run_json(run_for(benchmark, run_id)))

    return RunAction.as_view()


def runs_of(benchmark: Benchmark) -> Any:
    return Run.objects.filter(benchmark=benchmark).select_related("rater")


def run_for(benchmark: Benchmark, run_id: int) -> Run:
    """A run of any task. Raises Http404."""
    run: Run | None = runs_of(benchmark).filter(pk=run_id).first()
    if run is None:
        raise Http404
    return run


def run_json(run: Run) -> dict[str, Any]:
    return {
        "id": run.pk,
        **{name: getattr(run, name) for name in (*TEXTS, *OBJECTS, *NUMBERS, *TIMES)},
        "campaign": run.campaign_id,
        "endpoint": run.endpoint_id,
        "rater": run.rater.name,
        "setting": run.rater.setting,
        "budget": None if run.budget is None else f"{run.budget:f}",
        "job": run.job_id,
    }


def plan_json(plan: RunPlan, cost: CostEstimate, first: UnitPreview) -> dict[str, Any]:
    return {
        "prompt": plan.prompt.key,
        "model": plan.model,
        "units": cost.units,
        "calls": cost.calls,
        "cached": cost.cached,
        "to_ask": cost.to_ask,
        "cannot_be_asked": dict(cost.missing_input),
        "tokens_in": list(cost.tokens_in),
        "tokens_out": list(cost.tokens_out),
        "dollars": dollars_json(cost.dollars),
        "exact": cost.exact,
        "item": first.unit.item.key,
        "target": first.unit.target,
        "requests": [request_json(request) for request in first.asked.requests] if first.asked else [],
    }


def cost_json(run: Run) -> dict[str, Any]:
    progress = progress_of(run)
    names = ("total", "ended", "in_flight", "cached", "tokens_in", "tokens_out", "seconds_left")
    return {
        **{name: getattr(progress, name) for name in names},
        "by_state": dict(progress.by_state),
        "dollars": f"{progress.cost:f}",
        "unaccounted": f"{progress.unaccounted:f}",
        "calls_of_unknown_cost": progress.unpriced,
        "calls_a_minute": progress.rate,
    }


def dollars_json(dollars: tuple[Decimal, Decimal] | None) -> dict[str, str] | None:
    """At least and at most; None where a model has no price."""
    return {"low": f"{dollars[0]:f}", "high": f"{dollars[1]:f}"} if dollars else None
