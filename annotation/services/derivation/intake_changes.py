"""What follows when filters keep other items than before: later stages, and the queue of the open campaigns."""

from collections.abc import Sequence
from functools import partial

from django.db import transaction

from annotation.models import Outcome
from annotation.services.derivation import outbox
from annotation.services.derivation.derived_items import sync_campaign_slots
from benchmarks.models import Stage
from jobs.connections.broker import dispatch

AFTER_IMPORTS = ("annotation.derive_unnoticed", "annotation.fill_open_campaigns")


def judge_again(_stage_id: int, item_ids: Sequence[int]) -> None:
    """Listen to benchmarks.services.item_changes: an import may have brought the fact that an outcome waits for."""
    judged = Outcome.objects.filter(unit__item__in=item_ids).order_by().values_list("unit__item", flat=True)
    outbox.mark_items_due(set(judged))


def follow_new_parts(stage_id: int, item_ids: Sequence[int]) -> None:
    """Listen to benchmarks.services.item_changes: a new item may be of a part that a later join needs from now on."""
    stage = Stage.objects.get(pk=stage_id)
    joins = Stage.objects.filter(
        benchmark=stage.benchmark_id, derivation__kind="join", derivation__from__contains=[stage.key],
        derivation__params__has_key="parts",
    )  # fmt: skip
    if joins.exists():
        outbox.mark_items_due(item_ids)


def follow(stage_id: int, item_ids: Sequence[int]) -> None:
    """Listen to benchmarks.services.item_changes, in the transaction of the change.

    The outbox keeps it for later stages. Slots are brought to what is asked for after the commit, since their locks are
    taken cohort by cohort; if that fails, the beat does it.
    """
    ids = list(item_ids)
    outbox.mark_items_due(ids)
    if Stage.objects.filter(pk=stage_id, filters__contains=[{"returns": True}]).exists():
        outbox.schedule_worker()  # to return what was dropped: see annotation.services.revisions.filter_returns
    transaction.on_commit(partial(sync_campaign_slots, stage_id, ids), robust=True)


def follow_imports() -> None:
    """Listen to benchmarks.services.item_changes: what the beat does each minute is done now, so that later stages and
    people have what was imported when its page says Done. Without a broker the beat comes round."""
    for task in AFTER_IMPORTS:
        dispatch(task)
