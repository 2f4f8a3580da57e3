"""The scheduler of `./emic run` is a thread of the worker: if it fails, it starts again."""

import threading
from datetime import datetime, timedelta
from typing import Any

import pytest
from celery import Celery
from celery.beat import Scheduler
from django.conf import settings
from django.utils import timezone

from config import celery


class FailingService:
    """Fails at its first start, ends at its second, and runs from then on."""

    def __init__(self) -> None:
        self.starts = 0
        self.runs = threading.Event()

    def __call__(self, *arguments: Any, **options: Any) -> "FailingService":
        return self

    def start(self) -> None:
        self.starts += 1
        if self.starts == 1:
            raise ConnectionError("the broker is away")
        if self.starts == 3:
            self.runs.set()
            threading.Event().wait()


def test_a_scheduler_that_fails_or_ends_starts_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service = FailingService()
    monkeypatch.setattr(celery, "Service", service)
    monkeypatch.setattr(celery, "SCHEDULER_PAUSE_SECONDS", 0.0)
    monkeypatch.setenv("EMIC_SCHEDULER", "1")
    celery.start_scheduler()
    assert service.runs.wait(10)
    assert "The scheduler failed" in caplog.text


def test_a_worker_of_a_container_has_no_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    service = FailingService()
    monkeypatch.setattr(celery, "Service", service)
    monkeypatch.delenv("EMIC_SCHEDULER", raising=False)
    celery.start_scheduler()
    assert not service.runs.wait(0.2) and not service.starts


def test_what_a_night_without_a_worker_sent_is_not_all_done_in_the_morning() -> None:
    app = Celery("night", broker="memory://", set_as_current=False)
    app.config_from_object(settings, namespace="CELERY")
    app.conf.update(broker_url="memory://")
    scheduler = Scheduler(app)
    sent = {}
    with app.connection() as line:
        queue = line.SimpleQueue("celery")
        queue.clear()  # all tests of a process share the broker in memory
        for entry in scheduler.schedule.values():
            scheduler.apply_async(entry, advance=False)
        for _entry in scheduler.schedule:
            message = queue.get(timeout=5)
            sent[message.headers["task"]] = message.headers["expires"]
    assert sent.keys() == {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    never = [task for task, expires in sent.items() if not expires]
    assert not never
    assert max(map(datetime.fromisoformat, sent.values())) < timezone.now() + timedelta(hours=1, minutes=1)
