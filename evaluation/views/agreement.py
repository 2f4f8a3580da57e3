"""Agreement: the page, its live part, and the same report as JSON, CSV and LaTeX."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotation.pages.status_text import time_zone_for
from annotation.queries.answers import watermark
from benchmarks.access import benchmark_for, is_permitted
from benchmarks.pages.tabs import tabs_for
from evaluation.rendering.sorting import PARAM
from evaluation.reports import stored_agreement
from evaluation.reports.agreement import AgreementReport
from evaluation.reports.agreement_page import cached_state, client_state, report_context
from evaluation.reports.alpha_check import check_context
from evaluation.reports.filters import filters
from evaluation.reports.linked_stages import linked_stages
from evaluation.reports.report_requests import agreement_selection
from evaluation.reports.stored_agreement import load_report
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.measures import CODED
from evaluation.selections.selection import Selection, SelectionError
from evaluation.services.snapshots import ReportState, may_request
from evaluation.views.downloads import download
from people.access import may_manage
from people.views.request_helpers import current_user


def _language() -> str:
    return get_language() or "en"


def parse_selection(catalogue: Catalogue, request: HttpRequest) -> Selection:
    """By the days of who reads. Raises SelectionError."""
    return agreement_selection(catalogue, request.GET, time_zone_for(current_user(request)))


def _report(catalogue: Catalogue, request: HttpRequest) -> tuple[AgreementReport, ReportState]:
    return load_report(catalogue, parse_selection(catalogue, request), timezone.now())


def _report_data(report: AgreementReport, state: ReportState, request: HttpRequest) -> dict[str, Any]:
    """For templates/evaluation/parts/report.html, with how old it is."""
    user = current_user(request)
    context = report_context(report, _language(), request.GET.get(PARAM, ""))
    return context | cached_state(state, time_zone_for(user)) | _next_steps(report, user)


def _next_steps(report: AgreementReport, user: Any) -> dict[str, Any]:
    """While nothing has come in: where people are invited, campaigns opened and ratings brought."""
    benchmark, selection = report.catalogue.benchmark, report.selection
    if report.n_ratings:
        return {}
    cohorts = [report.catalogue.cohorts[pk] for pk in selection.cohorts]
    return {
        "benchmark": benchmark,
        "works": is_permitted(user, benchmark, "work_on"),
        "nothing_of": selection.campaigns[-1],
        "invites": [cohort for cohort in cohorts if may_manage(user, cohort)],
    }


def _over_time_link(selection: Selection) -> str:
    """Of weeks: what the figure that draws them as a line is asked; only questions with codes have one."""
    if selection.by != "time" or selection.level not in CODED:
        return ""
    return urlencode([pair for pair in selection.to_params() if pair[0] != "by"]) or "by=cohort"


@login_required
@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug)
    catalogue = catalogue_of(benchmark)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "agreement"),
        "who_place": benchmark.name,
        "works": is_permitted(request.user, benchmark, "work_on"),
    }
    if not catalogue.stages:
        return render(request, "evaluation/agreement_empty.html", context)
    try:
        selection = parse_selection(catalogue, request)
    except SelectionError as error:
        return render(request, "evaluation/not_selectable.html", context | {"error": error}, status=400)
    report, found = load_report(catalogue, selection, timezone.now())
    query = urlencode(selection.to_params())
    context |= _report_data(report, found, request) | filters(catalogue, selection, _language())
    shown = urlencode(selection.to_params() + ([(PARAM, context["sorted_by"])] if context["sorted_by"] else []))
    context |= {"query": query, "live": reverse("evaluation:agreement_live", args=[slug]) + "?" + shown}
    context["course"] = _over_time_link(selection)
    linked = linked_stages(benchmark, selection.stage, timezone.now(), time_zone_for(current_user(request)))
    context |= {"linked": linked, "stage_key": selection.stage}
    return render(request, "evaluation/agreement.html", context | check_context(report, request.GET))


@login_required
@require_safe
@never_cache
def live(request: HttpRequest, slug: str) -> HttpResponse:
    """204 while nothing changed. That path is one SUM over at most 16 rows per cohort of a campaign."""
    benchmark = benchmark_for(request.user, slug)
    client_watermark = request.GET.get("seen", "")
    if client_watermark == str(watermark(benchmark)):
        return HttpResponse(status=204)
    try:
        report, state = _report(catalogue_of(benchmark), request)
    except SelectionError as error:
        return HttpResponse(error.message, status=400, content_type="text/plain; charset=utf-8")
    if client_watermark == client_state(state):
        return HttpResponse(status=204)
    return render(request, "evaluation/parts/report.html", _report_data(report, state, request))


@login_required
@require_POST
def recompute(request: HttpRequest, slug: str) -> HttpResponse:
    """Have a kept report made anew by a worker; the page shows it when it is there."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    catalogue = catalogue_of(benchmark)
    if not catalogue.stages:
        raise Http404
    try:
        selection = parse_selection(catalogue, request)
    except SelectionError as error:
        return HttpResponse(error.message, status=400, content_type="text/plain; charset=utf-8")
    if not may_request(current_user(request).pk):
        messages.error(request, _("Too many requests. Try again in ten minutes."))
    elif stored_agreement.request(benchmark, selection, timezone.now()):
        messages.info(request, _("The report is being recomputed. The page updates when it is ready."))
    else:
        messages.info(request, _("These results are not cached. They are computed on every visit."))
    order = [(PARAM, request.GET[PARAM])] if PARAM in request.GET else []
    return redirect(reverse("evaluation:agreement", args=[slug]) + "?" + urlencode(selection.to_params() + order))


@login_required
@require_safe
@never_cache
def as_file(request: HttpRequest, slug: str, key: str, form: str) -> HttpResponse:
    """Agreement, or the line of every question, as a file."""
    return download(request, slug, key, form)
