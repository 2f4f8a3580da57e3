"""Which items of a stage count, by what its filters say. The same in SQL: AVAILABLE in annotation/queries/sql.py."""

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery

from benchmarks.models import FilterResult, Item, Stage
from benchmarks.rules.filters.registry import BY_HAND


def is_kept(prefix: str = "") -> Q:
    """Not withdrawn, and in a stage with filters kept. `prefix`: the lookup that leads to the item."""
    return Q(**{f"{prefix}withdrawn_at": None, f"{prefix}intake__in": ("", Item.Intake.KEPT)})


def is_available(prefix: str = "") -> Q:
    """Kept; or waiting, in a stage that assigns waiting items. These may be given to people and models."""
    waiting = Q(**{f"{prefix}intake": Item.Intake.WAITING, f"{prefix}stage__assign_waiting": True})
    return is_kept(prefix) | (Q(**{f"{prefix}withdrawn_at": None}) & waiting)


def kept_without(stage: Stage, key: str) -> QuerySet[Item]:
    """Items that every filter but this one keeps, or that a person keeps by hand.

    An item that the newest version has not reached yet counts as the version before judged it, as its state does.
    """
    if not stage.filters:
        return stage.items.filter(is_kept())
    judged = FilterResult.objects.filter(item=OuterRef("pk")).exclude(key=BY_HAND)
    newest = judged.order_by("-version_id").values("version")[:1]
    by_hand = FilterResult.objects.filter(item=OuterRef("pk"), key=BY_HAND)
    others = judged.filter(version=OuterRef("judged_by")).exclude(key=key).exclude(state=FilterResult.State.KEPT)
    chosen = Exists(by_hand.filter(state=FilterResult.State.KEPT)) | (
        Q(judged_by__isnull=False) & ~Exists(others) & ~Exists(by_hand)
    )
    return stage.items.alias(judged_by=Subquery(newest)).filter(chosen, withdrawn_at=None)
