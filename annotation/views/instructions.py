"""A campaign's instructions, written by those who plan it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.access import campaign_for
from annotation.composer.actions import UnknownAction, apply_action
from annotation.composer.form_parser import parse_form as content_posted
from annotation.composer.paths import parse_path
from annotation.composer.validation import StageProblem
from annotation.forms.campaigns import languages_of
from annotation.models import Campaign
from annotation.pages.instructions import content_of, fill_keys, instruction_page, to_drafts, validate_texts
from annotation.services.campaigns.instructions import has_uneven_demands, publish
from annotation.services.sheets.stages import UNEVEN
from annotation.views.answers import is_script_request
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from jobs.formats.numbers import parse_int
from people.views.request_helpers import current_user


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def edit_instructions(request: HttpRequest, slug: str, campaign_id: int) -> HttpResponse:
    """The form keeps everything itself: nothing is in force before that button."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    campaign = campaign_for(request.user, benchmark, campaign_id)
    if campaign.state == Campaign.State.CLOSED:
        return redirect("annotation:campaign", slug, campaign.pk)
    if request.method != "POST":
        return _render_form(request, benchmark, campaign, content_of(campaign), 0)
    content, action = fill_keys(content_posted(request.POST)), request.POST.get("act", "redraw")
    if action == "publish":
        return _published(request, benchmark, campaign, content)
    return _render_form(request, benchmark, campaign, content, *_apply_action(request, content, action))


def _apply_action(request: HttpRequest, content: dict[str, Any], action: str) -> tuple[int, str]:
    """Which text is open afterwards, and which place is to be seen."""
    shown = _number(request.POST.get("shown", "0"))
    if action == "redraw":
        return shown, ""
    if action.startswith("show:"):
        return _number(action.removeprefix("show:")), ""
    if action == "text":
        chosen = {"language": request.POST.get("new_language", "en")[:12], "cohort": request.POST.get("new_cohort", "")}
        content["texts"].append({**chosen, "body": ""})
        return len(content["texts"]) - 1, ""
    try:
        opened = apply_action(content, action)
    except UnknownAction:
        raise Http404 from None
    place = parse_path(opened)
    return (place[1] if len(place) > 1 and isinstance(place[1], int) else shown), opened


def _number(text: str) -> int:
    return parse_int(text, maximum=999)


def _published(request: HttpRequest, benchmark: Benchmark, campaign: Campaign, content: dict[str, Any]) -> HttpResponse:
    cohorts = [row.cohort for row in campaign.cohorts.select_related("cohort")]
    wrong = validate_texts(content, cohorts)
    if wrong:
        place = parse_path(wrong[0].path)
        shown = place[1] if len(place) > 1 and isinstance(place[1], int) else 0
        return _render_form(request, benchmark, campaign, content, shown, wrong=wrong, status=422)
    version = publish(campaign, to_drafts(content), current_user(request), required=content.get("required") is True)
    message = _("Instructions %(n)s are published. Each answer records its version of the instructions.") % {
        "n": version.number
    }
    messages.success(request, message)
    if has_uneven_demands(to_drafts(content)):
        messages.warning(request, str(UNEVEN))
    where = reverse("annotation:campaign", args=[benchmark.slug, campaign.pk])
    return JsonResponse({"go": where}) if is_script_request(request) else redirect(where)


def _render_form(
    request: HttpRequest, benchmark: Benchmark, campaign: Campaign, content: dict[str, Any], shown: int,
    opened: str = "", *, wrong: list[StageProblem] | None = None, status: int = 200,
) -> HttpResponse:  # fmt: skip
    cohorts = [row.cohort for row in campaign.cohorts.select_related("cohort")]
    page = instruction_page(content, cohorts, languages_of(cohorts), shown, wrong or ())
    context = {
        "benchmark": benchmark, "campaign": campaign, "page": page, "opened": opened, "wrong": page.wrong,
        "nav": tabs_for(request.user, benchmark, "campaigns"), "who_place": benchmark.name,
    }  # fmt: skip
    template = "annotation/protocol/form.html" if is_script_request(request) else "annotation/protocol/write.html"
    return render(request, template, context, status=status)
