"""Every route with two or more ids, asked with ids that exist and that the same person may open, but not together.

A person who works in two benchmarks must not reach an answer of one through the address of the other: what they see
there, and what they change, would be checked against the wrong benchmark. Routes are found by walking the resolver.
A new route is crossed as soon as tests/samples.py has samples of its parameters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from benchmarks.models import Role
from people.models import CohortManager, Team, TeamMember
from tests.module_world import built_once
from tests.personas import (
    EGYPT,
    World,
    make_benchmark,
    make_cohort,
    make_consent_version,
    make_user,
)
from tests.samples import build
from tests.test_strangers import BY_SECRET, Route, ask, every_route, path_of

# Parameters that name something every benchmark or site has: a table, a figure, a file format, a language, whose
# versions tests/people/test_languages.py crosses.
NAMES = {"code", "key", "form", "example_name", "file_path"}
METHODS = ("get", "post")
# Opened by annotators, who are in one place alone: tests/api/test_answers.py and test_resolutions.py cross the ids.
OF_ANNOTATORS = {"api:campaign_claims", "api:resolution_withdraw"}


def ids_of(route: Route) -> tuple[str, ...]:
    return tuple(name for name in route.parameters if name not in NAMES)


def routes_to_cross() -> list[Route]:
    routes = [route for route in every_route() if not route.of_admin]
    routes = [route for route in routes if route.name not in BY_SECRET | OF_ANNOTATORS]
    return [route for route in routes if len(ids_of(route)) > 1]


def key_of(route: Route, parameter: str, samples: Mapping[str, Any]) -> str:
    special = f"{route.name} {parameter}"
    return special if special in samples else parameter


def values_of(route: Route, samples: Mapping[str, Any]) -> dict[str, Any]:
    return {parameter: samples[key_of(route, parameter, samples)] for parameter in route.parameters}


def another_round(world: World) -> World:
    """The same benchmark. `build` makes a second campaign in it, with other people and other items."""
    made = with_other_people(world, world.team, "round")
    Role.objects.create(benchmark=world.benchmark, user=made.mara, name=Role.Name.RESEARCHER)
    return made


def another_benchmark(world: World) -> World:
    """Of the same team, with the same owner."""
    made = with_other_people(world, world.team, "benchmark")
    return replace(
        made, benchmark=make_benchmark(world.team, "hills-and-plains", owner=world.owner, researcher=made.mara)
    )


def another_team(world: World) -> World:
    """With the same admin and the same owner."""
    team = Team.objects.create(name="Delta Lab", slug="delta-lab")
    TeamMember.objects.create(team=team, user=world.owner, role="member")
    TeamMember.objects.create(team=team, user=world.team_admin, role="admin")
    made = with_other_people(world, team, "team")
    benchmark = make_benchmark(team, "reeds-and-boats", owner=world.owner, researcher=made.mara)
    return replace(made, benchmark=benchmark, consent_version=make_consent_version(team, 7))


def with_other_people(world: World, team: Team, word: str) -> World:
    """Other annotators, another manager and another researcher: their ids must not be valid in both places."""
    nour, tarek, manager, mara = (make_user(f"{name}-{word}") for name in ("Nour", "Tarek", "Manager", "Mara"))
    cohort = make_cohort(team, f"Egypt {word}", nour, tarek, **EGYPT)
    CohortManager.objects.create(cohort=cohort, user=manager)
    TeamMember.objects.create(team=team, user=mara, role="member")
    return replace(world, team=team, egypt=cohort, nour=nour, tarek=tarek, manager=manager, mara=mara, items=[])


ELSEWHERE = {"campaign": another_round, "benchmark": another_benchmark, "team": another_team}


@built_once
def samples_by_place(world: World) -> dict[str, Mapping[str, Any]]:
    """The samples of the world, under "", and those of each place elsewhere."""
    return {"": build(world), **{where: build(make(world)) for where, make in ELSEWHERE.items()}}


@dataclass
class OpenMethods:
    """With which methods the addresses of the world itself open, by number of the person and route.

    Each test asks as the same people, of the same rows: what one was answered need not be asked again.
    """

    known: dict[tuple[int, str], set[str]] = field(default_factory=dict)

    def of(self, clients: list[Client], number: int, route: Route, own_objects: Mapping[str, Any]) -> set[str]:
        if (number, route.name) not in self.known:
            answers = statuses(clients[number], route, path_of(route, own_objects))
            self.known[number, route.name] = open_methods(answers)
        return self.known[number, route.name]


@pytest.fixture(scope="module")
def own_methods() -> OpenMethods:
    return OpenMethods()


def crossings(
    route: Route, own_objects: Mapping[str, Any], other_objects: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """The route's values with one id replaced by its counterpart elsewhere.

    Outer ids that are the same in both places (one benchmark, two campaigns) stand aside: an inner id alone is not
    crossed with anything.
    """
    ids = list(ids_of(route))
    own_values, other = values_of(route, own_objects), values_of(route, other_objects)
    while ids and own_values[ids[0]] == other[ids[0]]:
        del ids[0]
    if len(ids) > 1:
        for parameter in ids:
            assert own_values[parameter] != other[parameter], (
                f"The samples of {route.name} have the same `{parameter}` in both places: it cannot be crossed."
            )
            yield own_values | {parameter: other[parameter]}


def statuses(client: Client, route: Route, path: str) -> dict[str, int]:
    """What each method answers; what it did is undone."""
    answers = {}
    for method in METHODS:
        with transaction.atomic():
            answers[method] = ask(client, route, method, path).status_code
            transaction.set_rollback(True)
    return answers


def open_methods(answers: Mapping[str, int]) -> set[str]:
    return {method for method, status in answers.items() if status not in (404, 405)}


def path_with(route: Route, values: Mapping[str, Any]) -> str:
    return path_of(route, {f"{route.name} {parameter}": value for parameter, value in values.items()})


@pytest.mark.parametrize("where", sorted(ELSEWHERE))
def test_ids_that_do_not_belong_together_open_nothing(
    world: World, samples_by_place: dict[str, Mapping[str, Any]], own_methods: OpenMethods, where: str
) -> None:
    own_objects, other_objects = samples_by_place[""], samples_by_place[where]
    clients = [world.client(world.owner), world.client(world.team_admin)]
    faults = []
    for route in routes_to_cross():
        crossed = list(crossings(route, own_objects, other_objects))
        client, methods = (
            client_that_opens_both(clients, route, own_objects, other_objects, own_methods)
            if crossed
            else (clients[0], set())
        )
        if crossed and not methods:
            faults.append(f"{route.name}: nobody may open both addresses, so crossing them shows nothing.")
        for values in crossed:
            answers = statuses(client, route, path_with(route, values))
            faults += [
                f"{method.upper()} {path_with(route, values)} ({route.name}) answers {answers[method]}"
                for method in sorted(methods)
                if answers[method] != 404
            ]
    assert faults == [], "\n".join(faults)


def client_that_opens_both(
    clients: list[Client],
    route: Route,
    own_objects: Mapping[str, Any],
    other_objects: Mapping[str, Any],
    own_methods: OpenMethods,
) -> tuple[Client, set[str]]:
    """A person's browser, and the methods with which both addresses open to them. Else the crossing would be refused
    because of the person."""
    for number, client in enumerate(clients):
        methods = own_methods.of(clients, number, route, own_objects)
        if methods and (methods := methods & open_methods(statuses(client, route, path_of(route, other_objects)))):
            return client, methods
    return clients[0], set()


def test_every_route_with_two_ids_is_crossed(samples_by_place: dict[str, Mapping[str, Any]]) -> None:
    own_objects = samples_by_place[""]
    elsewhere = [samples_by_place["benchmark"], samples_by_place["team"]]
    left_out = [
        route.name
        for route in routes_to_cross()
        if not any(list(crossings(route, own_objects, there)) for there in elsewhere)
    ]
    assert left_out == []
