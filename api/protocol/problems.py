"""Every error as a problem document (RFC 9457), in the words the pages use."""

import logging
import uuid
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from api.protocol.authentication import ScopeMissing
from evaluation.selections.selection import SelectionError
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import InvalidOption
from releases.rows.filters import RowFilterError

KIND = "application/problem+json"
PAGE = "/docs/reference/api/problems"
CODES = {
    400: "invalid-request",
    401: "authentication-required",
    403: "forbidden",
    404: "not-found",
    405: "method-not-allowed",
    406: "not-acceptable",
    409: "no-data",
    415: "unsupported-media-type",
    429: "too-many-requests",
}
log = logging.getLogger(__name__)


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
        405: _("Read-only resource"),
        406: _("Only JSON is available"),
        429: _("Too many requests"),
    }
    return titles.get(status, _("This request cannot be answered"))


def _problem(
    status: int, title: str, detail: str, headers: dict[str, str] | None = None, **more: str
) -> Response:  # fmt: skip
    content = document(status, title, detail, **more)
    log.info("API request %s was answered with %d %s", content["instance"], status, content["code"])
    headers = (headers or {}) | {"X-Request-Id": content["instance"]}
    return Response(content, status=status, headers=headers, content_type=KIND)


def document(status: int, title: str, detail: str, **more: str) -> dict[str, Any]:
    code = more.pop("code", CODES.get(status, "refused"))
    instance = f"urn:uuid:{uuid.uuid4()}"
    facts = {"title": title, "status": status, "detail": detail, "code": code, "instance": instance}
    return {"type": f"{PAGE}#{code}", **facts, **more}
