"""An invitation that was mailed registers its own address; another one is confirmed by a mailed link first."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from people.models import Consent, EmailConfirmation, Invitation, OutMail, User
from people.services import confirmations, consent, links, memberships
from people.tasks import send_mail
from tests.mailing import MailServer
from tests.people.test_joining import NEW, invite_to_egypt, register, signed_in
from tests.people.test_signing_in import try_password
from tests.personas import World, make_consent_version

INVITED, OTHER = "salma@example.org", "salma@other.example"
OWN = "eleven calm storks"  # the password that the owner of the address chooses


def mailed_path(server: MailServer) -> str:
    assert send_mail() == 1
    [path] = re.findall(r"http://testserver(/confirm/\S+)", server.text())
    return str(path)


def confirm(client: Client, path: str, world: World, **changes: str) -> Any:
    return client.post(path, {"password": OWN, "agree": "on", "version": str(world.consent_version.pk)} | changes)


@pytest.fixture
def link(world: World, mail_server: MailServer) -> str:
    path = invite_to_egypt(world, email=INVITED)
    send_mail()
    return path


def test_the_address_it_was_mailed_to_joins_at_once(world: World, link: str) -> None:
    client = world.client()
    answer = register(client, link, world, email="Salma@Example.org")
    assert answer.url == reverse("home")
    assert signed_in(client)
    assert not EmailConfirmation.objects.exists()


def test_another_address_signs_in_when_its_owner_opened_the_link(
    world: World, link: str, mail_server: MailServer
) -> None:
    client = world.client()
    page = register(client, link, world, email=OTHER)
    assert "has to be confirmed first" in page.content.decode()
    assert not signed_in(client)
    assert not User.objects.filter(email=OTHER).exists()
    path = mailed_path(mail_server)
    assert mail_server.recipients[-1] == OTHER
    assert OutMail.objects.get(to=OTHER).body == ""
    elsewhere = world.client()
    assert "Confirm and join" in elsewhere.get(path).content.decode()
    assert not User.objects.filter(email=OTHER).exists(), "looking does not use it up"
    assert confirm(elsewhere, path, world).url == reverse("home")
    assert signed_in(elsewhere)
    salma = User.objects.get(email=OTHER)
    assert list(memberships.active_cohorts(salma)) == [world.egypt]
    assert consent.has_consented(salma, world.team)
    assert Invitation.objects.get().used_by == salma
    assert confirm(world.client(), path, world).status_code == 410, "it works once"
    assert register(world.client(), link, world).status_code == 410


def test_the_password_typed_by_somebody_else_opens_nothing_after_the_owner_confirmed(
    world: World, link: str, mail_server: MailServer
) -> None:
    attacker = world.client()
    register(attacker, link, world, email=OTHER)
    path = mailed_path(mail_server)
    assert confirm(world.client(), path, world).status_code == 302
    assert not signed_in(attacker), "no session of the person who typed the address"
    assert try_password(world.client(), OTHER, NEW["password"]).status_code == 200
    assert try_password(world.client(), OTHER, OWN).status_code == 302


@pytest.mark.parametrize("password", ["", "short", OTHER])
def test_nobody_confirms_without_a_good_password(
    world: World, link: str, mail_server: MailServer, password: str
) -> None:
    register(world.client(), link, world, email=OTHER)
    path = mailed_path(mail_server)
    client = world.client()
    assert confirm(client, path, world, password=password).status_code == 200
    assert not signed_in(client)
    assert not User.objects.filter(email=OTHER).exists()
    assert confirm(client, path, world).status_code == 302


def test_the_owner_agrees_and_not_whoever_typed_the_address(world: World, link: str, mail_server: MailServer) -> None:
    register(world.client(), link, world, email=OTHER)
    path = mailed_path(mail_server)
    client = world.client()
    assert "We keep your answers. Version 1." in client.get(path).content.decode()
    assert "To join, agree to the text above." in client.post(path, {"password": OWN}).content.decode()
    newer = make_consent_version(world.team, number=2)
    assert confirm(client, path, world, version=str(newer.pk)).status_code == 302
    assert Consent.objects.get(user__email=OTHER).version == newer


def test_a_link_passed_on_by_hand_names_no_address(world: World, mail_server: MailServer) -> None:
    client = world.client()
    assert register(client, invite_to_egypt(world), world, email=OTHER).url == reverse("home")
    assert signed_in(client)


def test_without_a_mail_server_another_address_is_refused_with_the_reason(world: World) -> None:
    path = invite_to_egypt(world, email=INVITED)
    page = register(world.client(), path, world, email=OTHER).content.decode()
    assert "This invitation is for salma@example.org. No mail server is set up" in page
    assert not User.objects.filter(email=OTHER).exists()
    assert register(world.client(), path, world, email=INVITED).status_code == 302


def test_an_address_that_has_an_account_must_sign_in(world: World, link: str) -> None:
    page = register(world.client(), link, world, email="BIA@example.org").content.decode()
    assert "This address cannot be used with this invitation." in page
    assert not EmailConfirmation.objects.exists()


def test_strangers_mailboxes_are_not_filled_by_an_invitation(world: World, link: str) -> None:
    for number in range(confirmations.MOST):
        register(world.client(), link, world, email=f"person-{number}@other.example")
    page = register(world.client(), link, world, email="one-more@other.example").content.decode()
    assert "Too many addresses were tried with this invitation." in page
    assert EmailConfirmation.objects.count() == confirmations.MOST
    assert register(world.client(), link, world, email=INVITED).status_code == 302


@pytest.mark.parametrize("why", ["expired", "revoked", "used", "registered"])
def test_a_confirmation_ends_with_its_time_its_invitation_or_an_account(
    world: World, link: str, mail_server: MailServer, why: str
) -> None:
    register(world.client(), link, world, email=OTHER)
    path = mailed_path(mail_server)
    if why == "expired":
        EmailConfirmation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif why == "revoked":
        links.revoke(Invitation.objects.get(), world.manager, timezone.now())
    elif why == "used":
        register(world.client(), link, world, email=INVITED)
    else:
        User.objects.create_user(OTHER, "Somebody", "another long quiet one")
    client = world.client()
    assert confirm(client, path, world).status_code == 410
    assert not signed_in(client)
    assert not world.egypt.members.filter(user__email=OTHER).exists()


def test_a_wrong_link_is_not_found(client: Client, db: Any) -> None:
    assert client.get(reverse("people:confirm", args=["x" * 43])).status_code == 404
