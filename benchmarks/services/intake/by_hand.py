"""Decisions of people about candidates: keep or drop, with a reason. They win over all filters and all versions."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

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


def stored_decision(item: Item) -> dict[str, Any]:
    """The decision on an item, for `restore_decision`; empty where there is none."""
    row = FilterResult.objects.filter(item=item, key=BY_HAND).first()
    if row is None or row.decided_at is None:
        return {}
    return {
        "state": row.state, "reason": row.reason, "by": row.decided_by_id, "at": row.decided_at.isoformat(),
    }  # fmt: skip


@transaction.atomic
def restore_decision(item: Item, earlier: Mapping[str, Any], actor: User) -> None:
    """Put an earlier decision in the place of the present one, with its author and time; without one, remove it."""
    if not earlier:
        remove_decision(item, actor)
        return
    decide(item, FilterState(earlier["state"]), earlier["reason"], actor, datetime.fromisoformat(earlier["at"]))
    FilterResult.objects.filter(item=item, key=BY_HAND).update(decided_by=earlier["by"])


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
