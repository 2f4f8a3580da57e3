"""A line between a browser and the web server that breaks on demand, in the middle of a request or of its reply."""

import contextlib
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

CHUNK = 65536
KILLED = "server killed within"
BREAKS = ("reply lost", "reply halved", "request halved", "reply late", "reply hangs", KILLED)
LATE, HANGS = 1.5, 6.0  # seconds


@dataclass(frozen=True)
class Break:
    """What happens to the next `times` POSTs whose path ends in `path`."""

    kind: str
    path: str = "/submit"
    times: int = 1


class CuttingProxy:
    """Forwards each request on a connection of its own. `kill` is called for "server killed within"."""

    def __init__(self, kill: Callable[[], None], dice: random.Random) -> None:
        self.target = 0
        self.kill, self.dice = kill, dice
        self.done: Counter[str] = Counter()
        self._breaks: list[Break] = []
        self._killing = 0
        self._lock = threading.Lock()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = int(self._socket.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, *breaks: Break) -> None:
        """Replace what is still to break."""
        with self._lock:
            self._breaks = [Break(one.kind, one.path) for one in breaks for _time in range(one.times)]

    def finish_kills(self) -> None:
        """Wait until requests that kill the server have done so: it may be started then."""
        while self._killing:
            time.sleep(0.01)

    def close(self) -> None:
        self._socket.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _address = self._socket.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            client.settimeout(30)
            request = read_request(client)
            if request is None:
                return
            kind = self._next_break(request)
            if kind:
                self.done[kind] += 1
            try:
                self._forward(client, request, kind)
            finally:
                with self._lock:
                    self._killing -= kind == KILLED

    def _next_break(self, request: bytes) -> str:
        method, path = request.split(b" ", 2)[:2]
        if method != b"POST":
            return ""
        with self._lock:
            for number, one in enumerate(self._breaks):
                if path.split(b"?")[0].endswith(one.path.encode()):
                    self._killing += one.kind == KILLED
                    return self._breaks.pop(number).kind
        return ""

    def _forward(self, client: socket.socket, request: bytes, kind: str) -> None:
        with socket.create_connection(("127.0.0.1", self.target), timeout=30) as server:
            if kind == "request halved":
                server.sendall(request[: len(request) - body_length(request) // 2 - 1])
                time.sleep(self.dice.uniform(0, 0.1))
                return
            server.sendall(request)
            if kind == KILLED:
                time.sleep(self.dice.uniform(0, 0.04))
                self.kill()
            reply = b"".join(iter(lambda: server.recv(CHUNK), b""))
        if kind == "reply lost":
            return
        if kind in ("reply late", "reply hangs"):
            time.sleep(LATE if kind == "reply late" else HANGS)
        if kind == "reply hangs":
            return
        client.sendall(reply[: len(reply) // 2] if kind == "reply halved" else reply)


def read_request(client: socket.socket) -> bytes | None:
    """The head, with a wish for one reply on this connection, and the whole body."""
    text = b""
    while b"\r\n\r\n" not in text:
        more = client.recv(CHUNK)
        if not more:
            return None
        text += more
    head, body = text.split(b"\r\n\r\n", 1)
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    request = b"\r\n".join([*lines, b"Connection: close"]) + b"\r\n\r\n" + body
    missing = content_length(head) - len(body)
    while missing > 0:
        more = client.recv(CHUNK)
        if not more:
            return None
        request, missing = request + more, missing - len(more)
    return request


def content_length(head: bytes) -> int:
    lengths = [line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    return int(lengths[0]) if lengths else 0


def body_length(request: bytes) -> int:
    return content_length(request.split(b"\r\n\r\n", 1)[0])


@contextlib.contextmanager
def cutting(kill: Callable[[], None], dice: random.Random) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(kill, dice)
    try:
        yield proxy
    finally:
        proxy.close()
