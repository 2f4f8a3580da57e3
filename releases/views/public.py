"""The public page of a benchmark: for everybody, once its owner has made it public."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from benchmarks.access import public_benchmark_for
from releases.pages.public_page import public_page


@require_safe
@never_cache
def page(request: HttpRequest, slug: str) -> HttpResponse:
    return render(request, "releases/public.html", {"page": public_page(public_benchmark_for(slug))})
