"""The page that `type` of every problem document leads to."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from api.protocol.problem_codes import PROBLEM_CODES


@require_safe
def problems(request: HttpRequest) -> HttpResponse:
    """For everybody: a program that was refused may have no account."""
    return render(request, "api/problems.html", {"codes": PROBLEM_CODES.items()})
