"""Sends the messages of webhooks, each attempt within its time, by few threads beside the worker's tasks.

A webhook has one message on its way at a time, and rests after a failure: a slow or failing receiver keeps one thread
for seconds, and neither another webhook nor any other work waits for it. A message is taken before it is sent and
settled after: what a kill leaves is taken again when its time is over.
"""

import json
import logging
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx
from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from api.models import Webhook, WebhookAttempt, WebhookDelivery
from api.services.webhook_signatures import signature_headers
from api.services.webhooks import valid_secrets
from jobs.models import record
from people.models import TeamMember, User
from people.services.mail import mail_notice
from predictions.backends.connections import AddressRefused, Transport, deadline
from predictions.services.endpoints import secrets

SECONDS = 10.0
MOST_BYTES = 64 * 1024
LEASE = timedelta(seconds=60)  # after which a message that was taken and not settled is taken again
RETRY_AFTER = tuple(
    timedelta(seconds=seconds) for seconds in (5, 300, 1800, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600)
)  # fmt: skip
GIVE_UP = timedelta(days=3)  # of failures, then the webhook is switched off
MANY_FAILURES = 100  # in a row and over GIVE_UP: it is switched off before any one message has used its attempts
REST = timedelta(seconds=5)  # after a failure, doubled up to MOST_REST
MOST_REST = timedelta(seconds=60)
THREADS = 8
USER_AGENT = "Emic (webhooks)"
State = WebhookDelivery.State
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PostResult:
    """`error`: empty, or private, in_clear, timeout, connection, redirect, too_large, key, status."""

    status: int | None = None
    error: str = ""


def claim(at: datetime) -> WebhookDelivery | None:
    """The next message to send, of the webhook whose turn it is. One of any number of claimers gets it."""
    due = WebhookDelivery.objects.filter(webhook=OuterRef("pk"), state=State.WAITING, next_at__lte=at)
    free = (Q(busy_until=None) | Q(busy_until__lte=at)) & (Q(rest_until=None) | Q(rest_until__lte=at))
    with transaction.atomic():
        rows = Webhook.objects.filter(free, Exists(due), state=Webhook.State.ACTIVE)
        rows = rows.order_by(F("last_tried_at").asc(nulls_first=True), "pk")
        webhook = rows.select_for_update(skip_locked=True).first()
        if webhook is None:
            return None
        waiting = webhook.deliveries.filter(state=State.WAITING, next_at__lte=at).order_by("next_at", "pk")
        delivery = waiting.select_for_update().first()
        if delivery is None:
            return None
        Webhook.objects.filter(pk=webhook.pk).update(busy_until=at + LEASE, last_tried_at=at)
        delivery.attempts += 1
        delivery.next_at = at + LEASE
        delivery.save(update_fields=["attempts", "next_at"])
        delivery.webhook = webhook
        return delivery


def send_next(at: datetime | None = None) -> bool:
    """Send one message. False where none is due."""
    delivery = claim(at or timezone.now())
    if delivery is None:
        return False
    began = time.monotonic()
    result = _send(delivery, at or timezone.now())
    settle(delivery, result, time.monotonic() - began, at or timezone.now())
    return True


def body_of(delivery: WebhookDelivery) -> bytes:
    moment = delivery.happened_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    content = {"type": delivery.type, "timestamp": moment, "data": delivery.data}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


