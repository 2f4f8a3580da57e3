"""Signing in to a demo account with one press, and its way through the site."""

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from demo.guide import BY_KEY, guide_of
from people.models import User
from people.pages.tabs import tabs_for
from people.queries import mail_status
from people.views.accept_links import BACKEND
from people.views.request_helpers import current_user
from people.views.sign_in import CHOSEN_LANGUAGE


def has_one_press() -> bool:
    """Whether visitors sign in to demo accounts without a password: on a site that only this machine reaches, or where
    its operator wants it.
    """
    return settings.DEMO and (settings.DEMO_SIGN_IN or not mail_status.is_public_site())


@never_cache
@require_POST
def enter(request: HttpRequest, slug: str) -> HttpResponse:
    """Never an admin: an account that became one needs its password."""
    guide = BY_KEY.get(slug)
    if guide is None or not guide.one_press or not has_one_press():
        raise Http404
    user = get_object_or_404(User, email=guide.email, is_active=True, is_staff=False, is_superuser=False)
    request.session.pop(CHOSEN_LANGUAGE, None)  # a visitor's choice is not the language of the account
    login(request, user, backend=BACKEND)
    return redirect("demo:tour")


def tour_link(request: HttpRequest) -> dict[str, str]:
    """For the bar of every page: the way back to the tour, for the accounts of the demo. A context processor."""
    user = getattr(request, "user", None)
    if not settings.DEMO or not isinstance(user, User) or guide_of(user) is None:
        return {}
    return {"tour_url": reverse("demo:tour"), "tour_label": "Tour"}


@login_required
@require_safe
def tour(request: HttpRequest) -> HttpResponse:
    """404 for everybody but the accounts of the demo."""
    user = current_user(request)
    guide = guide_of(user) if settings.DEMO else None
    if guide is None:
        raise Http404
    steps = [(step, step.page.resolve()) for step in guide.steps]
    return render(request, "demo/tour.html", {"guide": guide, "steps": steps, "nav": tabs_for(user, "tour")})
