"""The press that withdraws the items outside the present rule: see annotation.services.derivation.outside_items."""

from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import F

from annotation.services.derivation import outbox
from annotation.services.derivation.derived_items import sync_campaign_slots
from annotation.services.derivation.item_withdrawal import BECAUSE
from annotation.services.derivation.outside_items import outside_items
from annotation.services.transactions import in_transaction
from benchmarks.models import Item, Stage
from benchmarks.services import item_changes
from benchmarks.services.intake.judging import judge_items, lock_stage
from jobs.models import record
from people.models import User


@in_transaction
def withdraw(stage: Stage, actor: User, at: datetime) -> int:
    """Withdraw the items outside the present rule; return how many. They come back when the rule takes them again."""
    locked = lock_stage(stage)
    ids = list(outside_items(locked).order_by("pk").values_list("pk", flat=True))
    if not ids:
        return 0
    Item.objects.filter(pk__in=ids).update(withdrawn_at=at, withdrawn_because=BECAUSE, outside_since=None)
    Stage.objects.filter(pk=locked.pk).update(changes=F("changes") + len(ids))
    outbox.mark_items_due(ids)
    if locked.filters:
        judge_items(locked, ids)
    item_changes.notify_arrivals(locked.pk, ids)
    record(actor, "items.outside_withdrawn", scope=locked.benchmark.scope, target=f"stage:{locked.pk}", items=len(ids))
    transaction.on_commit(partial(sync_campaign_slots, locked.pk, ids), robust=True)
    return len(ids)
