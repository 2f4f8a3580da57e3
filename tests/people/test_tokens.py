"""Tokens for programs: shown once, kept as a digest, their owner's alone, and gone with what they rest on."""

import hashlib
import re
from datetime import timedelta
from io import StringIO
from typing import Any
from unittest.mock import patch

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from people.models import ApiToken, OutMail, SignInLink
from people.services import link_revocation, links, token_notices, tokens
from people.tasks import send_mail
from tests.mailing import MailServer
from tests.personas import PASSWORD, World

PAGE = "/me/tokens"
NEW = "another long quiet one"


def create_token(client: Client, name: str = "My notebook") -> str:
    """Through the page; the text that it shows."""
    reply: Any = client.post(PAGE, {"name": name, "days": "90"}, follow=True)
    assert reply.status_code == 200
    return str(reply.context["fresh"])


def test_a_token_is_shown_once_and_only_its_digest_is_kept(world: World) -> None:
    client = world.client(world.mara)
    text = create_token(client)
    token = ApiToken.objects.get()
    assert text.startswith("emic_")
    assert len(text) > 40
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    assert text not in str(ApiToken.objects.values())
    again = client.get(PAGE).content.decode()
    assert text not in again
    assert token.prefix in again
    assert "not used yet" in again
    found_token = tokens.find_token(text, timezone.now())
    assert found_token == token
    assert found_token
    assert found_token.user == world.mara


def test_each_person_sees_and_revokes_their_own(world: World) -> None:
    mara, owner = world.client(world.mara), world.client(world.owner)
    text = create_token(mara)
    token = ApiToken.objects.get()
    assert "My notebook" in mara.get(PAGE).content.decode()
    assert "My notebook" not in owner.get(PAGE).content.decode()
    assert owner.post(f"{PAGE}/{token.pk}/revoke").status_code == 404
    assert mara.get(f"{PAGE}/{token.pk}/revoke").status_code == 405
    assert tokens.find_token(text, timezone.now())
    assert mara.post(f"{PAGE}/{token.pk}/revoke").status_code == 302
    assert tokens.find_token(text, timezone.now()) is None
    assert "was revoked" in mara.get(PAGE).content.decode()
    assert ApiToken.objects.get().revoked_at  # the row stays


def test_a_wrong_text_is_nobody_and_an_account_that_is_switched_off_neither(world: World) -> None:
    _token, text = tokens.create_token(world.mara, "x", timezone.now())
    assert tokens.find_token(text + "x", timezone.now()) is None
    assert tokens.find_token("", timezone.now()) is None
    world.mara.is_active = False
    world.mara.save()
    assert tokens.find_token(text, timezone.now()) is None


def test_the_last_use_is_written_once_a_minute(world: World) -> None:
    _token, text = tokens.create_token(world.mara, "x", timezone.now())
    noon = timezone.now()

    def used(at: Any) -> Any:
        tokens.find_token(text, at)
        return ApiToken.objects.get().last_used_at

    assert used(noon) == noon
    assert used(noon + timedelta(seconds=59)) == noon
    assert used(noon + timedelta(seconds=61)) == noon + timedelta(seconds=61)


@pytest.mark.parametrize("changed", [True, False])
def test_a_new_password_revokes_them(world: World, changed: bool) -> None:
    _token, text = tokens.create_token(world.mara, "x", timezone.now())
    new = "another long quiet one" if changed else "no"
    sent = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    world.client(world.mara).post("/me/password", sent)
    assert (tokens.find_token(text, timezone.now()) is None) == changed


def test_who_was_let_in_by_anothers_link_leaves_no_token_behind(world: World) -> None:
    """A manager who signed in as somebody could keep reading what that person may see later."""
    _token, text = tokens.create_token(world.nour, "x", timezone.now())
    link_revocation.end_sessions_by_link(world.nour)
    assert tokens.find_token(text, timezone.now())  # nobody ever came by a link
    SignInLink.objects.create(
        user=world.nour, cohort=world.egypt, created_by=world.manager, token_hash="x" * 64,
        expires_at=timezone.now(), used_at=timezone.now(),
    )  # fmt: skip
    link_revocation.end_sessions_by_link(world.nour)
    assert tokens.find_token(text, timezone.now()) is None


def test_there_are_not_more_than_one_can_look_after(world: World) -> None:
    for number in range(tokens.MOST):
        tokens.create_token(world.mara, f"{number}", timezone.now())
    reply = world.client(world.mara).post(PAGE, {"name": "One more", "days": "90"})
    assert reply.status_code == 400
    assert "Revoke one that you no longer need" in reply.content.decode()
    assert 'value="One more"' in reply.content.decode()
    assert ApiToken.objects.count() == tokens.MOST
    assert world.client(world.mara).post(PAGE, {"name": ""}).status_code == 400


def test_the_way_there_is_shown_to_those_who_have_benchmarks(world: World) -> None:
    assert PAGE in world.client(world.mara).get("/me").content.decode()
    assert PAGE not in world.client(world.nour).get("/me").content.decode()


def set_by_own_page(world: World, mail_server: MailServer) -> None:
    sent = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert world.client(world.mara).post("/me/password", sent).status_code == 302


