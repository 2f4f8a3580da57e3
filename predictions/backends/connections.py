"""Connections to endpoints: only to addresses that may be asked, never by a redirect, never past their time.

A name is resolved once for each connection, every address it has is checked, and the connection goes to a number that
was checked. The time counts from the first byte sent to the last received, however slowly the bytes come.
"""

import math
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any

import httpcore
import httpx
from django.conf import settings

from benchmarks.services.safe_fetch import NEVER, is_allowed_address, is_metadata, resolve_name

IDLE_SECONDS = 4.0  # servers close after five or more; a line that is closed under us costs a request
CONNECT_SECONDS = 10.0

Resolve = Callable[[str], Sequence[str]]


class AddressRefused(httpcore.ConnectError):
    """The address is none that this site asks; the message says why."""


def is_private(number: str) -> bool:
    """Whether an address is of this machine or of a network that the operator lets endpoints be in."""
    address = ip_address(number.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if is_metadata(address) or (any(address in network for network in NEVER) and not address.is_loopback):
        return False
    return any(address in ip_network(one) for one in settings.PRIVATE_ENDPOINTS)


def is_named(number: str) -> bool:
    """Whether a deployment names the address (EMIC_FETCH_ALLOW), and it is none of the open internet."""
    return is_allowed_address(number) and not ip_address(number.partition("%")[0]).is_global


def allowed_addresses(
    host: str, *, in_clear: bool, resolve: Resolve = resolve_name, private: bool = True
) -> Sequence[str]:
    """The numbers that may be connected to. `in_clear`: a secret would travel unencrypted. `private`: whether those of
    the networks that endpoints may be in are allowed. Raises AddressRefused."""
    is_near = is_private if private else is_named
    numbers = resolve(host)
    if not numbers:
        raise httpcore.ConnectError("no such name")
    if not all(is_near(number) or is_allowed_address(number) for number in numbers):
        raise AddressRefused("private")
    if in_clear and not all(is_near(number) for number in numbers):
        raise AddressRefused("in_clear")
    return numbers


class _Deadline(threading.local):
    at = math.inf


_DUE = _Deadline()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """All that this thread reads and writes on a line has to be done by then; after it, httpcore.ReadTimeout."""
    before, _DUE.at = _DUE.at, time.monotonic() + seconds
    try:
        yield
    finally:
        _DUE.at = before


def _time_left(timeout: float | None) -> float | None:
    left = _DUE.at - time.monotonic()
    if left <= 0:
        raise httpcore.ReadTimeout("the time is over")
    return timeout if left == math.inf else min(left, timeout or left)


class _DeadlineStream(httpcore.NetworkStream):
    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self.inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self.inner.read(max_bytes, _time_left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.inner.write(buffer, _time_left(timeout))

    def close(self) -> None:
        self.inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _DeadlineStream(self.inner.start_tls(ssl_context, server_hostname, _time_left(timeout)))

    def get_extra_info(self, info: str) -> Any:
        return self.inner.get_extra_info(info)


class _CheckedNetwork(httpcore.NetworkBackend):
    def __init__(self, in_clear: bool, resolve: Resolve, *, private: bool) -> None:
        self.unencrypted, self.resolve, self.inner = in_clear, resolve, httpcore.SyncBackend()
        self.private = private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        broken: Exception = httpcore.ConnectError("no address")
        numbers = allowed_addresses(host, in_clear=self.unencrypted, resolve=self.resolve, private=self.private)
        for number in numbers:
            try:
                return _DeadlineStream(
                    self.inner.connect_tcp(number, port, _time_left(timeout), local_address, socket_options)
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                broken = error
        raise broken


@cache
def _certificates() -> ssl.SSLContext:
    """Read once for the process: it takes some 30 ms."""
    return httpx.create_ssl_context()


class _DeadlineBody(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def __iter__(self) -> Iterator[bytes]:
        yield from self.stream

    def close(self) -> None:
        self.stream.close()


class Transport(httpx.BaseTransport):
    """What an httpx client sends by. Failures stay httpcore's own. `in_clear`, `private`: see `allowed_addresses`."""

    def __init__(self, *, in_clear: bool = False, resolve: Resolve = resolve_name, private: bool = True) -> None:
        self.pool = httpcore.ConnectionPool(
            ssl_context=_certificates(),
            max_connections=None,
            max_keepalive_connections=None,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=_CheckedNetwork(in_clear, resolve, private=private),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        sent = httpcore.Request(
            request.method, url, headers=request.headers.raw, content=request.stream, extensions=request.extensions
        )
        response = self.pool.handle_request(sent)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_DeadlineBody(response.stream),
            extensions=response.extensions,
        )

    def close(self) -> None:
        self.pool.close()
