"""Requests to one site: the token, retries, and replies that are no success as exceptions."""

from __future__ import annotations

import os
import secrets
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from .errors import EmicError, Problem, Unauthorised, Unreachable, error_for

VERSION = "0.2.0"
RETRIED = frozenset({429, 502, 503, 504})
SAFE = frozenset({"GET", "HEAD", "PUT"})
LONGEST_WAIT = 120.0  # seconds between two attempts; a site that asks for more is not waited for
Query = Mapping[str, Any]
Primitive = str | int | float | bool | None


class Connection:
    """One pooled HTTP client. GET, HEAD, PUT, and POST with its key are repeated after 429, 502, 503, 504 and lost
    connections."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 4,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        address = httpx.URL(url)
        if address.scheme not in ("http", "https") or not address.host:
            raise ValueError("The address of the site begins with https:// or http://.")
        if address.userinfo or address.query:
            raise ValueError("Put no password and no token into the address of the site. Set EMIC_TOKEN.")
        token = token or os.environ.get("EMIC_TOKEN", "")
        if not token:
            raise Unauthorised("There is no token. Make one under Me, Tokens for programs, and set EMIC_TOKEN.")
        self.url = str(address).rstrip("/")
        self.retries = retries
        self._sleep = sleep
        self._client = httpx.Client(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token.strip()}", "User-Agent": f"emic-client/{VERSION}"},
            timeout=timeout,
            transport=transport,
        )

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def close(self) -> None:
        self._client.close()

    def get(self, path: str, query: Query | None = None, *, timeout: float | None = None) -> Any:
        """The JSON of a reply."""
        return self.request("GET", path, query=query, timeout=timeout).json()

    def post(self, path: str, body: Any = None, *, query: Query | None = None) -> Any:
        """The JSON of a reply; the request has a key, so that it has one effect however often it is sent."""
        reply = self.request("POST", path, query=query, json={} if body is None else body)
        return reply.json() if reply.content else None

    def pages(self, path: str, query: Query | None = None) -> Iterator[Any]:
        """The rows of a list, page by page. A page's address of the next may name another host: only what it asks for
        is used."""
        filters: Query = query or {}
        while True:
            page = self.get(path, filters)
            yield from page["results"]
            if not page["next"]:
                return
            pairs = httpx.URL(page["next"]).params.multi_items()
            filters = {name: [value for key, value in pairs if key == name] for name, _value in pairs}

    def pause(self, seconds: float) -> None:
        self._sleep(seconds)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **content: Any,
    ) -> httpx.Response:
        """Raises EmicError for what is no success, once repeating does not help. `content`: json, content or files."""
        headers = {**_key_for(method), **(headers or {})}
        may_repeat = method in SAFE or "Idempotency-Key" in headers
        if timeout is not None:
            content["timeout"] = timeout
        for attempt in self._attempts(may_repeat):
            with attempt:
                reply = self._client.request(method, path, params=query_params(query), headers=headers, **content)
                check(reply)
                return reply
        raise AssertionError("an attempt returns or raises")

    @contextmanager
    def stream(self, path: str, query: Query | None, headers: Mapping[str, str]) -> Iterator[httpx.Response]:
        """A reply whose body is read while it comes. Only its beginning is repeated."""
        reply = self._open_stream(path, query, headers)
        try:
            yield reply
        finally:
            reply.close()

    def _open_stream(self, path: str, query: Query | None, headers: Mapping[str, str]) -> httpx.Response:
        request = self._client.build_request("GET", path, params=query_params(query), headers=headers)
        for attempt in self._attempts(may_repeat=True):
            with attempt:
                reply = self._client.send(request, stream=True)
                if not reply.is_success:
                    reply.read()  # and close: what it says is short
                check(reply)
                return reply
        raise AssertionError("an attempt returns or raises")

    def _attempts(self, may_repeat: bool) -> Iterator[_Attempt]:
        last = self.retries if may_repeat else 0
        for number in range(last + 1):
            attempt = _Attempt(self.url, number, is_last=number == last)
            yield attempt
            self._sleep(attempt.delay)


class _Attempt:
    """One sending of a request: a passing failure is swallowed, and `delay` says how long to wait before the next."""

    def __init__(self, url: str, number: int, *, is_last: bool) -> None:
        self.url, self.number, self.is_last = url, number, is_last
        self.delay = 0.0

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if isinstance(error, httpx.TransportError):
            if self.is_last:
                raise Unreachable(f"{self.url} does not answer: {error or type(error).__name__}") from error
            self.delay = pause(self.number)
            return True
        if isinstance(error, EmicError) and not self.is_last:
            wait = error.retry_after
            repeats = error.problem.status in RETRIED or (error.problem.status == 409 and wait is not None)
            if repeats and (wait or 0) <= LONGEST_WAIT:
                self.delay = pause(self.number) if wait is None else wait
                return True
        return False


def _key_for(method: str) -> dict[str, str]:
    return {"Idempotency-Key": str(uuid.uuid4())} if method == "POST" else {}


def check(reply: httpx.Response) -> None:
    """Raises the EmicError of a reply that is no success."""
    if reply.is_success or reply.status_code == 304:
        return
    if reply.is_redirect:
        message = f"The site answers at another address ({reply.headers.get('location', '')}). Give that one."
        raise EmicError(message, Problem(status=reply.status_code))
    error = error_for(reply.status_code, read_problem(reply))
    error.retry_after = retry_after(reply.headers.get("retry-after"))
    raise error


def read_problem(reply: httpx.Response) -> Problem:
    """What the site wrote, also where it is no JSON: what stands before it may answer with a page."""
    try:
        data = reply.json()
    except ValueError:
        data = None
    if isinstance(data, dict):
        return Problem.from_json(data, reply.status_code)
    is_text = reply.headers.get("content-type", "").startswith("text/plain")
    return Problem(status=reply.status_code, detail=reply.text[:300] if is_text else "")


def retry_after(header: str | None, at: datetime | None = None) -> float | None:
    """Seconds, of a number or a date.

    >>> retry_after("5"), retry_after(None), retry_after("soon")
    (5.0, None, None)
    >>> retry_after("Sun, 01 Mar 2026 12:00:30 GMT", datetime(2026, 3, 1, 12, tzinfo=timezone.utc))
    30.0
    """
    if header is None:
        return None
    if header.isdigit():
        return float(header)
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (date - (at or datetime.now(timezone.utc))).total_seconds())


def pause(number: int) -> float:
    """Seconds before the next attempt: twice as long each time, and never for two clients the same."""
    return float(min(30.0, 2.0**number) * secrets.SystemRandom().uniform(0.5, 1.0))


def query_params(query: Query | None) -> list[tuple[str, Primitive]]:
    """As the address has them: several values repeat the name, and what is None is left out.

    >>> query_params({"stage": ["a", "b"], "counted": True, "cohort": None, "since": "2026-03-01"})
    [('stage', 'a'), ('stage', 'b'), ('counted', 'true'), ('since', '2026-03-01')]
    """
    pairs: list[tuple[str, Primitive]] = []
    for name, value in (query or {}).items():
        values = value if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str) else [value]
        pairs += [(name, _as_text(entry)) for entry in values if entry is not None]
    return pairs


def _as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("A time needs a time zone, such as datetime.now(timezone.utc).")
        return value.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return str(value)
