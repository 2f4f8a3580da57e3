"""Every error as a problem document (RFC 9457), in the words the pages use."""

from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from evaluation.selections.selection import SelectionError
from evaluation.tables.table import MissingData
from evaluation.tables.table_inputs import InvalidOption

KIND = "application/problem+json"


class NoData(Exception):
    """There is nothing to compute from; `message` says what to bring."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """What the pages answer with: 400 names the parameter, 404 is all a stranger learns, 409 says what to bring."""
    if isinstance(error, SelectionError | InvalidOption):
        return _problem(400, _("This cannot be shown"), error.message, parameter=error.name)
    if isinstance(error, MissingData | NoData):
        return _problem(409, _("Nothing to compute from"), str(error.message))
    if isinstance(error, Http404):
        return _problem(404, *not_found_response())
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
    return Response(document(status, title, detail, **more), status=status, headers=headers, content_type=KIND)


def document(status: int, title: str, detail: str, **more: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, **more}
