"""The front page of a demo: one press signs in, except as an admin, and only where the operator wants it."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from demo import people
from demo.guide import GUIDES
from people.models import User
from tests.personas import World

pytestmark = pytest.mark.django_db
PRESSED = [guide.key for guide in GUIDES if guide.one_press]


@pytest.fixture
def demo(settings: Any) -> dict[str, User]:
    settings.DEMO = True
    _demo, users = people.create_team("needle-825961", timezone.now(), lambda _text: None)
    return users


def enter(key: str, client: Client | None = None) -> Any:
    return (client or Client()).post(reverse("demo:enter", args=[key]))


def test_front_page_says_which_account_shows_what(demo: dict[str, User]) -> None:
    page = Client().get("/").content.decode()
    for guide in GUIDES:
        assert guide.name in page and guide.role in page and guide.shows in page
    assert {guide.key for guide in GUIDES} == set(demo) == {key for key, *_rest in people.ACCOUNTS}
    assert all(f"/tour/{key}/enter" in page for key in PRESSED) and "/tour/admin/enter" not in page


def test_documentation_has_the_same_steps() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tutorial" / "ninety-seconds.md").read_text()
    for guide in GUIDES:
        assert guide.name in page
        for step in guide.steps:
            assert f"**{step.title}**: {step.look[0].lower()}{step.look[1:]}" in page


def test_front_page_of_another_site_has_no_demo_accounts(world: World) -> None:
    page = Client().get("/").content.decode()
    assert 'action="/sign-in"' in page and "demo account" not in page and "autofocus" not in page


def test_foot_of_the_front_page_names_who_runs_the_site(world: World, settings: Any) -> None:
    assert "<footer" not in Client().get("/").content.decode(), "nothing is invented"
    settings.OPERATOR = "Nile Lab <Cairo>"
    settings.FOOTER_LINKS = "Contact us <mailto:emic@example.org>, Privacy <https://example.org/p?a=1,2>"
    foot = Client().get("/").content.decode().partition("<footer")[2].partition("</footer>")[0]
    assert "Nile Lab &lt;Cairo&gt;" in foot
    assert 'href="mailto:emic@example.org" dir="auto">Contact us</a>' in foot
    assert 'href="https://example.org/p?a=1,2" dir="auto">Privacy</a>' in foot


@pytest.mark.parametrize("key", PRESSED)
def test_one_press_signs_in_and_shows_three_to_five_steps_that_work(demo: dict[str, User], key: str) -> None:
    client = Client()
    assert enter(key, client).headers["Location"] == "/tour/"
    guide = next(guide for guide in GUIDES if guide.key == key)
    addresses = [step.page.resolve() for step in guide.steps]
    assert 3 <= len(addresses) <= 5
    shown = client.get("/tour/").content.decode()
    assert shown.count("Still loading") == addresses.count("")
    for address in filter(None, addresses):
        assert f'href="{address}"' in shown and client.get(address).status_code == 200
    assert 'href="/tour/"' in client.get("/me").content.decode()


def test_the_admin_needs_the_password_and_has_a_tour(demo: dict[str, User]) -> None:
    assert enter("admin").status_code == 404
    client = Client()
    client.post("/sign-in", {"username": "admin@demo.emic", "password": "needle-825961"})
    guide = next(guide for guide in GUIDES if guide.key == "admin")
    assert all(client.get(step.page.resolve()).status_code == 200 for step in guide.steps)


def test_nobody_else_enters_with_one_press(demo: dict[str, User], settings: Any) -> None:
    assert Client().get("/tour/mara/enter").status_code == 405
    assert enter("simulated-reviewer-1").status_code == enter("nobody").status_code == 404
    assert Client(enforce_csrf_checks=True).post("/tour/mara/enter").status_code == 403
    User.objects.filter(pk=demo["bia"].pk).update(is_staff=True)
    User.objects.filter(pk=demo["wei"].pk).update(is_active=False)
    assert enter("bia").status_code == enter("wei").status_code == 404
    settings.DEMO = False
    assert enter("mara").status_code == 404


def test_a_demo_under_a_public_name_asks_for_the_password_unless_its_operator_opens_it(
    demo: dict[str, User], settings: Any
) -> None:
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "emic.example.org"]
    assert enter("mara").status_code == 404
    page = Client().get("/").content.decode()
    assert "mara@demo.emic" in page and "/enter" not in page
    settings.DEMO_SIGN_IN = True
    assert enter("mara").status_code == 302 and enter("admin").status_code == 404


def test_the_tour_is_for_demo_accounts_only(world: World, demo: dict[str, User], settings: Any) -> None:
    assert world.client(world.mara).get("/tour/").status_code == 404
    assert "/tour/" not in world.client(world.mara).get("/me").content.decode()
    assert "/sign-in" in Client().get("/tour/").headers["Location"]
    settings.DEMO = False
    client = Client()
    client.force_login(demo["mara"])
    assert client.get("/tour/").status_code == 404


def test_a_language_chosen_by_a_visitor_is_not_kept_with_a_demo_account(demo: dict[str, User]) -> None:
    client = Client()
    client.post("/language/", {"language": "pt-br"})
    enter("nour", client)
    demo["nour"].refresh_from_db()
    assert demo["nour"].language == "ar"
