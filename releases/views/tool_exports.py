"""Answers as files for another tool; what is lost stands beside each before anything is downloaded."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from benchmarks.access import benchmark_for
from benchmarks.pages.tabs import tabs_for
from people.views.request_helpers import current_user
from releases.forms.exports import ToolExportForm
from releases.services.tool_exports import export_for_tool
from releases.writers.registry import BY_KEY, WRITERS


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponseBase:
    """By POST, since it leaves an event."""
    benchmark = benchmark_for(request.user, slug, can="work_on")
    posted = (request.POST, request.FILES) if request.method == "POST" else ()
    form = ToolExportForm(*posted, benchmark=benchmark)
    if request.method == "POST" and form.is_valid():
        data, writer = form.cleaned_data, BY_KEY[form.cleaned_data["form"]]
        name, pieces = export_for_tool(
            data["stage"], form.campaigns(), writer, current_user(request), timezone.now(), emails=data["emails"]
        )
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return StreamingHttpResponse(pieces, content_type="application/zip", headers=headers)
    context = {
        "benchmark": benchmark, "nav": tabs_for(request.user, benchmark, "export"), "who_place": benchmark.name,
        "form": form, "writers": WRITERS, "something": form.fields["stage"].queryset.exists(),  # type: ignore[attr-defined]
    }  # fmt: skip
    return render(request, "releases/tool_export.html", context, status=400 if form.errors else 200)
