"""Receivers of webhooks on this machine, each with a behaviour; and what they were sent."""

import base64
import hashlib
import hmac
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """`behaviour`: a status, "redirect", "endless", "slow", or "hang"."""

    def __init__(self, behaviour: int | str = 200) -> None:
        self.behaviour, self.messages, self.port = behaviour, list[tuple[Mapping[str, str], bytes]](), 0
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        self.messages.append(({name.lower(): value for name, value in handler.headers.items()}, body))
        if self.behaviour == "slow":
            self.stopped.wait(20)
            return
        status = self.behaviour if isinstance(self.behaviour, int) else 302 if self.behaviour == "redirect" else 200
        handler.send_response(status)
        if self.behaviour == "redirect":
            handler.send_header("Location", "http://169.254.169.254/latest/meta-data")
        handler.end_headers()
        if self.behaviour == "endless":
            self._send_without_end(handler)

    def _send_without_end(self, handler: BaseHTTPRequestHandler) -> None:
        try:
            while not self.stopped.is_set():
                handler.wfile.write(b"x" * 65536)
        except OSError:
            pass

    def wait_for(self, number: int, seconds: float = 10) -> bool:
        until = time.monotonic() + seconds
        while len(self.messages) < number and time.monotonic() < until:
            time.sleep(0.02)
        return len(self.messages) >= number


@contextmanager
def receiving(behaviour: int | str = 200) -> Iterator[Receiver]:
    receiver = Receiver(behaviour)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.answer(self)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.stopped.set()
        server.shutdown()
        server.server_close()


def is_genuine(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """An outside verifier, written from the text of the Standard Webhooks scheme alone."""
    key = base64.b64decode(secret.split("_", 1)[1])
    moment = headers["webhook-timestamp"]
    if abs(now - int(moment)) > 300:
        return False
    signed = b".".join([headers["webhook-id"].encode(), moment.encode(), body])
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    candidates = [part.split(",", 1) for part in headers["webhook-signature"].split(" ")]
    return any(version == "v1" and hmac.compare_digest(value, expected) for version, value in candidates)
