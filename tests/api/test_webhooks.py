"""Webhooks: signed messages about events, none lost, none to where it must not go, and nobody waits for a receiver."""

import json
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, CampaignCohort, Slot
from annotation.services.campaigns.completion import record_complete
from api.models import Webhook, WebhookAttempt, WebhookDelivery
from api.protocol.webhook_types import TYPES
from api.services import webhook_messages, webhook_sender, webhooks
from api.services.webhook_sender import RETRY_AFTER, SenderThreads, post, send_next
from jobs.models import Event, Job, record
from jobs.services import lifecycle, runner
from people.models import OutMail, User
from tests.api.receivers import Receiver, is_genuine, receiving
from tests.evaluation.data import an_open_campaign, give_ratings
from tests.personas import World

URL = "/api/v1/webhooks/"
OUTSIDE = "https://receiver.example.org/hook"
LATE = """INSERT INTO jobs_event (at, verb, scope, target, data, implied)
VALUES (now(), 'campaign.opened', %s, 'campaign:1', '{}', false)"""
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def own_machine(settings: Any) -> None:
    """A deployment that names its own machine, where the receivers of these tests are."""
    settings.FETCH_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def make(world: World, url: str, *verbs: str, benchmark: bool = True, user: User | None = None) -> tuple[Webhook, str]:
    place = world.benchmark if benchmark else None
    return webhooks.create(world.team, place, url, verbs or ("campaign.opened",), user or world.mara)


def happen(world: World, verb: str = "campaign.opened", target: str = "campaign:1", **data: Any) -> Event:
    return record(world.mara, verb, scope=world.benchmark.scope, target=target, **data)


def tick(at: Any = None) -> int:
    """What the worker does every five seconds, with the sending in this thread."""
    webhook_messages.read_all(at or timezone.now())
    sent = 0
    while send_next(at):
        sent += 1
    return sent


def contents(receiver: Receiver) -> list[Any]:
    return [json.loads(body) for _headers, body in receiver.messages]


# ---- what is sent ----------------------------------------------------------------------------------------------------


def test_a_message_is_signed_and_a_changed_one_is_refused(world: World, receiver: Receiver) -> None:
    webhook, secret = make(world, receiver.url)
    event = happen(world, note="Amina wrote this")
    assert tick() == 1
    [(headers, body)] = receiver.messages
    assert is_genuine(secret, headers, body, time.time())
    assert not is_genuine(secret, headers, body.replace(b"campaign:1", b"campaign:2"), time.time())
    assert not is_genuine(secret, {**headers, "webhook-id": "msg_other"}, body, time.time())
    assert not is_genuine(webhooks.new_secret(), headers, body, time.time())
    assert not is_genuine(secret, headers, body, time.time() + 3600), "an old message is not sent again by others"
    content = json.loads(body)
    assert set(content) == {"type", "timestamp", "data"} and content["timestamp"].endswith("Z")
    assert content["data"] == {"event": event.pk, "benchmark": "sea-and-river", "target": "campaign:1"}
    assert secret.startswith("whsec_") and secret not in Webhook.objects.get().secret
    assert webhook.deliveries.get().state == "delivered"


def test_while_a_secret_is_replaced_both_are_valid(world: World, receiver: Receiver) -> None:
    webhook, old = make(world, receiver.url)
    new = webhooks.replace_secret(webhook, world.mara, timezone.now())
    happen(world)
    tick()
    headers, body = receiver.messages[0]
    assert is_genuine(old, headers, body, time.time()) and is_genuine(new, headers, body, time.time())
    Webhook.objects.update(old_secret_until=timezone.now())
    happen(world, target="campaign:2")
    tick()
    headers, body = receiver.messages[1]
    assert is_genuine(new, headers, body, time.time()) and not is_genuine(old, headers, body, time.time())


def test_events_of_other_benchmarks_and_kinds_are_not_told(world: World, receiver: Receiver) -> None:
    make(world, receiver.url, "campaign.opened")
    record(world.rival, "campaign.opened", scope=world.other_benchmark.scope, target="campaign:9")
    record(world.mara, "campaign.opened", scope=world.team.pk and f"team:{world.team.pk}", target="campaign:8")
    happen(world, "campaign.closed")
    assert tick() == 0
    happen(world)
    assert tick() == 1


