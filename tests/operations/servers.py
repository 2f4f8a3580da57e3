"""A real gunicorn beside the tests, and senders who are slow."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import connection

from config.local.servers import Postgres
from tests.load.server import wait_until_healthy
from tests.start.helpers import ROOT, own_environment

PROCESSES, THREADS = 2, 8
TOKEN = "csrftoken=" + "x" * 32  # so that the token is looked for in the body


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def database_url() -> str:
    """The address of the database of this test process."""
    server = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(server._replace(path=f"/{connection.settings_dict['NAME']}"))


def signal_database(server: Postgres, number: signal.Signals) -> None:
    """To the server and all its processes."""
    assert server.child
    children = Path(f"/proc/{server.child.pid}/task/{server.child.pid}/children").read_text().split()
    for pid in [server.child.pid, *map(int, children)]:
        with contextlib.suppress(ProcessLookupError):  # a connection ended just now
            os.kill(pid, number)


def kill_database(server: Postgres) -> None:
    """It ends at once, with all its connections."""
    signal_database(server, signal.SIGKILL)
    assert server.child
    server.child.wait()


@contextlib.contextmanager
def gunicorn(database: str = "", **more: str) -> Iterator[int]:
    """Start gunicorn as `./emic run` does, on the database of this test or another address; yields its port."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="emic-web-") as folder:
        env = own_environment(
            Path(folder),
            DATABASE_URL=database or database_url(),
            CELERY_BROKER_URL=os.environ["EMIC_LIMITS_URL"],
            DJANGO_SETTINGS_MODULE="tests.operations.settings",
            EMIC_SECRET_KEY=settings.SECRET_KEY,
            EMIC_WEB_WORKERS=str(PROCESSES), EMIC_WEB_THREADS=str(THREADS), EMIC_DB_POOL=str(THREADS),
            **more,
        )  # fmt: skip
        command = [sys.executable, "-m", "gunicorn", "-c", "config/local/gunicorn.py", "-b", f"127.0.0.1:{port}"]
        log = Path(folder) / "web.log"
        with log.open("wb") as file:
            child = subprocess.Popen([*command, "config.wsgi"], cwd=ROOT, env=env, stdout=file, stderr=file)
        try:
            wait_until_healthy(port, 180)
            yield port
        finally:
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            print(log.read_text()[-3000:])


def get(port: int, path: str, seconds: float = 10.0, **headers: str) -> int:
    """The status of one GET; 0 where no answer came within the time."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        line.request("GET", path, headers={"Host": "localhost", **headers})
        return line.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        line.close()


def request_head(path: str, length: int, **headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {length}"]
    lines.append("Content-Type: application/x-www-form-urlencoded")
    headers["Cookie"] = "; ".join(filter(None, [headers.get("Cookie"), TOKEN]))
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()


def post_in_pieces(
    port: int, path: str, pieces: Sequence[bytes], length: int, pause: float = 0.0, **headers: str
) -> int:
    """Send a body in pieces and return the status of the answer; 0 where the line was closed without one."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(request_head(path, length, **headers))
        with contextlib.suppress(OSError):
            for piece in pieces:
                line.sendall(piece)
                time.sleep(pause)
        return status_of(line)


def status_of(line: socket.socket) -> int:
    try:
        first = line.recv(4096).split(b"\r\n", 1)[0].split()
    except OSError:
        return 0
    return int(first[1]) if len(first) > 1 else 0


class SlowSenders:
    """Lines that each send a POST of 40,000 bytes at one byte a second; a line that is closed is opened again."""

    def __init__(self, port: int, count: int, path: str = "/sign-in", **headers: str) -> None:
        self.port, self.count, self.path, self.headers = port, count, path, headers
        self._stop = threading.Event()
        self._lines: list[socket.socket | None] = [None] * count
        self.reopened = 0

    def __enter__(self) -> "SlowSenders":
        self._pulse()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_error: Any) -> None:
        self._stop.set()
        self._thread.join()
        for line in self._lines:
            if line is not None:
                line.close()

    def _run(self) -> None:
        while not self._stop.wait(1.0):
            self._pulse()

    def _pulse(self) -> None:
        for number, line in enumerate(self._lines):
            try:
                if line is None:
                    raise OSError
                line.sendall(b"x")
            except OSError:
                self.reopened += line is not None
                self._lines[number] = self._open(line)

    def _open(self, old: socket.socket | None) -> socket.socket | None:
        if old is not None:
            old.close()
        try:
            line = socket.create_connection(("127.0.0.1", self.port), timeout=1)
            line.sendall(request_head(self.path, 40_000, **self.headers))
        except OSError:
            return None
        return line
