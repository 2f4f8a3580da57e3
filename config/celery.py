import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from billiard import pool
from celery import Celery
from celery.beat import Scheduler, Service
from celery.signals import task_postrun, task_prerun, worker_init, worker_process_init, worker_ready

from config import memory

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
app = Celery("emic")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 5.0
PRIVATE_KIB = 32 * 1024  # after which a process of the pool is replaced; a new one soon has half of it
SCHEDULER_PAUSE_SECONDS = 5.0  # after which a scheduler that failed starts again
SCHEDULER_STEP_SECONDS = 5  # at most, between two looks at what is due


@worker_init.connect
def start_heartbeats(**_kwargs: Any) -> None:
    """Two signs of life of the worker: a file for the supervisor of `./emic run`, which replaces a frozen worker, and
    a key in the broker for the status page. Each from a thread of its own: a broker that hangs is no frozen worker."""
    from django.utils import timezone

    from jobs.connections.broker import mark_worker

    if path := os.environ.get("EMIC_HEARTBEAT"):
        _repeat(Path(path).touch)
    _repeat(lambda: mark_worker(timezone.now()))


@worker_init.connect
def share_imports(sender: Any, **_kwargs: Any) -> None:
    memory.share_imports()
    sender.max_memory_per_child = PRIVATE_KIB


@worker_process_init.connect
def keep_shared(**_kwargs: Any) -> None:
    """Billiard compares the limit of `share_imports` with the most memory that a process has ever had, of which most is
    shared here. What matters is what a process has for itself."""
    memory.keep_shared()
    pool.mem_rss = _growth_kib  # type: ignore[attr-defined]


def _growth_kib() -> int:
    """A process with torch stays: it would have to load its model again in each slice of a run."""
    return 1 if "torch" in sys.modules else memory.private_kib()


@worker_ready.connect
def start_scheduler(**_kwargs: Any) -> None:
    """The scheduler of `./emic run`, a thread of the worker: a process of its own (`-B`) takes 16 MiB. Times are kept
    in memory, so a full disk cannot stop it. In a container the scheduler is a program of its own."""
    if os.environ.get("EMIC_SCHEDULER"):
        threading.Thread(target=_schedule, name="scheduler", daemon=True).start()


def _schedule() -> None:
    """A scheduler that fails starts again. If it stands still, the status page says so (`evaluation.beat`)."""
    app.set_current()
    while True:
        try:
            Service(app, max_interval=SCHEDULER_STEP_SECONDS, scheduler_cls=Scheduler).start()
        except Exception:
            log.exception("The scheduler failed and starts again in %g s", SCHEDULER_PAUSE_SECONDS)
        time.sleep(SCHEDULER_PAUSE_SECONDS)


@task_postrun.connect
def return_memory(**_kwargs: Any) -> None:
    memory.return_unused()


@task_prerun.connect
def show_texts_of_speakers(**_kwargs: Any) -> None:
    """Letters and files that a task writes have the present translations."""
    from people.locales import overlay

    overlay.refresh_all()


def _repeat(sign: Callable[[], None]) -> None:
    def run() -> None:
        while True:
            with contextlib.suppress(OSError):  # a new file on a full disk; an old one can be touched
                sign()
            time.sleep(HEARTBEAT_SECONDS)

    threading.Thread(target=run, name="heartbeat", daemon=True).start()
