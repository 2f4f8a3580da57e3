"""Cohorts of which nobody may give the answers that are missing: the board calls them stuck, and says why."""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Collection
from dataclasses import dataclass

from annotation.queries.eligibility import not_judged, staffed
from annotation.queries.gate import EXCLUDED
from annotation.queries.sql import AVAILABLE
from jobs.queries.statements import fetch

LOOKED = 500
"""Of a cohort with more open slots than this nothing is said: work is left, and to look at all would take long."""

# An open slot beside a member of the cohort. HAD: what keeps the member from it, while the claim of a place also knows
# those that a person gave back.
OPEN_SLOTS = "annotation_slot s JOIN annotation_unit t ON t.id = s.unit_id JOIN benchmarks_item i ON i.id = t.item_id"
SLOTS = f"{OPEN_SLOTS} WHERE s.cohort_id = cc.id AND s.open AND {AVAILABLE}"
PAIRS = f"""{OPEN_SLOTS}
  JOIN people_cohortmember m ON m.cohort_id = cc.cohort_id AND m.left_at IS NULL
  JOIN people_user u ON u.id = m.user_id AND u.is_active LEFT JOIN people_rater r ON r.user_id = u.id
  WHERE s.cohort_id = cc.id AND s.open AND {AVAILABLE}"""
HAD = """EXISTS (SELECT FROM annotation_assignment a WHERE a.campaign_id = cc.campaign_id AND a.unit_id = s.unit_id
  AND a.rater_id = r.id AND a.state <> 'released')"""
# The same of a slot, read at once for all members: some had it, and not all had it. Scalar subqueries here too: for
# EXISTS the planner would read all assignments of the site.
OF_SLOT = """FROM annotation_assignment a WHERE a.campaign_id = cc.campaign_id AND a.unit_id = s.unit_id
  AND a.state <> 'released' AND a.rater_id = ANY(people.raters)"""
ANSWERED = f"(SELECT a.id {OF_SLOT} LIMIT 1) IS NOT NULL"
LEFT = f"(SELECT count(DISTINCT a.rater_id) {OF_SLOT}) < people.n"
STAFFED = f"({staffed('st.staffing', 'r.id')}) AND {not_judged('st.staffing', 'r.id')}"
LIMITED = """(cc.most_per_person IS NOT NULL AND cc.most_per_person <= (SELECT count(*)
  FROM annotation_participation p JOIN annotation_assignment a ON a.participation_id = p.id
  WHERE p.cohort_id = cc.id AND p.rater_id = r.id AND a.state IN ('submitted', 'returned', 'accepted', 'rejected')))"""
SOURCES = """annotation_campaigncohort cc JOIN annotation_campaign c ON c.id = cc.campaign_id
  JOIN benchmarks_stage st ON st.id = c.stage_id CROSS JOIN LATERAL (
    SELECT count(*) AS n, array_agg(r.id) AS raters FROM people_cohortmember m
    JOIN people_user u ON u.id = m.user_id AND u.is_active LEFT JOIN people_rater r ON r.user_id = u.id
    WHERE m.cohort_id = cc.cohort_id AND m.left_at IS NULL) people"""
# Scalar subqueries: the planner would join all slots with all members for NOT EXISTS, where the first look is enough.
EXHAUSTED = f"""
SELECT cc.id FROM {SOURCES} WHERE cc.id = ANY(%(rows)s)
  AND (SELECT count(*) FROM (SELECT 1 FROM annotation_slot s WHERE s.cohort_id = cc.id AND s.open
    LIMIT {LOOKED + 1}) few) BETWEEN 1 AND {LOOKED}
  AND (SELECT a.id FROM annotation_participation p JOIN annotation_assignment a ON a.participation_id = p.id
    WHERE p.cohort_id = cc.id AND a.state = 'reserved' LIMIT 1) IS NULL
  AND (SELECT s.id FROM {PAIRS} AND {LEFT} AND NOT {HAD} AND {STAFFED} AND NOT {EXCLUDED} AND NOT {LIMITED}
    LIMIT 1) IS NULL
"""
REASONS = f"""
SELECT cc.id, st.staffing, (SELECT s.id FROM {SLOTS} AND {ANSWERED} LIMIT 1) IS NOT NULL,
  (SELECT s.id FROM {PAIRS} AND {LEFT} AND NOT {HAD} AND NOT ({STAFFED}) LIMIT 1) IS NOT NULL,
  (SELECT s.id FROM {PAIRS} AND {LEFT} AND NOT {HAD} AND {STAFFED} LIMIT 1) IS NOT NULL
FROM {SOURCES} WHERE cc.id = ANY(%(rows)s)
"""


@dataclass(frozen=True)
class Exhaustion:
    """What keeps the people of a cohort from its open slots. `had`: they answered or skipped some. `staffed`: the stage
    is not for them there, by `staffing`. `limited`: they reached their limit, or are excluded."""

    staffing: str
    had: bool
    staffed: bool
    limited: bool


def exhausted_cohorts(rows: Collection[int]) -> dict[int, Exhaustion]:
    """Those of these rows of campaigns that have open slots, which nobody holds and no member may take. One query, and
    one more for the reasons where there are some."""
    exhausted = [row for (row,) in fetch(EXHAUSTED, {"rows": list(rows)})] if rows else []
    reasons = fetch(REASONS, {"rows": exhausted}) if exhausted else ()
    return {row: Exhaustion(*reason) for row, *reason in reasons}
