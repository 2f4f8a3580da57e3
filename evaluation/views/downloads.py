"""A report as a file: one way to say what it cannot be made of."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from django.http import HttpRequest, HttpResponse, JsonResponse

from benchmarks.access import benchmark_for
from evaluation.selections.catalogue import Catalogue, catalogue_of
from evaluation.selections.selection import SelectionError

Report = TypeVar("Report")


def download(
    request: HttpRequest,
    slug: str,
    make: Callable[[Catalogue, HttpRequest], Report],
    write: Callable[[Report], HttpResponse],
) -> HttpResponse:
    """The report that the address asks for; 409 while there is no campaign, 400 for what is not there."""
    catalogue = catalogue_of(benchmark_for(request.user, slug))
    if not catalogue.stages:
        return JsonResponse({"error": "No campaign has been opened yet."}, status=409)
    try:
        return write(make(catalogue, request))
    except SelectionError as error:
        return JsonResponse({"error": error.message, "parameter": error.name}, status=400)


def as_table(lines: Iterable[str], name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse("".join(lines), content_type="text/csv; charset=utf-8", headers=headers)
