"""The ways in which a benchmark asks models: listed along the chain, written, changed and removed."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.sheets.sheet import localise
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark, BenchmarkCondition
from benchmarks.queries.model_conditions import SHEET, model_conditions
from benchmarks.recipes.contract import ModelCondition
from benchmarks.services.recipes.conditions import (
    UnknownCondition,
    remove_condition,
    restore_condition,
    save_condition,
)
from people.views.request_helpers import current_user
from predictions.forms.conditions import ConditionForm, prompt_choices
from predictions.prompts.contract import Prompt
from predictions.prompts.registry import PROMPTS
from predictions.texts.conditions import need_text
from predictions.views.overview import page_context

ACTIONS = {"remove": remove_condition, "restore": restore_condition}


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def conditions(request: HttpRequest, slug: str) -> HttpResponse:
    """By stage, in the order of the chain. Posted: one is removed or restored."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    if request.method == "POST":
        act = ACTIONS.get(request.POST.get("do", ""))
        if act is None:
            raise Http404
        try:
            act(benchmark, request.POST.get("condition", "")[:60], current_user(request))
        except UnknownCondition:
            raise Http404 from None
        return redirect("predictions:conditions", slug)
    stages = list(benchmark.stages.all())
    known = model_conditions(benchmark, stages)
    prompts = {prompt.key: _(prompt.name) for prompt in PROMPTS}
    rows = [
        (stage, [_row(condition, prompts) for condition in known if condition.stage == stage.key]) for stage in stages
    ]
    removed = BenchmarkCondition.objects.filter(benchmark=benchmark, removed=True)
    context = page_context(request, benchmark, rows=rows, removed=removed)
    return render(request, "predictions/conditions.html", context)


def _row(condition: ModelCondition, prompts: dict[str, str]) -> dict[str, Any]:
    own = any(condition.options.get(key) for key in ("wording", "system"))
    prompt = prompts.get(condition.prompt) or _("This site has no prompt “%(key)s”.") % {"key": condition.prompt}
    return {
        "condition": condition, "prompt": prompt, "own": own, "needs": ", ".join(map(need_text, condition.needs)),
    }  # fmt: skip


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """A new way at a `stage`, or a `condition` that there is. `prompt`: another one than it has."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    asked = request.POST if request.method == "POST" else request.GET
    known = model_conditions(benchmark)
    existing = next((each for each in known if each.key == asked.get("condition")), None)
    if asked.get("condition") and existing is None:
        raise Http404
    prompt = _prompt(asked.get("prompt") or (existing.prompt if existing else SHEET))
    posted = request.POST if request.method == "POST" else None
    form = ConditionForm(
        posted, benchmark=benchmark, prompt=prompt, existing=existing, stage=asked.get("stage", "")
    )  # fmt: skip
    if posted is not None and form.is_valid():
        save_condition(benchmark, form.condition(), current_user(request))
        messages.success(request, _("“%(name)s” is saved.") % {"name": form.cleaned_data["name"]})
        return redirect("predictions:conditions", slug)
    return _edit_page(request, benchmark, form, [each.prompt for each in known])


def _prompt(key: str) -> Prompt:
    prompt = next((each for each in PROMPTS if each.key == key), None)
    if prompt is None:
        raise Http404
    return prompt


def _edit_page(request: HttpRequest, benchmark: Benchmark, form: ConditionForm, used: list[str]) -> HttpResponse:
    context = page_context(
        request, benchmark, form=form, prompts=prompt_choices(used), stage=request.GET.get("stage", ""),
        name=localise(form.existing.name, "en") if form.existing else "",
    )  # fmt: skip
    return render(request, "predictions/condition.html", context, status=400 if form.errors else 200)
