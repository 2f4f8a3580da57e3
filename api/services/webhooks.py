"""Webhooks of a team: created, changed, tested, switched off and deleted."""

import secrets as random_numbers
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from api.models import Webhook, WebhookAttempt, WebhookDelivery
from api.protocol.webhook_types import TEST, TYPES
from api.services.webhook_signatures import new_secret
from benchmarks.models import Benchmark
from benchmarks.services.safe_fetch import is_private_host
from jobs.models import record
from jobs.queries.event_feed import current_position, feed_epoch
from people.models import Team, User
from predictions.services.endpoints import secrets

MOST = 20  # of a team
BOTH_VALID = timedelta(hours=24)  # the secret that was replaced, beside the new one
KEPT = timedelta(days=30)  # deliveries
State = Webhook.State


class WebhookRefused(Exception):
    """It cannot be done; the message says why. `member`: url, verbs or empty."""

    def __init__(self, message: str, member: str = "") -> None:
        super().__init__(message)
        self.message, self.member = message, member


@sensitive_variables("secret")
def create(
    team: Team, benchmark: Benchmark | None, url: str, verbs: Sequence[str], actor: User
) -> tuple[Webhook, str]:  # fmt: skip
    """It is told what happens from now on. The secret is returned here and never again. Raises WebhookRefused."""
    secret = new_secret()
    with transaction.atomic():
        Team.objects.select_for_update().get(pk=team.pk)
        if Webhook.objects.filter(team=team).count() >= MOST:
            raise WebhookRefused(_("A team has at most %(n)s webhooks. Delete one.") % {"n": MOST})
        webhook = Webhook(team=team, benchmark=benchmark, made_by=actor, url=checked_url(url))
        webhook.verbs, webhook.secret = checked_verbs(verbs), _encrypt(secret)
        _begin_now(webhook)
        webhook.save()
        _record(webhook, actor, "webhook.created", verbs=webhook.verbs)
    return webhook, secret


def change(webhook: Webhook, values: dict[str, Any], actor: User) -> Webhook:
    """`values`: url, verbs, active. Raises WebhookRefused."""
    with transaction.atomic():
        row = lock(webhook)
        if "url" in values:
            row.url = checked_url(values["url"])
        if "verbs" in values:
            row.verbs = checked_verbs(values["verbs"])
        if "active" in values and values["active"] != (row.state == State.ACTIVE):
            _switch(row, on=values["active"])
        row.save()
        _record(row, actor, "webhook.changed", changed=sorted(values), state=row.state)
    return row


@sensitive_variables("secret")
def replace_secret(webhook: Webhook, actor: User, at: datetime) -> str:
    """The new secret, once. Messages bear signatures of both for a day. Raises WebhookRefused."""
    secret = new_secret()
    with transaction.atomic():
        row = lock(webhook)
        row.old_secret, row.old_secret_until = row.secret, at + BOTH_VALID
        row.secret = _encrypt(secret)
        row.save()
        _record(row, actor, "webhook.secret_replaced")
    return secret


def delete(webhook: Webhook, actor: User) -> None:
    """With what was sent and what still waits."""
    with transaction.atomic():
        row = lock(webhook)
        WebhookAttempt.objects.filter(delivery__webhook=row).delete()
        row.deliveries.all().delete()
        _record(row, actor, "webhook.deleted")
        row.delete()


def send_test(webhook: Webhook, at: datetime) -> WebhookDelivery:
    """A message that a receiver can be tried with. Raises WebhookRefused where the webhook is switched off."""
    _check_active(webhook)
    return WebhookDelivery.objects.create(
        webhook=webhook, message_id=new_message_id(), type=TEST, happened_at=at, due_at=at, next_at=at,
        data={"webhook": webhook.pk},
    )  # fmt: skip


def redeliver(delivery: WebhookDelivery, at: datetime) -> WebhookDelivery:
    """The same message once more, at once and by the same schedule. Raises WebhookRefused.

    The webhook is locked before the message, in the order in which a sender locks them.
    """
    with transaction.atomic():
        webhook = Webhook.objects.select_for_update().filter(pk=delivery.webhook_id).first()
        row = WebhookDelivery.objects.select_for_update().filter(pk=delivery.pk).first() if webhook else None
        if webhook is None or row is None:
            raise WebhookRefused(_("This message was deleted. It cannot be sent again."))
        _check_active(webhook)
        row.state, row.attempts, row.next_at = WebhookDelivery.State.WAITING, 0, at
        row.save(update_fields=["state", "attempts", "next_at"])
        Webhook.objects.filter(pk=row.webhook_id).update(rest_until=None)
    return row


