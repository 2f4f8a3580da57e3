"""One sender asks for a bounded number of password mails, whatever addresses they name."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from people.models import OutMail, PasswordRequest
from people.services import cleaning
from people.services.limits import password_limit
from tests.personas import World

FORGOTTEN, SENT = reverse("people:password_forgotten"), reverse("people:password_sent")


@pytest.fixture(autouse=True)
def proxied(settings: Any) -> None:
    settings.PROXY = 1


def browser(world: World, address: str) -> Client:
    return world.client(headers={"x-forwarded-for": address})


def ask(client: Client, email: str) -> Any:
    return client.post(FORGOTTEN, {"email": email})


def test_a_sender_of_many_addresses_waits_and_others_do_not(world: World) -> None:
    client = browser(world, "203.0.113.7")
    for number in range(20):
        assert ask(client, f"person-{number}@example.org").url == SENT
    letters = OutMail.objects.count()
    for email in ("nour@example.org", "one-more@example.org"):
        reply = ask(client, email)
        assert reply.status_code == 429, "the same for an address with an account and for one without"
        assert 3500 < int(reply.headers["Retry-After"]) <= 3600
        assert "Too many password e-mails were requested from your network. Try again in" in reply.content.decode()
    assert OutMail.objects.count() == letters == 20
    assert client.get(FORGOTTEN).status_code == 200
    assert ask(browser(world, "198.51.100.4"), "nour@example.org").url == SENT


def test_a_sender_is_free_again_after_an_hour(world: World) -> None:
    now = timezone.now()
    for _ in range(20):
        assert password_limit.note_request("203.0.113.7", now - timedelta(minutes=59)) == 0
    assert 0 < password_limit.note_request("203.0.113.7", now) <= 60
    assert password_limit.note_request("203.0.113.7", now + timedelta(seconds=61)) == 0


def test_an_ipv6_customer_is_bounded_whatever_address_sends(world: World) -> None:
    now = timezone.now()
    rows = [PasswordRequest(at=now, address=f"2001:db8:1:2::{n:x}", network="2001:db8:1:2::/64") for n in range(100)]
    PasswordRequest.objects.bulk_create(rows)
    assert ask(browser(world, "2001:db8:1:2::ffff"), "nour@example.org").status_code == 429
    assert ask(browser(world, "2001:db8:1:3::1"), "nour@example.org").url == SENT


def test_requests_of_yesterday_are_deleted(world: World) -> None:
    now = timezone.now()
    for hours in (25, 0):
        password_limit.note_request("203.0.113.7", now - timedelta(hours=hours))
    assert cleaning.clean_up(now)["password_requests"] == 1
    assert PasswordRequest.objects.count() == 1
