"""Which units a run asks about: the items of its campaign, for the cultures the campaign asks about."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.models import Campaign, Unit
from annotation.queries.sql import execute, fetch
from benchmarks.models import Item
from predictions.models import Call, Run


class ItemTarget(NamedTuple):
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

ANSWERED_FIRST, ANY = "answered", "any"
STRATA = ("full", "some", "none")
# Counted answers of people to each unit of the stage, and how many this campaign wants of it (the stage's usual number
# where it has no slot).
PEOPLE = """
SELECT u.item_id, u.target, count(*), coalesce((
  SELECT sum(s.wanted) FROM annotation_slot s JOIN annotation_campaigncohort c ON c.id = s.cohort_id
  WHERE s.unit_id = u.id AND c.campaign_id = %(campaign)s), %(usual)s)
FROM annotation_annotation a JOIN annotation_assignment g ON g.id = a.assignment_id
  JOIN people_rater r ON r.id = a.rater_id JOIN annotation_unit u ON u.id = g.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
WHERE i.stage_id = %(stage)s AND a.counted AND a.live AND r.kind = 'person' GROUP BY u.id
"""


def select_item_targets(campaign: Campaign, selection: Mapping[str, Any], seed: int) -> list[ItemTarget]:
    """By item and target; a sample in the order in which it was drawn: the same seed draws the same ones first.

    `selection`: "conditions", "concepts", "targets" (others than the cohorts' may be named), "sample"; empty means all.
    "draw": ANSWERED_FIRST or ANY; a sample prefers units that people answered, unless it says "any".
    """
    spots, sample = all_spots(campaign, selection), selection.get("sample")
    return in_order(campaign, selection, seed, spots)[: int(sample)] if sample else spots


def all_spots(campaign: Campaign, selection: Mapping[str, Any]) -> list[ItemTarget]:
    """Every unit of a selection, whatever its sample."""
    stage, items, targets = campaign.stage, _items(campaign, selection), _targets(campaign, selection)
    return [
        ItemTarget(pk, key, target)
        for pk, key, origin in items.order_by("pk").values_list("pk", "key", "origin")
        for target in targets
        if not stage.own_items_only or target in ("", origin)
    ]


def in_order(
    campaign: Campaign, selection: Mapping[str, Any], seed: int, spots: Sequence[ItemTarget]
) -> list[ItemTarget]:
    """Units in the order in which a sample takes them: by stratum, inside it in the order of the seed."""
    order = shuffled(spots, seed)
    if selection.get("draw") == ANY:
        return order
    strata = strata_of(campaign)
    return sorted(order, key=lambda spot: STRATA.index(strata.get((spot.item, spot.target), "none")))


def strata_of(campaign: Campaign) -> dict[tuple[int, str], str]:
    """By item and target: "full" where people gave all answers that the campaign wants, "some" where they gave fewer.
    Units without an answer are not in it."""
    stage = campaign.stage
    params = {"campaign": campaign.pk, "stage": stage.pk, "usual": stage.target_answers}
    return {(item, target): "full" if n >= wanted else "some" for item, target, n, wanted in fetch(PEOPLE, params)}


def sample_facts(campaign: Campaign, selection: Mapping[str, Any], spots: Sequence[ItemTarget]) -> dict[str, Any]:
    """What is stored of a sample with the run: how it was drawn, from how many units, and how many of each stratum."""
    if not selection.get("sample"):
        return {}
    strata = strata_of(campaign)
    counts = Counter(strata.get((spot.item, spot.target), "none") for spot in spots)
    draw = ANY if selection.get("draw") == ANY else ANSWERED_FIRST
    units = len(all_spots(campaign, selection))
    return {"draw": draw, "units": units, "strata": {name: counts[name] for name in STRATA}}


def later_spots(run: Run) -> list[ItemTarget]:
    """The units that a run still has room for: all that came since; of a sample, as many as it lacks. What was drawn
    stays drawn, whoever has answered since."""
    if run.campaign is None:
        return []
    selection = {"draw": ANY, **run.selection}  # runs from before this choice drew by the seed alone
    if not selection.get("sample"):
        return select_item_targets(run.campaign, selection, run.seed)
    live = Call.objects.filter(run=run, repeat=0, item__withdrawn_at=None)
    asked = set(live.values_list("item", "unit__target"))
    rest = [
        all_spot for all_spot in all_spots(run.campaign, selection) if (all_spot.item, all_spot.target) not in asked
    ]
    room = max(0, int(selection["sample"]) - len(asked))
    return in_order(run.campaign, selection, run.seed, rest)[:room]


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


def count_new_units(run: Run) -> int:
    """How many units of the run's selection it has no call for, counted without looking at each: three queries."""
    campaign, selection = run.campaign, run.selection
    if campaign is None:
        return 0
    items, targets = _items(campaign, selection), _targets(campaign, selection)
    own = campaign.stage.own_items_only and targets != [""]
    units = items.filter(origin__in=targets).count() if own else items.count() * len(targets)
    units = min(units, int(selection["sample"])) if selection.get("sample") else units
    return max(0, units - Call.objects.filter(run=run, repeat=0, item__withdrawn_at=None).count())


def shuffled(spots: Sequence[ItemTarget], seed: int) -> list[ItemTarget]:
    """In an order of chance that another item does not change."""
    return sorted(spots, key=lambda one: hashlib.sha256(f"{seed}:{one.key}:{one.target}".encode()).digest())


def make_calls(run: Any, spots: Sequence[ItemTarget]) -> int:
    """The units and calls that are missing; says how many calls are new. First repeats come after all units."""
    n_calls = 0
    columns = {"items": [spot.item for spot in spots], "targets": [spot.target for spot in spots]}
    fetch(UNITS, columns)
    n_calls = execute(CALLS, {**columns, "run": run.pk, "repeats": run.repeats})
    if n_calls > LATER:
        execute("ANALYZE predictions_call", [])
    return n_calls


def unit_seed(seed: int, item_key: str, target: str) -> int:
    """Of one unit, from the run's: the same in each repeat."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{item_key}|{target}".encode()).digest()[:6], "big")


def load_units(ids: Sequence[int]) -> dict[int, Unit]:
    """Units with what their scenes need."""
    rows = Unit.objects.filter(pk__in=ids).select_related("item").prefetch_related("item__images__image", "item__facts")
    return {unit.pk: unit for unit in rows}
