"""A person withdraws an item, or brings it back. Its answers stay; they count while the item is in use."""

from datetime import datetime

from annotation.models import ItemSource
from annotation.services.derivation import outbox
from annotation.services.revisions.returns import follow_withdrawal
from annotation.services.transactions import in_transaction
from benchmarks.models import Item
from benchmarks.models.items import BY_HAND, RETURNED
from benchmarks.services.intake.judging import lock_stage
from people.models import User

BACK_BY_HAND = (BY_HAND, "")


class WithdrawalRefused(Exception):
    """Nothing was changed; `reason` says why.

    withdrawn: it is withdrawn already. in_use: it is not withdrawn. returned: it was returned with a comment, which
    can be undone. source: it was withdrawn with its source, and comes back with it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@in_transaction
def withdraw(item: Item, user: User, at: datetime) -> None:
    """Nobody is given the item any more, and it counts nowhere. Locks the stage. Raises WithdrawalRefused."""
    stage = lock_stage(item.stage)
    if Item.objects.get(pk=item.pk).withdrawn_at is not None:
        raise WithdrawalRefused("withdrawn")
    Item.objects.filter(pk=item.pk).update(withdrawn_at=at, withdrawn_because=BY_HAND, outside_since=None)
    follow_withdrawal(stage, item, user, "item.withdrawn")
    outbox.schedule_worker()


@in_transaction
def restore(item: Item, user: User) -> None:
    """The item is in use again, and so are its answers. Locks the stage. Raises WithdrawalRefused."""
    stage = lock_stage(item.stage)
    current = Item.objects.get(pk=item.pk)
    if current.withdrawn_at is None:
        raise WithdrawalRefused("in_use")
    if current.withdrawn_because not in BACK_BY_HAND:
        raise WithdrawalRefused("returned" if current.withdrawn_because == RETURNED else "source")
    Item.objects.filter(pk=item.pk).update(withdrawn_at=None, withdrawn_because="")
    follow_withdrawal(stage, item, user, "item.restored")
    # Its sources may have been rejected in the meantime: then it is withdrawn again, with them.
    outbox.mark_items_due(ItemSource.objects.filter(item=item.pk).values_list("source", flat=True))
    outbox.schedule_worker()
