"""The only way in which Emic asks another server for something that a person named: one address, a few bytes, soon.

Every name is resolved once, every address it has is checked, and the connection goes to the address that was checked.
So neither a name that changes its mind, nor a redirect, nor a spelling of 127.0.0.1 leads into our own network.
"""

import http.client
import io
import re
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotInTime
from contextlib import closing, contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from threading import BoundedSemaphore, Condition
from typing import Any
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

Address = IPv4Address | IPv6Address
Resolve = Callable[[str], Sequence[str]]
Connect = Callable[[str, int, float], socket.socket]

REDIRECTS = 3
PORTS = (80, 443)
LONGEST_URL = 2000
BLOCK = 64 * 1024
AGENT = "Emic (pictures for benchmarks that people bring by hand)"
MOVED = (301, 302, 303, 307, 308)
# Beside what `is_global` says no to. Addresses that name others within them, and so would get round every list:
TUNNELS = ("64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "::/96", "192.88.99.0/24")
# Those that our Python does not know to be nobody's: sites' own of old, for documents, for routing.
UNLISTED = ("fec0::/10", "3fff::/20", "5f00::/16")
# And those that are public by number, but a cloud's own to its guests.
GUESTS = ("168.63.129.16/32", "192.0.0.0/24")
NEVER = [ip_network(network) for network in (*TUNNELS, *UNLISTED, *GUESTS)]
NAME = re.compile(r"(?=.{1,253}\.?$)([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?\.?")
WORDS: dict[str, str | Promise] = {
    "not_http": _("This is not a web address. Copy the address of the picture; it begins with https://."),
    "credentials": _("The address contains a name or a password. Remove them."),
    "port": _("This port is not allowed. Use an address without a port number."),
    "not_found": _("No server of this name was found. Check the address."),
    "private": _("This address is in a private network. Use a public address, or upload the file."),
    "redirects": _("The address redirects too often. Open it in a browser and copy the final address."),
    "no_answer": _("The server sent an invalid response. Try again, or download the picture and upload it here."),
    "too_slow": _("The server took too long. Try again, or save the picture and send the file."),
    "refused": _("The server returned status %(status)s, not a picture. Download the picture and upload it here."),
    "too_large": _("The picture is larger than %(most)s MB. Use a smaller one."),
    "busy": _("Others are fetching pictures right now. Try again in a moment."),
}


class FetchRefused(Exception):
    """`code` is for machines; `message` says what is wrong and what to do, never what the other server said."""

    def __init__(self, code: str, **params: Any) -> None:
        super().__init__(code)
        self.code, self.params = code, params
        self.message = str(WORDS[code]) % params if params else str(WORDS[code])


@dataclass(frozen=True)
class FetchResult:
    """`url`: where it came from in the end, after redirects."""

    data: bytes
    url: str


@dataclass(frozen=True)
class FetchTarget:
    """A checked address to ask: `address` is a number, `host` the name that the server is told."""

    url: str
    secure: bool
    host: str
    port: int
    address: str
    path: str


_SEATS = BoundedSemaphore(2)  # a process answers people with a few threads: strange servers may hold two of them
_NAMES = ThreadPoolExecutor(4, thread_name_prefix="resolve")
FIRST_SECONDS = 5.0  # until a server has begun to answer
COOLING_SECONDS = 60.0  # for which one that was too slow is not asked again


class ServerSlots:
    """One seat for each server, and none for one that has just let us wait: two slow ones do not keep all seats."""

    def __init__(self) -> None:
        self._free, self._asked, self._slow = Condition(), set[str](), dict[str, float]()

    @contextmanager
    def reserve(self, address: str, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
        """Raises FetchRefused: busy, or too_slow without asking."""
        server = _server(address)
        with self._free:
            if not self._free.wait_for(lambda: server not in self._asked, timeout=2):
                raise FetchRefused("busy")
            self._slow = {host: until for host, until in self._slow.items() if until > clock()}
            if server in self._slow:
                raise FetchRefused("too_slow")
            self._asked.add(server)
        try:
            yield
        except FetchRefused as refused:
            if refused.code == "too_slow":
                self._slow[server] = clock() + COOLING_SECONDS
            raise
        finally:
            with self._free:
                self._asked.discard(server)
                self._free.notify_all()

    def forget(self) -> None:
        """Who was slow; for tests."""
        self._slow = {}


def _server(address: str) -> str:
    """A network of IPv6 is one server: whoever has one has all its numbers."""
    number = ip_address(address.partition("%")[0])
    return str(ip_network((int(number) >> 64 << 64, 64))) if isinstance(number, IPv6Address) else address


SERVERS = ServerSlots()


def fetch(
    url: str,
    *,
    most_bytes: int,
    seconds: float = 15.0,
    resolve: Resolve | None = None,
    connect: Connect | None = None,
) -> FetchResult:
    """The bytes at an address, at most `most_bytes` of them, within `seconds` in all. Raises FetchRefused.

    `resolve` and `connect` are for tests: names to numbers, and a number to a socket.
    """
    if not _SEATS.acquire(timeout=2):
        raise FetchRefused("busy")
    try:
        return _fetch(url, most_bytes, time.monotonic() + seconds, resolve or resolve_name, connect or _connect)
    finally:
        _SEATS.release()


def _fetch(url: str, most: int, deadline: float, resolve: Resolve, connect: Connect) -> FetchResult:
    for _hop in range(REDIRECTS + 1):
        target = check_url(url, _with_deadline(resolve, deadline))
        with SERVERS.reserve(target.address), _send_request(target, deadline, connect) as response:
            if response.status in MOVED and response.getheader("Location"):
                url = urljoin(target.url, str(response.getheader("Location")).strip())
                continue
            if response.status != 200:
                raise FetchRefused("refused", status=response.status)
            return FetchResult(_body(response, most), target.url)
    raise FetchRefused("redirects")


def check_url(url: str, resolve: Resolve) -> FetchTarget:
    """An address as it was typed, or as a redirect names it, with the one number that may be asked."""
    parts = _parts(url)
    host, secure = (parts.hostname or "").rstrip("."), parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    if port not in PORTS:
        raise FetchRefused("port")
    numbers = [host] if _literal(host) else resolve(host)
    if not numbers:
        raise FetchRefused("not_found")
    if not all(is_allowed_address(number) for number in numbers):
        raise FetchRefused("private")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if parts.query:
        path += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return FetchTarget(parts._replace(fragment="").geturl(), secure, host, port, numbers[0], path)


def _parts(url: str) -> SplitResult:
    if len(url) > LONGEST_URL or re.search(r"[\x00-\x20\x7f\\]", url):
        raise FetchRefused("not_http")
    try:
        parts = urlsplit(url)
        host, _port = parts.hostname or "", parts.port
        if parts.username is not None or parts.password is not None:
            raise FetchRefused("credentials")
        name = host if _literal(host) else host.encode("idna").decode().lower()
    except ValueError as error:
        raise FetchRefused("not_http") from error
    # A last label of digits (2130706433, 127.1, 0x7f.0.0.1) is a number in disguise, not a name.
    if parts.scheme not in ("http", "https") or not (_literal(host) or NAME.fullmatch(name)):
        raise FetchRefused("not_http")
    return parts if name == host else _ascii_host(parts, name)


def _ascii_host(parts: SplitResult, name: str) -> SplitResult:
    return parts._replace(netloc=name if parts.port is None else f"{name}:{parts.port}")


def _literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return "%" not in host


def is_allowed_address(number: str) -> bool:
    """Whether an address is one of the open internet, or of those a deployment names (EMIC_FETCH_ALLOW)."""
    try:
        address: Address = ip_address(number.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if is_metadata(address):
        return False
    if any(address in ip_network(allowed) for allowed in settings.FETCH_ALLOW):
        return True
    if any(address in network for network in NEVER):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def is_private_host(host: str) -> bool:
    """Whether the host of an address is, without asking anybody, none that may be fetched from: a number, however it is
    written (2130706433, 127.1, 0x7f.0.0.1), or this machine's own name. Other names are looked at when they are asked.

    >>> is_private_host("127.1"), is_private_host("93.184.216.34"), is_private_host("example.org")
    (True, False, False)
    """
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return not is_allowed_address("127.0.0.1")
    try:
        return not is_allowed_address(str(ip_address(name.partition("%")[0])))
    except ValueError:
        pass
    try:
        return not is_allowed_address(socket.inet_ntoa(socket.inet_aton(name)))
    except OSError:
        return False


def is_metadata(address: Address) -> bool:
    """Whether a cloud tells its guests secrets at this address; no setting opens it."""
    return any(address in ip_network(network) for network in settings.METADATA_NETWORKS)


def resolve_name(host: str) -> Sequence[str]:
    """Every number of a name, in the system's order; none if there is no such name."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return list(dict.fromkeys(str(row[4][0]) for row in addresses))


def _with_deadline(resolve: Resolve, deadline: float) -> Resolve:
    """The system's resolver knows no deadline, so it is asked from a thread."""

    def asked(host: str) -> Sequence[str]:
        try:
            return _NAMES.submit(resolve, host).result(_seconds_left(deadline))
        except NotInTime as error:
            raise FetchRefused("too_slow") from error

    return asked


def _seconds_left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise FetchRefused("too_slow")
    return left


def _connect(number: str, port: int, seconds: float) -> socket.socket:
    return socket.create_connection((number, port), seconds)


class _DeadlineReader(io.RawIOBase):
    """Reads from a socket until the deadline, however few bytes come at a time."""

    def __init__(self, line: socket.socket, deadline: float) -> None:
        self.line, self.deadline = line, deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.line.settimeout(_seconds_left(self.deadline))
        return self.line.recv_into(buffer)

    def makefile(self, _mode: str) -> io.BufferedReader:
        """What http.client asks of a socket."""
        return io.BufferedReader(self, BLOCK)


@contextmanager
def _send_request(target: FetchTarget, deadline: float, connect: Connect) -> Iterator[http.client.HTTPResponse]:
    soon = min(deadline, time.monotonic() + FIRST_SECONDS)
    try:
        with closing(connect(target.address, target.port, _seconds_left(soon))) as plain:
            line = plain
            if target.secure:
                plain.settimeout(_seconds_left(soon))
                line = ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)
            with closing(line):
                line.settimeout(_seconds_left(soon))
                line.sendall(_request(target))
                timed = _DeadlineReader(line, soon)
                response = http.client.HTTPResponse(timed, method="GET")  # type: ignore[arg-type]
                with closing(response):
                    response.begin()
                    timed.deadline = deadline
                    yield response
    except TimeoutError as error:
        raise FetchRefused("too_slow") from error
    except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
        raise FetchRefused("no_answer") from error


def _request(target: FetchTarget) -> bytes:
    host = f"[{target.host}]" if ":" in target.host else target.host
    usual = 443 if target.secure else 80
    lines = [
        f"GET {target.path} HTTP/1.1",
        f"Host: {host}" + ("" if target.port == usual else f":{target.port}"),
        f"User-Agent: {AGENT}",
        "Accept: image/*",
        "Accept-Encoding: identity",
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode("ascii")


def _body(response: http.client.HTTPResponse, most: int) -> bytes:
    """All of it, unpacked if the server packed it unasked; never more than `most` bytes are held."""
    if (response.length or 0) > most:
        raise FetchRefused("too_large", most=most // 1024**2)
    packed = (response.getheader("Content-Encoding") or "identity").strip().lower()
    if packed not in ("identity", "gzip", "x-gzip", "deflate"):
        raise FetchRefused("no_answer")
    unpack = None if packed == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
    data = bytearray()
    while block := response.read(BLOCK):
        data += unpack.decompress(block, most + 1 - len(data)) if unpack else block
        if len(data) > most:
            raise FetchRefused("too_large", most=most // 1024**2)
    if response.length:  # the server promised more
        raise FetchRefused("no_answer")
    return bytes(data)
