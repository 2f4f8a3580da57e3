"""Which units a run asks about: the items of its campaign, for the cultures the campaign asks about."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from annotation.models import Campaign, Unit
from benchmarks.models import Item
from benchmarks.queries.availability import is_available
from benchmarks.queries.cultures import culture
from jobs.queries.statements import execute, fetch
from predictions.models import Call, Run
from predictions.prompts.contract import Prompt, Scene
from predictions.prompts.prompt_templates import TemplatePrompt
from predictions.services.runs.asked_about import (
    COHORTS,
    GOLD_COLUMN,
    OWN_COLUMN,
    SelectedItem,
    TargetChooser,
    gold_of,
    pinned,
)


class ItemTarget(NamedTuple):
    """An item for a target; the unit may not be there yet. `label_set`: an id; None: the target is a cohort's label."""

    item: int
    key: str
    target: str
    label_set: int | None = None

    @property
    def unit(self) -> "UnitKey":
        return self.item, self.target, self.label_set


UnitKey = tuple[int, str, int | None]
"""Of a unit: item, target, and the label set's id."""


UNITS = """
INSERT INTO annotation_unit (item_id, target, label_set_id)
SELECT * FROM unnest(%(items)s::bigint[], %(targets)s::text[], %(label_sets)s::bigint[])
ON CONFLICT DO NOTHING
"""
CALLS = """
INSERT INTO predictions_call (run_id, item_id, unit_id, repeat, state, reason, how, "order", replies, notes, cached,
  attempts_made, cost, holder)
SELECT %(run)s, s.item_id, u.id, r.repeat, 'pending', '', '', '[]', '[]', '{}', false, 0, 0, ''
FROM unnest(%(items)s::bigint[], %(targets)s::text[], %(label_sets)s::bigint[])
    WITH ORDINALITY AS s(item_id, target, label_set_id, place)
  JOIN annotation_unit u ON u.item_id = s.item_id AND u.target = s.target
    AND coalesce(u.label_set_id, 0) = coalesce(s.label_set_id, 0)
  CROSS JOIN generate_series(0, %(repeats)s - 1) AS r(repeat)
ORDER BY r.repeat, s.place ON CONFLICT DO NOTHING
"""
LATER = 5000

ANSWERED_FIRST, ANY = "answered", "any"
STRATA = ("full", "some", "none")
# Counted answers of people to each unit of the stage, and how many this campaign wants of it (the stage's usual number
# where it has no slot).
PEOPLE = """
SELECT u.item_id, u.target, u.label_set_id, count(*), coalesce((
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
    "asked_about": what each item is asked about, see `asked_about`; without it the cohorts of the campaign.
    "draw": ANSWERED_FIRST or ANY; a sample prefers units that people answered, unless it says "any".
    """
    spots, sample = all_spots(campaign, selection), selection.get("sample")
    return sample_order(campaign, selection, seed, spots)[: int(sample)] if sample else spots


def all_spots(campaign: Campaign, selection: Mapping[str, Any]) -> list[ItemTarget]:
    """Every unit of a selection, whatever its sample."""
    items, chooser = items_of(campaign, selection).order_by("pk"), TargetChooser(campaign, selection)
    if chooser.per_item:
        return [
            ItemTarget(item.pk, item.key, target.text, target.label_set)
            for item in _selected_items(items)
            for target in chooser.of(item)
        ]
    targets, own = chooser.common(), campaign.stage.own_items_only and chooser.kind == COHORTS
    return [
        ItemTarget(pk, key, target.text, target.label_set)
        for pk, key, own_label in items.annotate(of_culture=culture()).values_list("pk", "key", "of_culture")
        for target in targets
        if not own or target.text in ("", own_label)
    ]


def _selected_items(items: "QuerySet[Item]") -> Iterator[SelectedItem]:
    columns = ("pk", "key", "origin", f"context__{OWN_COLUMN}", f"context__{GOLD_COLUMN}")
    for pk, key, origin, own_set, gold in items.values_list(*columns).iterator(chunk_size=2000):
        yield SelectedItem(pk, key, origin, own_set if isinstance(own_set, str) else "", gold_of(gold))


def pinned_selection(campaign: Campaign, selection: Mapping[str, Any]) -> dict[str, Any]:
    """The selection as a run stores it: with the versions of the label sets that it asks about."""
    if not selection.get("asked_about"):
        return dict(selection)
    own = items_of(campaign, selection).filter(context__has_key=OWN_COLUMN).order_by()
    names = {name for name in own.values_list(f"context__{OWN_COLUMN}", flat=True).distinct() if isinstance(name, str)}
    return {**selection, **pinned(campaign, selection, names)}