def set_by_mail(world: World, mail_server: MailServer) -> None:
    client = world.client()
    client.post(reverse("people:password_forgotten"), {"email": "mara@example.org"})
    send_mail()
    [path] = re.findall(r"http://testserver(/password/new/\S+)", mail_server.text())
    assert client.post(client.get(path).url, {"new_password1": NEW, "new_password2": NEW}).status_code == 302


def set_by_admin(world: World, mail_server: MailServer) -> None:
    url = reverse("admin:auth_user_password_change", args=[world.mara.pk])
    sent = {"usable_password": "true", "password1": NEW, "password2": NEW}
    assert world.client(world.site_admin).post(url, sent).status_code == 302


def taken_by_admin(world: World, mail_server: MailServer) -> None:
    url = reverse("admin:auth_user_password_change", args=[world.mara.pk])
    assert (
        world.client(world.site_admin).post(url, {"usable_password": "false", "unset-password": "1"}).status_code == 302
    )
    world.mara.refresh_from_db()
    assert not world.mara.has_usable_password()


def set_by_command(world: World, mail_server: MailServer) -> None:
    with patch("getpass.getpass", return_value=NEW):
        call_command("changepassword", "mara@example.org", stdout=StringIO())


@pytest.mark.parametrize("way", [set_by_own_page, set_by_mail, set_by_admin, taken_by_admin, set_by_command])
def test_a_token_dies_with_the_password_whoever_sets_it(world: World, mail_server: MailServer, way: Any) -> None:
    token, text = tokens.create_token(world.mara, "My notebook", timezone.now())
    client = world.client(headers={"authorization": f"Bearer {text}"})
    assert client.get("/api/v1/benchmarks/").status_code == 200
    way(world, mail_server)
    assert tokens.find_token(text, timezone.now()) is None
    assert client.get("/api/v1/benchmarks/").status_code == 401
    world.mara.refresh_from_db()
    assert token.name not in world.client(world.mara).get(PAGE).content.decode(), "the page does not call it valid"
    _new, text = tokens.create_token(world.mara, "Another", timezone.now())
    assert tokens.find_token(text, timezone.now()), "one made afterwards works"


def test_the_same_password_under_a_newer_hash_keeps_the_token(world: World, settings: Any) -> None:
    _token, text = tokens.create_token(world.mara, "My notebook", timezone.now())
    settings.PASSWORD_HASHERS = [
        "django.contrib.auth.hashers.PBKDF2PasswordHasher", "django.contrib.auth.hashers.MD5PasswordHasher",
    ]  # fmt: skip
    before = world.mara.password
    sign_in = {"username": "mara@example.org", "password": PASSWORD}
    assert world.client().post(reverse("people:sign_in"), sign_in).status_code == 302
    world.mara.refresh_from_db()
    assert world.mara.password != before
    assert tokens.find_token(text, timezone.now())


@pytest.mark.parametrize(("days", "taken"), [("1", True), ("366", True), ("367", False), ("0", False), ("", False)])
def test_a_token_is_made_for_a_number_of_days(world: World, days: str, taken: bool) -> None:
    reply = world.client(world.mara).post(PAGE, {"name": "Notebook", "days": days})
    assert reply.status_code == (302 if taken else 400)
    assert ApiToken.objects.count() == taken


def test_a_token_ends_on_its_day_and_the_page_shows_which(world: World) -> None:
    client = world.client(world.mara)
    assert 'name="days" value="90"' in client.get(PAGE).content.decode()
    text = create_token(client)
    token = ApiToken.objects.get()
    assert timedelta(days=89, hours=23) < token.expires_at - timezone.now() <= timedelta(days=90)
    assert f"valid until {token.expires_at:%-d %b %Y}" in client.get(PAGE).content.decode()
    assert tokens.find_token(text, token.expires_at - timedelta(seconds=1))
    assert tokens.find_token(text, token.expires_at) is None
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(days=1))
    page = client.get(PAGE).content.decode()
    assert "expired on" in page
    assert "valid until" not in page


def test_a_sign_in_link_dies_with_an_admins_new_password_too(world: World, mail_server: MailServer) -> None:
    _link, token = links.make_sign_in_link(world.nour, world.egypt, world.manager, timezone.now())
    url = reverse("admin:auth_user_password_change", args=[world.nour.pk])
    world.client(world.site_admin).post(url, {"usable_password": "true", "password1": NEW, "password2": NEW})
    assert world.client().get(reverse("people:link", args=[token])).status_code == 410


def test_the_owner_is_mailed_once_seven_days_before_a_token_expires(world: World) -> None:
    at = timezone.now()
    token, _text = tokens.create_token(world.mara, "Notebook", at, 30)
    tokens.create_token(world.mara, "One week", at, 7)
    revoked, _text = tokens.create_token(world.owner, "Old", at, 30)
    tokens.revoke(revoked, world.owner, at)
    assert token_notices.warn_expiring(at + timedelta(days=22)) == 0
    assert [token_notices.warn_expiring(at + timedelta(days=23, minutes=n)) for n in (1, 2)] == [1, 0]
    letter = OutMail.objects.get(kind="notice")
    assert (letter.to, letter.target) == (world.mara.email, f"token:{token.pk}") and "“Notebook”" in letter.subject
    assert token_notices.warn_expiring(at + timedelta(days=40)) == 0, "it has expired"
