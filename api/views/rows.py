"""Rows for programs, page by page or as one stream: the columns, the order and the access rules of the export."""

import json
from typing import Any

from django.core import signing
from django.http import Http404, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.queries.answers import watermark
from api.protocol.authentication import ScopeMissing, has_scope
from api.protocol.cursors import fingerprint, read_cursor, write_cursor
from api.protocol.operations import PAGE_SIZE, query_parameter
from api.protocol.paging import PAGING, page_size
from api.protocol.preconditions import with_etag
from api.protocol.problems import InvalidParameter
from api.protocol.streams import MEDIA_TYPE, SLOTS, RowStream, shown_row, stream_response, take_place
from api.schemas.rows import RowCount, page_serializer, row_serializer
from api.views.base import INVALID, PROBLEMS, SLUG, ReadOnlyView
from api.views.events import FeedRestarted
from benchmarks.access import benchmark_for
from benchmarks.models import Benchmark
from jobs.queries.event_feed import feed_epoch
from releases.rows.annotations import raters_of
from releases.rows.changes import CHANGES, current_moment
from releases.rows.columns import Row
from releases.rows.filters import Condition, conditions_of, filter_names, is_filter
from releases.rows.kinds import RowKind, RowScope, Window
from releases.rows.registry import benchmark_scope
from releases.rows.snapshot import SnapshotRows
from releases.services.exports import record_reading

MOMENT, CHANGED_AFTER = "X-Emic-Changed-After", "changed_after"
CHANGED_WORDS = (
    f"From the header `{MOMENT}` of an earlier reading: rows that were written or changed since, also those that count"
    " no longer or were replaced (`counted` and `live` are all without them), and `gone` with what names each row that"
    " is there no more or that nobody may read."
)


class StreamRenderer(BaseRenderer):
    """For clients that ask for lines of JSON. It writes errors alone; rows are streamed."""

    media_type = MEDIA_TYPE
    format = "ndjson"
    charset = None

    def render(self, data: Any, *args: Any, **kwargs: Any) -> bytes:
        return json.dumps(data, ensure_ascii=False, default=str).encode() + b"\n"


class RowsOfKind(ReadOnlyView):
    """Those who work on a benchmark may read its rows, as they may export them."""

    kind: RowKind
    """With `changed_after` one that has what is gone, too."""

    def parts(self, request: Request, slug: str, *others: str) -> tuple[Benchmark, RowScope, list[Condition]]:
        """Raises Http404, InvalidParameter and RowFilterError."""
        benchmark = benchmark_for(request.user, slug, can="work_on")
        scope = benchmark_scope(benchmark)
        changes = self._changes(request)
        if changes:
            others = (*others, CHANGED_AFTER)
        filters = self.kind.filters
        unknown = [name for name in request.query_params if name not in others and not is_filter(filters, name)]
        if unknown:
            names = ", ".join([*filter_names(filters), *others])
            raise InvalidParameter(unknown[0], _("This parameter is unknown. There are: %(names)s.") % {"names": names})
        for name, known in filters.items():
            if name in request.query_params and known.scope and not has_scope(request, known.scope):
                raise ScopeMissing(known.scope)
        query = dict(request.query_params.lists())
        return benchmark, scope, [*conditions_of(filters, query, lambda: raters_of(scope)), *changes]

    def _changes(self, request: Request) -> list[Condition]:
        """What `changed_after` asks for. Raises InvalidParameter and FeedRestarted."""
        if CHANGED_AFTER not in request.query_params:
            return []
        changes = CHANGES[self.kind.key]
        condition = changes.condition(read_moment(request.query_params[CHANGED_AFTER]))
        self.kind = changes.rows
        return [condition]

    def moment_headers(self) -> dict[str, str]:
        """What to send as `changed_after` next time. Asked before rows are read, so that nothing falls in between."""
        return {MOMENT: write_moment(current_moment())}

    def names(self, request: Request) -> list[str]:
        """The columns that the token may read."""
        return [column.name for column in self.kind.written if has_scope(request, column.scope)]


class RowList(RowsOfKind):
    renderer_classes = [JSONRenderer, StreamRenderer]

    def get(self, request: Request, slug: str) -> HttpResponseBase:
        benchmark, scope, conditions = self.parts(request, slug, *PAGING)
        if request.accepted_renderer.format == StreamRenderer.format:
            return self._stream(request, benchmark, scope, conditions)
        is_first = "cursor" not in request.query_params
        if is_first:
            record_reading(benchmark, self.kind.key, request.user, timezone.now())
        headers = self.moment_headers() if is_first else {}
        response: HttpResponseBase = self._page(request, scope, conditions)
        for name, value in headers.items():
            response.headers[name] = value
        return response

    def _stream(
        self, request: Request, benchmark: Benchmark, scope: RowScope, conditions: list[Condition]
    ) -> HttpResponseBase:
        person = request.user.pk
        SLOTS.take(person)
        try:
            record_reading(benchmark, self.kind.key, request.user, timezone.now())
            mark, moment = watermark(benchmark), self.moment_headers()
            rows = SnapshotRows(self.kind, scope, conditions, lambda: take_place(person))
        except BaseException:
            SLOTS.release(person)
            raise
        compressed = "gzip" in request.headers.get("Accept-Encoding", "")
        stream = RowStream(rows, self.names(request), person, compressed=compressed)
        headers = {"X-Emic-Rows": str(rows.number), "X-Emic-Watermark": str(mark), **moment}
        return stream_response(stream, headers, compressed=compressed)

    def _page(self, request: Request, scope: RowScope, conditions: list[Condition]) -> Response:
        size = page_size(request)
        filters = {name: values for name, values in request.query_params.lists() if name not in PAGING}
        rows = fingerprint(self.kind.key, scope.benchmark.pk, filters)
        window = Window(limit=size + 1)
        if cursor := request.query_params.get("cursor"):
            window = read_cursor(cursor, rows, size + 1)
        page = list(self.kind.rows(scope, conditions, window))
        more = len(page) > size
        page = page[-size:] if window.before is not None else page[:size]
        names = self.names(request)
        before = rows_link(request, rows, page, before=True) if _has_previous(window, more) else None
        after = rows_link(request, rows, page) if more or window.before is not None else None
        results = [shown_row(row, names) for row in page]
        return Response({"results": results, "next": after, "previous": before})


