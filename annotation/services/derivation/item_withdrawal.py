"""Items of a stage leave because of what they are made of, and return with it: one way for every maker of items."""

from collections.abc import Collection
from datetime import datetime

from django.db.models import F

from annotation.services.derivation import outbox
from benchmarks.models import Item, Stage
from benchmarks.services.intake import arrivals

BECAUSE = "source"


def withdraw_and_restore(
    stage: Stage,
    leaving: Collection[int],
    returning: Collection[int],
    at: datetime,
    *,
    new: Collection[int] = (),
    due: Collection[int] = (),
) -> list[int]:
    """Withdraw and bring back these items, and tell whoever follows them; return all that changed, `new` ones too.

    `due`: others of the stage that later stages are to look at again. Needs the stage's lock. Campaigns get and lose
    their slots by `sync_campaign_slots`, once this is committed.
    """
    Item.objects.filter(pk__in=returning).update(withdrawn_at=None, withdrawn_because="")
    Item.objects.filter(pk__in=leaving).update(withdrawn_at=at, withdrawn_because=BECAUSE, outside_since=None)
    outbox.mark_items_due({*returning, *leaving, *due})
    changed = [*new, *returning, *leaving]
    if changed:  # numbers leave out withdrawn items: see annotation.queries.answers.watermark
        Stage.objects.filter(pk=stage.pk).update(changes=F("changes") + len(changed))
    arrivals.judge_and_notify(stage, changed)
    return changed
