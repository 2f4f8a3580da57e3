"""A whole Emic for a measurement: its own PostgreSQL, with every write on disk, and gunicorn as ./emic starts it."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from config.local.servers import Postgres

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def database() -> Iterator[Path]:
    """Start PostgreSQL, tell this process' Django of it, and migrate."""
    home = Path(tempfile.mkdtemp(prefix="emic-load-"))
    postgres = Postgres(home)
    postgres.start()
    os.environ.update(
        DATABASE_URL=postgres.url,
        EMIC_DATA=str(home / "data"),
        EMIC_SECRET_KEY="only for this measurement, long enough to be let through the checks",
        EMIC_DB_POOL="0",
        DJANGO_SETTINGS_MODULE="tests.load.settings",
    )
    try:
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", "--no-input", verbosity=0)
        call_command("collectstatic", "--no-input", verbosity=0)
        yield home
    finally:
        postgres.stop()
        shutil.rmtree(home, ignore_errors=True)


def cpu_seconds(mark: str) -> float:
    """Processor time so far of the processes started with `mark` in their command, and of their children: what a
    busy machine does not blur, unlike the clock.
    """
    rows = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent, *times = (folder / "stat").read_text().rpartition(") ")[2].split()[1:15]
            rows[int(folder.name)] = (int(parent), sum(map(int, times[-4:])), (folder / "cmdline").read_text())
    roots = {pid for pid, (_parent, _time, command) in rows.items() if mark in command}
    ticks = sum(time for pid, (parent, time, _command) in rows.items() if pid in roots or parent in roots)
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def web(home: Path, processes: int = 2, threads: int = 8) -> Iterator[int]:
    """gunicorn, with `./emic run`'s own configuration; the port it listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [sys.executable, "-m", "gunicorn", "-c", "config/local/gunicorn.py", "-b", f"127.0.0.1:{port}"]
    env = {**os.environ, "EMIC_DB_POOL": str(threads), "EMIC_WEB_WORKERS": str(processes)}
    env["EMIC_WEB_THREADS"] = str(threads)
    with (home / "web.log").open("wb") as log:
        child = subprocess.Popen([*command, "config.wsgi"], cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            wait_until_healthy(port)
            yield port
        finally:
            child.send_signal(signal.SIGTERM)
            child.wait(20)


def wait_until_healthy(port: int, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, http.client.HTTPException):
            line = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            line.request("GET", "/readyz")
            if line.getresponse().status == 200:
                return
        time.sleep(0.1)
    raise TimeoutError("the web server does not answer")


def annotators(port: int, sessions: Sequence[str], seconds: float, **plan: Any) -> dict[str, Any]:
    """Let them work, in a process of their own, and hear what they met."""
    whole = {"port": port, "sessions": list(sessions), "seconds": seconds, **plan}
    done = subprocess.run(
        [sys.executable, "-m", "tests.annotators"], input=json.dumps(whole), capture_output=True, text=True, cwd=ROOT,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(done.stderr[-3000:])
    report: dict[str, Any] = json.loads(done.stdout)
    if done.stderr:
        raise RuntimeError(done.stderr[-3000:])
    return report


def session_of(user: Any) -> str:
    """A signed-in session, without the sign-in page."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    store = SessionStore()
    store[SESSION_KEY] = str(user.pk)
    store[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    store[HASH_SESSION_KEY] = user.get_session_auth_hash()
    store.create()
    return str(store.session_key)
