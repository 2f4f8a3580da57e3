from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from jobs.access import job_for
from jobs.formats.csv_safety import csv_lines
from jobs.formats.numbers import parse_int
from jobs.models import Job
from jobs.pages.progress import progress_context
from jobs.queries import job_reports
from jobs.services import lifecycle
from jobs.services.lifecycle import CannotResume, request_cancel


@login_required
@require_safe
def job(request: HttpRequest, job_id: int) -> HttpResponse:
    job, place = job_for(request.user, job_id)
    counts = job_reports.counts(job)
    has_errors = any(outcome == "error" for outcome, _words, _n in counts)
    only_errors = request.GET.get("show", "errors" if has_errors else "all") == "errors"
    rows, further = job_reports.page(job, only_errors=only_errors, after=parse_int(request.GET.get("after")))
    context = progress_context(job, place) | {
        "rows": rows,
        "further": further,
        "show": "errors" if only_errors else "all",
        "has_errors": has_errors,
        "nav": place.nav,
        "who_place": place.name,
    }
    return render(request, "jobs/job.html", context)


@login_required
@require_safe
def progress(request: HttpRequest, job_id: int) -> HttpResponse:
    """What the page asks for every two seconds; once the work is over it reloads, and asks no more."""
    job, place = job_for(request.user, job_id)
    if job.state not in Job.LIVE:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render(request, "jobs/progress.html", progress_context(job, place))


@login_required
@require_POST
def cancel(request: HttpRequest, job_id: int) -> HttpResponse:
    job, _place = job_for(request.user, job_id, change=True)
    request_cancel(job, request.user)
    return redirect("jobs:job", job.pk)


@login_required
@require_POST
def resume(request: HttpRequest, job_id: int) -> HttpResponse:
    job, _place = job_for(request.user, job_id, change=True)
    try:
        lifecycle.resume(job, request.user)
    except CannotResume:
        messages.info(request, _("There is nothing to resume. The job is running or done."))
    return redirect("jobs:job", job.pk)


@login_required
@require_safe
def rows_csv(request: HttpRequest, job_id: int) -> HttpResponseBase:
    job, _place = job_for(request.user, job_id)
    rows = job_reports.stream(job, only_errors=request.GET.get("show") == "errors")
    lines = csv_lines(("row", "name", "outcome", "reason", "message"), rows)
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="job-{job.pk}-rows.csv"'
    return response
