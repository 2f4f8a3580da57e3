"""The filters of a stage: what they keep, and how they are changed. Only for those who work on the benchmark."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from benchmarks.access import stage_for
from benchmarks.forms.filters import NAMES, DecisionForm, FilterForm, build_form, new_key
from benchmarks.models import Stage
from benchmarks.pages import panels
from benchmarks.pages.filters import filters_page, read_rules
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.filter_counts import fact_keys
from benchmarks.rules.filters import FilterError, FilterRule, FilterState
from benchmarks.services.intake import by_hand, filter_versions, judge_job
from benchmarks.services.intake.judging import version_number
from jobs.formats.numbers import parse_id, parse_int
from people.views.request_helpers import current_user


def _context(request: HttpRequest, stage: Stage, **more: Any) -> dict[str, Any]:
    benchmark = stage.benchmark
    return {
        "benchmark": benchmark, "stage": stage, "number": version_number(stage),
        "nav": tabs_for(request.user, benchmark, "stages"), "who_place": benchmark.name, **more,
    }  # fmt: skip


@login_required
@require_safe
def page(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    stage = stage_for(request.user, slug, stage_id)
    context = _context(
        request,
        stage,
        page=filters_page(stage, request.GET.dict(), parse_id(request.GET.get("after"))),
        kinds=NAMES.items(),
        job=judge_job.latest_unfinished(stage),
        panels=panels.intake_panels(stage),
    )
    return render(request, "benchmarks/filters.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """Add a filter (`kind`) or change one (`filter`)."""
    stage = stage_for(request.user, slug, stage_id)
    asked = request.POST if request.method == "POST" else request.GET
    if "kind" not in asked and "filter" not in asked:
        return redirect("benchmarks:filters", slug, stage_id)
    rules, _error = read_rules(stage)
    existing = next((rule for rule in rules if rule.key == asked.get("filter")), None)
    kind = existing.kind if existing else asked.get("kind", "")
    if kind not in NAMES or (asked.get("filter") and existing is None):
        raise Http404
    posted = request.POST if request.method == "POST" else None
    form = build_form(kind, posted, existing, fact_keys(stage), can_return=bool(stage.derivation))
    if request.method == "POST" and form.is_valid() and _save(request, stage, form, rules, existing):
        return redirect("benchmarks:filters", slug, stage_id)
    context = _context(request, stage, form=form, kind=kind, name=NAMES[kind], existing=existing)
    status = 400 if request.method == "POST" else 200
    return render(request, "benchmarks/filter_form.html", context, status=status)


def _save(
    request: HttpRequest, stage: Stage, form: FilterForm, rules: tuple[FilterRule, ...], existing: FilterRule | None
) -> bool:
    """Save what the form says; false if the filter is not valid, with an error in the form."""
    key = existing.key if existing else new_key(form.name(), [rule.key for rule in rules])
    saved = FilterRule(key, form.kind, form.params(), form.returns).to_json()
    definition = [saved if rule == existing else rule.to_json() for rule in rules]
    definition = definition if existing else [*definition, saved]
    try:
        return _set(request, stage, definition)
    except FilterError as error:
        form.add_error(None, str(error))
        return False


def _set(request: HttpRequest, stage: Stage, definition: list[dict[str, Any]]) -> bool:
    """Set the filters, or say that somebody else changed them. Raises FilterError."""
    number = parse_int(request.POST.get("number"))
    try:
        filter_versions.set_filters(stage, definition, current_user(request), number_seen=number)
    except filter_versions.FiltersChanged:
        messages.error(request, _("Somebody else changed the filters. They are shown as they are now. Edit again."))
    return True


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, stage_id: int) -> HttpResponse:
    """Remove a filter, judge all items again, or choose whether waiting items are assigned."""
    stage, user = stage_for(request.user, slug, stage_id), current_user(request)
    action = request.POST.get("do", "")
    if action == "remove":
        rules, _error = read_rules(stage)
        if request.POST.get("filter") not in {rule.key for rule in rules}:
            raise Http404
        _set(request, stage, [rule.to_json() for rule in rules if rule.key != request.POST.get("filter")])
    elif action == "run":
        filter_versions.judge_again(stage, user)
    elif action in ("assign", "hold"):
        filter_versions.set_assign_waiting(stage, action == "assign", user)
    else:
        raise Http404
    return redirect("benchmarks:filters", slug, stage_id)


@login_required
@require_POST
def decide(request: HttpRequest, slug: str, stage_id: int, item_id: int) -> HttpResponse:
    """Keep or drop an item by hand, or let the filters decide again."""
    stage, user = stage_for(request.user, slug, stage_id), current_user(request)
    item = stage.items.filter(pk=item_id, withdrawn_at=None).first()
    form = DecisionForm(request.POST)
    if item is None or not form.is_valid():
        raise Http404
    item.stage, state = stage, form.cleaned_data["state"]
    try:
        if state:
            by_hand.decide(item, FilterState(state), form.cleaned_data["reason"], user, timezone.now())
        else:
            by_hand.remove_decision(item, user)
    except by_hand.ReasonMissing:
        messages.error(request, _("“%(key)s” was not changed. A reason is missing. Enter one.") % {"key": item.key})
    return redirect("benchmarks:filters", slug, stage_id)
