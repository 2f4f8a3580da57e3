"""Slots of full cells: closed while a stage has what it wants of a cell (see benchmarks.rules.coverage), else open.

Worked off from the outbox, under the lock of the stage and in the transaction that takes the notes, so a worker that is
killed leaves them to the next one, and a second time changes nothing. Places in use are never taken away.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections import defaultdict
from collections.abc import Collection, Sequence

from annotation.models import Campaign, Slot
from annotation.queries.coverage_cells import (
    NAME,
    PART,
    cell_counts,
    cell_rows,
    column_names,
    coverage_of,
    place_counts,
    row_keys,
    team_cohorts,
)
from annotation.services.queue import slots
from benchmarks.models import Stage
from benchmarks.rules.coverage import CoverageSpec
from benchmarks.rules.label_sets.contract import fold
from jobs.models import record
from jobs.queries.statements import fetch

NAMED = 100  # of the slots that an event names

# Slots that are marked otherwise than their cell is now.
CHANGES = f"""
SELECT id, cohort_id, becomes FROM (
  SELECT s.id, s.cohort_id, s.cell_full,
    ({NAME}, {PART}) IN (SELECT * FROM unnest(%(names)s::text[], %(parts)s::text[])) AS becomes
  FROM benchmarks_item i JOIN annotation_unit u ON u.item_id = i.id JOIN annotation_slot s ON s.unit_id = u.id
    JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id JOIN annotation_campaign c ON c.id = cc.campaign_id
    JOIN people_cohort co ON co.id = cc.cohort_id
  WHERE i.stage_id = %(stage)s AND c.state <> 'closed' AND {PART} = ANY(%(only)s::text[])
) marked WHERE cell_full <> becomes ORDER BY id
"""


def follow_cells(stage: Stage, item_ids: Collection[int]) -> int:
    """Close and open the slots in the columns of these items; says how many changed. Needs the stage's lock."""
    spec = coverage_of(stage)
    if spec is None or not spec.stop_when_full:
        rows = Slot.objects.filter(cell_full=True, cohort__campaign__stage=stage)
        rows = rows.exclude(cohort__campaign__state=Campaign.State.CLOSED).order_by("pk")
        return _mark(stage, [(pk, cohort, False) for pk, cohort in rows.values_list("pk", "cohort_id")])
    columns = _columns_of(stage, spec, item_ids)
    full = _full_groups(stage, spec, columns)
    params = {
        "stage": stage.pk, "own": stage.own_items_only, "columns": spec.columns, "only": columns,
        "names": [name for name, _part in full], "parts": [part for _name, part in full],
    }  # fmt: skip
    return _mark(stage, fetch(CHANGES, params))


def _full_groups(stage: Stage, spec: CoverageSpec, columns: Sequence[str]) -> list[tuple[str, str]]:
    """What items and cohorts of the full cells say: several spellings may mean one cell."""
    counts = cell_counts(stage, spec, only=columns)
    rows = cell_rows(stage, spec, team_cohorts(stage))
    names = column_names(stage, spec, counts)
    placed, _outside = place_counts(counts, rows, names, own=stage.own_items_only)
    row_of, column_of = row_keys(rows), {fold(name): name for name in names}
    full = {
        cell
        for cell, of_cell in placed.items()
        if (of_cell.accepted if spec.counts == "accepted" else of_cell.counted) >= spec.per_cell
    }
    return [
        (name, part) for name, part in counts if (row_of.get(fold(name), ""), column_of.get(fold(part), "")) in full
    ]


def _columns_of(stage: Stage, spec: CoverageSpec, item_ids: Collection[int]) -> list[str]:
    """The columns of these items, in every way that items of the stage write them."""
    field = "condition" if spec.columns == "conditions" else "concept"
    written = stage.items.order_by().values_list(field, flat=True)
    wanted = {fold(text) for text in written.filter(pk__in=item_ids)}
    return [text for text in written.distinct() if fold(text) in wanted]


def _mark(stage: Stage, changes: Sequence[tuple[int, int, bool]]) -> int:
    """Slots in the order of their ids, then tallies in that of theirs."""
    if not changes:
        return 0
    slots.lock_slots([pk for pk, _cohort, _full in changes])
    groups: dict[tuple[int, bool], list[int]] = defaultdict(list)
    for pk, cohort, full in changes:
        groups[cohort, full].append(pk)
    tallies: dict[int, tuple[int, int]] = {}
    for (cohort, full), ids in sorted(groups.items()):
        wanted, submitted = slots.set_cell_full(ids, full=full)
        before = tallies.get(cohort, (0, 0))
        tallies[cohort] = (before[0] + wanted, before[1] + submitted)
    for cohort, (wanted, submitted) in sorted(tallies.items()):
        slots.update_tally(cohort, 0, wanted=wanted, submitted=submitted)
    for full, verb in ((True, "cells.closed"), (False, "cells.opened")):
        if ids := [pk for pk, _cohort, becomes in changes if becomes == full]:
            scope, target = f"benchmark:{stage.benchmark_id}", f"stage:{stage.pk}"
            record(None, verb, scope=scope, target=target, reason="cell_full", slots=ids[:NAMED], n=len(ids))
    return len(changes)
