"""Several models asked under several conditions: planned, started, paused and stopped together."""

from collections.abc import Callable
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.forms.plans import AskedPlan, plan_of
from api.protocol.operations import PAGING, operation
from api.protocol.paging import page_of
from api.protocol.preconditions import check_match, with_etag
from api.protocol.problems import Conflict, Refused
from api.schemas import plans as shapes
from api.schemas.pages import page_of_shape
from api.views.base import ResourceView
from api.views.runs import dollars_json
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from predictions.access import plan_set_for
from predictions.models import PlanSet, Run
from predictions.pages.plan_sets import OutlookRow, PlanOutlook, plan_outlook, plan_set_progress, start_problem
from predictions.queries.model_conditions import OfferedCondition, offered_conditions
from predictions.services.runs import plan_sets
from predictions.services.runs.plan_sets import RunOutlook


class ModelConditionsView(ResourceView):
    @operation("model_conditions", "Conditions under which models are asked", reply=shapes.ModelConditions)
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        return with_etag(request, {"conditions": [condition_json(row) for row in offered_conditions(benchmark)]})


class PlanList(ResourceView):
    @operation("plans", "Runs that were planned together", parameters=PAGING,
               reply=page_of_shape(shapes.PlanSerializer))  # fmt: skip
    def get(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        rows = PlanSet.objects.filter(benchmark=benchmark)
        return page_of(request, rows, "plans", plans_json, benchmark.pk)

    @operation("plan_create", "Start a run for each model and condition; those that exist are left as they are",
               scope="write", body=shapes.NewPlan, reply=shapes.PlanSerializer, status=201, needs_key=True)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        plan, outlooks, look = outlook_of(benchmark, self.content)
        if problem := start_problem(look, self.content.get("confirmed", 0)):
            raise Refused(problem)
        chosen = plan_sets.confirmed_runs(outlooks)
        row = plan_sets.start(benchmark, chosen, plan.budget, plan.seed, request.user, timezone.now())
        if row is None:
            raise Conflict(_("Every run of this plan exists already. Nothing was started."))
        return with_etag(request, plans_json([row])[0], 201, reverse("api:plan", args=[slug, row.pk]))


class PlanPreviewView(ResourceView):
    @operation("plan_preview", "What each run of a plan would ask and cost; nothing is sent", scope="write",
               body=shapes.NewPlan, reply=shapes.PlanPreview)  # fmt: skip
    def post(self, request: Request, slug: str) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        _plan, _outlooks, look = outlook_of(benchmark, self.content)
        return Response(look_json(look))


class PlanDetail(ResourceView):
    @operation("plan", "One plan", reply=shapes.PlanSerializer)
    def get(self, request: Request, slug: str, plan_set_id: int) -> Response:
        row = plan_set_for(benchmark_for(request.user, slug, can="work_on"), plan_set_id)
        return with_etag(request, plans_json([row])[0])

    @operation("plan_update", "Raise the budget: what waited for it is asked", scope="write", body=shapes.PlanChange,
               reply=shapes.PlanSerializer)  # fmt: skip
    def patch(self, request: Request, slug: str, plan_set_id: int) -> Response:
        row = plan_set_for(benchmark_for(request.user, slug, can="work_on"), plan_set_id)
        check_match(request, plans_json([row])[0])
        plan_sets.raise_budget(row, self.content["budget"], request.user, timezone.now())
        row.refresh_from_db()
        return with_etag(request, plans_json([row])[0])


class PlanCostView(ResourceView):
    @operation("plan_cost", "How far the runs of a plan are, and what they cost so far", reply=shapes.PlanCost)
    def get(self, request: Request, slug: str, plan_set_id: int) -> Response:
        row = plan_set_for(benchmark_for(request.user, slug, can="work_on"), plan_set_id)
        progress = plan_set_progress(row)
        numbers = {name: getattr(progress, name) for name in ("state", "answered", "total", "ended")}
        money = {"dollars": f"{progress.cost:f}", "unaccounted": f"{progress.unaccounted:f}"}
        more = {"failed": len(progress.failed), "has_unknown_cost": progress.unpriced}
        return Response({**numbers, **money, **more})


def action_view(name: str, summary: str, act: Callable[..., Any]) -> Any:
    """A POST that calls a service with the plan, the person and the time."""

    class PlanAction(ResourceView):
        @operation(f"plan_{name}", summary, scope="write", reply=shapes.PlanSerializer)
        def post(self, request: Request, slug: str, plan_set_id: int) -> Response:
            row = plan_set_for(benchmark_for(request.user, slug, can="work_on"), plan_set_id)
            act(row, request.user, timezone.now())
            row.refresh_from_db()
            return with_etag(request, plans_json([row])[0])

    return PlanAction.as_view()


ACTIONS = (
    ("pause", "Send no more requests of any run", plan_sets.pause),
    ("resume", "Go on with every run that is paused", plan_sets.resume),
    ("retry", "Ask again what failed in any run, where a retry can change it", plan_sets.retry_failed),
    ("stop", "End every run; their answers stay and count", plan_sets.cancel),
)


def outlook_of(benchmark: Benchmark, content: dict[str, Any]) -> tuple[AskedPlan, list[RunOutlook], PlanOutlook]:
    """What would start, and what it would ask. Raises Refused."""
    offers = offered_conditions(benchmark)
    plan = plan_of(benchmark, offers, content)
    outlooks = plan_sets.outlook(plan.runs, plan.budget, timezone.now())
    return plan, outlooks, plan_outlook(outlooks, offers)


def condition_json(offer: OfferedCondition) -> dict[str, Any]:
    condition = offer.condition
    return {
        "key": condition.key, "name": dict(condition.name), "stage": offer.stage.key, "prompt": condition.prompt,
        "setting": condition.setting, "campaign": offer.campaign.pk if offer.campaign else None,
        "ready": offer.is_ready,
    }  # fmt: skip


def plans_json(rows: list[PlanSet]) -> list[dict[str, Any]]:
    runs: dict[int, list[int]] = {row.pk: [] for row in rows}
    for plan, run in Run.objects.filter(plan_set__in=runs).order_by("pk").values_list("plan_set", "pk"):
        runs[plan].append(run)
    return [_plan_json(row, runs[row.pk]) for row in rows]


def _plan_json(row: PlanSet, runs: list[int]) -> dict[str, Any]:
    numbers = {"id": row.pk, "state": row.state, "seed": row.seed, "created_at": row.created_at}
    return {**numbers, "budget": None if row.budget is None else f"{row.budget:f}", "runs": runs}


def look_json(look: PlanOutlook) -> dict[str, Any]:
    return {
        "new": look.new, "existing": look.existing, "requests": look.requests, "cannot_be_asked": look.missing,
        "dollars": dollars_json(look.dollars), "runs": [_row_json(row) for row in look.rows],
    }  # fmt: skip


def _row_json(row: OutlookRow) -> dict[str, Any]:
    outlook, estimate = row.outlook, row.outlook.estimate
    plan = outlook.planned.plan
    return {
        "model": plan.model, "endpoint": plan.endpoint.pk, "condition": outlook.planned.condition,
        "run": outlook.existing.pk if outlook.existing else None, "refused": outlook.refused,
        "units": estimate.units if estimate else None, "to_ask": estimate.to_ask if estimate else None,
        "cannot_be_asked": dict(estimate.missing_input) if estimate else None,
        "dollars": dollars_json(estimate.dollars) if estimate else None,
    }  # fmt: skip
