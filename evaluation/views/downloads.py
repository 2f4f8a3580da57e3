"""A report as a file: one way to say what it cannot be made of."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import get_language

from annotation.pages.status_text import time_zone_for
from benchmarks.access import benchmark_for
from evaluation.reports.report_files import TYPES, report_kind
from evaluation.selections.catalogue import catalogue_of
from evaluation.selections.selection import SelectionError
from people.views.request_helpers import current_user


def download(request: HttpRequest, slug: str, key: str, form: str) -> HttpResponse:
    """The report that the address asks for; 409 while there is no campaign, 400 for what is not there."""
    kind = report_kind(key)
    assert kind is not None
    user = current_user(request)
    catalogue = catalogue_of(benchmark_for(user, slug, can=kind.can))
    if kind.needs_campaign and not catalogue.stages:
        return JsonResponse({"error": "No campaign has been opened yet."}, status=409)
    try:
        report = kind.build(catalogue, request.GET, time_zone_for(user), timezone.now())
        return _response(kind.forms[form](report, request.GET, get_language() or "en"), form, f"{slug}-{key}")
    except SelectionError as error:
        return JsonResponse({"error": error.message, "parameter": error.name}, status=400)


def _response(content: Any, form: str, name: str) -> HttpResponse:
    if form == "json":
        return JsonResponse(content)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{form}"'} if form == "csv" else {}
    return HttpResponse(content, content_type=TYPES[form], headers=headers)