def lock(webhook: Webhook) -> Webhook:
    """Needs a transaction."""
    return Webhook.objects.select_for_update(of=("self",)).select_related("team", "benchmark").get(pk=webhook.pk)


def delete_old(at: datetime) -> int:
    """Deliveries that ended long ago. Returns how many there were."""
    old = WebhookDelivery.objects.filter(created_at__lt=at - KEPT).exclude(state=WebhookDelivery.State.WAITING)
    WebhookAttempt.objects.filter(delivery__in=old).delete()
    count, _by_model = old.delete()
    return count


def rotate_secrets() -> tuple[int, list[int]]:
    """Encrypt every secret with the first key; how many, and the webhooks whose no key opens. Raises MissingKey."""
    renewed, unopened = 0, []
    for pk in Webhook.objects.order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            row = Webhook.objects.select_for_update().get(pk=pk)
            try:
                row.secret = secrets.reencrypt(row.secret)
                row.old_secret = secrets.reencrypt(row.old_secret) if row.old_secret else ""
            except secrets.WrongKey:
                unopened.append(pk)
                continue
            row.save(update_fields=["secret", "old_secret"])
            renewed += 1
    return renewed, unopened


def valid_secrets(webhook: Webhook, at: datetime) -> list[str]:
    """The newest first. Raises MissingKey and WrongKey."""
    both = bool(webhook.old_secret) and webhook.old_secret_until is not None and at < webhook.old_secret_until
    return [secrets.decrypt(text) for text in ([webhook.secret, webhook.old_secret] if both else [webhook.secret])]


def new_message_id() -> str:
    return f"msg_{random_numbers.token_hex(12)}"


def checked_url(url: str) -> str:
    """Raises WebhookRefused, also for a number of a private network. What a name leads to is looked at whenever a
    message is sent."""
    parts = urlsplit(url.strip())
    try:
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_host = False
    schemes = ("https", "http") if settings.FETCH_ALLOW else ("https",)
    if parts.scheme not in schemes or not has_host or len(url) > 500 or not url.strip().isascii():
        raise WebhookRefused(_("Write a web address that begins with https://, in ASCII letters."), "url")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise WebhookRefused(_("The address contains a name, a password or a fragment. Remove it."), "url")
    if is_private_host(parts.hostname or ""):
        raise WebhookRefused(_("This address is in a private network. Write an address of the internet."), "url")
    return url.strip()


def checked_verbs(verbs: Sequence[str]) -> list[str]:
    """Raises WebhookRefused."""
    if not verbs:
        raise WebhookRefused(_("Choose at least one kind of event."), "verbs")
    if unknown := [verb for verb in verbs if verb not in TYPES]:
        words = _("There is no “%(verb)s”. There are: %(names)s.")
        raise WebhookRefused(words % {"verb": unknown[0][:60], "names": ", ".join(TYPES)}, "verbs")
    return [name for name in TYPES if name in verbs]


def _encrypt(secret: str) -> str:
    try:
        return secrets.encrypt(secret)
    except secrets.MissingKey as problem:
        raise WebhookRefused(str(problem)) from problem


def _begin_now(webhook: Webhook) -> None:
    position = current_position()
    webhook.epoch, webhook.position_xact, webhook.position_id = feed_epoch(), position.xact, position.id


def _switch(webhook: Webhook, *, on: bool) -> None:
    """What happened while it was off is not told later; what waited is sent."""
    webhook.state = State.ACTIVE if on else State.OFF
    webhook.failures, webhook.failing_since, webhook.rest_until = 0, None, None
    if on:
        _begin_now(webhook)


def _check_active(webhook: Webhook) -> None:
    if webhook.state != State.ACTIVE:
        raise WebhookRefused(_("The webhook is switched off. Switch it on first."))


def _record(webhook: Webhook, actor: User | None, verb: str, **data: Any) -> None:
    record(actor, verb, scope=webhook.scope, target=f"webhook:{webhook.pk}", implied=actor is None, **data)
