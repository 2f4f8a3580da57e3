"""Answers out of a file, for those who plan a campaign."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotation.access import campaign_for
from annotation.forms.answer_files import AnswersForm
from annotation.imports import example
from annotation.models import Campaign
from annotation.pages.campaigns import REFUSALS
from annotation.services.campaigns.lifecycle import CampaignRefused, items_of
from annotation.services.files import answer_files, withdrawals
from annotation.services.files.campaigns import can_create_items, open_for_imports
from annotation.services.sheets.sheet_versions import sheet_of
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from jobs.formats.csv_safety import csv_lines
from jobs.models import Job
from people.views.request_helpers import current_user

SHOWN = 20


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def import_answers(request: HttpRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Upload a file of answers. The work itself is a job; its page follows it."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    campaign = campaign_for(request.user, benchmark, campaign_id)
    if request.POST.get("do") == "open" and campaign.opened_at is None:
        return _open_for_imports(request, campaign)
    if "example" in request.GET:
        return _example(campaign)
    form = AnswersForm(request.POST, request.FILES) if request.method == "POST" else AnswersForm()
    takes = campaign.opened_at is not None
    if request.method == "POST" and takes and _check_open(form, campaign):
        form_data = form.cleaned_data
        job = answer_files.start(
            campaign, current_user(request), form_data["file"], makes_items=form_data["makes_items"]
        )
        return redirect("jobs:job", job.pk)
    context: dict[str, Any] = {
        "benchmark": benchmark,
        "campaign": campaign,
        "form": form,
        "takes": takes,
        "questions": example.questions(sheet_of(campaign.sheet_version), get_language() or "en"),
        "imports": [(job, withdrawals.answers_of(job)) for job in imports_of(benchmark, campaign)],
        "nav": tabs_for(request.user, benchmark, "campaigns"),
        "who_place": benchmark.name,
    }
    status = 400 if form.errors or (request.method == "POST" and not takes) else 200
    return render(request, "annotation/campaigns/import.html", context, status=status)


def _example(campaign: Campaign) -> HttpResponse:
    """A table with this sheet's own keys and codes, this campaign's cohorts, and items of its stage."""
    items = list(items_of(campaign).order_by("pk").values_list("key", flat=True)[:2])
    cohorts = list(campaign.cohorts.order_by("cohort__label").values_list("cohort__label", flat=True))
    rows = example.rows(sheet_of(campaign.sheet_version), items, cohorts, has_target=campaign.stage.has_target)
    response = HttpResponse("".join(csv_lines(example.HEAD, rows)), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = 'attachment; filename="ratings.csv"'
    return response


def _check_open(form: AnswersForm, campaign: Campaign) -> bool:
    if form.is_valid() and form.cleaned_data["makes_items"] and not can_create_items(campaign):
        form.refuse_handing_out()
    return form.is_valid()


def _open_for_imports(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        open_for_imports(campaign, current_user(request), timezone.now())
    except CampaignRefused as refused:
        for reason in refused.reasons:
            messages.error(request, str(REFUSALS.get(reason, reason)))
    else:
        messages.info(request, _("The campaign is open for imports. It is paused, so no work is assigned."))
    return redirect("annotation:answers_import", campaign.stage.benchmark.slug, campaign.pk)


def imports_of(benchmark: Benchmark, campaign: Campaign) -> list[Job]:
    rows = Job.objects.filter(kind__in=withdrawals.KINDS, scope=benchmark.scope, params__campaign=campaign.pk)
    return list(rows.select_related("created_by").order_by("-pk")[:SHOWN])


@login_required
@require_POST
def withdraw(request: HttpRequest, slug: str, campaign_id: int, job_id: int) -> HttpResponse:
    benchmark = benchmark_for(request.user, slug, can="work_on")
    campaign = campaign_for(request.user, benchmark, campaign_id)
    job = Job.objects.filter(pk=job_id, kind__in=withdrawals.KINDS, params__campaign=campaign.pk).first()
    if job is None:
        raise Http404
    if job.state in Job.LIVE:
        messages.info(request, _("This import is under way. Stop it first, then withdraw its answers."))
    else:
        n = withdrawals.withdraw(job, current_user(request), timezone.now())
        text = ngettext("%(n)s answer was withdrawn. It is kept but not counted.",
                        "%(n)s answers were withdrawn. They are kept but not counted.", n)  # fmt: skip
        messages.info(request, text % {"n": n})
    return redirect("annotation:answers_import", slug, campaign.pk)
