"""A request with an `Idempotency-Key` takes effect once, however often it is sent (IETF draft idempotency-key-header).

The row of the key is inserted first and in the transaction of the effect: a second request waits on the unique index
until the first has ended, and finds its reply. What was refused leaves no row, so it may be sent again.
"""

import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from psycopg.errors import LockNotAvailable
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.services.transactions import in_transaction
from api.models import ApiRequest
from api.protocol.parts import digest_of_parts, is_in_parts
from api.protocol.problems import ApiProblem

WAIT_SECONDS = 10
RETRY_SECONDS = 2
LIFETIME = timedelta(hours=48)
HEADERS = ("ETag", "Location")
KEY = re.compile(r'"?([\x21\x23-\x7e]{1,200})"?')  # a text in quotation marks by the draft; many send it bare
INSERT = """
INSERT INTO api_apirequest (user_id, key, method, path, body_sha256, status, response, headers, at)
VALUES (%s, %s, %s, %s, %s, 0, '', '{}', %s) ON CONFLICT DO NOTHING RETURNING id
"""


class KeyRequired(ApiProblem):
    status, code = 400, "idempotency-key-required"


class KeyInvalid(ApiProblem):
    status, code = 400, "idempotency-key-invalid"


class KeyReused(ApiProblem):
    status, code = 422, "idempotency-key-reused"


class InProgress(ApiProblem):
    status, code = 409, "request-in-progress"


def run_once(
    request: Request, act: Callable[[], Response], *, needs_key: bool = False, secrets: Collection[str] = ()
) -> Response:
    """`act` in one transaction, or the stored reply of the same request. `secrets`: members of the reply, at any depth,
    that are sent once and never stored. Raises KeyRequired, KeyInvalid, KeyReused and InProgress."""
    key = _key(request)

    @in_transaction
    def run() -> Response:
        if not key:
            response = act()
            if needs_key:  # said last, and undone: who may not see the thing is told nothing else
                raise KeyRequired(_("Send an Idempotency-Key, so that a repeated request takes effect once."))
            return response
        row, is_new = _claim(request, key)
        if not is_new:
            return _replay(request, row)
        response = act()
        _store(row, response, secrets)
        return response

    return run()


def run_once_outside(request: Request, act: Callable[[], Response]) -> Response:
    """As `run_once`, for what has transactions of its own that must not be inside another one. The row of the key is
    written after the effect, and a lock of the connection keeps requests with the same key apart. If the process ends
    in between, the repeated request runs again: `act` must allow that. Raises KeyInvalid, KeyReused and InProgress."""
    key = _key(request)
    if not key:
        return act()
    with _lock_of(request, key):
        known = ApiRequest.objects.filter(user=request.user, key=key).first()
        if known is not None:
            return _replay(request, known)
        response = act()
        with transaction.atomic():
            row, is_new = _claim(request, key)
            if is_new:
                _store(row, response, ())
        return response


@contextmanager
def _lock_of(request: Request, key: str) -> Iterator[None]:
    """Held by the connection, not by a transaction. Raises InProgress."""
    name = [key, request.user.pk]
    with transaction.atomic(), _short_wait(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, %s))", name)
    try:
        yield
    finally:
        if not connection.needs_rollback:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, %s))", name)


def forget_old(at: Any) -> int:
    """Keys older than their time; says how many."""
    count, _by_model = ApiRequest.objects.filter(at__lt=at - LIFETIME).delete()
    return count


def _key(request: Request) -> str:
    header = request.headers.get("Idempotency-Key", "")
    if not header:
        return ""
    match = KEY.fullmatch(header)
    if match is None:
        raise KeyInvalid(_("An Idempotency-Key has 1 to 200 printable ASCII characters without spaces."))
    return match[1]


def _claim(request: Request, key: str) -> tuple[ApiRequest, bool]:
    """The row of the key, and whether it is new."""
    facts = (request.method, request.get_full_path(), _digest(request))
    with _short_wait(), connection.cursor() as cursor:
        cursor.execute(INSERT, [request.user.pk, key, *facts, timezone.now()])
        new = cursor.fetchone()
    return ApiRequest.objects.get(user=request.user, key=key), new is not None


@contextmanager
def _short_wait() -> Iterator[None]:
    """Waits for a lock that another request holds, but not for long. Needs a transaction. Raises InProgress."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT current_setting('lock_timeout'), set_config('lock_timeout', %s, true)",
                           [f"{WAIT_SECONDS}s"])  # fmt: skip
            [before, _now] = cursor.fetchone()
        yield
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, true)", [before])
    except OperationalError as error:
        if isinstance(error.__cause__, LockNotAvailable):
            words = _("A request with this Idempotency-Key is still running. Ask again.")
            raise InProgress(words, {"Retry-After": str(RETRY_SECONDS)}) from error
        raise


def _digest(request: Request) -> str:
    return digest_of_parts(request) if is_in_parts(request) else hashlib.sha256(request._request.body).hexdigest()


def _replay(request: Request, row: ApiRequest) -> Response:
    if (row.method, row.path, row.body_sha256) != (request.method, request.get_full_path(), _digest(request)):
        raise KeyReused(_("This Idempotency-Key was used for another request. Use a new one."))
    data = json.loads(row.response) if row.response else None
    return Response(data, status=row.status, headers={**row.headers, "Idempotency-Replayed": "true"})


def _store(row: ApiRequest, response: Response, secrets: Collection[str]) -> None:
    data = _without(response.data, secrets) if secrets else response.data
    row.status = response.status_code
    row.response = JSONRenderer().render(data).decode()
    row.headers = {name: response.headers[name] for name in HEADERS if name in response.headers}
    row.save(update_fields=["status", "response", "headers"])


def _without(data: Any, secrets: Collection[str]) -> Any:
    if isinstance(data, dict):
        return {name: None if name in secrets else _without(value, secrets) for name, value in data.items()}
    return [_without(value, secrets) for value in data] if isinstance(data, list) else data