def test_what_happened_before_a_webhook_or_while_it_was_off_is_not_told(world: World, receiver: Receiver) -> None:
    happen(world)
    webhook, _secret = make(world, receiver.url)
    webhooks.change(webhook, {"active": False}, world.mara)
    happen(world, target="campaign:2")
    assert tick() == 0
    webhooks.change(webhook, {"active": True}, world.mara)
    happen(world, target="campaign:3")
    assert tick() == 1
    assert contents(receiver)[0]["data"]["target"] == "campaign:3"


def test_reviews_are_told_with_the_decision_and_withdrawals_without_the_person(
    world: World, receiver: Receiver
) -> None:
    make(world, receiver.url, "review.decided", "consent.withdrawn")
    happen(world, "answer.rejected", "assignment:5", version=2, reason="she wrote nonsense")
    record(world.nour, "consent.withdrawn", scope=f"team:{world.team.pk}", target=f"user:{world.nour.pk}")
    assert tick() == 2
    review, consent = contents(receiver)
    assert review["data"] == {"event": review["data"]["event"], "benchmark": "sea-and-river",
                              "target": "assignment:5", "decision": "rejected", "version": 2}  # fmt: skip
    assert consent["data"] == {"people": 1}


def test_answers_of_a_campaign_come_as_counts_at_most_once_a_minute(world: World, receiver: Receiver) -> None:
    items = world.add_items(6)
    campaign = an_open_campaign(world)
    give_ratings(campaign, world.egypt, world.nour, dict.fromkeys(items, "3"))
    targets = [f"assignment:{pk}" for pk in Assignment.objects.order_by("pk").values_list("pk", flat=True)]
    make(world, receiver.url, "answer.submitted")
    at = timezone.now()
    for target in targets[:3]:
        happen(world, "answer.submitted", target, counted=True, version=1)
    assert tick(at) == 1
    for target in targets[3:]:
        happen(world, "answer.submitted", target, counted=target != targets[-1], version=1)
        assert tick(at + timedelta(seconds=5)) == 0
    assert tick(at + timedelta(seconds=59)) == 0
    assert tick(at + timedelta(seconds=61)) == 1
    about = {"benchmark": "sea-and-river", "target": f"campaign:{campaign.pk}"}
    assert [content["data"] for content in contents(receiver)] == [
        {**about, "submitted": 3, "counted": 3}, {**about, "submitted": 3, "counted": 2},
    ]  # fmt: skip


def test_a_job_and_an_import_are_told_when_they_end(world: World, receiver: Receiver) -> None:
    make(world, receiver.url, "job.finished", "import.finished")
    job = lifecycle.start("import_nothing", "x", scope=world.benchmark.scope, actor=world.mara, inline=True)
    runner.run(job.pk)
    waiting = lifecycle.start("build_nothing", "y", scope=world.benchmark.scope, actor=world.mara, inline=True)
    lifecycle.request_cancel(waiting, world.mara)
    assert Job.objects.get(pk=job.pk).state == "failed"
    tick()
    told = [(c["type"], c["data"]["target"], c["data"]["kind"], c["data"]["state"]) for c in contents(receiver)]
    assert told == [
        ("job.finished", f"job:{job.pk}", "import_nothing", "failed"),
        ("import.finished", f"job:{job.pk}", "import_nothing", "failed"),
        ("job.finished", f"job:{waiting.pk}", "build_nothing", "cancelled"),
    ]


def test_a_campaign_is_told_complete_once_and_again_after_more_was_wanted(world: World, receiver: Receiver) -> None:
    world.add_items(2)
    campaign = an_open_campaign(world)
    make(world, receiver.url, "campaign.complete", "cohort.complete")
    egypt, brazil = campaign.cohorts.order_by("pk")

    def fill(row: CampaignCohort) -> None:
        for slot in Slot.objects.filter(cohort=row):
            Slot.objects.filter(pk=slot.pk).update(submitted=slot.wanted, reserved=0)

    assert record_complete(timezone.now()) == 0
    fill(egypt)
    assert [record_complete(timezone.now()) for _time in range(2)] == [1, 0]
    fill(brazil)
    record_complete(timezone.now())
    Slot.objects.filter(cohort=egypt).update(submitted=0)
    record_complete(timezone.now())
    fill(egypt)
    record_complete(timezone.now())
    tick()
    told = [(content["type"], content["data"].get("cohort")) for content in contents(receiver)]
    assert told == [("cohort.complete", world.egypt.pk), ("cohort.complete", world.brazil.pk),
                    ("campaign.complete", None), ("cohort.complete", world.egypt.pk),
                    ("campaign.complete", None)]  # fmt: skip


