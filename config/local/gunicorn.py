"""How gunicorn serves Emic, here and in a container: a few processes of many threads, for requests mostly wait."""

import os
import threading
import time
from typing import Any

from config import memory

bind = os.environ.get("EMIC_BIND", "127.0.0.1:8000")
worker_class = "gthread"
preload_app = True
workers = int(os.environ.get("EMIC_WEB_WORKERS", "2"))
threads = int(os.environ.get("EMIC_WEB_THREADS", "8"))  # as many as a process keeps database connections
timeout = 60
graceful_timeout = 8
keepalive = 5
backlog = 512
limit_request_line = 8190  # filters of rows may be many; a longer line is answered with 414
max_requests = 20000
max_requests_jitter = 2000
control_socket_disable = True
loglevel = os.environ.get("EMIC_WEB_LOG", "warning")
forwarded_allow_ips = os.environ.get("EMIC_PROXIES", "127.0.0.1,::1")
# Requests share the cores as it is: threads of linear algebra beside them spin more than they compute.
raw_env = [f"OPENBLAS_NUM_THREADS={os.environ.get('OPENBLAS_NUM_THREADS', '1')}"]

HEALTH = "/healthz"
LOOK_SECONDS = 10.0
REST_SECONDS = 60.0
PRIVATE_KIB = 32 * 1024  # a new process soon has half of it


def when_ready(_server: Any) -> None:
    memory.share_imports()


def post_fork(_server: Any, _worker: Any) -> None:
    memory.keep_shared()


class Activity:
    """The requests of one process, apart from those of the supervisor, which asks every 10 s whether it responds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = 0
        self._last = time.monotonic()

    def count(self, change: int) -> None:
        with self._lock:
            self._running += change
            self._last = time.monotonic()

    def rests(self) -> bool:
        return not self._running and time.monotonic() - self._last > REST_SECONDS


activity = Activity()


def pre_request(_worker: Any, request: Any) -> None:
    if request.path != HEALTH:
        activity.count(1)


def post_request(_worker: Any, request: Any, _environ: Any, _response: Any) -> None:
    if request.path != HEALTH:
        activity.count(-1)


def post_worker_init(worker: Any) -> None:
    threading.Thread(target=_watch, args=(worker,), name="memory", daemon=True).start()


def _watch(worker: Any) -> None:
    """Each process looks for itself: the supervisor's requests may all go to another."""
    while worker.alive:
        time.sleep(LOOK_SECONDS)
        replace_if_grown(worker)


def replace_if_grown(worker: Any) -> None:
    """A process that rests and has grown, by an export or by what it wrote to shared memory, makes room for a new one:
    as after `max_requests`, but while nobody waits."""
    if activity.rests() and memory.private_kib() > PRIVATE_KIB:
        worker.alive = False