def _has_previous(window: Window, more: bool) -> bool:
    return more if window.before is not None else window.after is not None


def rows_link(request: Request, rows: str, page: list[Row], *, before: bool = False) -> str | None:
    """The address of the page after or before this one; None where a page is empty."""
    if not page:
        return None
    cursor = write_cursor(rows, before=page[0]["_key"]) if before else write_cursor(rows, after=page[-1]["_key"])
    query = request.query_params.copy()
    query["cursor"] = cursor
    return str(request.build_absolute_uri(f"{request.path}?{query.urlencode()}"))


class RowCountView(RowsOfKind):
    def get(self, request: Request, slug: str) -> Response:
        _benchmark, scope, conditions = self.parts(request, slug)
        return Response({"count": self.kind.count(scope, conditions)})


class RowDetail(RowsOfKind):
    def get(self, request: Request, slug: str, row_id: int) -> Response:
        benchmark = benchmark_for(request.user, slug, can="work_on")
        row = self.row(request, benchmark, row_id)
        record_reading(benchmark, self.kind.key, request.user, timezone.now())
        return with_etag(request, row)

    def row(self, request: Request, benchmark: Benchmark, row_id: int) -> dict[str, Any]:
        """The columns that the token may read. Raises Http404."""
        same = Condition(f"{self.kind.order[0]} = %s", (row_id,))
        row = next(iter(list(self.kind.rows(benchmark_scope(benchmark), [same], Window(limit=1)))), None)
        if row is None:
            raise Http404
        return {name: row[name] for name in self.names(request)}


def write_moment(moment: str) -> str:
    return signing.dumps([feed_epoch(), moment], salt=MOMENT)


def read_moment(text: str) -> str:
    """Raises InvalidParameter and FeedRestarted."""
    try:
        epoch, moment = signing.loads(text, salt=MOMENT)
    except (signing.BadSignature, ValueError) as error:
        words = _("This is not a value of the header %(name)s.") % {"name": MOMENT}
        raise InvalidParameter(CHANGED_AFTER, words) from error
    if epoch != feed_epoch():
        raise FeedRestarted(_("The database was restored since. Begin without a position."))
    return str(moment)


def _filter_parameters(kind: RowKind) -> list[OpenApiParameter]:
    names = filter_names(kind.filters)
    known = zip(names, kind.filters.values(), strict=True)
    own = (query_parameter(name, each.meaning, many=each.is_repeatable) for name, each in known)
    return [*own, query_parameter(CHANGED_AFTER, CHANGED_WORDS)]


def list_view(kind: RowKind, base: type[RowList] = RowList) -> Any:
    filters = _filter_parameters(kind)
    paging = [
        query_parameter("cursor", "From `next` or `previous` of a page."),
        PAGE_SIZE,
    ]
    described = extend_schema(
        operation_id=kind.key,
        summary=f"{kind.key.capitalize()}, page by page or as one stream",
        description=f"{kind.meaning} With `Accept: {MEDIA_TYPE}` all rows come as lines of JSON.",
        parameters=[SLUG, *filters, *paging],
        responses={200: page_serializer(kind), **INVALID, **PROBLEMS},
        extensions={"x-emic-scope": kind.scope},
    )
    return view_of_kind(base, kind, described)


def count_view(kind: RowKind) -> Any:
    filters = _filter_parameters(kind)
    described = extend_schema(
        operation_id=f"{kind.key}_count",
        summary=f"Number of {kind.key}",
        parameters=[SLUG, *filters],
        responses={200: RowCount, **INVALID, **PROBLEMS},
        extensions={"x-emic-scope": kind.scope},
    )
    return view_of_kind(RowCountView, kind, described)


def detail_view(kind: RowKind, base: type[RowDetail] = RowDetail) -> Any:
    described = extend_schema(
        operation_id=kind.key.removesuffix("s"),
        summary=f"One row of {kind.key}",
        parameters=[SLUG, OpenApiParameter("row_id", OpenApiTypes.INT, OpenApiParameter.PATH)],
        responses={200: row_serializer(kind), **PROBLEMS},
        extensions={"x-emic-scope": kind.scope},
    )
    return view_of_kind(base, kind, described)


def view_of_kind(base: Any, kind: RowKind, described: Any, **more: Any) -> Any:
    """A view of one kind of rows, with its description. `more`: further members of its class."""

    def get(self: Any, request: Request, *args: Any, **kwargs: Any) -> Any:
        return base.get(self, request, *args, **kwargs)

    facts = {"kind": kind, "scope": kind.scope, "get": described(get), **more}
    return type(f"{kind.key.capitalize()}{base.__name__}", (base,), facts).as_view()  # type: ignore[attr-defined]
