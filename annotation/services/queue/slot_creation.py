"""Slots for a campaign's items: at its opening, and when items come in later."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Sequence
from typing import Any

from annotation.displays import UnknownDisplay, display
from annotation.displays.contract import required
from annotation.models import Campaign, CampaignCohort
from annotation.queries.campaign_targets import TARGETS, target_of
from annotation.queries.sql import AVAILABLE
from annotation.services.derivation import outbox
from annotation.services.queue import slots
from annotation.services.transactions import in_transaction
from benchmarks.models import Stage
from benchmarks.queries.cultures import CULTURE
from jobs.queries.statements import execute, fetch

BATCH = 5000
MANY = 1000  # from here on the planner must hear of it

# "Not there yet" is a scalar subquery, an index probe for each row. After a large import the planner's figures are old,
# and as NOT EXISTS it may choose to compare every item with every slot: minutes for what takes seconds.
SHOWN = """(SELECT count(*) FROM benchmarks_itemimage p
      WHERE p.item_id = i.id AND p.role = ANY(%(roles)s::text[])) = cardinality(%(roles)s::text[])
    AND (NOT %(needs_text)s OR i.text <> '') AND jsonb_exists_all(i.context, %(texts)s::text[])"""
UNITS = f"""
INSERT INTO annotation_unit (item_id, target)
SELECT i.id, %(target)s FROM benchmarks_item i
WHERE i.stage_id = %(stage)s AND {AVAILABLE} AND (%(all)s OR i.condition = ANY(%(conditions)s))
  AND (%(only)s::bigint[] IS NULL OR i.id = ANY(%(only)s)) AND (%(own)s = '' OR {CULTURE} = %(own)s)
  AND (SELECT u.id FROM annotation_unit u
       WHERE u.item_id = i.id AND u.target = %(target)s AND u.label_set_id IS NULL) IS NULL
  AND {SHOWN}
ON CONFLICT DO NOTHING
"""

# Cohorts of an open campaign that lack a slot for an item, or have one that no longer fits its item. Most of the time
# there are none, and one look without locks says so. Where cohorts share answers, an item whose parts are all given out
# lacks nothing.
LACKING = f"""
WITH place(cohort, label) AS MATERIALIZED ({TARGETS})
SELECT place.cohort FROM place
WHERE (%(cohorts)s::bigint[] IS NULL OR place.cohort = ANY(%(cohorts)s)) AND (EXISTS (
    SELECT FROM benchmarks_item i
    WHERE i.stage_id = %(stage)s AND {AVAILABLE} AND (%(all)s OR i.condition = ANY(%(conditions)s))
      AND (%(items)s::bigint[] IS NULL OR i.id = ANY(%(items)s)) AND (NOT %(own)s OR {CULTURE} = place.label)
      AND (SELECT s.id FROM annotation_unit u JOIN annotation_slot s ON s.unit_id = u.id AND s.cohort_id = place.cohort
           WHERE u.item_id = i.id AND u.target = CASE WHEN %(has_target)s THEN place.label ELSE '' END
             AND u.label_set_id IS NULL LIMIT 1) IS NULL
      AND NOT (%(in_all)s AND (SELECT coalesce(sum(o.share), 0) FROM annotation_unit u
             JOIN annotation_slot o ON o.unit_id = u.id JOIN annotation_campaigncohort oc ON oc.id = o.cohort_id
           WHERE u.item_id = i.id AND u.target = CASE WHEN %(has_target)s THEN place.label ELSE '' END
             AND u.label_set_id IS NULL AND oc.campaign_id = %(campaign)s)
        >= (SELECT max(target_answers) FROM annotation_campaigncohort WHERE campaign_id = %(campaign)s))
      AND {SHOWN})
  OR EXISTS (
    SELECT FROM annotation_slot o JOIN annotation_campaigncohort cc ON cc.id = o.cohort_id
    WHERE o.cohort_id = place.cohort AND {slots.MISFITS} AND (%(items)s::bigint[] IS NULL
      OR o.unit_id IN (SELECT id FROM annotation_unit WHERE item_id = ANY(%(items)s)))))
