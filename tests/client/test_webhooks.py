"""Webhooks in Python, the check of their messages, and the position of a reader of events. Plans and samples, too."""

from typing import Any

import httpx
import pytest

import emic_client
from annotation.models import Campaign
from api.services.webhook_signatures import new_secret, signature_headers
from emic_client.events import Events
from emic_client.webhooks import verify_webhook
from tests.annotation.chain.test_review_batches import Scene
from tests.client.conftest import Connect
from tests.client.test_connection import Script, ok
from tests.personas import World
from tests.predictions.model_server import Server
from tests.predictions.plan_set_helpers import FIRST, use_conditions
from tests.predictions.request_helpers import a_campaign, an_endpoint

URL = "https://receiver.example.org/emic"
BODY = b'{"type": "run.finished", "timestamp": "2026-03-01T12:00:00.000Z", "data": {"event": 1}}'
AT = 1_772_366_400


def test_a_webhook_is_created_tested_changed_and_deleted(world: World, connect: Connect) -> None:
    emic = connect(world.mara, "write")
    webhook = emic.webhooks.create(URL, ["run.finished"], team="nile-lab", benchmark=world.benchmark.slug)
    assert webhook.secret and webhook.secret.startswith("whsec_") and webhook.secret not in repr(webhook)
    assert [row.id for row in emic.webhooks] == [webhook.id] and emic.webhooks.get(webhook.id).secret is None
    delivery = webhook.send_test()
    assert [(row.id, row.type) for row in webhook.deliveries()] == [(delivery.id, "webhook.test")]
    assert webhook.redeliver(delivery).message_id == delivery.message_id
    other = emic.webhooks.get(webhook.id)
    assert webhook.update(verbs=["campaign.opened"]).data.verbs == ["campaign.opened"]
    with pytest.raises(emic_client.Stale):
        other.switch_off()
    assert other.refresh().switch_off().state == "off" and other.switch_on().state == "active"
    before = webhook.secret
    assert other.replace_secret() != before
    emic.webhooks.delete(other.id)
    assert emic.webhooks.list() == []
    with pytest.raises(emic_client.Refused):
        emic.webhooks.create("http://a.example.org/", ["run.finished"], team="nile-lab", benchmark=world.benchmark.slug)
    with pytest.raises(emic_client.NotFound):
        connect(world.stranger, "write").webhooks.create(URL, ["run.finished"], team="nile-lab")


def test_a_message_of_the_site_is_genuine_and_a_changed_one_is_not() -> None:
    first, second = new_secret(), new_secret()
    headers = signature_headers("msg_1", AT, BODY, [first])
    assert verify_webhook(BODY, headers, first, now=AT)["type"] == "run.finished"
    named = {name.title(): value for name, value in headers.items()}
    assert verify_webhook(BODY, named, [second, first], now=AT + 299)
    both = signature_headers("msg_1", AT, BODY, [first, second])
    assert verify_webhook(BODY, both, second, now=AT)
    wrong: list[tuple[bytes, dict[str, str], Any, float]] = [
        (BODY.replace(b"1}", b"2}"), headers, first, AT),
        (BODY, {**headers, "webhook-id": "msg_2"}, first, AT),
        (BODY, {**headers, "webhook-timestamp": str(AT + 1)}, first, AT),
        (BODY, {**headers, "webhook-timestamp": "soon"}, first, AT),
        (BODY, {**headers, "webhook-signature": "v2,abc v1,é"}, first, AT),
        (BODY, {"webhook-id": "msg_1"}, first, AT),
        (BODY, headers, second, AT),
        (BODY, headers, "not a secret", AT),
        (BODY, headers, [], AT),
        (BODY, headers, first, AT + 301),
        (BODY, headers, first, AT - 301),
    ]
    for body, sent, secret, now in wrong:
        with pytest.raises(emic_client.InvalidSignature):
            verify_webhook(body, sent, secret, now=now)


