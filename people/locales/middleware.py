from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone, translation

from people.locales import overlay
from people.locales.time_zones import zone_named


class PersonLocaleMiddleware:
    """The interface speaks the person's language and shows their clock; before sign-in, the browser's language."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info.startswith("/image/"):  # says nothing to anybody, so it need not ask who is there
            return self.get_response(request)
        chosen, zone = "", None
        if request.user.is_authenticated:
            chosen, zone = request.user.language, zone_named(request.user.time_zone)
        known = chosen if chosen in dict(settings.LANGUAGES) else ""
        language = known or translation.get_language_from_request(request)
        overlay.refresh(language)
        with translation.override(language), timezone.override(zone):
            response = self.get_response(request)
            response.headers.setdefault("Content-Language", translation.get_language() or "en")
            if is_asked_by_script(request) and request.user.is_authenticated:
                response.headers["X-Emic-Person"] = str(request.user.pk)  # a page that is another's goes away
        return response


def is_asked_by_script(request: HttpRequest) -> bool:
    """By a page's script, or by the service worker for a page: both keep something of a person on the device."""
    return (
        request.headers.get("X-Requested-With") == "emic"
        or request.headers.get("Service-Worker-Navigation-Preload") == "true"
    )
