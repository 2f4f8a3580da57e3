"""Signing in and out, passwords, the lock after too many guesses, and one's own page."""

import re
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from people.models import CohortManager, User
from people.services import links
from people.tasks import send_mail
from tests.mailing import MailServer
from tests.personas import PASSWORD, World

SIGN_IN = "/sign-in"


def try_password(client: Client, email: str, password: str = PASSWORD, **data: str) -> Any:
    return client.post(SIGN_IN, {"username": email, "password": password} | data)


def test_a_person_signs_in_with_any_capitals_and_goes_on_where_they_wanted(world: World) -> None:
    client = world.client()
    answer = try_password(client, "Nour@Example.org", next="/work/history/")
    assert answer.status_code == 302 and answer.url == "/work/history/"
    assert client.get(reverse("people:me")).status_code == 200


@pytest.mark.parametrize(
    ("who", "page"),
    [
        ("nour", "annotation:work"),
        ("stranger", "annotation:work"),
        ("mara", "benchmarks:list"),
        ("site_admin", "benchmarks:list"),
    ],
)
def test_everybody_lands_where_they_have_something_to_do(world: World, who: str, page: str) -> None:
    assert world.client(getattr(world, who)).get("/").url == reverse(page)


def test_managers_land_on_their_cohort_or_on_the_list_of_several(world: World) -> None:
    client = world.client(world.manager)
    assert client.get("/").url == reverse("annotation:cohort", args=[world.egypt.pk])
    CohortManager.objects.create(cohort=world.brazil, user=world.manager)
    assert client.get("/").url == reverse("people:teams")


def test_the_way_on_never_leads_elsewhere(world: World) -> None:
    answer = try_password(world.client(), "nour@example.org", next="https://elsewhere.example/")
    assert answer.url == reverse("home")


def test_a_wrong_password_and_a_person_switched_off_stay_outside(world: World) -> None:
    client = world.client()
    page = try_password(client, "nour@example.org", "wrong").content.decode()
    assert "Wrong e-mail or password" in page
    User.objects.filter(pk=world.tarek.pk).update(is_active=False)
    assert try_password(client, "tarek@example.org").status_code == 200
    assert client.get(reverse("people:me")).status_code == 302


def test_there_is_no_open_registration(world: World) -> None:
    for path in ("/register", "/sign-up", "/invitation/", "/invitation/unknown"):
        assert world.client().get(path).status_code == 404


def test_guessing_is_locked_out_with_a_plain_sentence_whatever_the_capitals(world: World) -> None:
    client = world.client()
    for number in range(settings.AXES_FAILURE_LIMIT):
        email = "nour@example.org" if number % 2 else "NOUR@example.org"
        answer = try_password(client, email, "wrong")
    assert answer.status_code == 429
    assert "The account is locked for 15 minutes" in answer.content.decode()
    assert try_password(client, "nour@example.org").status_code == 429, "the right password must wait as well"
    admin = client.post("/admin/login/", {"username": "NOUR@EXAMPLE.ORG", "password": PASSWORD})
    assert admin.status_code == 429, "the other door is locked as well"
    assert try_password(world.client(), "tarek@example.org").status_code == 302, "others are not locked out"


def test_signing_out_is_by_post_and_clears_the_browser(world: World) -> None:
    client = world.client(world.nour)
    url = reverse("people:sign_out")
    assert client.get(url).status_code == 405
    assert client.get(reverse("people:me")).status_code == 200
    answer = client.post(url)
    assert answer.url == SIGN_IN and answer.headers["Clear-Site-Data"] == '"cache", "storage"'
    assert client.get(reverse("people:me")).status_code == 302


def test_forms_need_their_token(world: World) -> None:
    client = Client(enforce_csrf_checks=True)
    assert try_password(client, "nour@example.org").status_code == 403
    client.force_login(world.nour, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post(reverse("people:sign_out")).status_code == 403


def test_forgotten_password_is_reset_by_mail_in_the_persons_language(world: World, mail_server: MailServer) -> None:
    User.objects.filter(pk=world.nour.pk).update(language="ar")
    _link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, timezone.now())
    client = world.client()
    for _ in range(settings.AXES_FAILURE_LIMIT):
        try_password(client, "nour@example.org", "wrong")
    client.post(reverse("people:password_forgotten"), {"email": "NOUR@example.org"})
    send_mail()
    assert mail_server.recipients == ["nour@example.org"]
    path = re.search(r"http://testserver(/password/new/\S+)", mail_server.text())[1]
    form = client.get(path).url
    new = {"new_password1": "eleven calm ibises", "new_password2": "eleven calm ibises"}
    assert client.post(form, new).url == SIGN_IN
    assert try_password(client, "nour@example.org", "eleven calm ibises").status_code == 302, "the lock is lifted"
    assert client.get(path).status_code == 200 and "new_password1" not in client.get(path).content.decode()
    assert world.client().get(reverse("people:link", args=[token])).status_code == 410


