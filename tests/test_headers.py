"""What every route says about who may keep its answer, and what its page may use of the device."""

import pytest
from django.conf import settings

from tests.personas import World
from tests.samples import build
from tests.test_strangers import BY_SECRET, Route, every_route, path_of

PICTURES = {"benchmarks:image"}


def is_never_stored(value: str) -> bool:
    return "private" in value and "no-store" in value


@pytest.mark.parametrize("person_name", ["owner", "nour", "site_admin"])
def test_nobody_keeps_a_page_of_a_signed_in_person_and_no_page_uses_the_camera(world: World, person_name: str) -> None:
    samples = build(world)
    wrong = []
    client = world.client(getattr(world, person_name))
    for route in every_route():
        if not client.cookies[settings.SESSION_COOKIE_NAME].value:  # the last route signed out
            client = world.client(getattr(world, person_name))
        response = client.get(path_of(route, samples))
        if response.headers.get("Permissions-Policy") != "camera=(), geolocation=(), microphone=()":
            wrong.append(f"{route.name}: no Permissions-Policy")
        if route.name not in PICTURES and not is_never_stored(response.headers.get("Cache-Control", "")):
            wrong.append(f"{route.name}: {response.headers.get('Cache-Control')}")
    assert wrong == []


def test_the_exceptions_are_routes() -> None:
    assert {route.name for route in every_route()} >= PICTURES
    assert Route("benchmarks:image", ()).name in BY_SECRET


def test_a_visitors_sign_in_page_is_not_marked_as_a_persons(world: World) -> None:
    response = world.client().get("/healthz")
    assert "private" not in response.headers.get("Cache-Control", "")


def test_an_answer_to_a_token_is_kept_by_nobody(world: World) -> None:
    from django.utils import timezone

    from people.services import tokens

    _token, text = tokens.create_token(world.mara, "x", timezone.now())
    response = world.client(headers={"authorization": f"Bearer {text}"}).get("/api/v1/benchmarks/")
    assert response.status_code == 200
    assert is_never_stored(response.headers["Cache-Control"])
