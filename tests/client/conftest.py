"""A site that answers, a benchmark with answers, and a client with a token of its researcher."""

from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from annotation.models import Campaign
from api.protocol.limits import Throttle
from emic_client import Emic
from jobs.services import lifecycle, runner
from people.models import User
from people.services import tokens
from tests.evaluation.data import an_open_campaign, give_ratings, of_condition, table
from tests.personas import World

Connect = Callable[..., Emic]


@pytest.fixture
def connect(live_server: Any) -> Iterator[Connect]:
    """A client of a person, with a token of these scopes."""
    cache.clear()  # nobody has asked before
    clients: list[Emic] = []

    def connected(user: User, *scopes: str, **options: Any) -> Emic:
        _token, text = tokens.create_token(user, "test", timezone.now(), scopes=scopes or ("read", "export"))
        clients.append(Emic(live_server.url, text, **options))
        return clients[-1]

    yield connected
    for client in clients:
        client.close()


@pytest.fixture
def many_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person may send more requests than a release has files: else the client waits for the next minute."""
    monkeypatch.setattr(Throttle, "THROTTLE_RATES", {"person": "5000/min", "team": "5000/min"})


@pytest.fixture
def campaign(world: World) -> Campaign:
    world.add_items(8)
    campaign = an_open_campaign(world)
    natural = of_condition(world.items, "natural")
    table(campaign, world.egypt, natural, {world.nour: "1234", world.tarek: "12.5"})
    give_ratings(campaign, world.brazil, world.bia, {natural[0]: "5"}, because="surplus")
    return campaign


@pytest.fixture
def media(settings: Any, tmp_path: Path) -> None:
    """Files lie in a folder of the test's own."""
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path / "media"},
        },
    }


@pytest.fixture
def worker(media: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Does each job in a thread of its own, as it is sent."""
    threads: list[Thread] = []

    def work(job_id: int) -> None:
        try:
            runner.run(job_id)
        finally:
            connection.close()

    def send(_task: str, job_id: int) -> bool:
        threads.append(Thread(target=work, args=(job_id,)))
        threads[-1].start()
        return True

    monkeypatch.setattr(lifecycle, "dispatch", send)
    yield
    for thread in threads:
        thread.join()