def test_asking_for_an_unknown_address_looks_the_same_and_sends_nothing(world: World, mail_server: MailServer) -> None:
    url = reverse("people:password_forgotten")
    known = world.client().post(url, {"email": "nour@example.org"})
    unknown = world.client().post(url, {"email": "nobody@example.org"})
    assert (unknown.status_code, unknown.url) == (known.status_code, known.url)
    send_mail()
    assert mail_server.recipients == ["nour@example.org"]


def test_changing_the_password_signs_other_devices_out(world: World) -> None:
    this_device, other_device = world.client(world.nour), world.client(world.nour)
    new = {"old_password": PASSWORD, "new_password1": "eleven calm ibises", "new_password2": "eleven calm ibises"}
    url = reverse("people:password_change")
    assert this_device.post(url, new | {"old_password": "wrong"}).status_code == 200
    assert this_device.post(url, new).status_code == 302
    assert this_device.get(reverse("people:me")).status_code == 200
    assert other_device.get(reverse("people:me")).status_code == 302


def test_visitors_choose_a_language_and_members_keep_theirs(world: World) -> None:
    visitor = world.client()
    answer = visitor.post(reverse("people:language"), {"language": "ar", "next": SIGN_IN})
    assert answer.url == SIGN_IN
    assert '<html lang="ar" dir="rtl"' in visitor.get(SIGN_IN).content.decode()
    member = world.client(world.nour)
    member.post(reverse("people:language"), {"language": "ar"})
    world.nour.refresh_from_db()
    assert world.nour.language == "ar"
    assert '<html lang="ar" dir="rtl"' in world.client(world.nour).get("/me").content.decode()


def test_a_language_chosen_before_signing_in_is_kept(world: World) -> None:
    User.objects.filter(pk=world.nour.pk).update(language="en")
    visitor = world.client()
    visitor.post(reverse("people:language"), {"language": "ar", "next": SIGN_IN})
    try_password(visitor, "nour@example.org", "wrong")
    try_password(visitor, "nour@example.org")
    world.nour.refresh_from_db()
    assert world.nour.language == "ar"

    visitor.post(reverse("people:sign_out"))
    try_password(visitor, "tarek@example.org")  # on the same device, whose cookie still says Arabic
    world.tarek.refresh_from_db()
    assert world.tarek.language != "ar"


@pytest.mark.parametrize("data", [{"language": "xx"}, {}, {"language": "ar", "next": "//elsewhere.example/"}])
def test_the_language_switch_takes_nothing_strange(world: World, data: dict[str, str]) -> None:
    client = world.client(world.nour)
    assert client.post(reverse("people:language"), data).url == reverse("home")
    world.nour.refresh_from_db()
    assert world.nour.language in ("", "ar")
    assert client.get(reverse("people:language")).status_code == 405


def test_a_person_says_who_they_are_and_nothing_more(world: World) -> None:
    client = world.client(world.nour)
    data = {"name": "Nour El-D.", "language": "ar", "time_zone": "Africa/Cairo", "is_staff": "on", "email": "x@y.z"}
    assert client.post("/me", data).status_code == 302
    user = User.objects.get(pk=world.nour.pk)
    assert (user.name, user.language, user.time_zone) == ("Nour El-D.", "ar", "Africa/Cairo")
    assert (user.is_staff, user.email) == (False, "nour@example.org")
    assert client.post("/me", data | {"time_zone": "Atlantis/Capital"}).status_code == 200
    assert User.objects.get(pk=world.nour.pk).time_zone == "Africa/Cairo"


def test_my_page_shows_my_cohorts_and_leads_to_the_withdrawal(world: World) -> None:
    page = world.client(world.nour).get("/me").content.decode()
    assert "Egypt" in page and "Brazil" not in page
    assert reverse("annotation:consent_withdraw", args=[world.team.pk]) in page


@pytest.mark.parametrize("demo", [True, False])
def test_the_sign_in_page_of_a_demo_says_where_its_accounts_are(
    world: World, client: Client, settings: Any, demo: bool
) -> None:
    settings.DEMO = demo
    assert ("demo-accounts.txt" in client.get("/sign-in").content.decode()) is demo
