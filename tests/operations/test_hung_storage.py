"""A storage that hangs is named, and the other parts of the site with their own states."""

import threading

import pytest
from django.test import Client

from config import health

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_storage_that_hangs_is_the_only_part_that_is_down(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    mended = threading.Event()

    def ask() -> str:
        mended.wait(60)
        return "ok"

    storage = health.PARTS["storage"]
    monkeypatch.setattr(storage, "ask", ask)
    monkeypatch.setattr(storage, "patience", 0.05)
    try:
        for _minute in range(12):
            for part in health.PARTS.values():
                part.forget()
            reply = client.get("/readyz")
            parts = reply.json()["parts"]
            assert reply.status_code == 503 and parts["storage"] == "down"
            assert (parts["database"], parts["disk"]) == ("ok", "ok")
    finally:
        mended.set()
    monkeypatch.setattr(storage, "patience", 5.0)
    storage.forget()
    assert client.get("/readyz").json()["parts"]["storage"] == "ok"
    storage.forget()
