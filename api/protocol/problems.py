"""Every error as a problem document (RFC 9457), in the words the pages use."""

import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, JsonResponse
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from api.protocol.authentication import ScopeMissing, TokenLimited
from api.protocol.refusals import refusal_of
from api.schemas.problems import KIND
from evaluation.selections.selection import SelectionError
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import InvalidOption
from releases.rows.filters import RowFilterError

PAGE = "/docs/reference/api/problems"
CODES = {
    400: "invalid-request",
    401: "authentication-required",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    409: "no-data",
    413: "content-too-large",
    415: "unsupported-media-type",
    416: "range-not-satisfiable",
    422: "refused",
    429: "too-many-requests",
    500: "server-error",
    503: "unavailable",
    507: "insufficient-storage",
}
log = logging.getLogger(__name__)


class ApiProblem(Exception):
    """Why a request is refused; `detail` says what to do. Subclasses name the status and the code."""

    status, code = 400, ""

    def __init__(self, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.detail, self.headers, self.more = detail, headers or {}, more


class BadContent(ApiProblem):
    """The body is not as it is described: `errors` has each member with a wrong type or an unknown name."""

    code = "invalid-content"

    def __init__(self, errors: Sequence[Mapping[str, str]]) -> None:
        super().__init__(_("The body is not as it is described."), errors=list(errors))


class Refused(ApiProblem):
    """The content is as it is described, and cannot be done."""

    status, code = 422, "refused"


class Conflict(ApiProblem):
    """It cannot be done in the present state of things."""

    status, code = 409, "conflict"


class NoData(Exception):
    """There is nothing to compute from; `message` says what to bring."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidParameter(exceptions.APIException):
    """A parameter of the address is unknown, or its value is wrong."""

    status_code = 400

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class TooManyStreams(exceptions.Throttled):
    """The person, or this process of the site, is reading as many streams as it may."""


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """What the pages answer with: 400 names the parameter, 404 is all a stranger learns, 409 says what to bring."""
    if isinstance(error, ApiProblem):
        headers = dict(error.headers)
        return _problem(error.status, _title(error.status), error.detail, headers, code=error.code, **error.more)
    if (known := refusal_of(error)) is not None:
        status, code, words = known
        return _problem(status, _title(status), words, code=code)
    if isinstance(error, SelectionError | InvalidOption | RowFilterError):
        return _problem(400, _("This cannot be shown"), error.message, parameter=error.name)
    if isinstance(error, InvalidParameter):
        return _problem(400, _("This cannot be shown"), str(error.detail), parameter=error.name)
    if isinstance(error, MissingData | NoData):
        return _problem(409, _("Nothing to compute from"), str(error.message))
    if isinstance(error, Http404):
        return _problem(404, *not_found_response())
    if isinstance(error, ScopeMissing):
        title = _("The token does not allow this")
        return _problem(403, title, str(error.detail), code=error.default_code, needs=error.needs)
    if isinstance(error, TokenLimited):
        return _problem(403, _("The token does not allow this"), str(error.detail), code=error.default_code)
    if isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    response = exception_handler(error, context)
    if response is None:
        return None  # a mistake of ours: the site's own page and log
    detail = str(error.detail) if isinstance(error, exceptions.APIException) else ""
    headers = {name: response[name] for name in ("WWW-Authenticate", "Retry-After") if response.has_header(name)}
    return _problem(response.status_code, _title(response.status_code), detail, headers)


def not_found_response() -> tuple[str, str]:
    return _("Not found"), _("The resource does not exist, or you have no access.")


def _title(status: int) -> str:
    titles = {
        401: _("Authentication required"),
        403: _("Forbidden"),
        404: _("Not found"),
        405: _("Method not available"),
        406: _("Only JSON is available"),
        409: _("Not possible at present"),
        410: _("No longer available"),
        412: _("Changed since it was read"),
        413: _("Too large"),
        415: _("Only JSON is accepted"),
        416: _("No such part of the file"),
        422: _("Refused"),
        428: _("If-Match is missing"),
        429: _("Too many requests"),
    }
    return titles.get(status, _("This request cannot be answered"))


def _problem(
    status: int, title: str, detail: str, headers: dict[str, str] | None = None, **more: Any
) -> Response:  # fmt: skip
    content = document(status, title, detail, **more)
    log.info("API request %s was answered with %d %s", content["instance"], status, content["code"])
    headers = (headers or {}) | {"X-Request-Id": content["instance"]}
    return Response(content, status=status, headers=headers, content_type=KIND)


def plain_response(status: int, detail: str) -> JsonResponse:
    """For what ends before a view of the API is reached."""
    content = document(status, _title(status), detail)
    log.info("API request %s was answered with %d", content["instance"], status)
    headers = {"X-Request-Id": content["instance"]}
    return JsonResponse(content, status=status, content_type=KIND, headers=headers)


def document(status: int, title: str, detail: str, **more: Any) -> dict[str, Any]:
    code = more.pop("code", "") or CODES.get(status, "refused")
    instance = f"urn:uuid:{uuid.uuid4()}"
    facts = {"title": title, "status": status, "detail": detail, "code": code, "instance": instance}
    return {"type": f"{PAGE}#{code}", **facts, **more}
