"""Webhooks by REST and on the page of a team: for those who work on a benchmark, and for admins of the team."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from api.models import Webhook, WebhookDelivery
from api.services import webhooks
from api.tasks import forget_requests
from tests.api.clients import program
from tests.api.receivers import Receiver, receiving
from tests.api.test_protocol import problem, send
from tests.api.test_webhooks import OUTSIDE, make, tick
from tests.personas import World

URL = "/api/v1/webhooks/"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_machine(settings: Any) -> None:
    """A deployment that names its own machine, where the receivers of these tests are."""
    settings.FETCH_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


# ---- by REST ---------------------------------------------------------------------------------------------------------


def test_a_webhook_by_rest_from_its_creation_to_its_end(world: World, receiver: Receiver) -> None:
    client = program(world.mara, "write")
    new = {"team": "nile-lab", "benchmark": "sea-and-river", "url": receiver.url, "verbs": ["run.finished"]}
    replies = [send(client, "POST", URL, new, idempotency_key="w") for _time in range(2)]
    assert [reply.status_code for reply in replies] == [201, 201] and Webhook.objects.count() == 1
    assert [bool(reply.json()["secret"]) for reply in replies] == [True, False], "the secret is sent once"
    address = replies[0]["Location"]
    shown = client.get(address)
    assert "secret" not in shown.json() and shown["ETag"] == replies[0]["ETag"]
    problem(send(client, "PATCH", address, {"active": False}), 428, "precondition-required")
    changed = send(client, "PATCH", address, {"verbs": ["campaign.opened"]}, if_match=shown["ETag"])
    assert changed.json()["verbs"] == ["campaign.opened"]
    test = send(client, "POST", f"{address}test/")
    assert (test.status_code, test.json()["state"], test.json()["attempts"]) == (202, "waiting", [])
    tick()
    [row] = client.get(f"{address}deliveries/?state=delivered").json()["results"]
    assert (row["type"], [attempt["status"] for attempt in row["attempts"]]) == ("webhook.test", [200])
    send(client, "POST", f"{address}deliveries/{row['id']}/redeliver/")
    tick()
    assert len({headers["webhook-id"] for headers, _body in receiver.messages}) == 1 and len(receiver.messages) == 2
    secret = send(client, "POST", f"{address}secret/").json()
    assert secret["secret"].startswith("whsec_") and secret["old_secret_until"]
    gone = send(client, "DELETE", address, if_match="*")
    assert (gone.status_code, Webhook.objects.count(), WebhookDelivery.objects.count()) == (204, 0, 0)


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"url": "ftp://example.org/"}, "/url"),
        ({"url": "https://user:pass@example.org/"}, "/url"),
        ({"url": "https://"}, "/url"),
        ({"verbs": ["weather.changed"]}, "/verbs"),
    ],
)
def test_what_cannot_be_done_is_named(world: World, change: dict[str, Any], pointer: str) -> None:
    new = {"team": "nile-lab", "benchmark": "sea-and-river", "url": OUTSIDE, "verbs": ["run.finished"]} | change
    refused = problem(send(program(world.mara, "write"), "POST", URL, new), 422, "refused")
    assert [error["pointer"] for error in refused["errors"]] == [pointer]
    assert not Webhook.objects.exists()


def test_an_address_in_a_private_network_is_refused_at_once(world: World, settings: Any) -> None:
    """By a program and on the page, when a webhook is created and when it is changed; allowed where the site names the
    network."""
    client, browser = program(world.mara, "write"), world.client(world.mara)
    new = {"team": "nile-lab", "benchmark": "sea-and-river", "url": "https://127.0.0.1/hook", "verbs": ["run.finished"]}
    allowed = send(client, "POST", URL, new)
    assert allowed.status_code == 201, "EMIC_FETCH_ALLOW has 127.0.0.0/8"
    address = f"{URL}{allowed.json()['id']}/"
    settings.FETCH_ALLOW = []
    changed = {"url": "https://[::1]/hook"}
    for reply in (send(client, "POST", URL, new), send(client, "PATCH", address, changed, if_match="*")):
        (error,) = problem(reply, 422, "refused")["errors"]
        assert error["pointer"] == "/url" and "private network" in error["detail"]
    page = "/teams/nile-lab/webhooks/"
    posted = {name: new[name] for name in ("url", "benchmark", "verbs")}
    for path in (page, f"/webhooks/{allowed.json()['id']}/save"):
        refused = browser.post(path, posted)
        assert refused.status_code == 400 and "This address is in a private network." in refused.content.decode()
    assert Webhook.objects.get().url == new["url"]


def test_webhooks_are_for_those_who_work_on_the_benchmark_and_for_admins(world: World, settings: Any) -> None:
    new = {"team": "nile-lab", "benchmark": "sea-and-river", "url": OUTSIDE, "verbs": ["run.finished"]}
    every = {name: value for name, value in new.items() if name != "benchmark"}
    webhook, _secret = make(world, OUTSIDE)
    address = f"{URL}{webhook.pk}/"
    for user in (world.owner, world.mara, world.team_admin):
        assert program(user).get(address).status_code == 200
    for user in (world.reviewer, world.nour, world.manager, world.stranger, world.rival):
        client = program(user, "write")
        problem(client.get(address), 404, "not-found")
        problem(send(client, "POST", URL, new), 404, "not-found")
        assert client.get(URL).json()["results"] == []
        assert world.client(user).post(f"/webhooks/{webhook.pk}/delete").status_code == 404
    problem(send(program(world.mara, "write"), "POST", URL, every), 404, "not-found")
    assert send(program(world.team_admin, "write"), "POST", URL, every).status_code == 201
    assert [row["benchmark"] for row in program(world.mara).get(URL).json()["results"]] == ["sea-and-river"]
    problem(send(program(world.mara, "read"), "POST", URL, new), 403, "insufficient-scope")
    settings.SECRETS_KEYS = []
    refused = problem(send(program(world.mara, "write"), "POST", URL, new), 422, "refused")
    assert "EMIC_SECRETS_KEY" in refused["detail"]


def test_a_team_has_twenty_webhooks_at_most(world: World) -> None:
    for _number in range(webhooks.MOST):
        make(world, OUTSIDE)
    with pytest.raises(webhooks.WebhookRefused, match="at most 20"):
        make(world, OUTSIDE)


# ---- the page --------------------------------------------------------------------------------------------------------


def test_the_page_creates_tests_and_deletes_a_webhook(world: World, receiver: Receiver) -> None:
    browser, page = world.client(world.mara), "/teams/nile-lab/webhooks/"
    assert "No webhooks yet" in browser.get(page).content.decode()
    refused = browser.post(page, {"url": "here", "benchmark": "sea-and-river", "verbs": ["run.finished"]})
    assert refused.status_code == 400 and "begins with https://" in refused.content.decode()
    created = browser.post(page, {"url": receiver.url, "benchmark": "sea-and-river", "verbs": ["run.finished"]})
    assert created.status_code == 302, created.content
    shown = browser.get(created["Location"]).content.decode()
    assert shown.count("whsec_") == 1 and "whsec_" not in browser.get(created["Location"]).content.decode()
    browser.post(f"{created['Location']}test")
    tick()
    assert "webhook.test" in browser.get(created["Location"]).content.decode()
    browser.post(f"{created['Location']}save", {"url": receiver.url, "verbs": ["campaign.closed"]})
    assert Webhook.objects.get().verbs == ["campaign.closed"]
    for action, state in (("off", "off"), ("on", "active")):
        browser.post(f"{created['Location']}{action}")
        assert Webhook.objects.get().state == state
    redelivered = browser.post(f"{created['Location']}deliveries/{WebhookDelivery.objects.get().pk}/redeliver")
    assert redelivered.status_code == 302 and tick() == 1
    assert "whsec_" in browser.get(browser.post(f"{created['Location']}secret")["Location"]).content.decode()
    browser.post(f"{created['Location']}delete")
    assert not Webhook.objects.exists()
    assert world.client(world.stranger).get(page).status_code == 404
    assert world.client(world.nour).get(page).status_code == 404
    assert "New webhook" not in world.client(world.reviewer).get(page).content.decode()


def test_secrets_take_the_new_key_of_the_site_and_old_deliveries_are_forgotten(
    world: World, settings: Any, capsys: Any
) -> None:
    webhook, secret = make(world, OUTSIDE)
    settings.SECRETS_KEYS = ["bmV3IGtleSBmb3IgdGVzdHMgYW5kIG5vdGhpbmcgbW8=", *settings.SECRETS_KEYS]
    call_command("rotate_secrets")
    settings.SECRETS_KEYS = settings.SECRETS_KEYS[:1]
    webhook.refresh_from_db()
    assert webhooks.valid_secrets(webhook, timezone.now()) == [secret]
    delivery = webhooks.send_test(webhook, timezone.now())
    WebhookDelivery.objects.filter(pk=delivery.pk).update(
        state="delivered", created_at=timezone.now() - timedelta(days=31)
    )
    forget_requests()
    assert not WebhookDelivery.objects.exists()
