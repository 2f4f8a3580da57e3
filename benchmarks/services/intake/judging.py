"""Which items of a stage are kept: all filters over the items that came or changed, and over those of their groups.

Every change of the state of an item is made here, in a transaction that holds the stage's row. So imports, decisions
by hand and new versions of the filters take turns. See docs/explanation/intake.md.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.models import FilterResult, FilterVersion, Item, Stage
from benchmarks.queries.candidates import load_candidates
from benchmarks.rules.filters import FilterError, FilterOutcome, FilterRule, FilterState, combine, judge_all
from benchmarks.rules.filters import parse_filters as parse
from benchmarks.rules.filters.contract import within_of
from benchmarks.rules.filters.registry import BY_HAND
from benchmarks.services import item_changes

log = logging.getLogger(__name__)
WRITE = 2000


def lock_stage(stage: Stage) -> Stage:
    """The stage as it is now. Needs a transaction; holds off every other judging of its items."""
    rows = Stage.objects.select_related("benchmark").select_for_update(no_key=True, of=("self",))
    return rows.get(pk=stage.pk)


def current_version(stage: Stage) -> FilterVersion:
    """The version of the stage's filters, made if a recipe wrote them. Needs the stage's lock."""
    newest = stage.filter_versions.order_by("-number").first()
    if newest is not None and newest.definition == stage.filters:
        return newest
    number = newest.number + 1 if newest else 1
    return FilterVersion.objects.create(stage=stage, number=number, definition=stage.filters)


def version_number(stage: Stage) -> int:
    """The number of the current version; 0 for a stage that never had filters."""
    newest = stage.filter_versions.order_by("-number").first()
    number = newest.number if newest else 0
    is_current = newest.definition == stage.filters if newest else not stage.filters
    return number if is_current else number + 1


def judge_items(stage: Stage, item_ids: Iterable[int]) -> list[int]:
    """Judge these items and those that share a group with them; returns the items whose state changed.

    Needs `lock_stage` in the same transaction. Doing it twice changes nothing. Withdrawn items keep their state.
    """
    seeds = set(item_ids)
    if not seeds:
        return []
    try:
        rules = parse(stage.filters)
    except FilterError as error:
        log.warning("stage %s has filters that cannot be read: %s", stage.pk, error)
        return []
    version = current_version(stage)
    ids = _group_members(stage, rules, seeds)
    before = _lock_items(ids)
    candidates = load_candidates(before, {rule.needs for rule in rules if rule.needs})
    by_hand = _decisions(ids)
    outcomes = judge_all(rules, candidates, by_hand)
    restated = _write_results(version, outcomes)
    after = {pk: combine(each.values(), by_hand.get(pk)) or "" for pk, each in outcomes.items()}
    changed = [pk for pk in sorted(after) if after[pk] != before[pk]]
    for state in sorted({str(after[pk]) for pk in changed}):
        Item.objects.filter(pk__in=[pk for pk in changed if after[pk] == state]).update(intake=state)
    item_changes.notify(stage.pk, sorted({*changed, *restated}))
    return changed


def _lock_items(ids: Iterable[int]) -> dict[int, str]:
    """State by item, of those that are not withdrawn."""
    rows = Item.objects.filter(pk__in=ids, withdrawn_at=None).order_by("pk").select_for_update(no_key=True)
    return dict(rows.values_list("pk", "intake"))


def _group_members(stage: Stage, rules: Sequence[FilterRule], seeds: set[int]) -> set[int]:
    """The items and all whose outcome may depend on them: members of their groups, and of the groups of these."""
    ids, size = set(seeds), -1
    groupings = sorted({tuple(within_of(rule.params)) for rule in rules if rule.grouped})
    while groupings and len(ids) != size:
        size = len(ids)
        for fields in groupings:
            ids |= _sharing(stage, fields, ids)
        if len(groupings) == 1:
            break
    return ids


def _sharing(stage: Stage, fields: Sequence[str], ids: set[int]) -> set[int]:
    """Items of the stage with the same values in these fields as one of `ids`."""
    items = stage.items.filter(withdrawn_at=None).order_by()
    if not fields:
        return set(items.values_list("pk", flat=True))
    values = set(Item.objects.filter(pk__in=ids).order_by().values_list(*fields))
    near = {f"{name}__in": {row[place] for row in values} for place, name in enumerate(fields)}
    return {pk for pk, *row in items.filter(**near).values_list("pk", *fields) if tuple(row) in values}


def _decisions(ids: Iterable[int]) -> dict[int, FilterState]:
    rows = FilterResult.objects.filter(item__in=ids, key=BY_HAND).values_list("item_id", "state")
    return {item: FilterState(state) for item, state in rows}


def _write_results(version: FilterVersion, outcomes: Mapping[int, Mapping[str, FilterOutcome]]) -> set[int]:
    """Results of this version, written or overwritten; returns the items that had another result of this version."""
    known = FilterResult.objects.filter(version=version, item__in=outcomes).exclude(key=BY_HAND)
    states = {(item, key): state for item, key, state in known.values_list("item_id", "key", "state")}
    rows = [_result(version, item, key, each) for item, of in outcomes.items() for key, each in of.items()]
    FilterResult.objects.bulk_create(
        rows,
        batch_size=WRITE,
        update_conflicts=True,
        unique_fields=["item", "version", "key"],
        update_fields=["state", "value", "limit", "reason"],
    )
    return {row.item_id for row in rows if states.get((row.item_id, row.key), row.state) != row.state}


def _result(version: FilterVersion, item: int, key: str, outcome: FilterOutcome) -> FilterResult:
    value: Any = outcome.waits_for if outcome.state == FilterState.WAITING else outcome.value
    return FilterResult(
        item_id=item,
        version=version,
        key=key,
        state=str(outcome.state),
        value=value,
        limit=outcome.limit,
        reason=outcome.reason,
    )
