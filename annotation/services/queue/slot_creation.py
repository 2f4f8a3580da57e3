"""Slots for a campaign's items: at its opening, and when items come in later."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Sequence
from typing import Any

from annotation.displays import UnknownDisplay, display
from annotation.displays.contract import required
from annotation.models import Campaign, CampaignCohort
from annotation.queries.sql import execute, fetch
from annotation.services.queue import slots
from annotation.services.transactions import in_transaction

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
WHERE i.stage_id = %(stage)s AND i.withdrawn_at IS NULL AND (%(all)s OR i.condition = ANY(%(conditions)s))
  AND (%(only)s::bigint[] IS NULL OR i.id = ANY(%(only)s)) AND (%(own)s = '' OR i.origin = %(own)s)
  AND (SELECT u.id FROM annotation_unit u WHERE u.item_id = i.id AND u.target = %(target)s) IS NULL
  AND {SHOWN}
ON CONFLICT DO NOTHING
"""

# Items that a campaign would ask about, by origin: those of UNITS, whether or not their units are there.
BY_ORIGIN = f"""
SELECT i.origin, count(*) FROM benchmarks_item i
WHERE i.stage_id = %(stage)s AND i.withdrawn_at IS NULL AND (%(all)s OR i.condition = ANY(%(conditions)s)) AND {SHOWN}
GROUP BY i.origin
"""

# The order is a permutation from the campaign's seed; later batches follow the slots that are there.
SLOTS = f"""
WITH due AS (
  SELECT u.id, row_number() OVER (ORDER BY hashint8extended(u.id, %(seed)s), u.id) AS rank
  FROM annotation_unit u JOIN benchmarks_item i ON i.id = u.item_id
  WHERE i.stage_id = %(stage)s AND i.withdrawn_at IS NULL AND (%(all)s OR i.condition = ANY(%(conditions)s))
    AND (%(only)s::bigint[] IS NULL OR i.id = ANY(%(only)s))
    AND u.target = %(target)s AND (%(own)s = '' OR i.origin = %(own)s)
    AND (SELECT s.id FROM annotation_slot s WHERE s.cohort_id = %(cohort)s AND s.unit_id = u.id) IS NULL
    AND {SHOWN}
)
INSERT INTO annotation_slot (cohort_id, unit_id, position, wanted, reserved, submitted)
SELECT %(cohort)s, id, CASE WHEN %(first)s THEN 0 ELSE {slots.END} END + rank, %(wanted)s, 0, 0 FROM due
WHERE rank <= %(batch)s ON CONFLICT DO NOTHING
"""


def create_missing_slots(campaign: Campaign, only: Sequence[int] | None = None) -> int:
    """Make the slots that are missing, close those of withdrawn items, open those of items that came back.

    `only` these items, if they are known. Says how many were made. What lacks something that the display needs is left
    out until it has it: ratings made elsewhere bring items without their pictures.

    A campaign that is not open yet is filled in one transaction, an open one in small ones: its queue is in use.
    """
    created = 0
    for cohort in campaign.cohorts.select_related("cohort").order_by("pk"):
        while batch := _fill(campaign, cohort, only):
            created += batch
            if batch < BATCH or campaign.state == Campaign.State.DRAFT:
                break
        while _sync_with_items(cohort, only) == BATCH:
            pass
    if created > MANY or (created and only is None):
        slots.analyze()
    return created


@in_transaction
def _fill(campaign: Campaign, cohort: CampaignCohort, only: Sequence[int] | None) -> int:
    target = CampaignCohort.objects.select_for_update(no_key=True).get(pk=cohort.pk).target_answers
    first = campaign.state == Campaign.State.DRAFT
    params = {
        "stage": campaign.stage_id, "cohort": cohort.pk, "seed": campaign.seed, "wanted": target, "first": first,
        "target": cohort.cohort.label if campaign.stage.has_target else "", "all": not campaign.conditions,
        "conditions": list(campaign.conditions), "own": cohort.cohort.label if campaign.stage.own_items_only else "",
        "batch": 2**31 if first else BATCH, "only": None if only is None else list(only),
        **_check_display_inputs(campaign),
    }  # fmt: skip
    execute(UNITS, params)
    if first:
        slots.analyze()
    created = execute(SLOTS, params)
    if created:
        slots.update_tally(cohort.pk, 0, wanted=created * target)
    return created


def items_for(campaign: Campaign, cohorts: Sequence[CampaignCohort]) -> dict[int, int]:
    """How many items each of these cohorts would be asked about, by its id: where a stage shows own items only, those
    of its own origin; nowhere one that lacks what the display needs. One query."""
    params = {
        "stage": campaign.stage_id, "all": not campaign.conditions, "conditions": list(campaign.conditions),
        **_check_display_inputs(campaign),
    }  # fmt: skip
    counts: dict[str, int] = dict(fetch(BY_ORIGIN, params))
    if not campaign.stage.own_items_only:
        return dict.fromkeys((cohort.pk for cohort in cohorts), sum(counts.values()))
    return {cohort.pk: counts.get(cohort.cohort.label, 0) for cohort in cohorts}


def _check_display_inputs(campaign: Campaign) -> dict[str, Any]:
    """As `annotation.services.sheets.stages` asks for it before a campaign opens."""
    try:
        item_display = display(campaign.stage.display)
    except UnknownDisplay:
        return {"roles": [], "needs_text": False, "texts": []}
    parts = required(item_display, campaign.stage.pictures)
    return {"roles": list(parts.roles), "needs_text": parts.text, "texts": list(parts.context)}


@in_transaction
def _sync_with_items(cohort: CampaignCohort, only: Sequence[int] | None) -> int:
    created, wanted, submitted = slots.sync_with_items(cohort.pk, BATCH, only)
    if wanted or submitted:
        slots.update_tally(cohort.pk, 0, wanted=wanted, submitted=submitted)
    return created
