"""Talking to the broker without waiting for one that hangs.

A broker that is away costs time and never work: what is sent says 'look at row n', and the scheduler sends it again.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import redis
from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger(__name__)

ASK_SECONDS = 2.0
REST_SECONDS = 10.0  # after a failure nothing is sent for so long, so that few requests wait for a broker that hangs
WORKER_KEY = "emic:worker"
WORKER_KEEP = 86_400
WORKER_LATE = timedelta(seconds=30)  # it gives a sign of life every five

_lock = threading.Lock()
_silent_until = 0.0


def dispatch(task: str, *arguments: Any) -> bool:
    """Send a task to the workers; False where the broker does not take it, or did not some seconds ago."""
    global _silent_until
    if time.monotonic() < _silent_until:
        return False
    try:
        current_app.send_task(task, arguments, retry=False)
    except (OperationalError, RedisError, OSError) as error:
        with _lock:
            _silent_until = time.monotonic() + REST_SECONDS
        log.warning("%s was not sent: the broker does not answer (%s)", task, error)
        return False
    return True


def ask(question: Callable[[Any], Any]) -> Any:
    """Ask the broker something; None where it does not answer within two seconds, or is not of the Redis kind."""
    client = _client(settings.CELERY_BROKER_URL)
    if client is None:
        return None
    try:
        return question(client)
    except (RedisError, OSError):
        return None


@cache
def _client(url: str) -> redis.Redis | None:
    url = url.replace("redis+socket://", "unix://", 1)  # Celery writes the address of a socket in its own way
    if not url.startswith(("redis://", "rediss://", "unix://", "valkey://")):
        return None
    retry = Retry(NoBackoff(), 0)
    return redis.Redis.from_url(url, socket_timeout=ASK_SECONDS, socket_connect_timeout=ASK_SECONDS, retry=retry)


def mark_worker(at: datetime) -> None:
    """A worker's sign of life, from a thread of its own: busy workers give it as well."""
    ask(lambda client: client.set(WORKER_KEY, at.isoformat(), ex=WORKER_KEEP))


def worker_seen(client: Any) -> datetime | None:
    """When a worker last gave its sign of life; None for never. For use within `ask`."""
    text = client.get(WORKER_KEY)
    return datetime.fromisoformat(text.decode()) if text else None
