"""A gunicorn on the database of the tests that is killed and started again."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from tests.load.server import wait_until_healthy
from tests.operations.servers import database_url, free_port
from tests.start.helpers import ROOT, own_environment


class KilledServer:
    """One process of eight threads. It keeps its port."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.kills = 0
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, unless it runs; again, if it is killed while it starts."""
        healthy = self._child is not None
        while not healthy:
            self._spawn()
            with contextlib.suppress(TimeoutError):
                wait_until_healthy(self.port, 15)
                healthy = True

    def _spawn(self) -> None:
        with self._lock:
            if self._child is not None:
                return
            env = own_environment(
                self.folder,
                DATABASE_URL=database_url(), CELERY_BROKER_URL=os.environ["EMIC_LIMITS_URL"],
                DJANGO_SETTINGS_MODULE="tests.operations.settings", EMIC_SECRET_KEY=settings.SECRET_KEY,
                EMIC_WEB_WORKERS="1", EMIC_WEB_THREADS="8", EMIC_DB_POOL="8",
            )  # fmt: skip
            command = [
                sys.executable,
                "-m",
                "gunicorn",
                "-c",
                "config/local/gunicorn.py",
                "-b",
                f"127.0.0.1:{self.port}",
            ]
            with (self.folder / "web.log").open("ab") as log:
                how = {"cwd": ROOT, "env": env, "start_new_session": True}
                self._child = subprocess.Popen([*command, "config.wsgi"], stdout=log, stderr=log, **how)  # type: ignore[call-overload]

    def kill(self) -> None:
        """SIGKILL to it and its workers, now."""
        with self._lock:
            if self._child is None:
                return
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
            self._child = None
            self.kills += 1


@contextlib.contextmanager
def killed_server() -> Iterator[KilledServer]:
    with tempfile.TemporaryDirectory(prefix="emic-killed-") as folder:
        server = KilledServer(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.kill()
