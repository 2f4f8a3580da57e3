"""Every route, every method, as a visitor, as a stranger and as a member of another team: never data, never a change.

Routes are found by walking the resolver, so a new one is tested from its first day. A new route that needs no
sign-in belongs in PUBLIC; one that shows each person only their own belongs in OWN; all others answer 404 to
people who do not belong. A new parameter needs a sample in tests/samples.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, URLResolver, get_resolver, reverse

from config.old_addresses import redirect_to_new_address
from people.models import User
from tests.api.clients import reset_request_counts
from tests.module_world import built_once
from tests.personas import World
from tests.samples import ANYTHING, POSTS, build

METHODS = ("get", "post", "put", "patch", "delete")
PROJECT_APPS = (
    "jobs",
    "people",
    "benchmarks",
    "annotation",
    "predictions",
    "evaluation",
    "releases",
    "valueground",
    "api",
)

PUBLIC = {
    "home",
    "healthz",
    "readyz",
    "api-problems",
    "documentation",
    "admin:login",
    "admin:logout",
    "people:sign_in",
    "people:sign_in_here",
    "people:sign_out",
    "people:language",
    "people:appearance",
    "people:password_forgotten",
    "people:password_sent",
    "people:password_new",
    "people:invitation",
    "people:confirm",
    "people:link",
    "annotation:manifest",
    "annotation:service_worker",
}
OWN = {
    "home",
    "people:me",
    "people:password_change",
    "people:tokens",
    "people:teams",
    "annotation:work",
    "annotation:history",
    "annotation:offline",
    "benchmarks:list",
    "benchmarks:create",
    "api:benchmarks",
    "api:me",
    "api:me_token",
    "api:recipes",
    "api:events",
    "api:teams",
    "api:jobs",
    "api:uploads",
    "api:webhooks",
    "api:docs",
    "api:schema",
    "evaluation:own",
    "releases:import",  # into a team of one's own
    "releases:import_preview",  # of a file of one's own: the address is signed for its person
}
# Routes whose parameter is a secret that no sample can hold; tests of their own show that the right one opens them.
# A picture is put by the hash of its bytes.
BY_SECRET = {
    *("people:invitation", "people:confirm", "people:link", "people:password_new", "benchmarks:image"),
    "api:image",
}

# Routes that are there only where a setting is on, which is off here; tests of their own show them.
SWITCHED = {"demo:enter", "releases:public"}


@dataclass(frozen=True)
class Route:
    name: str
    parameters: tuple[str, ...]

    @property
    def of_admin(self) -> bool:
        return self.name.startswith("admin:")


def parameters_of(pattern: Any) -> tuple[str, ...]:
    return tuple(getattr(pattern, "converters", None) or pattern.regex.groupindex)


def walk(patterns: Any, namespace: str = "", outer: tuple[str, ...] = ()) -> Iterator[Route]:
    for each in patterns:
        parameters = (*outer, *parameters_of(each.pattern))
        if isinstance(each, URLResolver):
            inner = f"{namespace}{each.namespace}:" if each.namespace else namespace
            yield from walk(each.url_patterns, inner, parameters)
        elif isinstance(each, URLPattern):
            if each.name is None and namespace == "admin:":
                continue  # the admin's own catch-all, which only redirects to its sign-in
            assert each.name, f"The route {namespace}{each.pattern} has no name. Name it, so that it can be tested."
            if each.callback is not redirect_to_new_address:  # old addresses: annotation/pages/test_old_addresses.py
                yield Route(namespace + each.name, parameters)


def every_route() -> list[Route]:
    return sorted(set(walk(get_resolver().url_patterns)), key=lambda route: route.name)


def path_of(route: Route, samples: Mapping[str, Any]) -> str:
    values = {}
    for parameter in route.parameters:
        special = f"{route.name} {parameter}"
        key = special if special in samples else parameter
        assert key in samples, (
            f"The route {route.name} takes `{parameter}`, and tests/samples.py has no sample of it. "
            f"Add one to build(), under {parameter!r} or {special!r}."
        )
        values[parameter] = samples[key]
    try:
        return reverse(route.name, kwargs=values)
    except NoReverseMatch as error:
        raise AssertionError(f"The samples do not fit the route {route.name}: {values}") from error


def snapshot() -> dict[str, list[Any]]:
    """Every row of the project. Looking may leave an event, and is counted for the limits of REST; nothing else may
    differ after a stranger was here."""
    models = [model for label in PROJECT_APPS for model in apps.get_app_config(label).get_models()]
    rows = {model._meta.label: list(model.objects.order_by("pk").values()) for model in models}
    del rows["jobs.Event"], rows["api.RequestCount"]
    for user in rows["people.User"]:
        del user["last_login"]
    return rows


def secrets_of(world: World) -> list[str]:
    """Texts that no page for an outsider may hold."""
    people = [*world.annotators, world.mara, world.manager, world.team_admin]
    return [world.team.name, world.team.slug, world.benchmark.name, "item-00000", *(user.email for user in people)]


def refused(route: Route, response: Any, signed_in: bool) -> bool:
    """Sign in first; or no such thing."""
    if response.status_code == 401 and route.name.startswith("api:"):
        return not signed_in
    if response.status_code == 302 and route.of_admin:
        return response.url.startswith(reverse("admin:login"))
    if response.status_code == 302 and not signed_in:
        return response.url.startswith(reverse("people:sign_in"))
    return response.status_code in (404, 405)


def ask(client: Client, route: Route, method: str, path: str) -> Any:
    if route.name.startswith("api:"):
        reset_request_counts()
        return client.generic(method.upper(), path, "{}", "application/json")
    return client.post(path, POSTS.get(route.name, ANYTHING)) if method == "post" else getattr(client, method)(path)


def complaints(world: World, samples: Mapping[str, Any], user: User | None) -> Iterator[str]:
    hidden = secrets_of(world)
    shared = world.client(user)  # for routes that refuse; if one of them signed out, the next one would be a complaint
    for route in every_route():
        path = path_of(route, samples)
        open_to = route.name in PUBLIC or (user is not None and route.name in OWN)
        for method in METHODS:
            client = world.client(user) if open_to else shared  # an open route may sign out
            response = ask(client, route, method, path)
            summary = f"{method.upper()} {path} ({route.name}) answers {response.status_code}"
            if (not open_to and not refused(route, response, user is not None)) or response.status_code >= 500:
                yield summary
            body = b"".join(response.streaming_content) if response.streaming else response.content
            for text in hidden:
                if text in body.decode(errors="replace"):
                    yield f"{summary} and says {text!r}"


@built_once
def samples(world: World) -> Mapping[str, Any]:
    return build(world)


@pytest.mark.parametrize("person_name", ["visitor", "stranger", "rival"])
def test_outsiders_get_nothing_and_change_nothing(world: World, samples: Mapping[str, Any], person_name: str) -> None:
    before = snapshot()
    user = None if person_name == "visitor" else getattr(world, person_name)
    found = list(complaints(world, samples, user))
    assert not found, "\n".join(found)
    after = snapshot()
    changed = [label for label, rows in before.items() if rows != after[label]]
    assert changed == [], f"{person_name} changed rows"


def is_open(client: Client, route: Route, path: str) -> bool:
    """Whether anything but 404 comes back to some method; what it did is undone."""
    for method in ("get", "post", "put"):
        with transaction.atomic():
            status = ask(client, route, method, path).status_code
            transaction.set_rollback(True)
        assert status < 500, f"{method} {path} answers {status}"
        if status not in (404, 405):
            return True
    return False


def test_every_sample_is_something_that_somebody_may_open(world: World, samples: Mapping[str, Any]) -> None:
    """Else the walk above would pass by asking for what does not exist."""
    insiders = [world.owner, world.mara, world.nour, world.manager, world.team_admin, world.site_admin]
    clients = [world.client(user) for user in insiders]
    closed = [
        route.name
        for route in every_route()
        if route.parameters and not route.of_admin and route.name not in BY_SECRET | SWITCHED
        if not any(is_open(client, route, path_of(route, samples)) for client in clients)
    ]
    assert closed == [], "Nobody can open these with the samples of tests/samples.py."


def test_the_lists_of_open_routes_name_routes_that_exist() -> None:
    names = {route.name for route in every_route()}
    assert names >= (PUBLIC | OWN | BY_SECRET | SWITCHED)
