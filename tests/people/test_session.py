"""Signing in on a page whose session ended: the person of the page, nobody else, and nothing is told to strangers."""

import pytest
from django.core.cache import cache
from django.test import Client

from people.models import User
from tests.personas import PASSWORD, World

HERE = "/sign-in/here"
SCRIPT = {"X-Requested-With": "emic"}


def sign_in(client: Client, user: User, whose: User, password: str = PASSWORD) -> tuple[int, dict[str, object]]:
    form = {"username": user.email, "password": password, "person": whose.pk}
    reply = client.post(HERE, form, headers=SCRIPT)
    return reply.status_code, reply.json() if "json" in reply.headers["Content-Type"] else {}


def test_it_says_who_is_there_and_no_more(world: World) -> None:
    assert Client().get(HERE).json() == {"person": None}
    assert world.client(world.nour).get(HERE).json() == {"person": world.nour.pk}
    assert "no-store" in Client().get(HERE).headers["Cache-Control"]


def test_the_person_of_the_page_is_signed_in_with_a_new_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get(HERE)
    before = client.cookies["csrftoken"].value
    form = {"username": world.nour.email, "password": PASSWORD, "person": world.nour.pk}
    assert client.post(HERE, form, headers=SCRIPT).status_code == 403
    reply = client.post(HERE, form, headers={**SCRIPT, "X-CSRFToken": before})
    assert reply.json() == {"person": world.nour.pk}
    assert client.cookies["csrftoken"].value != before
    assert client.get(HERE).json() == {"person": world.nour.pk}


def test_another_person_is_not_signed_in_there(world: World) -> None:
    client = Client()
    status, reply = sign_in(client, world.tarek, world.nour)
    assert status == 409 and "was opened by another account" in str(reply["words"])
    assert client.get(HERE).json() == {"person": None}
    assert sign_in(client, world.tarek, world.nour, "wrong")[0] == 422  # and a wrong password is told first


def test_a_wrong_password_and_somebody_switched_off(world: World) -> None:
    client = Client()
    assert sign_in(client, world.nour, world.nour, "wrong")[0] == 422
    User.objects.filter(pk=world.nour.pk).update(is_active=False)
    assert sign_in(client, world.nour, world.nour)[0] == 422
    assert client.get(HERE).json() == {"person": None}


def test_guesses_are_counted_as_at_the_front_door(world: World) -> None:
    cache.clear()
    client = Client()
    for _guess in range(9):
        assert sign_in(client, world.nour, world.nour, "a guess")[0] == 422
    assert sign_in(client, world.nour, world.nour, "a guess")[0] == 429
    assert sign_in(client, world.nour, world.nour)[0] == 429
    assert client.post("/sign-in", {"username": world.nour.email, "password": PASSWORD}).status_code == 429


@pytest.mark.parametrize("script", [True, False])
def test_a_script_hears_for_whom_a_reply_is(world: World, script: bool) -> None:
    reply = world.client(world.nour).get("/me", headers=SCRIPT if script else {})
    assert reply.headers.get("X-Emic-Person") == (str(world.nour.pk) if script else None)
