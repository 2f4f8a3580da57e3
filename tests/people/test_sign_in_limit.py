"""Guessing passwords of many accounts from one address is slowed; from many addresses it is noticed."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.models import Event
from people.models import FailedSignIn
from people.services.limits import sign_in_limit
from tests.people.test_signing_in import SIGN_IN, try_password
from tests.personas import PASSWORD, World

HERE, ADMIN = reverse("people:sign_in_here"), reverse("admin:login")


def failures(count: int, address: str = "203.0.113.7", *, minutes: int = 0) -> None:
    for number in range(count):
        at = timezone.now() - timedelta(minutes=minutes)
        sign_in_limit.note_failure(address, f"person-{number}@example.org", at)


def guess(client: Client, door: str, name: str, password: str = "wrong") -> Any:
    data = {"username": name, "password": password, "person": "0"}
    return client.post(door, data, headers={"X-Requested-With": "emic"} if door == HERE else {})


@pytest.fixture
def proxied(settings: Any) -> None:
    settings.PROXY = True


def browser(world: World, address: str) -> Client:
    return world.client(headers={"x-forwarded-for": address})


@pytest.mark.usefixtures("proxied")
def test_the_hundred_and_first_name_from_one_address_waits_and_others_do_not(world: World) -> None:
    client = browser(world, "203.0.113.7")
    failures(97)
    assert guess(client, SIGN_IN, "a98@example.org").status_code == 200
    assert guess(client, HERE, "a99@example.org").status_code == 422
    assert guess(client, ADMIN, "a100@example.org").status_code == 200
    for door in (SIGN_IN, HERE, ADMIN):
        answer = guess(client, door, "a101@example.org")
        assert answer.status_code == 429, door
        assert 3500 < int(answer.headers["Retry-After"]) <= 3600
        assert "came from your network. Try again in 60 minutes." in answer.content.decode()
    assert try_password(client, "nour@example.org", PASSWORD).status_code == 429, "nor is a right one looked at"
    assert try_password(browser(world, "198.51.100.4"), "nour@example.org").status_code == 302
    assert client.get(SIGN_IN).status_code == 200


def test_the_time_to_wait_ends_when_the_oldest_failure_is_an_hour_old(world: World) -> None:
    failures(60, minutes=59)
    failures(40)
    now = timezone.now()
    assert 0 < sign_in_limit.seconds_to_wait("203.0.113.7", now) <= 60
    assert sign_in_limit.seconds_to_wait("203.0.113.7", now + timedelta(seconds=61)) == 0


def test_an_ipv6_customer_is_a_network_of_many_addresses(world: World) -> None:
    now = timezone.now()
    rows = [
        FailedSignIn(at=now, address=f"2001:db8:1:2::{n:x}", network="2001:db8:1:2::/64", name=str(n))
        for n in range(999)
    ]
    FailedSignIn.objects.bulk_create(rows)
    assert sign_in_limit.seconds_to_wait("2001:db8:1:2::ffff", now) == 0
    sign_in_limit.note_failure("2001:DB8:1:2:0::5", "x", now)
    assert sign_in_limit.seconds_to_wait("2001:db8:1:2::ffff", now) > 0
    assert sign_in_limit.seconds_to_wait("2001:db8:1:3::1", now) == 0
    assert FailedSignIn.objects.filter(address="2001:db8:1:2::5").count() == 2, "one address, however it is written"


def test_an_ipv4_address_inside_ipv6_is_that_address(world: World) -> None:
    failures(99)
    sign_in_limit.note_failure("::ffff:203.0.113.7", "x", timezone.now())
    assert sign_in_limit.seconds_to_wait("203.0.113.7", timezone.now()) > 0


def test_a_right_password_does_not_count_and_what_was_typed_is_not_kept(world: World) -> None:
    assert try_password(world.client(), "nour@example.org").status_code == 302
    assert not FailedSignIn.objects.exists()
    try_password(world.client(), "my secret passphrase", "oops")
    row = FailedSignIn.objects.get()
    assert row.address == "127.0.0.1"
    assert "secret" not in str(FailedSignIn.objects.values())
    assert len(row.name) == 64


def test_two_hundred_names_in_an_hour_raise_one_alarm_that_admins_see(world: World) -> None:
    for number in range(205):
        address = f"198.51.100.{number}"
        sign_in_limit.note_failure(
            address, f"person-{number // 2 if number < 10 else number}@example.org", timezone.now()
        )
        expected = 1 if number >= 204 else 0
        assert Event.objects.filter(verb="signin.spray").count() == expected, number
    alarm = Event.objects.get(verb="signin.spray")
    assert alarm.data == {"names": 200, "addresses": 205}
    failures(3)
    assert Event.objects.filter(verb="signin.spray").count() == 1
    page = world.client(world.site_admin).get(reverse("evaluation:status")).content.decode()
    assert "Possible password guessing: sign-ins with 200 different names failed" in page


def test_the_same_name_again_and_again_is_no_spray(world: World) -> None:
    for number in range(250):
        sign_in_limit.note_failure(f"198.51.100.{number}", "nour@example.org", timezone.now())
    assert not Event.objects.filter(verb="signin.spray").exists()


def test_failures_of_yesterday_are_deleted(world: World) -> None:
    failures(1, minutes=25 * 60)
    failures(1)
    assert sign_in_limit.delete_old(timezone.now()) == 1
    assert FailedSignIn.objects.count() == 1
