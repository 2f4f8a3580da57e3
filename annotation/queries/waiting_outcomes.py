"""Outcomes that wait for a fact, by what they wait for."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Outcome
from benchmarks.models import Item, Stage


def outcome_waits(stages: Iterable[Stage]) -> dict[int, set[str]]:
    """Names of the facts that outcomes wait for, by stage. One query."""
    rows = Outcome.objects.filter(state=Outcome.State.WAITING, campaign__stage__in=stages).order_by()
    names: dict[int, set[str]] = {}
    for stage, waits in rows.values_list("campaign__stage", "waits_for").distinct():
        names.setdefault(stage, set()).update(waits)
    return names


def items_with_waiting_outcome(stage: Stage, name: str) -> QuerySet[Item]:
    """Items whose answers the rule has not decided on, since this fact is missing."""
    waiting = Outcome.objects.filter(unit__item=OuterRef("pk"), state=Outcome.State.WAITING, waits_for__contains=[name])
    return stage.items.filter(Exists(waiting), withdrawn_at=None)
