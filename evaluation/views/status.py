from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from evaluation.queries.status import status
from people.pages.tabs import tabs_for


@login_required
@require_safe
@never_cache
def page(request: HttpRequest) -> HttpResponse:
    """For site admins; to everybody else it is not there."""
    assert request.user.is_authenticated
    if not request.user.is_staff:
        raise Http404
    context = {"status": status(timezone.now()), "nav": tabs_for(request.user, "status")}
    return render(request, "evaluation/status.html", context)