def test_the_position_moves_with_each_event_that_was_handled() -> None:
    """A program that stops while it handles an event reads that one again, and none before it."""
    raw = [{"id": number, "verb": "x", "after": f"p{number}"} for number in (1, 2, 3)]
    script = Script(ok(results=raw, after="p3", more=False))
    feed = Events(script.connection()).follow(after="p0")
    events = iter(feed)
    positions = [feed.after]
    for _turn in range(3):
        next(events)
        positions.append(feed.after)
    assert positions == ["p0", "p0", "p1", "p2"]


def test_an_event_of_the_site_has_the_position_behind_it(world: World, campaign: Campaign, connect: Connect) -> None:
    emic = connect(world.mara, "write")
    start = emic.events.now()
    draft = emic.benchmarks.get(world.benchmark.slug).campaigns.create(campaign.stage.key, cohorts={"Egypt": 1})
    draft.open()
    first, *rest = emic.events.follow(after=start, timeout=0)
    assert rest, "created and opened"
    assert [event.id for event in emic.events.follow(after=first.after, timeout=0)] == [event.id for event in rest]


def test_a_plan_is_looked_at_and_started(
    world: World, connect: Connect, scripted_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_conditions(monkeypatch)
    a_campaign(world, 2)
    an_endpoint(world, scripted_server.base_url, {"*": {"request": "0.1"}})
    plans = connect(world.mara, "write").benchmarks.get(world.benchmark.slug).plans
    assert next(row["key"] for row in plans.conditions() if row["ready"]) == FIRST
    preview = plans.preview({"A": [FIRST], "B": [FIRST]}, endpoint="Scripted", budget="1")
    assert (preview.new, preview.requests) == (2, 4)
    plan = plans.start({"A": [FIRST], "B": [FIRST]}, endpoint="Scripted", budget="1")
    assert (plan.state, len(plan.data.runs), plan.cost().total) == ("running", 2, 4)
    assert plan.pause().state == "paused" and plan.raise_budget("2").data.budget == "2.0000"
    assert plan.resume().state == "running" and plan.stop().state == "cancelled"
    assert [row.id for row in plans] == [plan.id] == [plans.get(plan.id).id]
    with pytest.raises(emic_client.Refused):
        plans.preview({"A": ["none"]}, endpoint="Scripted")


def test_samples_are_drawn_and_their_others_accepted(world: World, connect: Connect) -> None:
    scene = Scene(world)
    batches = connect(world.reviewer, "write", "export").benchmarks.get(world.benchmark.slug).review_batches
    assert batches.draw("ask", size=5, seed=1)["authors"] == 2
    [batch, _other] = batches.list(stage="ask")
    assert len(list(batch.answers())) == 5
    with pytest.raises(emic_client.Conflict):
        batch.accept()
    [row] = [row for row in scene.world.benchmark.stages.get(key="ask").review_batches.all() if row.pk == batch.id]
    scene.decide(row)
    assert batch.accept().state == "accepted" and batch.undo().state == "passed"


def test_a_service_account_gets_a_token_that_is_told_once(world: World, connect: Connect) -> None:
    accounts = connect(world.team_admin, "admin").teams.get("nile-lab").service_accounts
    account = accounts.create("Nightly import")
    token = accounts.create_token(account, "Night", scopes=["read"])
    assert token.token and token.token.startswith("emic_") and token.token not in repr(token)
    assert [row.name for row in accounts] == ["Nightly import"]
    assert [row.token for row in accounts.tokens(account)] == [None]


def test_an_older_site_has_one_position_for_each_page() -> None:
    script = Script(ok(results=[{"id": 1, "verb": "x"}], after="b", more=False), httpx.ConnectError("end"))
    feed = Events(script.connection(retries=0)).follow(after="a")
    with pytest.raises(emic_client.Unreachable):
        list(feed)
    assert feed.after == "b"
