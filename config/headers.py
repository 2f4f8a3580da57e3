"""Headers that every answer carries: what a page may use of the device, and who may keep it."""

from collections.abc import Callable
from typing import Any

from csp.constants import HEADER
from csp.middleware import CSPMiddleware
from csp.utils import build_policy
from django.http import HttpRequest, HttpResponseBase

PERMISSIONS = "camera=(), geolocation=(), microphone=()"
PRIVATE = "private, no-store"


class Headers:
    """No proxy and no browser keeps what a signed-in person gets, but for pictures, which have signed addresses."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        if not is_picture(request, response) and request.user.is_authenticated:
            cache_control = response.headers.get("Cache-Control", "")
            if not ("private" in cache_control and "no-store" in cache_control):
                response.headers["Cache-Control"] = PRIVATE
        return response


def is_picture(request: HttpRequest, response: HttpResponseBase) -> bool:
    """Pictures of items, which say nothing about who looks at them. A figure of results is a page."""
    return request.path_info.startswith("/image/")


class ContentSecurityPolicy(CSPMiddleware):
    """The policy of the settings, which is written once. One that a view changed is written for each answer."""

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        self.policy = build_policy()

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if HEADER in response or any(name.startswith("_csp_") for name in vars(response)):
            return super().process_response(request, response)
        response[HEADER] = self.policy
        return response
