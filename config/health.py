"""Two questions from outside: does this process answer, and can the site be used?"""

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from config.database_guard import connection_fault
from config.full_disk import LITTLE_BYTES
from jobs.connections import broker
from jobs.connections.timeouts import PatientCall

SECONDS = 2.0
CONNECT_SECONDS = 2


def healthz(request: HttpRequest) -> HttpResponse:
    """200 when this web process answers. It asks nothing else: a supervisor restarts what does not answer, and a
    restart of the web server mends neither the database nor the worker."""
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(request: HttpRequest) -> HttpResponse:
    """200 when people can use the site, else 503; each part by name. Broker, worker and disk only degrade it: answers
    can still be given."""
    needed = {"database": PARTS["database"].state(), "storage": PARTS["storage"].state()}
    others = {name: PARTS[name].state() for name in ("broker", "worker", "disk")}
    ready = all(state == "ok" for state in needed.values())
    degraded = sorted(name for name, state in others.items() if state != "ok")
    parts = needed | others
    body = {
        "ready": ready,
        "degraded": degraded,
        "parts": parts,
        "reasons": {name: REASONS[state] for name, state in parts.items() if state in REASONS},
        "worker_late_after_seconds": LATE_SECONDS,
    }
    return JsonResponse(body, status=200 if ready else 503, headers={"Cache-Control": "no-store"})


@dataclass
class HealthPart:
    """One part of the site. Its state is asked for at most every `seconds`, whoever wants to know, and waited for
    `patience` seconds."""

    ask: Callable[[], str]
    seconds: float
    patience: float = SECONDS
    _state: str = "unknown"
    _asked: float = float("-inf")
    _call: PatientCall[str] = field(default_factory=PatientCall)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def state(self) -> str:
        with self._lock:
            if time.monotonic() - self._asked >= self.seconds:
                self._state = self._call.answer_within(self.patience, self.ask, "down")
                self._asked = time.monotonic()
            return self._state

    def forget(self) -> None:
        self._asked = float("-inf")


def _database() -> str:
    """Asked by a connection of its own: those of the pool may be in use, and one that hangs would stop this thread."""
    fault = connection_fault(CONNECT_SECONDS)
    if fault:
        return fault
    try:
        return "ok" if _is_migrated() else "migrations are due"
    finally:
        connection.close()


_migrated: list[bool] = []


def _is_migrated() -> bool:
    """Asked until it is so: nobody takes a migration back under a running server."""
    if not _migrated:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _migrated.append(True)
    return True


def _storage() -> str:
    default_storage.exists("originals")
    return "ok"


def _disk() -> str:
    return "ok" if shutil.disk_usage(settings.DATA_DIR).free >= LITTLE_BYTES else "nearly full"


def _broker() -> str:
    return "ok" if broker.ask(lambda client: client.ping()) else "down"


def _worker() -> str:
    """Its sign of life is kept in the broker, so beside one that is away nothing is known of it, and nothing asked."""
    if PARTS["broker"].state() != "ok":
        return "unknown"
    answer: Any = broker.ask(lambda client: (broker.worker_seen(client),))
    if answer is None:
        return "unknown"
    return "ok" if answer[0] and timezone.now() - answer[0] <= broker.WORKER_LATE else "late"


LATE_SECONDS = round(broker.WORKER_LATE.total_seconds())
REASONS = {
    "down": "It failed, or did not answer in time.",
    "refuses connections": "PostgreSQL refuses new connections: it starts, stops, or has too many.",
    "cannot be reached": "Nothing listens at the address of DATABASE_URL.",
    f"does not answer within {CONNECT_SECONDS} s": "PostgreSQL accepts no new connection: it hangs or is overloaded.",
    "migrations are due": "Run ./emic manage migrate, or start Emic again.",
    "late": f"The worker gave no sign of life for more than {LATE_SECONDS} s; it gives one every 5 s.",
    "nearly full": f"Less than {LITTLE_BYTES // 1024**2} MB are free.",
}
PARTS = {
    "database": HealthPart(_database, 1.0, CONNECT_SECONDS + 1.0),
    "storage": HealthPart(_storage, 30.0),
    "broker": HealthPart(_broker, 5.0),
    "worker": HealthPart(_worker, 5.0),
    "disk": HealthPart(_disk, 5.0),
}
