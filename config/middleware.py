import codecs
import re
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from config.deadline import KEY as BODY_KEY
from config.deadline import RETRY_SECONDS, SMALL_BYTES, RequestBody

UNREADABLE = "?"
API = "/api/v1/"
BYTES_OF_PICTURE = re.compile(rf"^{API}benchmarks/[^/]+/images/[0-9a-f]{{64}}/$")
IMPORTS = re.compile(rf"^{API}benchmarks/[^/]+/imports/$")
FILES = ("/import/", "/predictions/collection/", "/predictions/run/")  # files of up to IMPORT_MAX_BYTES
PICTURES = ("/picture", "/submit")  # without a script, a picture comes with the sheet


class SelectiveGZip(GZipMiddleware):
    """Pages and JSON, not pictures and archives: those are compressed already, and must stream as they are."""

    def process_response(self, request: HttpRequest, response: Any) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "")
        if response.streaming or not kind.startswith(("text/", "application/json")):
            return response  # type: ignore[no-any-return]
        return super().process_response(request, response)


class StrictRequest(WSGIRequest):
    """A request whose Content-Type cannot be read is refused by `BodyLimits`, where Django would stop with an error."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]
        except (LookupError, ValueError):
            self.content_type, self.content_params, self._encoding = "", {"charset": UNREADABLE}, None


class BodyLimits:
    """Refuses what no form of the site sends, before it is read: another character set, or too much at once."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        charset = (request.content_params or {}).get("charset")
        if charset and not _is_utf8(charset):
            request.encoding = "utf-8"  # so that the page that refuses it can be made
            raise BadRequest
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Runs before the CSRF check, which reads the body, and keeps what is long on disk."""
        if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
            words = _("The upload has no Content-Length header. Upload it through the form, or add the header.")
            return refusal(request, words, 411)
        length = _length(request)
        if length and length > (most := _max_bytes(request)):
            if _is_sheet_of_visitor(request):  # 403 makes the sheet ask for the password, and then send again
                return HttpResponse(_("Sign in, then send it again."), "text/plain; charset=utf-8", 403)
            words = _("The upload is too large. The maximum is %(most)s.") % {"most": filesizeformat(most)}
            return refusal(request, words, 413)
        return _busy_response(request) if length else None


def _busy_response(request: HttpRequest) -> HttpResponse | None:
    """503 while too many threads read bodies (config/deadline.py); before the sender is asked for a byte."""
    body = request.META.get(BODY_KEY)
    if not isinstance(body, RequestBody):
        return None
    if request.user.is_authenticated:
        body.set_sender(str(request.user.pk))
    if body.admit():
        return None
    words = _("The site is receiving many uploads. Your upload was not processed. Wait a few seconds, then try again.")
    response = refusal(request, words, 503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response


def _sender(request: HttpRequest) -> Any:
    """Who is signed in, else the person of a program's valid token, else None. Asked only of bodies, and before they
    are read."""
    from people.services.tokens import find_token

    if request.user.is_authenticated:
        return request.user
    kind, _space, text = request.headers.get("Authorization", "").partition(" ")
    if not request.path_info.startswith(API) or kind.lower() != "bearer" or _length(request) <= SMALL_BYTES:
        return None
    token = find_token(text.strip(), timezone.now())
    return token.user if token else None


def _is_sheet_of_visitor(request: HttpRequest) -> bool:
    return not request.user.is_authenticated and request.headers.get("X-Requested-With") == "emic"


def _max_bytes(request: HttpRequest) -> int:
    """Bytes. Only who is of a team imports; the form says the same of the file alone."""
    least = settings.BODY_MAX_BYTES
    sender = _sender(request)
    if sender is None:
        return min(SMALL_BYTES, least)
    if _length(request) <= least:
        return least
    if request.method == "PUT" and BYTES_OF_PICTURE.search(request.path_info):
        return max(settings.IMAGE_MAX_BYTES, least)
    if IMPORTS.search(request.path_info) and sender.team_memberships.exists():
        return settings.IMPORT_MAX_BYTES + least
    if not request.user.is_authenticated:
        return least
    if request.path_info.endswith(FILES) and request.user.team_memberships.exists():
        return settings.IMPORT_MAX_BYTES + least
    return settings.UPLOAD_MAX_BYTES + least if request.path_info.endswith(PICTURES) else least


def refusal(request: HttpRequest, words: str, status: int) -> HttpResponse:
    """A page for who reads one, a problem document for a program; scripts take the words alone."""
    if request.path_info.startswith(API):
        from api.protocol.problems import plain_response

        return plain_response(status, words)
    if "text/html" not in request.headers.get("Accept", ""):
        return HttpResponse(words, "text/plain; charset=utf-8", status)
    referer = request.headers.get("Referer", "")
    is_local = url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure())
    return render(request, "413.html", {"words": words, "back": referer if is_local else ""}, status=status)


def _is_utf8(charset: str) -> bool:
    try:
        return codecs.lookup(charset).name == "utf-8"
    except LookupError:
        return charset != UNREADABLE  # Django passes over a name nobody knows


def _length(request: HttpRequest) -> int:
    """What is not a number is read as nothing by Django as well."""
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
