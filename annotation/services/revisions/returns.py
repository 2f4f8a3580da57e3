"""Return an item with a comment, so that its maker writes the next revision. See docs/explanation/acceptance.md.

The comment and the withdrawal are one transaction, and the call of the maker the next one, from the outbox: whatever is
killed in between, each comment makes one revision.
"""

from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import F

from annotation.models import ItemContributor, ItemSource
from annotation.services.derivation import outbox
from annotation.services.derivation.derived_items import sync_campaign_slots
from annotation.services.revisions.makers import Maker, find_maker, maker_of
from annotation.services.transactions import in_transaction
from benchmarks.models import Item, ItemReturn, Stage
from benchmarks.models.items import RETURNED
from benchmarks.services import item_changes
from benchmarks.services.intake.judging import judge_items, lock_stage
from jobs.models import record
from people.models import User

MOST_COMMENT = 2000


class ReturnRefused(Exception):
    """Nothing was returned or undone; `reason` says why.

    no_comment: a return says what to change. returned: somebody was first. withdrawn: the item is not in use any more.
    own: the person had a part in it. no_maker: it was passed on from an earlier stage. revised: its next revision is
    there. not_yours: only its author, and those who run the benchmark, undo a return. gone: it was undone already.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@in_transaction
def return_item(item_id: int, user: User, comment: str, at: datetime) -> ItemReturn:
    """Withdraw the item at once, and note the comment for its maker. Locks the stage."""
    comment = comment.strip()[:MOST_COMMENT]
    if not comment:
        raise ReturnRefused("no_comment")
    stage = _lock_stage_of(item_id)
    item = Item.objects.get(pk=item_id)
    if ItemReturn.objects.filter(item=item, undone_at=None).exists():
        raise ReturnRefused("returned")
    if item.withdrawn_at is not None:
        raise ReturnRefused("withdrawn")
    if ItemContributor.objects.filter(item=item, rater__user=user).exists():
        raise ReturnRefused("own")
    maker = maker_of(item)
    if maker is None:
        raise ReturnRefused("no_maker")
    return withdraw_for_revision(stage, item, maker, comment, user, at)


def withdraw_for_revision(
    stage: Stage, item: Item, maker: Maker, comment: str, by: User | None, at: datetime
) -> ItemReturn:
    """Write the return. `by` None: a filter returned it. Needs the stage's lock, and that nothing speaks against it."""
    row = ItemReturn.objects.create(item=item, by=by, comment=comment, maker=maker.key, at=at)
    Item.objects.filter(pk=item.pk).update(withdrawn_at=at, withdrawn_because=RETURNED, outside_since=None)
    follow_withdrawal(stage, item, by, "item.returned")
    outbox.schedule_worker()
    return row


@in_transaction
def undo_return(return_id: int, user: User, at: datetime, *, runs: bool = False) -> ItemReturn:
    """The item is in use again, as long as no revision has replaced it."""
    row = ItemReturn.objects.get(pk=return_id)
    stage = _lock_stage_of(row.item_id)
    row = ItemReturn.objects.select_for_update(no_key=True, of=("self",)).select_related("item", "by").get(pk=return_id)
    if row.undone_at is not None:
        raise ReturnRefused("gone")
    if row.by_id != user.pk and not runs:
        raise ReturnRefused("not_yours")
    if Item.objects.filter(replaces=row.item_id).exists():
        raise ReturnRefused("revised")
    maker = find_maker(row.maker)
    if maker is not None:
        maker.cancel(row, at)
    row.undone_at = at
    row.save(update_fields=["undone_at"])
    Item.objects.filter(pk=row.item_id).update(withdrawn_at=None, withdrawn_because="")
    follow_withdrawal(stage, row.item, user, "item.return_undone")
    # Its sources may have been rejected in the meantime: then it is withdrawn again, with them.
    outbox.mark_items_due(ItemSource.objects.filter(item=row.item_id).values_list("source", flat=True))
    return row


def call_makers(at: datetime) -> int:
    """Call the makers of all returns that wait for it; return how many began. Each call is a transaction of its own."""
    waiting = ItemReturn.objects.filter(called_at=None, undone_at=None).order_by("pk")
    return sum(_call(pk, at) for pk in waiting.values_list("pk", flat=True))


@in_transaction
def _call(return_id: int, at: datetime) -> bool:
    rows = ItemReturn.objects.select_for_update(no_key=True, of=("self",)).select_related("item", "by")
    row = rows.filter(pk=return_id, called_at=None, undone_at=None).first()
    maker = find_maker(row.maker) if row is not None else None
    if row is None or maker is None:
        return False
    row.problem = maker.start(row, at)
    row.called_at = None if row.problem else at
    row.save(update_fields=["problem", "called_at"])
    return not row.problem


def _lock_stage_of(item_id: int) -> Stage:
    return lock_stage(Stage.objects.select_related("benchmark").get(items=item_id))


def follow_withdrawal(stage: Stage, item: Item, user: User | None, verb: str) -> None:
    """What a withdrawal, or its end, means for filters, later stages, numbers and the queue. Needs the stage's lock."""
    Stage.objects.filter(pk=stage.pk).update(changes=F("changes") + 1)
    outbox.mark_items_due([item.pk])
    if stage.filters:
        judge_items(stage, [item.pk])
    item_changes.notify_arrivals(stage.pk, [item.pk])
    record(user, verb, scope=stage.benchmark.scope, target=f"item:{item.pk}")
    transaction.on_commit(partial(sync_campaign_slots, stage.pk, [item.pk]), robust=True)
