"""A person accepts an item as it is, whatever the rule of its stage says of the answers to it; and takes that back.

The answers stay, and so do the numbers and failed clauses of the rule; only what they lead to changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from annotation.models import ItemAcceptance, ItemContributor
from annotation.services.derivation import outbox
from annotation.services.transactions import in_transaction
from benchmarks.models import Item, Stage
from benchmarks.services.intake.judging import lock_stage
from jobs.models import record
from people.models import User

LONGEST_REASON = 500


class AcceptanceRefused(Exception):
    """Nothing was decided; `reason` says why.

    no_rule: the stage has no rule that could be overridden. gone: the item was withdrawn. no_reason: nobody said why.
    own: the person had a part in what the item is made of. decided: it is accepted as it is already. none: it is not.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@in_transaction
def accept_as_it_is(item_id: int, actor: User, reason: str, at: datetime) -> ItemAcceptance:
    """Let an item go on to the later stages. Locks its stage. Raises AcceptanceRefused."""
    item = _lock(item_id)
    reason = reason.strip()[:LONGEST_REASON]
    if item.stage.acceptance != Stage.Acceptance.BY_RULE:
        raise AcceptanceRefused("no_rule")
    if item.withdrawn_at is not None:
        raise AcceptanceRefused("gone")
    if not reason:
        raise AcceptanceRefused("no_reason")
    if ItemContributor.objects.filter(item=item, rater__user=actor).exists():
        raise AcceptanceRefused("own")
    if acceptance_of(item.pk) is not None:
        raise AcceptanceRefused("decided")
    acceptance = ItemAcceptance.objects.create(item=item, reason=reason, by=actor, at=at)
    _follow(item, actor, "item.accepted_as_it_is", reason=reason)
    return acceptance


@in_transaction
def undo_acceptance(item_id: int, actor: User, at: datetime) -> None:
    """Leave the decision to the rule again. Locks the stage of the item. Raises AcceptanceRefused."""
    item = _lock(item_id)
    rows = ItemAcceptance.objects.filter(item=item, undone_at=None)
    if not rows.update(undone_at=at, undone_by=actor):
        raise AcceptanceRefused("none")
    _follow(item, actor, "item.acceptance_undone")


def acceptance_of(item_id: int) -> ItemAcceptance | None:
    """The decision in force."""
    return ItemAcceptance.objects.filter(item=item_id, undone_at=None).select_related("by").first()


def accepted_as_they_are(item_ids: Iterable[int]) -> set[int]:
    """Those of these items that a person accepted whatever the rule says."""
    rows = ItemAcceptance.objects.filter(item__in=item_ids, undone_at=None)
    return set(rows.values_list("item", flat=True))


def _lock(item_id: int) -> Item:
    """Under the lock of the stage, as outcomes are written, so that two presses cannot cross."""
    lock_stage(Item.objects.select_related("stage").get(pk=item_id).stage)
    return Item.objects.select_related("stage__benchmark").get(pk=item_id)


def _follow(item: Item, actor: User, verb: str, **data: Any) -> None:
    outbox.mark_items_due([item.pk])
    record(actor, verb, scope=item.stage.benchmark.scope, target=f"item:{item.pk}", **data)
