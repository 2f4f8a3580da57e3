from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from people.services.site_setup import is_set_up
from people.views.request_helpers import current_user


def home(request: HttpRequest) -> HttpResponse:
    """Where nobody has an account yet, the site is set up."""
    if not request.user.is_authenticated and not is_set_up():
        return redirect("people:site_setup")
    return own_home(request)


@login_required
def own_home(request: HttpRequest) -> HttpResponse:
    """Researchers land on their benchmarks, managers who do not rate on their cohorts, everybody else on their work."""
    user = current_user(request)
    if user.is_staff or user.team_memberships.exists():
        return redirect("benchmarks:list")
    if user.managed_cohorts.exists() and not user.cohort_memberships.filter(left_at__isnull=True).exists():
        return redirect("people:teams")
    return redirect("annotation:work")