@sensitive_variables("keys", "headers")
def _send(delivery: WebhookDelivery, at: datetime) -> PostResult:
    try:
        keys = valid_secrets(delivery.webhook, at)
    except (secrets.MissingKey, secrets.WrongKey):
        return PostResult(error="key")
    body = body_of(delivery)
    headers = signature_headers(delivery.message_id, int(at.timestamp()), body, keys)
    headers |= {"Content-Type": "application/json", "User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
    return post(delivery.webhook.url, body, headers)


def post(url: str, body: bytes, headers: dict[str, str], seconds: float = SECONDS) -> PostResult:
    """One request: to a public address, without redirects, within its time, and at most 64 KB are read."""
    try:
        transport = Transport(in_clear=urlsplit(url).scheme != "https", private=False)
        with (
            deadline(seconds),
            httpx.Client(transport=transport, timeout=seconds, trust_env=False) as client,
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            return _result(response)
    except AddressRefused as refused:
        return PostResult(error=str(refused))
    except (httpcore.TimeoutException, httpx.TimeoutException):
        return PostResult(error="timeout")
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.UnsupportedProtocol, httpx.HTTPError,
            httpx.InvalidURL, OSError, ValueError):  # fmt: skip
        return PostResult(error="connection")


def _result(response: httpx.Response) -> PostResult:
    size = 0
    for block in response.iter_raw():
        size += len(block)
        if size > MOST_BYTES:
            return PostResult(response.status_code, "too_large")
    if 300 <= response.status_code < 400:
        return PostResult(response.status_code, "redirect")
    return PostResult(response.status_code, "" if response.is_success else "status")


def settle(delivery: WebhookDelivery, result: PostResult, seconds: float, at: datetime) -> None:
    """Write what came of an attempt, and when the next one is."""
    with transaction.atomic():
        webhook = Webhook.objects.select_for_update().filter(pk=delivery.webhook_id).first()
        row = WebhookDelivery.objects.select_for_update().filter(pk=delivery.pk).first()
        if webhook is None or row is None:  # deleted meanwhile
            return
        WebhookAttempt.objects.create(
            delivery=row, at=at, status=result.status, seconds=round(seconds, 3), error=result.error
        )
        webhook.busy_until = None
        if not result.error:
            row.state, row.next_at = State.DELIVERED, None
            webhook.failures, webhook.failing_since, webhook.rest_until = 0, None, None
        else:
            _settle_failure(webhook, row, at)
        row.save(update_fields=["state", "next_at"])
        webhook.save(update_fields=["busy_until", "failures", "failing_since", "rest_until", "state"])


def _settle_failure(webhook: Webhook, row: WebhookDelivery, at: datetime) -> None:
    webhook.failures += 1
    webhook.failing_since = webhook.failing_since or at
    webhook.rest_until = at + min(REST * 2 ** min(webhook.failures - 1, 10), MOST_REST)
    is_last = row.attempts > len(RETRY_AFTER)
    if is_last:
        row.state, row.next_at = State.FAILED, None
    else:  # no attempts: "Send again" was pressed while it was on its way
        row.next_at = at + RETRY_AFTER[max(row.attempts, 1) - 1]
    has_failed_long = at - webhook.failing_since >= GIVE_UP and (is_last or webhook.failures >= MANY_FAILURES)
    if has_failed_long and webhook.state == Webhook.State.ACTIVE:
        webhook.state = Webhook.State.FAILED
        _notify(webhook, at)


def _notify(webhook: Webhook, at: datetime) -> None:
    """To who made it and the admins of the team."""
    record(None, "webhook.failed", scope=webhook.scope, target=f"webhook:{webhook.pk}", implied=True)
    admins = TeamMember.objects.filter(team=webhook.team_id, role=TeamMember.Role.ADMIN).values("user")
    people = User.objects.filter(Q(pk__in=admins) | Q(pk=webhook.made_by_id), is_active=True)
    for user in people.order_by("pk"):
        with translation.override(user.language or "en"):
            values = {"url": webhook.url, "team": webhook.team.name}
            subject = _("A webhook of %(team)s was switched off") % values
            body = _(
                "The webhook to %(url)s failed for three days and was switched off.\n\n"
                "What happens now is not sent to it. Correct the receiver, then switch the webhook on again on the "
                "page Webhooks of the team %(team)s. The feed of events has what was missed."
            )
        mail_notice(user, subject, body % values, at, scope=webhook.scope, target=f"webhook:{webhook.pk}")


class SenderThreads:
    """Threads of this process that send until nothing is due."""

    def __init__(self, most: int = THREADS) -> None:
        self.most, self._lock, self._running = most, threading.Lock(), 0

    def start(self) -> int:
        """As many as are free; returns how many run now. Nobody waits for them."""
        with self._lock:
            begin = self.most - self._running
            self._running = self.most
        for _number in range(begin):
            threading.Thread(target=self._run, name="webhooks", daemon=True).start()
        return self.most

    def _run(self) -> None:
        try:
            while send_next():
                pass
        except Exception:
            log.exception("A message of a webhook could not be settled")
        finally:
            connection.close()
            with self._lock:
                self._running -= 1

    def wait(self, seconds: float) -> bool:
        """Whether all have ended within so many seconds; for tests."""
        until = time.monotonic() + seconds
        while self._running and time.monotonic() < until:
            time.sleep(0.01)
        return not self._running


SENDERS = SenderThreads()


def last_attempts(deliveries: list[WebhookDelivery]) -> dict[int, list[dict[str, Any]]]:
    """The attempts of each delivery, the oldest first."""
    log_by_delivery: dict[int, list[dict[str, Any]]] = {delivery.pk: [] for delivery in deliveries}
    for attempt in WebhookAttempt.objects.filter(delivery__in=log_by_delivery).order_by("pk"):
        facts = {name: getattr(attempt, name) for name in ("at", "status", "seconds", "error")}
        log_by_delivery[attempt.delivery_id].append(facts)
    return log_by_delivery