"""

# Items that a campaign would ask about, by whose own they are: those of UNITS, whether or not their units are there.
BY_CULTURE = f"""
SELECT {CULTURE} AS culture, count(*) FROM benchmarks_item i
WHERE i.stage_id = %(stage)s AND {AVAILABLE} AND (%(all)s OR i.condition = ANY(%(conditions)s)) AND {SHOWN}
GROUP BY culture
"""

# Where a stage stops at full cells, every cell has its first item before any has its second, the best ranked of a
# search first: else people would be in the middle of a cell's fourth item when its third is accepted.
WAVE = """CASE WHEN %(by_cell)s::text = '' THEN 0 ELSE row_number() OVER (
    PARTITION BY CASE %(by_cell)s::text WHEN 'conditions' THEN i.condition ELSE i.concept END
    ORDER BY CASE WHEN i.context ->> 'rank' ~ '^[0-9]{1,9}([.][0-9]{1,9})?$' THEN (i.context ->> 'rank')::numeric END
      NULLS LAST, i.key) END"""
# Where cohorts share the answers that are wanted in all, each gets its part, and the rest goes to cohorts in turn, by a
# hash of the unit. A cohort that joins later gets what no other has.
SHARE = """CASE WHEN %(sharing)s::int = 0 THEN NULL ELSE least(
    %(wanted)s / %(sharing)s + CASE WHEN
      ((hashint8extended(id, %(seed)s) & 9223372036854775807) %% %(sharing)s + %(number)s) %% %(sharing)s
        < %(wanted)s %% %(sharing)s THEN 1 ELSE 0 END,
    %(wanted)s - (SELECT coalesce(sum(o.share), 0) FROM annotation_slot o
      JOIN annotation_campaigncohort oc ON oc.id = o.cohort_id
      WHERE o.unit_id = waves.id AND oc.campaign_id = %(campaign)s)) END::int"""
# The order is a permutation from the campaign's seed; later batches follow the slots that are there.
SLOTS = f"""
WITH waves AS (
  SELECT u.id, {WAVE} AS wave
  FROM annotation_unit u JOIN benchmarks_item i ON i.id = u.item_id
  WHERE i.stage_id = %(stage)s AND {AVAILABLE} AND (%(all)s OR i.condition = ANY(%(conditions)s))
    AND (%(only)s::bigint[] IS NULL OR i.id = ANY(%(only)s))
    AND u.target = %(target)s AND u.label_set_id IS NULL AND (%(own)s = '' OR {CULTURE} = %(own)s)
    AND (SELECT s.id FROM annotation_slot s WHERE s.cohort_id = %(cohort)s AND s.unit_id = u.id) IS NULL
    AND {SHOWN}
), shares AS (SELECT id, wave, {SHARE} AS share FROM waves
), due AS (
  SELECT id, share, row_number() OVER (ORDER BY wave, hashint8extended(id, %(seed)s), id) AS rank FROM shares
  WHERE share IS NULL OR share > 0
)
INSERT INTO annotation_slot (cohort_id, unit_id, position, wanted, share, reserved, submitted)
SELECT %(cohort)s, id, CASE WHEN %(first)s THEN 0 ELSE {slots.END} END + rank, coalesce(share, %(wanted)s), share, 0, 0
FROM due WHERE rank <= %(batch)s ON CONFLICT DO NOTHING RETURNING wanted
"""


def create_missing_slots(
    campaign: Campaign, only: Sequence[int] | None = None, *, cohorts: Sequence[int] | None = None
) -> int:
    """Make the slots that are missing, close those of withdrawn and dropped items, open those of items that came back.

    `only` these items, if they are known; only for these `cohorts` (ids of CampaignCohort), if they are named. Says how
    many were made. What lacks something that the display needs is left out until it has it: ratings made elsewhere
    bring items without their pictures.

    A campaign that is not open yet is filled in one transaction, an open one in small ones: its queue is in use.
    """
    created = 0
    if campaign.state != Campaign.State.DRAFT:
        cohorts = _lacking(campaign, only, cohorts)
        if not cohorts:
            return 0
    rows = campaign.cohorts.select_related("cohort").order_by("pk")
    for cohort in rows if cohorts is None else rows.filter(pk__in=cohorts):
        while batch := _fill(campaign, cohort, only):
            created += batch
            if batch < BATCH or campaign.state == Campaign.State.DRAFT:
                break
        while _sync_with_items(cohort, only) == BATCH:
            pass
    if created > MANY or (created and only is None):
        slots.analyze()
    return created


def _lacking(campaign: Campaign, items: Sequence[int] | None, cohorts: Sequence[int] | None) -> list[int]:
    """Of these cohorts (all, if none are named) those with something to do for these items, by LACKING."""
    stage = campaign.stage
    params = {
        "stage": stage.pk, "campaign": campaign.pk, "only": None, "items": None if items is None else list(items),
        "cohorts": None if cohorts is None else list(cohorts), "all": not campaign.conditions,
        "conditions": list(campaign.conditions), "own": stage.own_items_only, "has_target": stage.has_target,
        "in_all": stage.target_in_all, **_check_display_inputs(stage),
    }  # fmt: skip
    return [cohort for (cohort,) in fetch(LACKING, params)]


@in_transaction
def _fill(campaign: Campaign, cohort: CampaignCohort, only: Sequence[int] | None) -> int:
    if campaign.stage.target_in_all:
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)  # cohorts take their parts one by one
    target = CampaignCohort.objects.select_for_update(no_key=True).get(pk=cohort.pk).target_answers
    sharing: list[int] = []
    if campaign.stage.target_in_all:
        together = dict(campaign.cohorts.order_by("pk").values_list("pk", "target_answers"))
        sharing, target = list(together), max(together.values())
    first = campaign.state == Campaign.State.DRAFT
    label = target_of(cohort)
    stops = campaign.stage.coverage.get("stop_when_full")
    params = {
        "stage": campaign.stage_id, "cohort": cohort.pk, "seed": campaign.seed, "wanted": target, "first": first,
        "target": label if campaign.stage.has_target else "", "all": not campaign.conditions,
        "conditions": list(campaign.conditions), "own": label if campaign.stage.own_items_only else "",
        "by_cell": campaign.stage.coverage.get("columns", "") if stops else "",
        "sharing": len(sharing), "number": sharing.index(cohort.pk) if sharing else 0, "campaign": campaign.pk,
        "batch": 2**31 if first else BATCH, "only": None if only is None else list(only),
        **_check_display_inputs(campaign.stage),
    }  # fmt: skip
    new_units = execute(UNITS, params)
    if first and new_units:
        slots.analyze()
    wanted = [int(n) for (n,) in fetch(SLOTS, params)]
    created = len(wanted)
    if created:
        slots.update_tally(cohort.pk, 0, wanted=sum(wanted))
        if stops:
            outbox.mark_cells_due(campaign.stage_id)
    return created


def items_for(campaign: Campaign, cohorts: Sequence[CampaignCohort]) -> dict[int, int]:
    """How many items each of these cohorts would be asked about, by its id. One query."""
    counts = count_items(campaign.stage, [cohort.cohort.label for cohort in cohorts], campaign.conditions)
    return {cohort.pk: counts[cohort.cohort.label] for cohort in cohorts}


def count_items(stage: Stage, labels: Sequence[str], conditions: Sequence[str] = ()) -> dict[str, int]:
    """How many items a campaign of the stage would ask about, by the label of the cohort: where a stage shows own items
    only, those of its own culture; nowhere one that lacks what the display needs. One query."""
    params = {
        "stage": stage.pk, "all": not conditions, "conditions": list(conditions), **_check_display_inputs(stage),
    }  # fmt: skip
    counts: dict[str, int] = dict(fetch(BY_CULTURE, params))
    if not stage.own_items_only:
        return dict.fromkeys(labels, sum(counts.values()))
    return {label: counts.get(label, 0) for label in labels}


def _check_display_inputs(stage: Stage) -> dict[str, Any]:
    """As `annotation.services.sheets.stages` asks for it before a campaign opens."""
    try:
        item_display = display(stage.display)
    except UnknownDisplay:
        return {"roles": [], "needs_text": False, "texts": []}
    parts = required(item_display, stage.pictures)
    return {"roles": list(parts.roles), "needs_text": parts.text, "texts": list(parts.context)}


@in_transaction
def _sync_with_items(cohort: CampaignCohort, only: Sequence[int] | None) -> int:
    created, wanted, submitted = slots.sync_with_items(cohort.pk, BATCH, only)
    if wanted or submitted:
        slots.update_tally(cohort.pk, 0, wanted=wanted, submitted=submitted)
    return created
