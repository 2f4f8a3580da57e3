"""Agreement of reviewers: the page, and the same numbers as CSV."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.access import benchmark_for
from benchmarks.pages.tabs import tabs_for
from evaluation.rendering.html import page_table
from evaluation.reports.report_requests import reviewed_stages
from evaluation.reports.reviewers import reviewer_agreement
from evaluation.views.downloads import download


@never_cache
@login_required
@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """For those who review."""
    benchmark = benchmark_for(request.user, slug, can="review")
    stages = reviewed_stages(benchmark)
    table = page_table(reviewer_agreement(stages), "reviewers", _("Agreement of reviewers, by stage"))
    nav = tabs_for(request.user, benchmark, "review")
    context = {"benchmark": benchmark, "nav": nav, "who_place": benchmark.name, "stages": stages, "table": table}
    return render(request, "evaluation/reviewers.html", context)


@never_cache
@login_required
@require_safe
def as_csv(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, "reviewers", "csv")
