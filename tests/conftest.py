"""Fixtures for everybody: the world and its people. See tests/personas.py."""

import gc
import os
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.db.backends.postgresql.creation import DatabaseCreation
from django.template import Context, Template
from django.test import Client, TransactionTestCase
from django.test.utils import _TestState, instrumented_test_render
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright
from psycopg.errors import DeadlockDetected

from jobs.connections import broker
from jobs.queries import event_feed
from people.models import User
from releases.rows import changes
from tests import kept_world, module_world, servers, warm_connections
from tests.mailing import MailServer, mail_serving
from tests.personas import World
from tests.predictions.model_server import Server, serving

settings.load_profile("ci")  # the same examples each time, and no failure because a machine is slow


def pytest_collection_finish() -> None:
    """Garbage is looked for less often: a worker holds a million objects, most of them for the whole session."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)


SWEEP_AFTER = 100  # tests that used the database
_unswept = 0


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Give back the pages of rows that tests wrote and rolled back. After the last test there is no database.

    A file may keep one transaction for all of its tests. In the midst of it, PostgreSQL would count none of its rows,
    and then read whole tables again and again.
    """
    global _unswept
    _unswept += "django_db_setup" in getattr(item, "fixturenames", ())
    if _unswept >= SWEEP_AFTER and nextitem is not None and not connection.in_atomic_block:
        _unswept = 0
        with psycopg.connect(**connection.get_connection_params(), autocommit=True) as sweeping:
            sweeping.execute("vacuum")


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> Iterator[None]:
    """Each process copies a migrated database; pytest-django asks for this before it makes that of the process."""
    with django_db_blocker.unblock():
        servers.copy_migrated_database()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseCreation, "_destroy_test_db", servers.drop_database)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The world is written once, and copied for each test that asks for it."""
    with django_db_blocker.unblock():
        kept_world.keep()


@pytest.fixture(scope="session", autouse=True)
def connections_kept_warm() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        warm_connections.keep(patch)
        yield
    warm_connections.close_all()


@pytest.fixture(scope="session", autouse=True)
def feed_of_this_database() -> Iterator[None]:
    """Other processes write in databases of their own in the same cluster. Their transactions, as long as a test, would
    hold the feed of events back, and what has changed, for both wait for all that run in the cluster.
    """
    of_cluster = "pg_snapshot_xmin(pg_current_snapshot())"
    of_database = """least(pg_snapshot_xmax(pg_current_snapshot()), (SELECT min(backend_xid::text::xid8)
      FROM pg_stat_activity WHERE datname = current_database() AND backend_xid IS NOT NULL))"""
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((event_feed, "ROWS"), (event_feed, "NOW"), (changes, "MOMENT")):
            statement = getattr(module, name)
            assert of_cluster in statement
            patch.setattr(module, name, statement.replace(of_cluster, of_database))
        yield


@pytest.fixture(autouse=True)
def broker_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sends less because another one's broker was silent."""
    monkeypatch.setattr(broker, "_silent_until", 0.0)


@pytest.fixture(scope="session", autouse=True)
def contexts_of_whole_pages(django_test_environment: None) -> Iterator[None]:
    """What a page was given is copied for `response.context`; what its hundreds of parts were given is not."""
    plain = _TestState.saved_data.template_render

    def render(template: Template, context: Context) -> Any:
        return (instrumented_test_render if context.template is template else plain)(template, context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "_render", render)
        yield


@pytest.fixture(scope="session", autouse=True)
def short_flush() -> Iterator[None]:
    """After a test that commits, rows are deleted from the tables that have some.

    Django's own flush truncates all tables and makes content types and permissions again, which takes longer than many
    a test. Both stay as the migrations made them.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", delete_all_rows)
        yield


def delete_all_rows(_case: TransactionTestCase) -> None:
    """A request that a browser sent last may still run. After a deadlock with it, rows are deleted once more."""
    for _attempt in range(4):
        try:
            delete_rows_once()
            return
        except OperationalError as error:
            if not isinstance(error.__cause__, DeadlockDetected):
                raise
    delete_rows_once()


def delete_rows_once() -> None:
    names = set(connection.introspection.django_table_names(only_existing=True, include_views=False))
    names -= {"django_content_type", "auth_permission"}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"lock table {', '.join(sorted(names))} in exclusive mode")  # locks of rows end first too
        cursor.execute(" union all ".join(f"(select '{name}' from {name} limit 1)" for name in names))
        filled = [row[0] for row in cursor.fetchall()]
        cursor.execute("set local session_replication_role = replica")  # any order of tables, and no triggers
        for name in filled:
            cursor.execute(f"delete from {name}")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    module_world.group_tests(items)


@pytest.fixture(scope="module")
def module_layers(django_db_setup: None, django_db_blocker: Any) -> Iterator[module_world.Layers]:
    """What the tests of this module share: see tests/module_world.py."""
    layers = module_world.Layers()
    yield layers
    with django_db_blocker.unblock():
        layers.undo(0)


@pytest.fixture
def built(request: pytest.FixtureRequest, module_layers: module_world.Layers, django_db_blocker: Any) -> dict[str, Any]:
    """The test's own copies of what is built once in its module, by name."""
    with django_db_blocker.unblock():
        return module_world.arrange_for(request.node, module_layers)


@pytest.fixture
def _django_db_helper(built: dict[str, Any], _django_db_helper: None) -> None:
    """First what the module shares, then the savepoint of the test."""


@pytest.fixture
def world(db: Any, built: dict[str, Any]) -> World:
    return built.get(module_world.WORLD) or kept_world.copy_world()


@pytest.fixture
def client_of(world: World) -> Callable[[User], Client]:
    """A browser in which this person is signed in."""
    return world.client


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """One for all tests of a process: Playwright's loop cannot run twice in a thread."""
    from tests.browser.conftest import ARGS, CHROMIUM, ONE_FRAME

    # Its loop runs in this thread; Django would refuse the database because of it.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*ARGS, ONE_FRAME])
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
