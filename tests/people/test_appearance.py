"""Light or dark is chosen under Me and kept on the device, for whoever sits in front of it."""

import pytest

from tests.personas import World

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_a_choice_is_kept_in_a_cookie_that_no_script_reads(world: World, theme: str) -> None:
    client = world.client(world.nour)
    reply = client.post("/appearance/", {"theme": theme, "next": "/work/history/"})
    assert reply.headers["Location"] == "/work/history/"
    cookie = reply.cookies["emic_theme"]
    assert (cookie.value, cookie["httponly"], cookie["samesite"]) == (theme, True, "Lax")
    assert f'data-theme="{theme}"' in client.get("/work/").content.decode()


def test_what_is_no_theme_is_not_kept_and_what_a_cookie_brings_is_escaped(world: World) -> None:
    client = world.client(world.nour)
    reply = client.post("/appearance/", {"theme": "neon", "next": "//elsewhere.example/"})
    assert reply.headers["Location"] == "/me" and "emic_theme" not in reply.cookies
    client.cookies["emic_theme"] = '"><script>'
    assert "<script>" not in client.get("/work/").content.decode().partition("<head>")[0]
    assert client.get("/appearance/").status_code == 405
