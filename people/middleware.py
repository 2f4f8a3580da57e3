from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils import translation


class PersonLocaleMiddleware:
    """The interface speaks the person's language; before sign-in, the browser's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        chosen = getattr(request.user, "language", "") if request.user.is_authenticated else ""
        language = chosen or translation.get_language_from_request(request)
        with translation.override(language):
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or "en")
        return response
