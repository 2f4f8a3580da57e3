from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from annotation.models import Campaign
from annotation.queries.answers import withdrawn_of
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from benchmarks.pages.tabs import tabs_for
from people.models import User
from releases.forms.exports import ExportForm
from releases.services import export_files
from releases.services.exports import export


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Those who work on a benchmark may take its ratings. By POST, since it leaves an event."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    form = ExportForm(request.POST if request.method == "POST" else None, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        return _download(request, form)
    return _show(request, benchmark, form)


def _download(request: HttpRequest, form: ExportForm) -> StreamingHttpResponse:
    assert request.user.is_authenticated
    stage = form.cleaned_data["stage"]
    campaigns = form.campaigns()
    kind, versions = form.cleaned_data["form"], form.cleaned_data["versions"]
    name, pieces = export(stage, campaigns, kind, request.user, timezone.now(), versions=versions)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(pieces, content_type="application/zip", headers=headers)


@login_required
@require_safe
@never_cache
def file(request: HttpRequest, slug: str, job_id: int) -> HttpResponseBase:
    """The file that a job has written."""
    job = get_object_or_404(export_files.exports_of(benchmark_for(request.user, slug, can="work_on")), pk=job_id)
    assert isinstance(request.user, User)
    stored = export_files.find_file(job)
    if stored is None:
        raise Http404
    content = export_files.open_file(job, stored, request.user)
    return FileResponse(content, as_attachment=True, filename=stored.name, content_type="application/zip")


def _show(request: HttpRequest, benchmark: Benchmark, form: ExportForm) -> HttpResponse:
    context = {
        "benchmark": benchmark,
        "nav": tabs_for(request.user, benchmark, "export"),
        "who_place": benchmark.name,
        "form": form,
        "withdrawn": withdrawn_of(benchmark),
        "something": Campaign.objects.filter(stage__benchmark=benchmark).exclude(opened_at=None).exists(),
    }
    return render(request, "releases/export.html", context, status=400 if form.errors else 200)
