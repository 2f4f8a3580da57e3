"""Refuses a sign-in from an address that failed too often, before the password is looked at; and password mails."""

from collections.abc import Callable
from functools import wraps
from math import ceil
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import ngettext

from people.services.limits import login_throttle_keys, sign_in_limit

View = Callable[..., HttpResponseBase]


def limit_failures(view: View) -> View:
    """For a view that signs in by POST. Answers 429 with Retry-After; a script gets the words as JSON."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST":
            seconds = sign_in_limit.seconds_to_wait(login_throttle_keys.client_address(request), timezone.now())
            if seconds:
                return refuse(request, seconds)
        return view(request, *args, **kwargs)

    return wrapped


def refuse(request: HttpRequest, seconds: int) -> HttpResponse:
    minutes = ceil(seconds / 60)
    words = ngettext(
        "Too many sign-ins with a wrong password came from your network. Try again in %(n)s minute.",
        "Too many sign-ins with a wrong password came from your network. Try again in %(n)s minutes.",
        minutes,
    ) % {"n": minutes}
    return _refusal(request, seconds, words, "people/too_many_failures.html")


def refuse_password_mail(request: HttpRequest, seconds: int) -> HttpResponse:
    minutes = ceil(seconds / 60)
    words = ngettext(
        "Too many password e-mails were requested from your network. Try again in %(n)s minute.",
        "Too many password e-mails were requested from your network. Try again in %(n)s minutes.",
        minutes,
    ) % {"n": minutes}
    return _refusal(request, seconds, words, "people/too_many_requests.html")


def _refusal(request: HttpRequest, seconds: int, words: str, template: str) -> HttpResponse:
    response: HttpResponse
    if request.headers.get("X-Requested-With") == "emic":
        response = JsonResponse({"words": words}, status=429)
    else:
        response = render(request, template, {"words": words}, status=429)
    response.headers["Retry-After"] = str(seconds)
    return response
