"""Campaigns as those see them who plan them. Reviewers look; owners and researchers change."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.access import campaign_for
from annotation.forms.campaigns import AnswerForm, CampaignForm, CloneForm, LimitsForm, PackForm, TargetForm, clone_name
from annotation.models import Campaign, CampaignCohort, ProblemReport
from annotation.pages.campaigns import (
    REFUSALS,
    ProblemCounts,
    campaign_rows,
    chip_style,
    count_target_items,
    problem_counts,
    problem_rows,
    sheet_version_text,
    state_label,
)
from annotation.pages.instructions import instructions_of
from annotation.pages.packs import no_pack_text
from annotation.queries.board_counts import opened_for_models
from annotation.services.campaigns import lifecycle as services
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.review.problems import answer_problem
from annotation.services.sheets.stages import opening_problems
from benchmarks.access import Can, benchmark_for, is_permitted
from benchmarks.models import Benchmark, Stage
from benchmarks.pages.tabs import tabs_for


def _context(request: HttpRequest, benchmark: Benchmark, **more: Any) -> dict[str, Any]:
    return {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "campaigns"),
        "who_place": benchmark.name,
        "works": is_permitted(request.user, benchmark, "work_on"),
        **more,
    }


def _get_campaign(request: HttpRequest, slug: str, campaign_id: int, can: Can) -> tuple[Benchmark, Campaign]:
    benchmark = benchmark_for(request.user, slug, can=can)
    return benchmark, campaign_for(request.user, benchmark, campaign_id)


def _show_refusal(request: HttpRequest, refused: CampaignRefused) -> None:
    for reason in refused.reasons:
        messages.error(request, str(REFUSALS.get(reason, reason)))


def _redirect(slug: str, campaign: Campaign) -> HttpResponse:
    return redirect("annotation:campaign", slug, campaign.pk)


@login_required
@require_safe
@never_cache
def campaign_list(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    return render(
        request, "annotation/campaigns/list.html", _context(request, benchmark, campaigns=campaign_rows(benchmark))
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def create(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    stages = list(benchmark.stages.all())
    if not stages:
        return redirect("annotation:stages", slug)  # a campaign opens a stage
    stage = next((s for s in stages if s.key == request.GET.get("stage")), stages[0])
    form = CampaignForm(request.POST or None, benchmark=benchmark, stage=stage)
    if request.method == "POST" and form.is_valid():
        try:
            return _redirect(slug, _created(request, stage, form))
        except CampaignRefused as refused:
            _show_refusal(request, refused)
    context = _context(request, benchmark, form=form, stages=stages, stage=stage)
    return render(request, "annotation/campaigns/new.html", context, status=400 if form.errors else 200)


def _created(request: HttpRequest, stage: Stage, form: CampaignForm) -> Campaign:
    assert request.user.is_authenticated
    data = form.cleaned_data
    return services.create(
        stage,
        data["name"],
        request.user,
        form.targets(),
        form.wanted_conditions(),
        summary=data["summary"],
        opens_on=data["opens_on"],
        closes_on=data["closes_on"],
        instructions=form.texts(),
    )


@login_required
@require_safe
@never_cache
def detail(request: HttpRequest, slug: str, campaign_id: int) -> HttpResponse:
    benchmark, campaign = _get_campaign(request, slug, campaign_id, "see")
    progress = services.progress(campaign)
    items = count_target_items(campaign, [one.campaign_cohort for one in progress])
    for_models = bool(opened_for_models([campaign], benchmark.scope))
    context = _context(
        request,
        benchmark,
        campaign=campaign,
        no_pack=no_pack_text(campaign),
        sheet_version=sheet_version_text(campaign),
        look="ok" if for_models else chip_style(campaign),
        progress=progress,
        instructions=instructions_of(campaign),
        before=opening_problems(campaign) if campaign.state == Campaign.State.DRAFT else [],
        clone_name=clone_name(campaign),
        problems=problem_rows(benchmark, campaign),
        state=state_label(campaign, for_models=for_models),
        cohort_rows=[(one, items.get(one.campaign_cohort.pk)) for one in progress],
        reported=problem_counts([campaign]).get(campaign.pk, ProblemCounts()),
    )
    return render(request, "annotation/campaigns/detail.html", context)


def _set_pack_hours(request: HttpRequest, campaign: Campaign) -> Campaign:
    form = PackForm(request.POST)
    if not form.is_valid():
        raise CampaignRefused(["pack_hours_wrong"])
    services.set_pack_hours(campaign, form.cleaned_data["pack_hours"], request.user)  # type: ignore[arg-type]
    messages.success(request, _("This applies to items that people take from now on."))
    return campaign


Act = Callable[[HttpRequest, Campaign], Campaign]


def _open(request: HttpRequest, campaign: Campaign) -> Campaign:
    services.open_campaign(campaign, request.user, timezone.now())  # type: ignore[arg-type]
    messages.success(request, _("The campaign is open. People see it on their work page."))
    return campaign


def _pause(request: HttpRequest, campaign: Campaign) -> Campaign:
    services.pause(campaign, request.user)  # type: ignore[arg-type]
    messages.success(request, _("No new work is assigned. People can finish what is in progress."))
    return campaign


def _resume(request: HttpRequest, campaign: Campaign) -> Campaign:
    services.resume(campaign, request.user, timezone.now())  # type: ignore[arg-type]
    messages.success(request, _("The campaign is open again."))
    return campaign


def _add_new_items(request: HttpRequest, campaign: Campaign) -> Campaign:
    made = services.add_slots(campaign)
    message = ngettext("%(n)s new item was added.", "%(n)s new items were added.", made) % {"n": made}
    messages.success(request, message if made else _("There were no new items to add."))
    return campaign


def _clone(request: HttpRequest, campaign: Campaign) -> Campaign:
    form = CloneForm(request.POST)
    name = form.cleaned_data["name"] if form.is_valid() else clone_name(campaign)
    made = services.clone(campaign, request.user, name)  # type: ignore[arg-type]
    messages.success(request, _("This is the copy: a draft, with the stage's sheet as it is now."))
    return made


ACTS: dict[str, Act] = {
    "open": _open,
    "pause": _pause,
    "resume": _resume,
    "fill": _add_new_items,
    "clone": _clone,
    "pack": _set_pack_hours,
}


@login_required
@require_POST
def perform_action(request: HttpRequest, slug: str, campaign_id: int) -> HttpResponse:
    """One button: its name says what is done."""
    _benchmark, campaign = _get_campaign(request, slug, campaign_id, "work_on")
    act = ACTS.get(request.POST.get("act", ""))
    if act is None:
        raise Http404
    try:
        campaign = act(request, campaign)
    except CampaignRefused as refused:
        _show_refusal(request, refused)
    return _redirect(slug, campaign)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def close(request: HttpRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Asked once more, since a closed campaign does not open again."""
    benchmark, campaign = _get_campaign(request, slug, campaign_id, "work_on")
    if request.method != "POST":
        context = _context(request, benchmark, campaign=campaign, progress=services.progress(campaign))
        return render(request, "annotation/campaigns/close.html", context)
    try:
        services.close(campaign, request.user, timezone.now())  # type: ignore[arg-type]
        opened = campaign.opened_at is not None
        closed = _("The campaign is closed. All answers are kept.")
        messages.success(request, closed if opened else _("The draft is discarded. It was never open."))
    except CampaignRefused as refused:
        _show_refusal(request, refused)
    return _redirect(slug, campaign)


