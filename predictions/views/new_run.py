"""A run is planned, looked at, costed and started: four presses, and nothing is sent before the last."""

from collections.abc import Collection
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for, label_set_for
from benchmarks.models import Benchmark
from jobs.formats.numbers import parse_id
from people.views.request_helpers import current_user
from predictions.access import answer_run_for
from predictions.forms.answer_runs import OPTION, PlanForm, RunStartForm, campaigns_of, prompt_id, raw_form_data
from predictions.models import Endpoint, Run
from predictions.pages.plans import form_data_of, plan_summary, set_rows
from predictions.pages.requests import request_views
from predictions.queries.compatible_prompts import CompatiblePrompts, find_compatible_prompts, usable_endpoint_kinds
from predictions.queries.endpoints import last_check, models_of, prices_of
from predictions.services.runs import answer_runs, plans
from predictions.services.runs.answer_runs import CostEstimate, RunPlan, UnitPreview
from predictions.texts import call_reasons
from predictions.views.overview import page_context

CHECKED = ("look", "find", "cost", "start")
OWN = ("csrfmiddlewaretoken", "do", "at", "show", "find", "confirmed")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """One address for all steps: `do` says which. Whatever was typed comes back. `like`: a run to plan it after."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    data: QueryDict = request.POST if request.method == "POST" else request.GET
    if data is request.GET and "like" in data:
        data = form_data_of(answer_run_for(benchmark, parse_id(data["like"])))
    checked = "show" in data or data.get("do") in CHECKED
    form, fits = _form(benchmark, data, checked=checked and request.method == "POST")
    if not form.is_bound or not form.is_valid() or not isinstance(form, PlanForm):
        return _plan_page(request, benchmark, form, fits)
    plan, refused = form.plan(), ""
    try:
        if data.get("do") == "start":
            confirmed = parse_id(data.get("confirmed"))
            run = answer_runs.open_run(plan, current_user(request), timezone.now(), confirmed)
            return redirect("predictions:answer_run", benchmark.slug, run.pk)
        return _preview_page(request, benchmark, plan)
    except answer_runs.Unconfirmed as error:
        return _preview_page(request, benchmark, plan, unconfirmed=str(error))
    except answer_runs.RunRefused as error:
        refused = str(error)
    form.add_error(None, refused)
    return _plan_page(request, benchmark, form, fits, held_by=plans.existing_run(plan))


def _form(benchmark: Benchmark, data: Any, *, checked: bool) -> tuple[RunStartForm, CompatiblePrompts]:
    """The first form until campaign and endpoint are known and a prompt fits both; then the whole one."""
    if label_set := parse_id(data.get("label_set")):
        label_set_for(benchmark.team, label_set)
    of: dict[str, Any] = {"benchmark": benchmark, "kinds": _kinds(benchmark, data)}
    bound = RunStartForm(data, **of)
    if not bound.is_valid():
        return bound if checked else RunStartForm(initial=raw_form_data(bound, data), **of), CompatiblePrompts()
    campaign, endpoint = bound.cleaned_data["campaign"], bound.cleaned_data["endpoint"]
    fits = find_compatible_prompts(campaign, endpoint)
    if fits.ready is None:
        return RunStartForm(initial=raw_form_data(bound, data), **of), fits
    chosen = next((prompt for prompt in fits.prompts if prompt_id(prompt) == data.get("prompt")), fits.ready)
    about = of | {"campaign": campaign, "fitting": fits.prompts, "chosen": chosen}
    if checked:
        return PlanForm(data, **about), fits
    first = raw_form_data(bound, data)
    if "model" in data:  # the rest was there to be typed; options of a prompt just chosen begin as it says
        same = prompt_id(chosen) == data.get("shown_prompt")
        rest = raw_form_data(PlanForm(**about), data).items()
        first |= {name: value for name, value in rest if same or not name.startswith(OPTION)}
    return PlanForm(initial=first | {"prompt": prompt_id(chosen)}, **about), fits


def _kinds(benchmark: Benchmark, data: Any) -> Collection[str]:
    """Of endpoints that are worth offering: all, before a campaign is chosen or where nothing fits it."""
    campaign = campaigns_of(benchmark).filter(pk=parse_id(data.get("campaign"))).first()
    return usable_endpoint_kinds(campaign) or Endpoint.Kind.values if campaign else Endpoint.Kind.values


def _plan_page(
    request: HttpRequest, benchmark: Benchmark, form: RunStartForm, fits: CompatiblePrompts, held_by: Run | None = None
) -> HttpResponse:
    whole = isinstance(form, PlanForm)
    endpoint = _endpoint(form, benchmark) if whole else None
    context = {
        "form": form,
        "whole": whole,
        "fits": fits,
        "held_by": held_by,
        "marked": any(name != NON_FIELD_ERRORS for name in form.errors),
        "parts": form.parts() if isinstance(form, PlanForm) else {},
        "campaigns": campaigns_of(benchmark).exists(),
        "endpoints": Endpoint.objects.filter(team=benchmark.team, retired_at=None).exists(),
        "nothing_fits": not whole and bool(form["campaign"].value() and form["endpoint"].value() and not form.errors),
        "check": last_check(endpoint) if endpoint else None,
        "models": models_of(endpoint) if endpoint else (),
        "held": prices_of(endpoint) if endpoint else None,
    }
    page = page_context(request, benchmark, **context)
    return render(request, "predictions/new_run.html", page, status=400 if form.errors else 200)


def _endpoint(form: RunStartForm, benchmark: Benchmark) -> Endpoint | None:
    return Endpoint.objects.filter(team=benchmark.team, pk=form["endpoint"].value()).first()


def _preview_page(request: HttpRequest, benchmark: Benchmark, plan: RunPlan, unconfirmed: str = "") -> HttpResponse:
    """What is sent for one unit, and what all of it costs, if that was asked. `unconfirmed`: why the run did not start.
    Raises answer_runs.Refused."""
    posted = request.POST
    number, find = parse_id(posted.get("show") or posted.get("at")), posted.get("find", "").strip()
    position = plans.position_of_item(plan, find, number) if posted.get("do") == "find" else None
    view = answer_runs.preview(plan, number if position is None else position)
    number = min(number if position is None else position, view.total - 1)
    estimate = answer_runs.estimate(plan) if unconfirmed or posted.get("do") == "cost" else None
    asked = view.asked
    context = {
        "plan": plan,
        "hidden": [(name, value) for name in posted if name not in OWN for value in posted.getlist(name)],
        **_unit_context(view),
        "number": number,
        "position": number + 1,
        "find": find,
        "not_found": posted.get("do") == "find" and position is None,
        "facts": plan_summary(plan, current_user(request)),
        "in_the_way": plans.existing_run(plan),
        "unnamed": _is_unknown_model(plan),
        "requests": request_views(asked.requests, benchmark.team, view.way) if asked else [],
        "several": bool(asked and len(asked.requests) > 1),
        "order": asked.order if asked else (),
        "way": call_reasons.method_label(asked.requests[0].kind if asked and asked.requests else "", view.way),
        "unlinked": "no_links" in (view.missing_input, *(estimate.missing_input if estimate else ())),
        "lacking": call_reasons.reason_text(view.missing_input) if view.missing_input else "",
        "estimate": estimate,
        **(_missing_input_context(estimate) if estimate else {}),
        "unconfirmed": unconfirmed,
    }
    page = page_context(request, benchmark, **context)
    return render(request, "predictions/run_preview.html", page, status=400 if unconfirmed else 200)


def _unit_context(view: UnitPreview) -> dict[str, Any]:
    return {"view": view, "by_set": set_rows(view.by_set)}


def _missing_input_context(estimate: CostEstimate) -> dict[str, Any]:
    """What the units lack: `missing` of them in all, and why nothing can start, where none can be asked."""
    return {
        "lacking_words": [(call_reasons.reason_text(code), n) for code, n in estimate.missing_input.items()],
        "missing": sum(estimate.missing_input.values()),
        "no_input": call_reasons.no_input_reason(estimate.units, estimate.missing_input),
    }


def _is_unknown_model(plan: RunPlan) -> bool:
    """Whether the endpoint named its models at the last check, and not this one."""
    check = last_check(plan.endpoint)
    return bool(check and check.models and plan.model not in check.models)
