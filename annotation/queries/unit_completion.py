"""Whether a unit of a campaign has the answers that it waits for."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db.models.functions import Coalesce

from annotation.models import Annotation, CampaignCohort, Slot
from benchmarks.queries.cultures import CULTURE
from jobs.queries.statements import fetch

# A campaign waits for a unit while a cohort that it asks gave fewer answers than its target. Slots of new items are
# made a moment after the items, so a cohort without one is asked if the unit is one of its own; where cohorts share
# the answers, as long as none of them has one. A stage that asks nobody waits for nobody in a campaign that takes
# answers of models and files alone.
COMPLETE = f"""
SELECT u.id FROM annotation_unit u JOIN benchmarks_item i ON i.id = u.item_id
WHERE u.id = ANY(%(units)s) AND NOT EXISTS (
  SELECT FROM annotation_campaign c JOIN benchmarks_stage st ON st.id = c.stage_id
    JOIN annotation_campaigncohort cc ON cc.campaign_id = c.id JOIN people_cohort co ON co.id = cc.cohort_id
    LEFT JOIN annotation_slot s ON s.cohort_id = cc.id AND s.unit_id = u.id
  WHERE c.stage_id = i.stage_id AND c.state IN ('open', 'paused')
    AND (c.conditions = '[]' OR jsonb_exists(c.conditions, i.condition)) AND s.retired IS NOT TRUE
    AND s.cell_full IS NOT TRUE
    AND NOT (st.target_answers = 0 AND c.state = 'paused'
      AND NOT EXISTS (SELECT FROM annotation_participation p WHERE p.cohort_id = cc.id))
    AND (s.id IS NOT NULL
      OR ((NOT st.has_target OR u.target = co.label) AND (NOT st.own_items_only OR {CULTURE} = co.label)
        AND NOT (st.target_in_all AND EXISTS (SELECT FROM annotation_slot x JOIN annotation_campaigncohort xc
          ON xc.id = x.cohort_id WHERE xc.campaign_id = c.id AND x.unit_id = u.id))))
    AND coalesce(s.share, cc.target_answers) > (SELECT count(*) FROM annotation_assignment a
      JOIN annotation_annotation an ON an.assignment_id = a.id AND an.live AND an.counted
      JOIN people_rater r ON r.id = an.rater_id AND r.kind = 'person'
      WHERE a.campaign_id = c.id AND a.unit_id = u.id AND an.cohort_id = cc.cohort_id))
"""


class CampaignUnit(NamedTuple):
    campaign_id: int
    unit_id: int


def wanted_counts(places: Iterable[CampaignUnit]) -> dict[CampaignUnit, dict[int, int]]:
    """Return how many answers of each cohort (by its id) a unit waits for: of the cohorts that have a slot for it.

    A unit without slots has answers of a file: it waits for those of every cohort of the campaign.
    """
    targets: dict[CampaignUnit, dict[int, int]] = {place: {} for place in places}
    units = {place.unit_id for place in targets}
    rows = Slot.objects.filter(unit__in=units, cohort__campaign__in={place.campaign_id for place in targets})
    asked_of = Coalesce("share", "cohort__target_answers")
    values = rows.values_list("cohort__campaign_id", "unit_id", "cohort__cohort_id", asked_of)
    for campaign, unit, cohort, target in values:
        if (campaign, unit) in targets:
            targets[CampaignUnit(campaign, unit)][cohort] = target
    imported = [place for place, cohorts in targets.items() if not cohorts]
    if imported:
        asked = CampaignCohort.objects.filter(campaign__in={place.campaign_id for place in imported})
        for campaign, cohort, target in asked.values_list("campaign_id", "cohort_id", "target_answers"):
            for place in imported:
                if place.campaign_id == campaign:
                    targets[place][cohort] = target
    return targets


def has_enough_answers(answers: Sequence[Annotation], wanted: Mapping[int, int]) -> bool:
    """Whether each cohort of `wanted` gave as many of these answers as it was asked for."""
    submitted: dict[int, int] = defaultdict(int)
    for answer in answers:
        submitted[answer.cohort_id or 0] += 1
    return all(submitted[cohort] >= target for cohort, target in wanted.items())


def complete_units(units: Collection[int]) -> set[int]:
    """Return those of these units (ids) that wait for no further answer of a person in any campaign.

    Closed campaigns wait for nothing, and neither does a slot that was retired or whose cell is full. Nobody waits for
    drafts.
    """
    return {pk for (pk,) in fetch(COMPLETE, {"units": list(units)})} if units else set()
