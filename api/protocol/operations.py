"""What each operation needs and answers, written once at its view: it is checked before the view runs, and described.

    @operation("benchmark_update", "Change what a benchmark says of itself", scope="write",
               body=BenchmarkChange, reply=BenchmarkSerializer)
    def patch(self, request, slug): ...

The view reads `self.content`. What changes something runs in one transaction, with the row of its Idempotency-Key,
unless `asks_others` or `own_transactions` is set.
"""

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from api.protocol.idempotency import run_once, run_once_outside
from api.schemas.problems import KIND, ProblemSerializer

Shape = type[Serializer[Any]]
READS = ("get",)
MATCHED = ("patch", "put", "delete")
READ_PROBLEMS = (400, 401, 403, 404, 406, 429)
WRITE_PROBLEMS = (*READ_PROBLEMS, 409, 413, 415, 422)
MATCH_PROBLEMS = (412, 428)
STORED_REPLY = "The same key and body are answered with the stored reply, for 48 hours."


@dataclass(frozen=True)
class Operation:
    """`parameters`: names that the address may have after its "?"; None: the view looks itself."""

    name: str
    scope: str
    body: Shape | None
    parameters: tuple[str, ...] | None


def query_parameter(name: str, words: str, *, many: bool = False, number: bool = False) -> OpenApiParameter:
    kind = OpenApiTypes.INT if number else OpenApiTypes.STR
    return OpenApiParameter(name, kind, description=words, many=many)


CURSOR = query_parameter("cursor", "From `next` or `previous` of a page.")
PAGE_SIZE = query_parameter("page_size", "1 to 1000; 100 without it.", number=True)
PAGING = (CURSOR, PAGE_SIZE)


def operation(
    name: str,
    summary: str,
    *,
    scope: str = "read",
    body: Shape | None = None,
    reply: Shape | None = None,
    status: int = 200,
    parameters: Sequence[OpenApiParameter] | None = (),
    needs_key: bool = False,
    secrets: Sequence[str] = (),
    matched: bool = True,
    description: str = "",
    more_problems: Sequence[int] = (),
    tags: Sequence[str] | None = None,
    media_type: str = "",
    asks_others: bool = False,
    own_transactions: bool = False,
    parts: Shape | None = None,
) -> Callable[[Callable[..., Response]], Callable[..., Response]]:
    """Describe a method of a view and keep it to that. `scope`: what a token needs, "" for any token. `needs_key`: an
    Idempotency-Key is required. `secrets`: members of the reply that are sent once. `matched`: whether PATCH, PUT and
    DELETE need If-Match, which the view checks by `check_match`. `media_type`: of a reply that is a file.
    `asks_others`: it waits for another server, so it runs in no transaction and takes no Idempotency-Key.
    `own_transactions`: its service has transactions that must not be inside another one, and a repeated request takes
    effect once by itself. The view reads `self.content` before it calls the service. `parts`: how it
    may be sent in parts, besides as JSON.
    """

    def decorate(method: Callable[..., Response]) -> Callable[..., Response]:
        verb = method.__name__
        needs_match = matched and verb in MATCHED
        codes = (READ_PROBLEMS if verb in READS else WRITE_PROBLEMS) + (MATCH_PROBLEMS if needs_match else ())
        replies: dict[Any, Any] = {status: reply}
        if media_type:
            replies = {(code, media_type): OpenApiTypes.BINARY for code in (200, 206)}
        replies |= {(code, KIND): ProblemSerializer for code in (*codes, *more_problems)}

        @functools.wraps(method)
        def run(view: Any, request: Any, *args: Any, **kwargs: Any) -> Response:
            def act() -> Response:
                response = method(view, request, *args, **kwargs)
                view.content  # noqa: B018  (a body that nothing has read may be wrong, too: then all is undone)
                return response

            if verb in READS or asks_others:
                return method(view, request, *args, **kwargs)
            if own_transactions:
                return run_once_outside(request, act)
            return run_once(request, act, needs_key=needs_key, secrets=secrets)

        run.operation = Operation(name, scope, body, names_of(parameters))  # type: ignore[attr-defined]
        headers = _headers(verb, needs_key, needs_match)
        return extend_schema(
            operation_id=name, summary=summary, description=description, request=_bodies(body, parts),
            parameters=[*_path(method), *(parameters or ()), *([] if asks_others else headers)],
            responses=replies, extensions={"x-emic-scope": scope or "any"}, tags=list(tags) if tags else None,
        )(run)  # fmt: skip

    return decorate


def _bodies(body: Shape | None, parts: Shape | None) -> Any:
    return {"application/json": body, "multipart/form-data": parts} if parts else body


def names_of(parameters: Sequence[OpenApiParameter] | None) -> tuple[str, ...] | None:
    return None if parameters is None else tuple(parameter.name for parameter in parameters)


def _path(method: Callable[..., Response]) -> list[OpenApiParameter]:
    """The parts of the address, from the arguments of the view."""
    names = list(inspect.signature(method).parameters)[2:]
    return [OpenApiParameter(name, _kind(name), OpenApiParameter.PATH) for name in names]


def _kind(name: str) -> Any:
    if name.endswith("_id"):
        return {"type": "integer", "minimum": 1, "maximum": 10**18 - 1}
    if name.endswith("_path"):
        return {"type": "string"}
    return {"type": "string", "pattern": "^[-a-zA-Z0-9_]+$"}


def _headers(verb: str, needs_key: bool, needs_match: bool) -> list[OpenApiParameter]:
    headers = []
    if verb == "post":
        headers = [OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER, required=needs_key,
                                    description=STORED_REPLY)]  # fmt: skip
    if needs_match:
        words = "The ETag of what was read; `*` for any."
        headers.append(OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True, description=words))
    return headers
