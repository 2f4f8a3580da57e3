"""From events to messages: the feed is read behind each webhook's position, and both move in one transaction.

So a kill between event and message loses nothing, and an event becomes one message of a webhook at most.
"""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from annotation.models import Assignment
from api.models import Webhook, WebhookDelivery
from api.protocol.webhook_types import SUBMITTED, TYPES, WITHDRAWN_CONSENT, type_of, verbs_of
from api.services.webhooks import new_message_id
from benchmarks.models import Benchmark
from jobs.queries.event_feed import FeedEvent, FeedPosition, current_position, feed_epoch, read_events

AT_ONCE = 500  # events of one step
PAUSE = timedelta(seconds=60)  # between two messages about answers of one campaign
State = WebhookDelivery.State
log = logging.getLogger(__name__)


def read_all(at: datetime) -> int:
    """For every webhook that is switched on. Returns how many messages there are more.

    An error of one webhook is logged and stops no other: its step is undone and tried again at the next reading.
    """
    pks = Webhook.objects.filter(state=Webhook.State.ACTIVE).order_by("pk").values_list("pk", flat=True)
    added = 0
    for pk in list(pks):
        try:
            added += read_events_for(pk, at)
        except Exception:
            log.exception("The events for webhook %s could not be read", pk)
    return added


def read_events_for(webhook_id: int, at: datetime) -> int:
    """One step of one webhook; nothing where another worker is at it.

    After a restore a webhook begins at the present, as after it was switched on: the events of a restored database all
    have the transaction 0, so its position says nothing about them.
    """
    with transaction.atomic():
        rows = Webhook.objects.select_for_update(skip_locked=True, of=("self",))
        webhook = rows.filter(pk=webhook_id, state=Webhook.State.ACTIVE).first()
        if webhook is None:
            return 0
        reached, epoch = current_position(), feed_epoch()
        if webhook.epoch != epoch:
            _save_position(webhook, reached, epoch)
            return 0
        slugs = _scopes(webhook)
        verbs = verbs_of(webhook.verbs)
        events = read_events([*slugs], verbs, FeedPosition(webhook.position_xact, webhook.position_id), AT_ONCE)
        added = _write(webhook, events, slugs, at)
        if events and (len(events) == AT_ONCE or _order(events[-1].position) > _order(reached)):
            reached = events[-1].position
        _save_position(webhook, reached, epoch)
        return added


def _save_position(webhook: Webhook, position: FeedPosition, epoch: str) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(position_xact=position.xact, position_id=position.id, epoch=epoch)


def _scopes(webhook: Webhook) -> dict[str, str]:
    """Slug by scope; of the team itself an empty one."""
    benchmarks = Benchmark.objects.filter(team=webhook.team_id)
    if webhook.benchmark_id:
        benchmarks = benchmarks.filter(pk=webhook.benchmark_id)
    return {**{benchmark.scope: benchmark.slug for benchmark in benchmarks}, f"team:{webhook.team_id}": ""}


def _order(position: FeedPosition) -> tuple[int, int]:
    return int(position.xact), position.id


def _write(webhook: Webhook, events: list[FeedEvent], slugs: dict[str, str], at: datetime) -> int:
    """Returns how many messages it created."""
    campaigns, added = _campaigns_of(events), 0
    for event in events:
        kind = type_of(event.verb, webhook.verbs)
        slug = slugs[event.scope]
        if webhook.benchmark_id and not slug and kind != WITHDRAWN_CONSENT:
            continue  # of the team, and of none of its benchmarks
        if kind == SUBMITTED:
            if event.target in campaigns:
                added += _add_to_batch(webhook, event, slug, campaigns[event.target], at)
        else:
            added += _add(webhook, event, kind, _data(event, kind, slug), at)
    return added


def _data(event: FeedEvent, kind: str, slug: str) -> dict[str, Any]:
    if kind == WITHDRAWN_CONSENT:  # nobody's number
        return {"people": 1}
    shown = {name: event.data[name] for name in TYPES[kind].shows if name in event.data}
    decision = {"decision": event.verb.partition(".")[2]} if kind == "review.decided" else {}
    return {"event": event.id, "benchmark": slug or None, "target": event.target, **decision, **shown}


def _add(webhook: Webhook, event: FeedEvent, kind: str, data: dict[str, Any], at: datetime) -> bool:
    """Whether it is new."""
    facts = {"message_id": new_message_id(), "data": data, "happened_at": event.at, "due_at": at, "next_at": at}
    return WebhookDelivery.objects.get_or_create(webhook=webhook, event=event.id, type=kind, defaults=facts)[1]


def _campaigns_of(events: list[FeedEvent]) -> dict[str, int]:
    """Campaign by target, of answers."""
    numbers = [int(e.target.partition(":")[2]) for e in events if e.verb == SUBMITTED and e.target[-1:].isdigit()]
    rows = Assignment.objects.filter(pk__in=numbers).values_list("pk", "campaign_id")
    return {f"assignment:{pk}": campaign for pk, campaign in rows}


def _add_to_batch(webhook: Webhook, event: FeedEvent, slug: str, campaign: int, at: datetime) -> bool:
    """Counts of a campaign: one message waits and grows until it is sent, a minute after the one before.

    Returns whether a message was created.
    """
    about = f"campaign:{campaign}"
    batches = WebhookDelivery.objects.select_for_update().filter(webhook=webhook, type=SUBMITTED, about=about)
    latest = batches.order_by("-pk").first()
    counted = int(event.data.get("counted") is True)
    if latest is not None and latest.state == State.WAITING and latest.attempts == 0 and latest.due_at >= at:
        latest.data["submitted"] += 1
        latest.data["counted"] += counted
        latest.happened_at = event.at
        latest.save(update_fields=["data", "happened_at"])
        return False
    next_at = at if latest is None else max(at, latest.due_at + PAUSE)
    data = {"benchmark": slug or None, "target": about, "submitted": 1, "counted": counted}
    WebhookDelivery.objects.create(
        webhook=webhook, event=event.id, message_id=new_message_id(), type=SUBMITTED, about=about, data=data,
        happened_at=event.at, due_at=next_at, next_at=next_at,
    )  # fmt: skip
    return True
