"""What the views of this app share about requests."""

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from people.models import User


def person(request: HttpRequest) -> User:
    """Who is asking. Only behind `login_required`."""
    assert isinstance(request.user, User)
    return request.user


def next_url(request: HttpRequest, otherwise: str) -> str:
    """Where the request asks to go on, if that is on this site; else the page named `otherwise`."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    here = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if here else reverse(otherwise)
