"""Webhooks: created, tested, switched off, what was sent to them, and whether a message comes from the site."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .connection import Connection
from .errors import EmicError
from .remote_object import RemoteList, RemoteObject
from .resources import DeliveryRecord, WebhookRecord

PATH = "/api/v1/webhooks/"
PREFIX = "whsec_"
TOLERANCE = 300.0


class InvalidSignature(EmicError):
    """A message that does not come from the site, or that is too old."""


class Webhook(RemoteObject[WebhookRecord]):
    """A webhook as it was when it was last asked for. `secret` is known only where it was created or replaced just now:
    keep it for the receiver, for the site does not tell it again."""

    def __init__(self, connection: Connection, raw: Mapping[str, Any]) -> None:
        super().__init__(connection, PATH, WebhookRecord, raw)
        self.secret: str | None = raw.get("secret")

    def __repr__(self) -> str:
        return f"<Webhook {self.id} of {self.data.url}: {self.state}>"

    def update(self, **changes: Any) -> Webhook:
        """Change `url`, `verbs` or `active`. Raises Stale where somebody else did since it was last asked for."""
        return self._change(changes)

    def switch_off(self) -> Webhook:
        """Send no more messages."""
        return self.update(active=False)

    def switch_on(self) -> Webhook:
        """Send messages of what happens from now on."""
        return self.update(active=True)

    def delete(self) -> None:
        """Delete it with the list of what was sent."""
        self._delete()

    def replace_secret(self) -> str:
        """The new secret. Messages bear signatures of both for 24 hours."""
        self.secret = self._connection.post(f"{self.path}secret/")["secret"]
        self.refresh()
        return str(self.secret)

    def send_test(self) -> DeliveryRecord:
        """Send a message that says nothing; `deliveries` shows what became of it."""
        return DeliveryRecord.from_json(self._connection.post(f"{self.path}test/"))

    def deliveries(self) -> Iterator[DeliveryRecord]:
        """What was sent, the oldest first, each with its attempts."""
        for raw in self._connection.pages(f"{self.path}deliveries/"):
            yield DeliveryRecord.from_json(raw)

    def redeliver(self, delivery: int | DeliveryRecord) -> DeliveryRecord:
        """Send a message again."""
        number = delivery if isinstance(delivery, int) else delivery.id
        return DeliveryRecord.from_json(self._connection.post(f"{self.path}deliveries/{int(number)}/redeliver/"))


class Webhooks(RemoteList[Webhook]):
    """The webhooks that the token's person may change."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, PATH)

    def create(self, url: str, verbs: Sequence[str], *, team: str, benchmark: str = "") -> Webhook:
        """A webhook of a benchmark (its slug), or of all benchmarks of the team. Its `secret` is told once."""
        body: dict[str, Any] = {"team": team, "url": url, "verbs": list(verbs)}
        if benchmark:
            body["benchmark"] = benchmark
        return self._object(self._connection.post(PATH, body))

    def get(self, webhook_id: int) -> Webhook:
        return self._get(webhook_id)

    def _object(self, raw: Mapping[str, Any]) -> Webhook:
        return Webhook(self._connection, raw)

    def delete(self, webhook_id: int) -> None:
        self.get(webhook_id).delete()


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Sequence[str],
    *,
    tolerance: float = TOLERANCE,
    now: float | None = None,
) -> dict[str, Any]:
    """The message of a webhook, once its signature is right. Raises InvalidSignature.

    `body`: as it came, not parsed. `headers`: of the request. `secret`: one, or several while one is replaced.
    `tolerance`: how many seconds old a message may be.
    """
    values = {name.lower(): value for name, value in headers.items()}
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    if missing := [name for name in names if not values.get(name)]:
        raise InvalidSignature(f"The message has no {missing[0]}.")
    message_id, timestamp, signatures = (values[name] for name in names)
    if not timestamp.isascii() or not timestamp.isdigit():
        raise InvalidSignature("The time of the message is not a number.")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise InvalidSignature("The message is too old, or this computer's clock is wrong.")
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = [_signature(key, signed) for key in ([secret] if isinstance(secret, str) else secret)]
    sent = [entry.partition(",")[2] for entry in signatures.split() if entry.startswith("v1,")]
    if not any(hmac.compare_digest(one.encode(), other.encode()) for one in expected for other in sent):
        raise InvalidSignature("The signature does not fit the message and the secret.")
    message: dict[str, Any] = json.loads(body)
    return message


def _signature(secret: str, signed: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidSignature("The secret is not one of a webhook.") from error
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
