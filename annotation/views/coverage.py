"""The coverage matrix of a campaign: where the holes are, who could fill one, and what to do about it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.models import Campaign, Slot
from annotation.pages.packs import packs_on_devices
from annotation.queries import coverage
from annotation.queries.coverage import KEYS, SHOWN, CoverageFilter, CoverageMatrix
from annotation.queries.coverage_cells import coverage_of
from annotation.queries.coverage_gap import describe_gap
from annotation.queries.file_answer_counts import count_file_answers
from annotation.services.queue import units
from annotation.sheets.sheet import strip_nul
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.models import Benchmark, Item, Stage
from benchmarks.pages.tabs import tabs_for
from benchmarks.queries.overview import condition_names
from jobs.formats.numbers import parse_int
from people.access import may_manage

MOST_KEYS = 2_000
OTHERS = 6


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    campaigns = _campaigns(benchmark)
    campaign = _selected_campaign(campaigns, request.GET) if campaigns else None
    if not request.GET and (stage := _stage_of_cells(benchmark, campaign)):
        return redirect("annotation:coverage_cells", slug, stage.pk)
    if campaign is None:
        return render(request, "annotation/coverage/page.html", _empty_page(request, benchmark, []))
    return _page(request, benchmark, campaigns, campaign, request.GET)


def _stage_of_cells(benchmark: Benchmark, campaign: Campaign | None) -> Stage | None:
    """The stage whose cells are shown first: that of the campaign shown first, else the first that says what it
    wants."""
    if campaign is not None:
        return campaign.stage if coverage_of(campaign.stage) else None
    return next((stage for stage in benchmark.stages.all() if coverage_of(stage)), None)


def _campaigns(benchmark: Benchmark) -> list[Campaign]:
    """Those that were opened, the newest first."""
    rows = Campaign.objects.filter(stage__benchmark=benchmark, opened_at__isnull=False)
    return list(rows.select_related("stage__benchmark").order_by("-opened_at", "-pk"))


def _selected_campaign(campaigns: list[Campaign], params: Mapping[str, str]) -> Campaign:
    """The one that is asked for, else the newest that has items: a chain opens stages long before they get any."""
    if "campaign" not in params:
        shown = Campaign.objects.filter(pk__in=[campaign.pk for campaign in campaigns])
        filled = set(
            shown.filter(Exists(Slot.objects.filter(cohort__campaign=OuterRef("pk")))).values_list("pk", flat=True)
        )
        return next((campaign for campaign in campaigns if campaign.pk in filled), campaigns[0])
    matching = [campaign for campaign in campaigns if str(campaign.pk) == params["campaign"]]
    if not matching:
        raise Http404
    return matching[0]


def _empty_page(request: HttpRequest, benchmark: Benchmark, campaigns: list[Campaign]) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "coverage"),
        "who_place": benchmark.name,
        "works": is_permitted(request.user, benchmark, "work_on"),
        "campaigns": campaigns,
    }


def _page(
    request: HttpRequest,
    benchmark: Benchmark,
    campaigns: list[Campaign],
    campaign: Campaign,
    params: Mapping[str, str],
    **more: Any,
) -> HttpResponse:
    facets = coverage.filter_choices(campaign)
    choice = _choice(params, facets)
    matrix = coverage.coverage_page(campaign, choice)
    holes = _gaps(matrix)
    context = _empty_page(request, benchmark, campaigns) | {
        "campaign": campaign,
        "has_cells": coverage_of(campaign.stage) is not None,
        "choice": choice,
        "matrix": matrix,
        "facets": facets,
        "condition_names": condition_names(benchmark),
        "query": _query(campaign, choice),
        "before": _query(campaign, replace(choice, page=choice.page - 1)),
        "after": _query(campaign, replace(choice, page=choice.page + 1)),
        "in_use": _has_active_queue(campaign),
        "on_devices": packs_on_devices([campaign]),
        "brought": count_file_answers(benchmark).get(campaign.pk),
        "holes": holes,
        "others": holes[:OTHERS],
        "gap": _gap(request, campaign, choice, matrix, params),
        **more,
    }
    return render(request, "annotation/coverage/page.html", context, status=400 if more else 200)


def _has_active_queue(campaign: Campaign) -> bool:
    """Whether its queue is still in use."""
    return campaign.state in (Campaign.State.OPEN, Campaign.State.PAUSED)


def _number(params: Mapping[str, str], name: str, otherwise: int) -> int:
    return parse_int(params.get(name), default=otherwise)


def _choice(params: Mapping[str, str], facets: Mapping[str, list[str]]) -> CoverageFilter:
    """What was asked for where it exists; else the whole."""
    by = params.get("by", "")
    usual = "concept" if facets["concept"] else "item"
    show = params.get("show", "")
    chosen = {name: params.get(name, "") for name in ("condition", "concept")}
    chosen = {name: value if value in facets[name] else "" for name, value in chosen.items()}
    return CoverageFilter(
        by=by if by in KEYS else usual,  # type: ignore[arg-type]
        show=show if show in SHOWN else "",  # type: ignore[arg-type]
        page=max(1, _number(params, "page", 1)),
        **chosen,
    )


def _query(campaign: Campaign, choice: CoverageFilter, **more: int) -> str:
    """The address of this very view."""
    params = {"campaign": campaign.pk, "by": choice.by, "condition": choice.condition, "concept": choice.concept}
    params |= {"show": choice.show, "page": choice.page if choice.page > 1 else ""}
    return urlencode({name: value for name, value in (params | more).items() if value})


def _gaps(matrix: CoverageMatrix) -> list[tuple[Any, Any, Any]]:
    """The holes of this page, the largest first: row, cohort, cell."""
    gaps = [
        (row, place, cell)
        for row in matrix.rows
        for place, cell in zip(matrix.cohorts, row.cells, strict=True)
        if cell is not None and cell.style == "hole"
    ]
    return sorted(gaps, key=lambda one: -one[2].missing)


def _gap(
    request: HttpRequest, campaign: Campaign, choice: CoverageFilter, matrix: CoverageMatrix, params: Mapping[str, str]
) -> dict[str, Any] | None:
    """The cell that was opened: what it lacks, and who could fill it."""
    row, cohort = _number(params, "row", 0), _number(params, "cohort", 0)
    place = next((one for one in matrix.cohorts if one.pk == cohort), None)
    item = Item.objects.filter(pk=row, stage=campaign.stage_id).first()
    if place is None or item is None:
        return None
    place.campaign = campaign
    slots = coverage.slots_in_row(campaign, choice, row, cohort)
    if not slots:
        return None
    gap = describe_gap(place, slots, timezone.now())
    name = item.key if choice.by == "item" and not item.concept else item.concept or _("no concept")
    labels = {one["code"]: one["label"] for one in campaign.stage.skip_reasons}
    return {
        "row": row,
        "place": place,
        "name": name,
        "part": item.key if choice.by == "item" else item.origin,
        "is": gap,
        "skips": [(labels.get(code, {"en": code}), n) for code, n in gap.skips],
        "manages": may_manage(request.user, place.cohort),
        "paused": place.paused or place.cohort.paused_at is not None,
    }


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring a cell, or a list of items, to the front; put it back in line; ask again for what was set aside."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    campaigns = _campaigns(benchmark)
    if not campaigns:
        raise Http404
    campaign = _selected_campaign(campaigns, request.POST)
    if not _has_active_queue(campaign):
        messages.error(request, _("This campaign is closed. No work is assigned."))
        return redirect(f"{reverse('annotation:coverage', args=[slug])}?campaign={campaign.pk}")
    if request.POST.get("act") == "keys":
        return _prioritise_keys(request, benchmark, campaigns, campaign)
    deed = DEEDS.get(request.POST.get("act", ""))
    place = campaign.cohorts.filter(pk=_number(request.POST, "cohort", 0)).first()
    if deed is None or place is None:
        raise Http404
    choice = _choice(request.POST, coverage.filter_choices(campaign))
    row = _number(request.POST, "row", 0)
    deed(request, campaign, coverage.slots_in_row(campaign, choice, row, place.pk))
    query = _query(campaign, choice, row=row, cohort=place.pk)
    return redirect(f"{reverse('annotation:coverage', args=[slug])}?{query}#hole")


def _prioritise(request: HttpRequest, campaign: Campaign, slots: list[int]) -> None:
    n = units.prioritise(campaign, slots, request.user)  # type: ignore[arg-type]
    message = ngettext("%(n)s item is prioritised.", "%(n)s items are prioritised.", n) % {"n": n}
    messages.success(request, message if n else _("Already prioritised."))


def _unprioritise(request: HttpRequest, campaign: Campaign, slots: list[int]) -> None:
    n = units.prioritise(campaign, slots, request.user, urgent=False)  # type: ignore[arg-type]
    message = ngettext("%(n)s item is no longer prioritised.", "%(n)s items are no longer prioritised.", n) % {"n": n}
    messages.success(request, message)


def _reopen_items(request: HttpRequest, campaign: Campaign, slots: list[int]) -> None:
    n = units.unretire(campaign, slots, request.user)  # type: ignore[arg-type]
    message = ngettext("%(n)s item was reopened.", "%(n)s items were reopened.", n) % {"n": n}
    messages.success(request, message)


DEEDS: dict[str, Callable[[HttpRequest, Campaign, list[int]], None]] = {
    "hurry": _prioritise, "calm": _unprioritise, "bring_back": _reopen_items,
}  # fmt: skip


def _prioritise_keys(
    request: HttpRequest, benchmark: Benchmark, campaigns: list[Campaign], campaign: Campaign
) -> HttpResponse:
    """All or nothing: what was typed stays, and each line that cannot be is named."""
    typed = str(strip_nul(request.POST.get("keys", "")))
    lines = [line.strip() for line in typed.splitlines()]
    keys = [line for line in lines if line]
    slots, unknown = coverage.slots_by_item_key(campaign, keys)
    problem = _("Line %(line)s: “%(key)s” is not an item of this campaign.")
    wrong = [problem % {"line": lines.index(key) + 1, "key": key} for key in unknown]
    if len(keys) > MOST_KEYS:
        wrong = [_("At most %(most)s items at once.") % {"most": f"{MOST_KEYS:,}"}]
    elif not keys:
        wrong = [_("Write the keys of items, one in a line.")]
    if wrong:
        return _page(request, benchmark, campaigns, campaign, request.POST, typed=typed, wrong=wrong)
    _prioritise(request, campaign, slots)
    query = _query(campaign, _choice(request.POST, coverage.filter_choices(campaign)))
    return redirect(f"{reverse('annotation:coverage', args=[benchmark.slug])}?{query}")
