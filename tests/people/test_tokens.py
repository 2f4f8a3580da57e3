"""Tokens for programs: shown once, kept as a digest, their owner's alone, and gone with what they rest on."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from people.models import ApiToken, SignInLink
from people.services import keys, tokens
from tests.personas import PASSWORD, World

PAGE = "/me/tokens"


def make(client: Client, name: str = "My notebook") -> str:
    """Through the page; the text that it shows."""
    reply: Any = client.post(PAGE, {"name": name}, follow=True)
    assert reply.status_code == 200
    return str(reply.context["fresh"])


def test_a_token_is_shown_once_and_only_its_digest_is_kept(world: World) -> None:
    client = world.client(world.mara)
    text = make(client)
    token = ApiToken.objects.get()
    assert text.startswith("emic_")
    assert len(text) > 40
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    assert text not in str(ApiToken.objects.values())
    again = client.get(PAGE).content.decode()
    assert text not in again
    assert token.prefix in again
    assert "not used yet" in again
    found = tokens.bearer_of(text, timezone.now())
    assert found == token
    assert found
    assert found.user == world.mara


def test_each_person_sees_and_revokes_their_own(world: World) -> None:
    mara, owner = world.client(world.mara), world.client(world.owner)
    text = make(mara)
    token = ApiToken.objects.get()
    assert "My notebook" in mara.get(PAGE).content.decode()
    assert "My notebook" not in owner.get(PAGE).content.decode()
    assert owner.post(f"{PAGE}/{token.pk}/revoke").status_code == 404
    assert mara.get(f"{PAGE}/{token.pk}/revoke").status_code == 405
    assert tokens.bearer_of(text, timezone.now())
    assert mara.post(f"{PAGE}/{token.pk}/revoke").status_code == 302
    assert tokens.bearer_of(text, timezone.now()) is None
    assert "no longer opens anything" in mara.get(PAGE).content.decode()
    assert ApiToken.objects.get().revoked_at  # the row stays


def test_a_wrong_text_is_nobody_and_an_account_that_is_switched_off_neither(world: World) -> None:
    _token, text = tokens.make(world.mara, "x", timezone.now())
    assert tokens.bearer_of(text + "x", timezone.now()) is None
    assert tokens.bearer_of("", timezone.now()) is None
    world.mara.is_active = False
    world.mara.save()
    assert tokens.bearer_of(text, timezone.now()) is None


def test_the_last_use_is_written_once_a_minute(world: World) -> None:
    _token, text = tokens.make(world.mara, "x", timezone.now())
    noon = timezone.now()

    def used(at: Any) -> Any:
        tokens.bearer_of(text, at)
        return ApiToken.objects.get().last_used_at

    assert used(noon) == noon
    assert used(noon + timedelta(seconds=59)) == noon
    assert used(noon + timedelta(seconds=61)) == noon + timedelta(seconds=61)


@pytest.mark.parametrize("changed", [True, False])
def test_a_new_password_revokes_them(world: World, changed: bool) -> None:
    _token, text = tokens.make(world.mara, "x", timezone.now())
    new = "another long quiet one" if changed else "no"
    sent = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    world.client(world.mara).post("/me/password", sent)
    assert (tokens.bearer_of(text, timezone.now()) is None) == changed


def test_who_was_let_in_by_anothers_link_leaves_no_token_behind(world: World) -> None:
    """A manager who signed in as somebody could keep reading what that person may see later."""
    _token, text = tokens.make(world.nour, "x", timezone.now())
    keys.end_sessions_by_link(world.nour)
    assert tokens.bearer_of(text, timezone.now())  # nobody ever came by a link
    SignInLink.objects.create(
        user=world.nour, cohort=world.egypt, created_by=world.manager, token_hash="x" * 64,
        expires_at=timezone.now(), used_at=timezone.now(),
    )  # fmt: skip
    keys.end_sessions_by_link(world.nour)
    assert tokens.bearer_of(text, timezone.now()) is None


def test_there_are_not_more_than_one_can_look_after(world: World) -> None:
    for number in range(tokens.MOST):
        tokens.make(world.mara, f"{number}", timezone.now())
    reply = world.client(world.mara).post(PAGE, {"name": "One more"})
    assert reply.status_code == 400
    assert "Revoke one that you no longer need" in reply.content.decode()
    assert 'value="One more"' in reply.content.decode()
    assert ApiToken.objects.count() == tokens.MOST
    assert world.client(world.mara).post(PAGE, {"name": ""}).status_code == 400


def test_the_way_there_is_shown_to_those_who_have_benchmarks(world: World) -> None:
    assert PAGE in world.client(world.mara).get("/me").content.decode()
    assert PAGE not in world.client(world.nour).get("/me").content.decode()
