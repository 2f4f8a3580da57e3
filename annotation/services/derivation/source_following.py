"""Items that a service made of other items, by no derivation: they go when all of these have gone, and return with one.

Of the checks of a link the source is the linked picture. See docs/explanation/acceptance.md.
"""

from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Exists, F, OuterRef

from annotation.models import ItemSource
from annotation.services.derivation import outbox
from annotation.services.derivation.derived_items import BECAUSE, sync_campaign_slots
from annotation.services.transactions import in_transaction
from benchmarks.models import Item, Stage
from benchmarks.queries.availability import is_kept
from benchmarks.services.intake import arrivals
from benchmarks.services.intake.judging import lock_stage


@in_transaction
def follow_sources(stage: Stage, at: datetime) -> int:
    """Withdraw the items of which no source is kept any more, bring back those that left so; return how many changed.

    An item that was withdrawn for another reason stays so. Done again, it changes nothing.
    """
    locked = lock_stage(stage)
    is_made = Exists(ItemSource.objects.filter(item=OuterRef("pk")))
    has_source = Exists(ItemSource.objects.filter(is_kept("source__"), item=OuterRef("pk")))
    gone = locked.items.filter(is_made, ~has_source, withdrawn_at=None)
    back = locked.items.filter(has_source, withdrawn_at__isnull=False, withdrawn_because=BECAUSE)
    leaving, returning = (list(items.order_by("pk").values_list("pk", flat=True)) for items in (gone, back))
    changed = [*leaving, *returning]
    if not changed:
        return 0
    Item.objects.filter(pk__in=leaving).update(withdrawn_at=at, withdrawn_because=BECAUSE, outside_since=None)
    Item.objects.filter(pk__in=returning).update(withdrawn_at=None, withdrawn_because="")
    Stage.objects.filter(pk=locked.pk).update(changes=F("changes") + len(changed))
    outbox.mark_items_due(changed)
    arrivals.judge_and_notify(locked, changed)
    transaction.on_commit(partial(sync_campaign_slots, locked.pk, changed), robust=True)
    return len(changed)
