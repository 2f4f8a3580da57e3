"""Where documentation is: what this site serves of it, and that the guides lie with the source code."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def documentation(request: HttpRequest) -> HttpResponse:
    """For everybody. The guides need a build step and are not part of an installed site."""
    return render(request, "api/documentation.html")
