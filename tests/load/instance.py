"""A real `./emic run` in a folder of its own, with its supervisor, to be loaded and killed."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from config.local.data_folder import DataFolder
from tests.load.server import ROOT, wait_until_healthy


class Instance:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.home = DataFolder(path)

    @property
    def pid(self) -> int:
        return int(self.home.current_run()["pid"])

    @property
    def port(self) -> int:
        return int(self.home.current_run()["address"].rpartition(":")[2])

    def world(self, *arguments: str) -> Any:
        """Run tests.load.world beside it, with its settings."""
        from config.local.environment import environment

        env = {**environment(self.home), "EMIC_DB_POOL": "0", "DATABASE_URL": self.database_url()}
        command = [sys.executable, "-m", "tests.load.world", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout)

    def database_url(self) -> str:
        from config.local.servers import Postgres

        return Postgres(self.path).url

    def children(self) -> dict[str, int]:
        return dict(json.loads((self.path / "run" / "children.json").read_text()))

    def kill(self, name: str) -> float:
        """SIGKILL, now; says when. A web server and a worker go with all their processes."""
        pid = self.children()[name]
        at = time.time()
        if name == "PostgreSQL":
            os.kill(pid, signal.SIGKILL)
        else:
            os.killpg(pid, signal.SIGKILL)
        return at


@contextlib.contextmanager
def running(folder: Path | None = None, **more: str) -> Iterator[Instance]:
    """In this folder, or one of its own; with `more` in its environment."""
    path = folder or Path(tempfile.mkdtemp(prefix="emic-kill-"))
    unset = ("DATABASE_URL", "CELERY_BROKER_URL", "EMIC_DB_POOL", "DJANGO_SETTINGS_MODULE")
    env = {key: value for key, value in os.environ.items() if key not in unset}
    env.update(more, EMIC_DATA=str(path))
    command = [sys.executable, "emic", "run", "--no-demo", "--port", "0"]
    with (path / "said.log").open("wb") as log:
        child = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            yield wait_for(Instance(path), child)
        except BaseException:
            print((path / "said.log").read_text()[-3000:])
            raise
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(60)
            shutil.rmtree(path, ignore_errors=True)


def wait_for(instance: Instance, child: subprocess.Popen[bytes]) -> Instance:
    end = time.monotonic() + 300
    while not instance.home.current_run().get("address"):
        assert child.poll() is None and time.monotonic() < end, (instance.path / "said.log").read_text()
        time.sleep(0.2)
    wait_until_healthy(instance.port)
    return instance
