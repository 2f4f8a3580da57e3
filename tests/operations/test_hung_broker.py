"""A broker that hangs (SIGSTOP) holds up neither an import nor an answer nor the status page."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.conf import settings as real
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from config.local.servers import Valkey
from evaluation.queries import status as status_page
from jobs.connections import broker
from jobs.models import Job
from tests.personas import World


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Valkey]:
    server = Valkey(tmp_path)
    server.start()
    yield server
    if server.child:
        os.kill(server.child.pid, signal.SIGCONT)
    server.stop()


@pytest.fixture
def app(valkey: Valkey, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Celery]:
    """Celery with our own settings, at a broker that this test may freeze."""
    settings.CELERY_BROKER_URL = valkey.url
    app = Celery("frozen", broker=valkey.url, set_as_current=False)
    app.config_from_object(real, namespace="CELERY")
    app.conf.broker_url = valkey.url
    monkeypatch.setattr(broker, "current_app", app)
    yield app
    app.close()


def freeze(valkey: Valkey) -> None:
    assert valkey.child
    os.kill(valkey.child.pid, signal.SIGSTOP)


def test_sending_gives_up_after_seconds_and_the_next_request_does_not_wait(app: Celery, valkey: Valkey) -> None:
    assert broker.dispatch("jobs.run", 1)
    freeze(valkey)
    begun = time.monotonic()
    assert not broker.dispatch("jobs.run", 2)
    assert time.monotonic() - begun < 8
    begun = time.monotonic()
    for number in range(20):
        assert not broker.dispatch("jobs.run", number)
    assert time.monotonic() - begun < 1


def test_the_broker_is_asked_again_once_it_had_its_rest(
    app: Celery, valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker, "_silent_until", time.monotonic() + 0.2)
    assert not broker.dispatch("jobs.run", 1)
    time.sleep(0.3)
    assert broker.dispatch("jobs.run", 1)


@pytest.mark.django_db(transaction=True)
def test_an_import_is_queued_and_the_status_page_names_the_broker(app: Celery, valkey: Valkey) -> None:
    from tests.personas import make_world

    world = make_world()
    owner, admin = world.client(world.owner), world.client(world.site_admin)
    freeze(valkey)
    begun = time.monotonic()
    file = SimpleUploadedFile("items.zip", b"PK\x05\x06" + b"\0" * 18)
    reply = owner.post("/b/sea-and-river/import/", {"stage": world.stage.pk, "archive": file})
    assert reply.status_code == 302
    assert time.monotonic() - begun < 8
    assert Job.objects.get().state == "queued"
    begun = time.monotonic()
    text = admin.get("/status/").content.decode()
    assert time.monotonic() - begun < 4
    assert "The broker is not responding" in text


def test_readyz_names_the_broker_and_the_site_stays_ready(
    db: Any, app: Celery, valkey: Valkey, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from config import health

    def parts() -> Any:
        for part in health.PARTS.values():
            part.forget()
        reply = client.get("/readyz")
        return reply.status_code, reply.json()

    code, body = parts()
    assert code == 200 and body["parts"]["broker"] == "ok" and body["parts"]["worker"] == "late"
    broker.mark_worker(timezone.now())
    assert parts()[1]["degraded"] == []
    freeze(valkey)
    code, body = parts()
    assert code == 200 and body["ready"]
    assert body["degraded"] == ["broker", "worker"]
    assert client.get("/healthz").status_code == 200
    monkeypatch.setattr(health.PARTS["database"], "ask", lambda: 1 / 0)
    code, body = parts()
    assert code == 503 and not body["ready"] and body["parts"]["database"] == "down"


def test_the_status_page_says_that_the_worker_does_not_respond(
    world: World, app: Celery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status_page, "STARTED", timezone.now() - timezone.timedelta(days=1))
    client = world.client(world.site_admin)
    assert "The worker does not respond" in client.get("/status/").content.decode()
    broker.mark_worker(timezone.now())
    assert "The worker does not respond" not in client.get("/status/").content.decode()
    broker.mark_worker(timezone.now() - timezone.timedelta(seconds=90))
    assert "The worker does not respond" in client.get("/status/").content.decode()
