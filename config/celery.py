import contextlib
import os
import threading
import time
from pathlib import Path
from typing import Any

from celery import Celery
from celery.signals import worker_init

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("emic")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

HEARTBEAT_SECONDS = 5.0


@worker_init.connect
def start_heartbeat(**_kwargs: Any) -> None:
    """Under `./emic run` the worker touches a file, so that the supervisor replaces a worker that is frozen."""
    if path := os.environ.get("EMIC_HEARTBEAT"):
        threading.Thread(target=_touch, args=(Path(path),), name="heartbeat", daemon=True).start()


def _touch(path: Path) -> None:
    while True:
        with contextlib.suppress(OSError):  # a new file on a full disk; an old one can be touched
            path.touch()
        time.sleep(HEARTBEAT_SECONDS)
