"""Fixtures for everybody: the world and its people. See tests/personas.py."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from jobs.connections import broker
from people.models import User
from tests.mailing import MailServer, mail_serving
from tests.personas import World, make_world
from tests.predictions.model_server import Server, serving

settings.load_profile("ci")  # the same examples each time, and no failure because a machine is slow


@pytest.fixture(autouse=True)
def broker_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sends less because another one's broker was silent."""
    monkeypatch.setattr(broker, "_silent_until", 0.0)


@pytest.fixture
def world(db: Any) -> World:
    return make_world()


@pytest.fixture
def client_of(world: World) -> Callable[[User], Client]:
    """A browser in which this person is signed in."""
    return world.client


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One for all tests of a process: Playwright's loop cannot run twice in a thread."""
    from tests.browser.conftest import ARGS, CHROMIUM

    # Its loop runs in this thread; Django would refuse the database because of it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser
        browser.close()


@pytest.fixture
def scripted_server() -> Iterator[Server]:
    """A model server that does what the test tells it to."""
    with serving() as server:
        yield server


@pytest.fixture
def mail_server(settings: Any) -> Iterator[MailServer]:
    """The site has a mail server, which does what the test tells it to."""
    with mail_serving() as server:
        server.use(settings)
        yield server


def _persona(name: str) -> Any:
    def person(world: World) -> User:
        return getattr(world, name)  # type: ignore[no-any-return]

    return pytest.fixture(person, name=name)


nour = _persona("nour")
tarek = _persona("tarek")
bia = _persona("bia")
caio = _persona("caio")
reviewer = _persona("reviewer")
manager = _persona("manager")
mara = _persona("mara")
researcher = _persona("researcher")
owner = _persona("owner")
team_admin = _persona("team_admin")
site_admin = _persona("site_admin")
stranger = _persona("stranger")
rival = _persona("rival")
