"""Decisions of people about candidates: keep or drop, with a reason. They win over all filters and all versions."""

from datetime import datetime

from django.db import transaction

from benchmarks.models import FilterResult, Item
from benchmarks.rules.filters import FilterState
from benchmarks.rules.filters.registry import BY_HAND
from benchmarks.services import item_changes
from benchmarks.services.intake.judging import current_version, judge_items, lock_stage
from jobs.models import record
from people.models import User

VERBS = {FilterState.KEPT: "item.kept_by_hand", FilterState.DROPPED: "item.dropped_by_hand"}


class ReasonMissing(ValueError):
    """A decision needs a reason."""


@transaction.atomic
def decide(item: Item, state: FilterState, reason: str, actor: User, at: datetime) -> None:
    """Keep or drop an item whatever the filters say. Raises ReasonMissing, ValueError for another state."""
    if state not in VERBS:
        raise ValueError(f"an item cannot be made {state!r} by hand")
    reason = reason.strip()[:500]
    if not reason:
        raise ReasonMissing
    stage = lock_stage(item.stage)
    FilterResult.objects.filter(item=item, key=BY_HAND).delete()
    FilterResult.objects.create(
        item=item,
        version=current_version(stage),
        key=BY_HAND,
        state=str(state),
        reason=reason,
        decided_by=actor,
        decided_at=at,
    )
    judge_items(stage, [item.pk])
    item_changes.notify(stage.pk, [item.pk])
    record(actor, VERBS[state], scope=stage.benchmark.scope, target=f"item:{item.pk}", reason=reason)


@transaction.atomic
def remove_decision(item: Item, actor: User) -> bool:
    """Let the filters decide again; returns whether there was a decision."""
    stage = lock_stage(item.stage)
    deleted, _rows = FilterResult.objects.filter(item=item, key=BY_HAND).delete()
    if not deleted:
        return False
    judge_items(stage, [item.pk])
    item_changes.notify(stage.pk, [item.pk])
    record(actor, "item.decision_removed", scope=stage.benchmark.scope, target=f"item:{item.pk}")
    return True