@login_required
@require_POST
def cohort(request: HttpRequest, slug: str, campaign_id: int, row_id: int) -> HttpResponse:
    """Ask a cohort for more or fewer answers, or let it rest; also while people work."""
    _benchmark, campaign = _get_campaign(request, slug, campaign_id, "work_on")
    row = get_object_or_404(campaign.cohorts.select_related("cohort", "campaign__stage__benchmark"), pk=row_id)
    wish = request.POST.get("do")
    try:
        if wish in ("pause", "resume"):
            services.pause_cohort(row, request.user, paused=wish == "pause")  # type: ignore[arg-type]
        elif wish == "limits":
            _set_limits(request, row)
        else:
            _change_target(request, row)
    except CampaignRefused as refused:
        _show_refusal(request, refused)
    return _redirect(slug, campaign)


def _change_target(request: HttpRequest, row: CampaignCohort) -> None:
    form = TargetForm(request.POST)
    if not form.is_valid():
        raise CampaignRefused(["target_too_small"])
    target = form.cleaned_data["target"]
    services.change_target(row, target, request.user)  # type: ignore[arg-type]
    message = ngettext(
        "%(name)s is asked for %(n)s answer to each item.", "%(name)s is asked for %(n)s answers to each item.", target
    )
    messages.success(request, message % {"name": row.cohort.name, "n": target})


def _set_limits(request: HttpRequest, row: CampaignCohort) -> None:
    form = LimitsForm(request.POST)
    if not form.is_valid():
        raise CampaignRefused(["limit_too_small"])
    services.set_limits(row, **form.cleaned_data, actor=request.user)  # type: ignore[arg-type]
    messages.success(request, _("The limits apply from now on. People can finish what is in progress."))


@login_required
@require_POST
def problem(request: HttpRequest, slug: str, campaign_id: int, problem_id: int) -> HttpResponse:
    _benchmark, campaign = _get_campaign(request, slug, campaign_id, "work_on")
    reports = ProblemReport.objects.filter(assignment__campaign=campaign).select_related("assignment__campaign__stage")
    report = get_object_or_404(reports, pk=problem_id)
    form = AnswerForm(request.POST)
    if form.is_valid():
        answer_problem(report, form.cleaned_data["answer"], request.user, timezone.now())  # type: ignore[arg-type]
    else:
        messages.error(request, _("Write a few words, so that the person knows what became of it."))
    return _redirect(slug, campaign)
