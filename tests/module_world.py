"""What many tests of a module begin with is written once, in a transaction that they share; each works in a savepoint.

@built_once
def campaign(world):
    world.add_items(20)
    return open_campaign(world)

This is a fixture like any other: each test that asks for `campaign` meets these rows, and objects of its own, copied
by pickle. A test that does not ask for it does not meet them. Such a fixture asks for `world` and for others that are
built once, for nothing else. What it leaves in the cache or the mailbox is cleared before the test.
"""

import inspect
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.db import connection, transaction

from tests import kept_world

WORLD = "world"
BUILD = "_built_once"


def built_once(build: Callable[..., Any]) -> Any:
    """A fixture whose rows are written once for the tests of a module that ask for it."""
    assert not inspect.isgeneratorfunction(build), f"{build.__name__} has a tear-down, which the next test would miss"
    name = build.__name__
    asked = ["_django_db_helper", "built", *inspect.signature(build).parameters]

    def fixture(**values: Any) -> Any:
        return values["built"][name]

    fixture.__name__, fixture.__doc__ = name, build.__doc__
    fixture.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # by this pytest knows what it asks for
        [inspect.Parameter(parameter, inspect.Parameter.KEYWORD_ONLY) for parameter in asked]
    )
    setattr(fixture, BUILD, build)
    return pytest.fixture(fixture)


@contextmanager
def undone_at_the_end() -> Iterator[None]:
    """A transaction, or a savepoint in one, of which nothing stays."""
    atomic = transaction.atomic()
    atomic._from_testcase = True  # type: ignore[attr-defined]  # what must not be in a transaction may be in this one
    atomic.__enter__()
    try:
        yield
    finally:
        transaction.set_rollback(True)
        atomic.__exit__(None, None, None)


@dataclass
class Layer:
    """The rows of one fixture, in a savepoint above those that it builds on."""

    name: str
    build: Callable[..., Any]
    savepoint: Any
    pickled: bytes  # what this fixture and all below it returned, by name


@dataclass
class Layers:
    """Those that stand now, from the lowest."""

    standing: list[Layer] = field(default_factory=list)

    def arrange(self, wanted: list[tuple[str, Callable[..., Any]]]) -> dict[str, Any]:
        """Leave those that stand already, undo what is above them, build the rest. Copies of what they returned."""
        if wanted == self.named():
            return self.copies()
        common = 0
        while common < min(len(wanted), len(self.standing)) and self.named()[common] == wanted[common]:
            common += 1
        self.undo(common)
        for name, build in wanted[common:]:
            self.add(name, build)
        return self.copies()

    def named(self) -> list[tuple[str, Callable[..., Any]]]:
        return [(layer.name, layer.build) for layer in self.standing]

    def add(self, name: str, build: Callable[..., Any]) -> None:
        values, savepoint = self.copies(), undone_at_the_end()
        savepoint.__enter__()
        try:
            values[name] = build(**{asked: values[asked] for asked in inspect.signature(build).parameters})
            connection.check_constraints()  # now, and not again at the end of each test
            self.standing.append(Layer(name, build, savepoint, pickle.dumps(values)))
        except BaseException:
            savepoint.__exit__(None, None, None)
            raise

    def undo(self, common: int) -> None:
        while len(self.standing) > common:
            self.standing.pop().savepoint.__exit__(None, None, None)

    def copies(self) -> dict[str, Any]:
        """From the highest layer, whose builder may have changed the objects of those below it."""
        return pickle.loads(self.standing[-1].pickled) if self.standing else {}


def wanted_by(item: Any) -> list[tuple[str, Callable[..., Any]]]:
    """The fixtures of a test that are built once, each after those that it asks for."""
    definitions = item._fixtureinfo.name2fixturedefs
    wanted: dict[str, Callable[..., Any]] = {}

    def visit(name: str) -> None:
        build = getattr(definitions[name][-1].func, BUILD, None) if name in definitions else None
        if build is not None and name not in wanted:
            for asked in inspect.signature(build).parameters:
                visit(asked)
            wanted[name] = build

    for name in item.fixturenames:
        visit(name)
    if wanted and WORLD in item.fixturenames:
        return [(WORLD, kept_world.copy_world), *wanted.items()]
    return list(wanted.items())


def arrange_for(item: Any, layers: Layers) -> dict[str, Any]:
    """What a test asks for; nothing stands for one that commits."""
    wanted = wanted_by(item)
    if wanted:
        marker = item.get_closest_marker("django_db")
        commits = {"transactional_db", "live_server"} & set(item.fixturenames) or (marker and marker.kwargs)
        assert not commits, f"{item.nodeid} commits, so that it cannot share a transaction"
    values = layers.arrange(wanted)
    if wanted:
        cache.clear()
        mail.outbox.clear()
    return values


def group_tests(items: list[Any]) -> None:
    """Tests of a module that ask for the same stand together: else each change of what is asked for is built anew."""
    place: dict[tuple[Any, ...], int] = {}
    for number, item in enumerate(items):
        chain = tuple(wanted_by(item))
        for length in range(len(chain) + 1):
            place.setdefault((item.path, chain[:length]), number)
    items.sort(key=lambda item: order_of(item, place))


def order_of(item: Any, place: dict[tuple[Any, ...], int]) -> list[int]:
    chain = tuple(wanted_by(item))
    return [place[item.path, chain[:length]] for length in range(len(chain) + 1)]
