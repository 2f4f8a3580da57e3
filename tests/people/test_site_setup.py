"""A site without an account: who has the key makes the first admin, once."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import ProtectedError
from django.test import Client

from jobs.models import Event
from people.models import FailedSignIn, Team, User
from people.services.site_setup import setup_key
from tests.personas import World

ADMIN = {"name": "Ada Min", "email": "Ada@example.org", "password": "lamps over the quiet river"}


def filled(**changes: str) -> dict[str, str]:
    return {**ADMIN, "key": setup_key(), **changes}


@pytest.mark.django_db
def test_an_operator_makes_the_first_admin_a_team_and_a_benchmark_in_three_forms() -> None:
    window = Client()
    first = window.get("/", follow=True)
    assert first.request["PATH_INFO"] == "/setup" and "Set up this site" in first.content.decode()
    home = window.post("/setup", filled(), follow=True)
    assert home.status_code == 200 and home.request["PATH_INFO"] == "/benchmarks/"
    admin = User.objects.get()
    assert (admin.email, admin.name, admin.is_staff, admin.is_superuser) == ("ada@example.org", "Ada Min", True, True)
    assert set(Event.objects.values_list("verb", flat=True)) >= {"account.created", "site.set_up"}
    window.post("/teams/new", {"name": "Lantern Lab"}, follow=True)
    created = window.post(
        "/benchmarks/new/", {"recipe": "culturalvqa", "name": "First", "team": str(Team.objects.get().pk)}, follow=True
    )
    assert created.status_code == 200 and "First" in created.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"key": "AAAAA-AAAAA-AAAAA-AAAAA"}, "key", "This is not the setup key."),
        ({"key": ""}, "key", "This field is required."),
        ({"password": "short"}, "password", "too short"),
        ({"password": ADMIN["email"]}, "password", "too similar"),
        ({"email": "nobody"}, "email", "valid email"),
    ],
)
def test_an_error_stands_at_its_field_and_no_account_is_created(
    changes: dict[str, str], field: str, words: str
) -> None:
    reply = Client().post("/setup", filled(**changes))
    assert reply.status_code == 200 and words in " ".join(reply.context["form"].errors[field])
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_wrong_key_counts_as_a_failed_sign_in_and_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("people.services.limits.sign_in_limit.MOST_BY_ADDRESS", 3)
    for _time in range(3):
        assert Client().post("/setup", filled(key="wrong")).status_code == 200
    assert FailedSignIn.objects.count() == 3
    assert Client().post("/setup", filled()).status_code == 429
    assert not User.objects.exists()


@pytest.mark.django_db
def test_a_typed_key_needs_neither_hyphens_nor_capitals() -> None:
    typed = setup_key().lower().replace("-", " ")
    assert Client().post("/setup", filled(key=typed)).status_code == 302


def test_a_site_with_an_account_has_no_setup_page(world: World) -> None:
    assert Client().get("/setup").status_code == 404
    assert Client().get("/").status_code == 200, "the front page"
    before = User.objects.count()
    refused = Client().post("/setup", filled(), follow=True)
    assert refused.request["PATH_INFO"] == "/sign-in" and "your account was not created" in refused.content.decode()
    assert User.objects.count() == before


@pytest.mark.django_db
def test_it_stays_closed_when_the_accounts_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its event protects the account of the first admin; so the test hides it."""
    Client().post("/setup", filled())
    with pytest.raises(ProtectedError):
        User.objects.get().delete()
    monkeypatch.setattr(User.objects, "exists", lambda: False)
    assert Client().get("/setup").status_code == 404


@pytest.mark.django_db
def test_while_the_demo_is_loaded_nobody_sets_up_the_site(settings: Any) -> None:
    settings.DEMO = True
    assert Client().get("/setup").status_code == 404
    assert Client().get("/").status_code == 200, "the front page"
    assert Client().post("/setup", filled()).headers["Location"] == "/sign-in" and not User.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_two_people_at_once_one_becomes_the_admin() -> None:
    start = threading.Barrier(2)

    def press(name: str) -> str:
        window = Client()
        window.get("/setup")
        start.wait()
        try:
            return window.post("/setup", filled(name=name, email=f"{name}@example.org")).headers["Location"]
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as people:
        assert sorted(people.map(press, ("ada", "bea"))) == ["/", "/sign-in"]
    assert User.objects.count() == 1


@pytest.mark.django_db
def test_the_command_prints_the_key_until_the_site_is_set_up() -> None:
    def printed() -> str:
        out = StringIO()
        call_command("setup_key", stdout=out)
        return out.getvalue()

    [key] = re.findall(r"[A-Z2-7]{5}(?:-[A-Z2-7]{5}){3}", printed())
    Client().post("/setup", filled(key=key))
    assert printed() == "The site is set up: it has an account.\n" and User.objects.count() == 1
