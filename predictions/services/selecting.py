"""Which units a run asks about: the items of its campaign, for the cultures the campaign asks about."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.models import Campaign, Unit
from annotation.services.sql import change, fetch
from benchmarks.models import Item
from predictions.models import Call, Run


class Spot(NamedTuple):
    """An item for a target; the unit may not be there yet."""

    item: int
    key: str
    target: str


UNITS = """
INSERT INTO annotation_unit (item_id, target) SELECT * FROM unnest(%(items)s::bigint[], %(targets)s::text[])
ON CONFLICT DO NOTHING
"""
CALLS = """
INSERT INTO predictions_call (run_id, item_id, unit_id, repeat, state, reason, how, "order", replies, notes, cached,
  attempts_made, cost, holder)
SELECT %(run)s, s.item_id, u.id, r.repeat, 'pending', '', '', '[]', '[]', '{}', false, 0, 0, ''
FROM unnest(%(items)s::bigint[], %(targets)s::text[]) WITH ORDINALITY AS s(item_id, target, place)
  JOIN annotation_unit u ON u.item_id = s.item_id AND u.target = s.target
  CROSS JOIN generate_series(0, %(repeats)s - 1) AS r(repeat)
ORDER BY r.repeat, s.place ON CONFLICT DO NOTHING
"""
LATER = 5000


def spots_of(campaign: Campaign, selection: Mapping[str, Any], seed: int) -> list[Spot]:
    """By item and target; a sample in the order in which it was drawn: the same seed draws the same ones first.

    `selection`: "conditions", "concepts", "targets" (others than the cohorts' may be named), "sample"; empty means all.
    """
    stage, items, targets = campaign.stage, _items(campaign, selection), _targets(campaign, selection)
    spots = [
        Spot(pk, key, target)
        for pk, key, origin in items.order_by("pk").values_list("pk", "key", "origin")
        for target in targets
        if not stage.own_items_only or target in ("", origin)
    ]
    sample = selection.get("sample")
    return drawn(spots, seed)[: int(sample)] if sample else spots


def _items(campaign: Campaign, selection: Mapping[str, Any]) -> "QuerySet[Item]":
    items = campaign.stage.items.filter(withdrawn_at=None)
    for key, field in (("conditions", "condition__in"), ("concepts", "concept__in")):
        if selection.get(key):
            items = items.filter(**{field: selection[key]})
    return items.filter(condition__in=campaign.conditions) if campaign.conditions else items


def _targets(campaign: Campaign, selection: Mapping[str, Any]) -> list[str]:
    if not campaign.stage.has_target:
        return [""]
    cohorts = campaign.cohorts.order_by("pk").values_list("cohort__label", flat=True)
    return list(selection.get("targets") or cohorts)


def came_since(run: Run) -> int:
    """How many units of the run's selection it has no call for, counted without looking at each: three queries."""
    campaign, selection = run.campaign, run.selection
    if campaign is None:
        return 0
    items, targets = _items(campaign, selection), _targets(campaign, selection)
    own = campaign.stage.own_items_only and targets != [""]
    units = items.filter(origin__in=targets).count() if own else items.count() * len(targets)
    units = min(units, int(selection["sample"])) if selection.get("sample") else units
    return max(0, units - Call.objects.filter(run=run, repeat=0, item__withdrawn_at=None).count())


def drawn(spots: Sequence[Spot], seed: int) -> list[Spot]:
    """In an order of chance that another item does not change."""
    return sorted(spots, key=lambda one: hashlib.sha256(f"{seed}:{one.key}:{one.target}".encode()).digest())


def make_calls(run: Any, spots: Sequence[Spot]) -> int:
    """The units and calls that are missing; says how many calls are new. First repeats come after all units."""
    made = 0
    columns = {"items": [one.item for one in spots], "targets": [one.target for one in spots]}
    fetch(UNITS, columns)
    made = change(CALLS, {**columns, "run": run.pk, "repeats": run.repeats})
    if made > LATER:
        change("ANALYZE predictions_call", [])
    return made


def seed_of(seed: int, item_key: str, target: str) -> int:
    """Of one unit, from the run's: the same in each repeat."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{item_key}|{target}".encode()).digest()[:6], "big")


def units(ids: Sequence[int]) -> dict[int, Unit]:
    """Units with what their scenes need."""
    rows = Unit.objects.filter(pk__in=ids).select_related("item").prefetch_related("item__images__image", "item__facts")
    return {unit.pk: unit for unit in rows}
