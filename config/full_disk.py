"""What a person reads when the disk of the site, or of its database, is full: 507 and a sentence, not a bare 500."""

import errno
import sys
from collections.abc import Callable, Iterator

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.defaults import server_error as ordinary_server_error
from psycopg.errors import DiskFull

from config.database_guard import is_database_away, unavailable
from config.middleware import API, refusal

LITTLE_BYTES = 100 * 1024 * 1024  # less than this free is nearly full
FULL = (errno.ENOSPC, errno.EDQUOT)


class FullDisk:
    """Answers for views that failed because a disk is full."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        return insufficient_storage(request) if is_disk_full(error) else None


def server_error(request: HttpRequest) -> HttpResponse:
    """The project's `handler500`: an upload can also fill the disk before its view is called, and the session of a
    request is read before it."""
    error = sys.exc_info()[1]
    if is_disk_full(error):
        return insufficient_storage(request)
    if is_database_away(error):
        return unavailable(request)
    if request.path_info.startswith(API):
        return refusal(request, "", 500)  # no detail: the log has it under the number of the request
    return ordinary_server_error(request)


def insufficient_storage(request: HttpRequest) -> HttpResponse:
    words = _("The server's disk is full, so nothing was saved. Tell an administrator, then try again.")
    return refusal(request, words, 507)


def is_disk_full(error: BaseException | None) -> bool:
    return any(
        isinstance(cause, DiskFull) or (isinstance(cause, OSError) and cause.errno in FULL)
        for cause in _iter_causes(error)
    )


def _iter_causes(error: BaseException | None) -> Iterator[BaseException]:
    visited: set[int] = set()
    while error is not None and id(error) not in visited:
        visited.add(id(error))
        yield error
        error = error.__cause__ or (error.__context__ if isinstance(error, OSError | OperationalError) else None)