# ---- nothing is lost -------------------------------------------------------------------------------------------------


def test_an_event_that_is_committed_late_is_told_once(world: World, receiver: Receiver) -> None:
    make(world, receiver.url)
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("BEGIN")
            cursor.execute(LATE, [world.benchmark.scope])
            happen(world, target="campaign:2")
            assert tick() == 0, "an older transaction still runs"
            cursor.execute("COMMIT")
    finally:
        other.close()
    assert tick() == 2 and tick() == 0
    assert [content["data"]["target"] for content in contents(receiver)] == ["campaign:1", "campaign:2"]


def test_a_kill_between_event_and_message_loses_nothing(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(world, receiver.url)
    happen(world)
    write = webhook_messages._write
    with monkeypatch.context() as killed:

        def write_and_die(*args: Any) -> None:
            assert write(*args) == 1
            raise KeyboardInterrupt

        killed.setattr(webhook_messages, "_write", write_and_die)
        with pytest.raises(KeyboardInterrupt):
            tick()
    assert not WebhookDelivery.objects.exists()
    assert tick() == 1 and tick() == 0


def test_a_kill_while_a_message_is_sent_sends_it_again_with_the_same_id(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(world, receiver.url)
    happen(world)
    with monkeypatch.context() as killed:

        def die(*_args: Any) -> None:
            raise KeyboardInterrupt

        killed.setattr(webhook_sender, "settle", die)
        with pytest.raises(KeyboardInterrupt):
            tick()
    assert tick() == 0, "another worker may still be at it"
    assert tick(timezone.now() + webhook_sender.LEASE) == 1
    first, second = (headers["webhook-id"] for headers, _body in receiver.messages)
    assert first == second


def test_a_webhook_of_a_restored_database_begins_at_the_present(world: World, receiver: Receiver) -> None:
    """Nothing of its history is sent again, and a batch that was kept is in nobody's way."""
    items = world.add_items(1)
    give_ratings(an_open_campaign(world), world.egypt, world.nour, dict.fromkeys(items, "3"))
    webhook, _secret = make(world, receiver.url, "campaign.opened", "answer.submitted")
    happen(world)
    happen(world, "answer.submitted", f"assignment:{Assignment.objects.get().pk}", counted=True, version=1)
    assert tick() == 2
    Webhook.objects.filter(pk=webhook.pk).update(epoch="another", position_xact="999999999999")
    happen(world, target="campaign:2")
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE jobs_event SET xact = '0'")
        cursor.execute("SET session_replication_role = DEFAULT")
    later = timezone.now() + timedelta(minutes=2)
    assert tick(later) == 0 and tick(later) == 0
    happen(world, target="campaign:3")
    assert tick(later) == 1
    assert contents(receiver)[-1]["data"]["target"] == "campaign:3"


def test_a_webhook_that_cannot_be_read_stops_no_other(
    world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, _secret = make(world, OUTSIDE)
    make(world, receiver.url)
    happen(world)
    write = webhook_messages._write
    with monkeypatch.context() as patched:

        def write_or_fail(webhook: Webhook, *args: Any) -> int:
            if webhook.pk == broken.pk:
                raise ValueError
            return write(webhook, *args)

        patched.setattr(webhook_messages, "_write", write_or_fail)
        assert tick() == 1
    assert webhook_messages.read_all(timezone.now()) == 1, "its events are read when it can be read again"
    assert broken.deliveries.count() == 1


# ---- receivers that fail ---------------------------------------------------------------------------------------------


def test_a_failed_message_is_sent_again_by_the_schedule_then_given_up(world: World) -> None:
    with receiving(500) as receiver:
        webhook, _secret = make(world, receiver.url)
        happen(world)
        at = timezone.now()
        assert tick(at) == 1
        for delay in RETRY_AFTER:
            assert tick(at + delay - timedelta(seconds=1)) == 0
            at += delay
            assert tick(at) == 1
        delivery = webhook.deliveries.get()
        assert (delivery.state, delivery.next_at, delivery.log.count()) == ("failed", None, 8)
        assert [row.status for row in delivery.log.all()] == [500] * 8
        assert sum(RETRY_AFTER, timedelta()) == timedelta(seconds=5, minutes=35, hours=31)
        webhook.refresh_from_db()
        assert webhook.state == "active", "one message alone is no reason to switch it off"


def test_after_three_days_of_failures_it_is_switched_off_with_a_notice(world: World) -> None:
    with receiving(503) as receiver:
        webhook, _secret = make(world, receiver.url)
        happen(world)
        at = timezone.now()
        tick(at)
        Webhook.objects.update(failing_since=at - timedelta(days=3))
        WebhookDelivery.objects.update(attempts=len(RETRY_AFTER), next_at=at)
        assert tick(at + timedelta(minutes=1)) == 1
        webhook.refresh_from_db()
        assert webhook.state == "failed"
        assert {letter.to for letter in OutMail.objects.filter(kind="notice")} == {
            world.mara.email, world.team_admin.email,
        }  # fmt: skip
        assert Event.objects.filter(verb="webhook.failed").count() == 1
        happen(world, target="campaign:2")
        assert tick(at + timedelta(hours=1)) == 0
        with pytest.raises(webhooks.WebhookRefused, match="switched off"):
            webhooks.send_test(webhook, at)


def test_a_receiver_of_many_events_is_switched_off_before_a_message_is_given_up(world: World) -> None:
    with receiving(503) as receiver:
        webhook, _secret = make(world, receiver.url)
        happen(world)
        at = timezone.now()
        Webhook.objects.update(failing_since=at - timedelta(days=3), failures=webhook_sender.MANY_FAILURES - 2)
        assert tick(at) == 1
        webhook.refresh_from_db()
        assert webhook.state == "active", "few failures"
        assert tick(at + timedelta(minutes=1)) == 1
        webhook.refresh_from_db()
        assert (webhook.state, webhook.deliveries.get().state) == ("failed", "waiting")
        assert Event.objects.filter(verb="webhook.failed").count() == 1
        webhooks.change(webhook, {"active": True}, world.mara)
        Webhook.objects.update(failing_since=at, failures=webhook_sender.MANY_FAILURES)
        assert tick(at + timedelta(days=2)) == 1
        webhook.refresh_from_db()
        assert webhook.state == "active", "not for three days"


def test_a_message_sent_again_while_it_is_sent_keeps_the_schedule(world: World) -> None:
    webhook, _secret = make(world, OUTSIDE)
    happen(world)
    at = timezone.now()
    webhook_messages.read_all(at)
    taken = webhook_sender.claim(at)
    assert taken is not None
    with CaptureQueriesContext(connection) as queries:
        webhooks.redeliver(taken, at)
    locks = [query["sql"].partition(" FROM ")[2] for query in queries if "FOR UPDATE" in query["sql"]]
    assert [lock.split()[0] for lock in locks] == ['"api_webhook"', '"api_webhookdelivery"'], "as a sender locks them"
    assert webhook_sender.claim(at) is None, "it is still on its way"
    webhook_sender.settle(taken, webhook_sender.PostResult(500, "status"), 0.1, at)
    assert webhook.deliveries.get().next_at == at + RETRY_AFTER[0]


def test_what_was_deleted_or_switched_off_meanwhile_is_not_sent_again(world: World) -> None:
    webhook, _secret = make(world, OUTSIDE)
    message = webhooks.send_test(webhook, timezone.now())
    delivery = WebhookDelivery.objects.select_related("webhook").get()
    webhooks.change(webhook, {"active": False}, world.mara)
    with pytest.raises(webhooks.WebhookRefused, match="switched off"):
        webhooks.redeliver(delivery, timezone.now())
    message.delete()
    with pytest.raises(webhooks.WebhookRefused, match="deleted"):
        webhooks.redeliver(delivery, timezone.now())
    webhooks.delete(webhook, world.mara)
    with pytest.raises(webhooks.WebhookRefused, match="deleted"):
        webhooks.redeliver(delivery, timezone.now())


def test_a_success_ends_a_row_of_failures(world: World, receiver: Receiver) -> None:
    webhook, _secret = make(world, receiver.url)
    Webhook.objects.update(failures=4, failing_since=timezone.now() - timedelta(days=5))
    happen(world)
    tick()
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.failing_since) == (0, None)


def test_nobody_waits_for_a_slow_receiver(world: World, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task ends at once, and the other webhook has its message while the slow one is still waited for."""
    monkeypatch.setattr(webhook_sender, "SECONDS", 3.0)
    monkeypatch.setattr(post, "__defaults__", (3.0,))
    senders = SenderThreads(2)
    with receiving("slow") as slow:
        make(world, slow.url)
        for number in range(3):
            happen(world, target=f"campaign:{number}")
        make(world, receiver.url)
        happen(world, target="campaign:4")
        webhook_messages.read_all(timezone.now())
        began = time.monotonic()
        senders.start()
        assert time.monotonic() - began < 1
        assert receiver.wait_for(1, 3), "it is not delayed by the slow one"
        assert senders.wait(10)
        assert len(slow.messages) == 1, "after a failure it is left alone"
        assert WebhookAttempt.objects.get(delivery__webhook__url=slow.url).error == "timeout"


def test_one_of_many_senders_has_a_message(world: World, receiver: Receiver) -> None:
    make(world, receiver.url)
    for number in range(5):
        happen(world, target=f"campaign:{number}")
    webhook_messages.read_all(timezone.now())
    senders = SenderThreads(6)
    senders.start()
    assert senders.wait(20)
    assert sorted(content["data"]["target"] for content in contents(receiver)) == [f"campaign:{n}" for n in range(5)]


# ---- where nothing may go --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/x", "https://localhost/x", "https://10.0.0.8:8443/x", "https://192.168.1.1/x",
        "https://[::1]/x", "https://169.254.169.254/latest/meta-data", "https://[::ffff:10.0.0.1]/x",
        "https://2130706433/x", "https://0/x", "https://[fd00:ec2::254]/x",
    ],
)  # fmt: skip
def test_private_addresses_are_refused(settings: Any, url: str) -> None:
    settings.FETCH_ALLOW = []
    settings.PRIVATE_ENDPOINTS = ["127.0.0.0/8", "10.0.0.0/8", "192.168.0.0/16", "::1/128"]
    assert post(url, b"{}", {}).error == "private", "also where models may answer from there"
    with pytest.raises(webhooks.WebhookRefused, match="in a private network") as refused:
        webhooks.checked_url(url)
    assert refused.value.member == "url", "and nobody waits for the first message to learn it"


def test_a_name_that_leads_into_a_private_network_is_refused(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.FETCH_ALLOW = []
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args, **_more: [(2, 1, 6, "", ("10.0.0.5", 0))])
    assert post(OUTSIDE, b"{}", {}).error == "private"


@pytest.mark.parametrize("scheme", ["http", "HTTP", "Http"])
def test_nothing_goes_to_the_internet_in_clear_text(
    settings: Any, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    settings.FETCH_ALLOW = []
    monkeypatch.setattr("socket.getaddrinfo", lambda *_args, **_more: [(2, 1, 6, "", ("93.184.216.34", 0))])
    assert post(f"{scheme}://receiver.example.org/x", b"{}", {}, 0.3).error == "in_clear"


def test_redirects_endless_bodies_and_clear_text_are_refused(settings: Any) -> None:
    with receiving("redirect") as receiver:
        assert post(receiver.url, b"{}", {}) == webhook_sender.PostResult(302, "redirect")
        assert len(receiver.messages) == 1
    with receiving("endless") as receiver:
        assert post(receiver.url, b"{}", {}).error == "too_large"
    with receiving("slow") as receiver:
        assert post(receiver.url, b"{}", {}, 0.3).error == "timeout"
    assert post("http://127.0.0.1:9/x", b"{}", {}).error == "connection"


def test_every_type_is_made_of_events_that_somebody_records() -> None:
    """A type whose event nobody writes would never be told."""
    assert set(TYPES) >= {"job.finished", "import.finished", "campaign.opened", "campaign.closed", "campaign.complete",
                          "cohort.complete", "answer.submitted", "review.decided", "run.finished",
                          "release.published", "release.withdrawn", "consent.withdrawn"}  # fmt: skip
