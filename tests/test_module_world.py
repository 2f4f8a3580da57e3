"""What a module builds once is there for each test that asks for it, as it was built, and for no other test."""

import re
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache

from benchmarks.models import Item
from people.models import Team
from tests.kept_world import copy_world
from tests.module_world import Layers, arrange_for, built_once, group_tests, wanted_by
from tests.personas import World

BUILT: list[str] = []


@built_once
def three(world: World) -> list[Item]:
    BUILT.append("three")
    cache.set("three", 3)
    mail.send_mail("Three", "", None, ["three@example.org"])
    return world.add_items(3)


@built_once
def renamed(world: World, three: list[Item]) -> Item:
    BUILT.append("renamed")
    three[0].concept = "harbour"
    three[0].save()
    return three[0]


@pytest.mark.parametrize("turn", [1, 2])
def test_rows_and_objects_are_as_they_were_built(world: World, three: list[Item], turn: int) -> None:
    assert Item.objects.count() == 3 == len(world.items) and world.items[0] is three[0]
    assert three[0].concept == "wedding" and Item.objects.get(pk=three[0].pk).concept == "wedding"
    assert cache.get("three") is None and mail.outbox == []
    three[0].concept = f"turn {turn}"
    three[0].save()
    world.add_items(turn)
    assert BUILT.count("three") == 1


def test_a_layer_above_is_met_only_where_it_is_asked_for(world: World, renamed: Item) -> None:
    assert Item.objects.get(concept="harbour") == renamed == world.items[0]
    assert world.items[0].concept == "harbour"
    assert BUILT.count("three") == 1, "it builds on the layer that stood already"


def test_a_test_that_asks_for_none_meets_none(world: World) -> None:
    assert not Item.objects.exists()


def test_layers_are_undone_to_those_that_a_test_asks_for(db: None) -> None:
    layers = Layers()
    copies = layers.arrange([("world", copy_world), ("rows", built_rows)])
    assert Item.objects.count() == 2 and copies["rows"][0] == copies["world"].items[0]
    assert layers.arrange([("world", copy_world)])["world"].items == []
    assert not Item.objects.exists()
    layers.undo(0)
    assert layers.standing == [] and not Team.objects.exists()


def built_rows(world: World) -> list[Item]:
    return world.add_items(2)


def test_a_builder_that_fails_leaves_what_stood(db: None) -> None:
    def fails(world: World) -> None:
        world.add_items(1)
        raise ValueError("no more")

    layers = Layers()
    layers.arrange([("world", copy_world)])
    with pytest.raises(ValueError, match="no more"):
        layers.arrange([("world", copy_world), ("fails", fails)])
    assert [layer.name for layer in layers.standing] == ["world"] and not Item.objects.exists()
    layers.undo(0)


def test_a_test_that_commits_is_refused(request: pytest.FixtureRequest) -> None:
    class Committing:
        nodeid = "a test"
        fixturenames = ("three", "live_server")
        _fixtureinfo = definitions(request)

        @staticmethod
        def get_closest_marker(_name: str) -> None: ...

    with pytest.raises(AssertionError, match="a test commits"):
        arrange_for(Committing, Layers())


def test_a_fixture_with_a_tear_down_is_refused() -> None:
    with pytest.raises(AssertionError, match=re.escape("rows has a tear-down")):

        @built_once
        def rows(world: World) -> Any:
            yield world.add_items(1)


def test_tests_that_ask_for_the_same_stand_together(request: pytest.FixtureRequest) -> None:
    asked = [("renamed",), ("world",), ("three",), ("renamed", "world"), ()]
    items = [Asking(request, names) for names in asked]
    group_tests(items)
    assert [item.fixturenames for item in items] == [("world",), (), ("three",), ("renamed",), ("renamed", "world")]


class Asking:
    path = "tests/some_file.py"

    def __init__(self, request: pytest.FixtureRequest, names: tuple[str, ...]) -> None:
        self.fixturenames, self._fixtureinfo = names, definitions(request)


def definitions(request: pytest.FixtureRequest) -> Any:
    """Of the fixtures of this file."""

    class Info:
        name2fixturedefs = {
            name: request._fixturemanager.getfixturedefs(name, request.node) for name in ("three", "renamed", "world")
        }

    assert wanted_by(type("Item", (), {"_fixtureinfo": Info, "fixturenames": ("renamed",)}))
    return Info