def sample_order(
    campaign: Campaign, selection: Mapping[str, Any], seed: int, spots: Sequence[ItemTarget]
) -> list[ItemTarget]:
    """Units in the order in which a sample takes them: by stratum, inside it in the order of the seed."""
    order = shuffle_units(spots, seed)
    if selection.get("draw") == ANY:
        return order
    strata = strata_of(campaign)
    return sorted(order, key=lambda spot: STRATA.index(strata.get(spot.unit, "none")))


def strata_of(campaign: Campaign) -> dict[UnitKey, str]:
    """By item, target and label set: "full" where people gave all answers that the campaign wants, "some" where they
    gave fewer. Units without an answer are not in it."""
    stage = campaign.stage
    params = {"campaign": campaign.pk, "stage": stage.pk, "usual": stage.target_answers}
    rows = fetch(PEOPLE, params)
    return {(item, target, of): "full" if n >= wanted else "some" for item, target, of, n, wanted in rows}


def sample_facts(campaign: Campaign, selection: Mapping[str, Any], spots: Sequence[ItemTarget]) -> dict[str, Any]:
    """What is stored of a sample with the run: how it was drawn, from how many units, and how many of each stratum."""
    if not selection.get("sample"):
        return {}
    strata = strata_of(campaign)
    counts = Counter(strata.get(spot.unit, "none") for spot in spots)
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
    asked = set(_available_calls(run).values_list("item", "unit__target", "unit__label_set"))
    rest = [spot for spot in all_spots(run.campaign, selection) if spot.unit not in asked]
    room = max(0, int(selection["sample"]) - len(asked))
    return sample_order(run.campaign, selection, run.seed, rest)[:room]


def items_of(campaign: Campaign, selection: Mapping[str, Any]) -> "QuerySet[Item]":
    """The items that a selection asks about, whatever its sample."""
    items = campaign.stage.items.filter(is_available())
    for key, field in (("conditions", "condition__in"), ("concepts", "concept__in")):
        if selection.get(key):
            items = items.filter(**{field: selection[key]})
    return items.filter(condition__in=campaign.conditions) if campaign.conditions else items


def count_new_units(run: Run) -> int:
    """How many units of the run's selection it has no call for, counted without looking at each, unless items have
    targets of their own."""
    campaign, selection = run.campaign, run.selection
    if campaign is None:
        return 0
    chooser = TargetChooser(campaign, selection)
    if chooser.per_item:
        units = len(all_spots(campaign, selection))
    else:
        items, targets = items_of(campaign, selection), [target.text for target in chooser.common()]
        own = campaign.stage.own_items_only and chooser.kind == COHORTS and targets != [""]
        units = (
            items.annotate(of_culture=culture()).filter(of_culture__in=targets).count()
            if own
            else items.count() * len(targets)
        )
    units = min(units, int(selection["sample"])) if selection.get("sample") else units
    return max(0, units - _available_calls(run).count())


def _available_calls(run: Run) -> "QuerySet[Call]":
    """First calls about items that can be asked about now: neither withdrawn nor dropped by a filter since."""
    return Call.objects.filter(is_available("item__"), run=run, repeat=0)


def shuffle_units(spots: Sequence[ItemTarget], seed: int) -> list[ItemTarget]:
    """In an order of chance that another item does not change."""
    return sorted(spots, key=lambda one: hashlib.sha256(f"{seed}:{one.key}:{one.target}".encode()).digest())


def make_calls(run: Any, spots: Sequence[ItemTarget]) -> int:
    """The units and calls that are missing; says how many calls are new. First repeats come after all units."""
    n_calls = 0
    columns = {
        "items": [spot.item for spot in spots],
        "targets": [spot.target for spot in spots],
        "label_sets": [spot.label_set for spot in spots],
    }
    fetch(UNITS, columns)
    n_calls = execute(CALLS, {**columns, "run": run.pk, "repeats": run.repeats})
    if n_calls > LATER:
        execute("ANALYZE predictions_call", [])
    return n_calls


def unit_seed(seed: int, name: str, target: str) -> int:
    """Of one unit, from the run's: the same in each repeat."""
    return int.from_bytes(hashlib.sha256(f"{seed}|{name}|{target}".encode()).digest()[:6], "big")


def scene_seed(run_seed: int, scene: Scene, prompt: Prompt) -> int:
    """Of a unit, for its prompt: most draw for each item, some for all items of one question."""
    name = prompt.seed_name(scene) if isinstance(prompt, TemplatePrompt) else scene.item
    return unit_seed(run_seed, name, scene.target)


def load_units(ids: Sequence[int]) -> dict[int, Unit]:
    """Units with what their scenes need."""
    rows = Unit.objects.filter(pk__in=ids).select_related("item").prefetch_related("item__images__image", "item__facts")
    return {unit.pk: unit for unit in rows}
