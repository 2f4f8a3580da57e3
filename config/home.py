from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

from config.site_footer import site_footer
from demo.guide import GUIDES
from demo.views import has_one_press
from people.forms.persons import SignInForm
from people.services.site_setup import is_set_up
from people.views.request_helpers import current_user
from releases.pages.public_page import front_page


def home(request: HttpRequest) -> HttpResponse:
    """Where nobody has an account yet, the site is set up; visitors see what it is for."""
    if request.user.is_authenticated:
        return own_home(request)
    return front(request) if is_set_up() else redirect("people:site_setup")


@never_cache
@require_safe
@ensure_csrf_cookie
def front(request: HttpRequest) -> HttpResponse:
    """What Emic is, a public benchmark if there is one, the form to sign in, the accounts of a demo, and who runs
    the site."""
    form = SignInForm(request)
    form.fields["username"].widget.attrs["autofocus"] = False  # a phone would scroll to it, past the picture
    demo = {"guides": GUIDES if settings.DEMO else (), "one_press": has_one_press()}
    context = {"form": form, "page": front_page(), "footer": site_footer()} | demo
    return render(request, "front.html", context)


@login_required
def own_home(request: HttpRequest) -> HttpResponse:
    """Researchers land on their benchmarks, managers who do not rate on their cohort or on the list of their cohorts,
    everybody else on their work."""
    user = current_user(request)
    if user.is_staff or user.team_memberships.exists():
        return redirect("benchmarks:list")
    if user.managed_cohorts.exists() and not user.cohort_memberships.filter(left_at__isnull=True).exists():
        [first, *others] = user.managed_cohorts.values_list("cohort", flat=True)[:2]
        return redirect("people:teams") if others else redirect("annotation:cohort", first)
    return redirect("annotation:work")
