"""Lists of rows of a model, page by page, in the order of their numbers."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response

from api.protocol.cursors import fingerprint, read_cursor, write_cursor
from api.protocol.problems import InvalidParameter
from jobs.formats.numbers import parse_int
from releases.rows.kinds import Window

DEFAULT_SIZE, MAX_SIZE = 100, 1000
PAGING = ("cursor", "page_size")


def page_size(request: Request) -> int:
    """Raises InvalidParameter."""
    text = request.query_params.get("page_size", str(DEFAULT_SIZE))
    size = parse_int(text, default=None, minimum=1, maximum=MAX_SIZE)
    if size is None:
        raise InvalidParameter("page_size", _("A page has 1 to %(most)s rows.") % {"most": MAX_SIZE})
    return size


def page_of(
    request: Request, rows: "QuerySet[Any]", kind: str, to_json: Callable[[list[Any]], list[Any]], scope: int = 0
) -> Response:
    """A page of rows, which `to_json` writes together. `kind` and `scope` (a benchmark, team or run) say what a cursor
    belongs to. Raises InvalidParameter."""
    size = page_size(request)
    filters = {name: values for name, values in request.query_params.lists() if name not in PAGING}
    mark = fingerprint(kind, scope, filters)
    cursor = request.query_params.get("cursor")
    window = read_cursor(cursor, mark, size + 1) if cursor else Window(limit=size + 1)
    if window.before is not None:
        page = list(rows.filter(pk__lt=int(window.before[0])).order_by("-pk")[: size + 1])
    else:
        page = list(rows.filter(pk__gt=int(window.after[0]) if window.after else 0).order_by("pk")[: size + 1])
    more, page = len(page) > size, page[:size]
    if window.before is not None:
        page.reverse()
    follows, precedes = (True, more) if window.before is not None else (more, window.after is not None)
    return Response(
        {
            "results": to_json(page),
            "next": _link(request, write_cursor(mark, after=[str(page[-1].pk)])) if follows and page else None,
            "previous": _link(request, write_cursor(mark, before=[str(page[0].pk)])) if precedes and page else None,
        }
    )


def _link(request: Request, cursor: str) -> str:
    query = request.query_params.copy()
    query["cursor"] = cursor
    return str(request.build_absolute_uri(f"{request.path}?{query.urlencode()}"))
