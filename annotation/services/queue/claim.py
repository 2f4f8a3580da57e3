"""How a slot is reserved: one statement, written out because its locks and its constant work are the point of it.

Read docs/explanation/queue.md first. `claim` needs a transaction and the lock of the Participation that it acts for.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from dataclasses import dataclass
from datetime import datetime, timedelta

from annotation.queries.eligibility import not_judged, staffed
from annotation.services.transactions import RetryTransaction
from jobs.queries.statements import fetch

ACTIVE = timedelta(minutes=5)
ACTIVE_LIMIT = 200

# A cursor stays this far behind the clock, so that a slot whose transaction read the clock before another's, and
# committed after it, is not passed by. What goes to the end of the queue (END in slots.py) is later than every cursor.
HORIZON = "((extract(epoch FROM clock_timestamp()) - 120) * 1000000)::bigint"


def not_had(campaign: str, rater: str) -> str:
    """Whether a person had no place in the unit of a slot `s`. Expressions of the statement, as in `staffed`."""
    return f"""(SELECT had.id FROM annotation_assignment had WHERE had.campaign_id = {campaign}
              AND had.unit_id = s.unit_id AND had.rater_id = {rater} LIMIT 1) IS NULL"""


def may_have(campaign: str, staffing: str, rater: str) -> str:
    return f"{not_had(campaign, rater)} AND {staffed(staffing, rater)} AND {not_judged(staffing, rater)}"


NOT_HAD = not_had("%(campaign)s", "%(rater)s")
STAFFED = staffed("%(staffing)s::text", "%(rater)s")
NOT_JUDGED = not_judged("%(staffing)s::text", "%(rater)s")
MAY_HAVE = may_have("%(campaign)s", "%(staffing)s::text", "%(rater)s")
ANYONE_MAY_HAVE = f"{NOT_HAD} AND {NOT_JUDGED}"  # the same where the stage is for anyone

ANY = "annotation_slot s WHERE s.cohort_id = %(cohort)s AND s.open AND s.position >= %(cursor)s"
URGENT = "annotation_slot s WHERE s.cohort_id = %(cohort)s AND s.open AND s.urgent AND s.position >= %(urgent_cursor)s"

HURRY = f"SELECT EXISTS (SELECT FROM {URGENT})"
URGENT_PARTS = f"""
), hurry AS MATERIALIZED ({HURRY} AS yes
), urgent AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM {URGENT} AND (SELECT yes FROM hurry) AND (SELECT yes FROM enough)
    AND (SELECT count(*) FROM own) = 0 AND {MAY_HAVE}
  ORDER BY s.position LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED
), first_urgent AS MATERIALIZED (
  SELECT s.position FROM {URGENT} AND (SELECT yes FROM hurry) AND {MAY_HAVE} ORDER BY s.position LIMIT 1"""
HURRIED = f"""CASE WHEN (SELECT yes FROM hurry)
      THEN least(coalesce((SELECT position FROM first_urgent), {HORIZON}), {HORIZON}) ELSE 0 END"""


WITH_URGENT = (
    URGENT_PARTS,
    "AND (SELECT count(*) FROM urgent) = 0 ",
    "UNION ALL SELECT id, unit_id FROM urgent ",
    HURRIED,
)
TAKE = """), taken AS (
  UPDATE annotation_slot s SET reserved = s.reserved + 1 FROM picked WHERE s.id = picked.id RETURNING s.id
), given AS (
  INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    packed, lease_until, reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT %(campaign)s, %(participation)s, picked.id, picked.unit_id, %(rater)s, 'reserved', %(in_hand)s,
    %(packed)s, %(lease_until)s, %(at)s, %(shown_at)s, %(at)s, '', '' FROM picked
  ON CONFLICT (campaign_id, unit_id, rater_id, repeat) DO UPDATE SET state = 'reserved', in_hand = EXCLUDED.in_hand,
    packed = EXCLUDED.packed, lease_until = EXCLUDED.lease_until, changed_at = EXCLUDED.changed_at,
    shown_at = coalesce(annotation_assignment.shown_at, EXCLUDED.shown_at)
  WHERE annotation_assignment.state = 'released' AND annotation_assignment.slot_id = EXCLUDED.slot_id
  RETURNING id
), moved AS (
  UPDATE annotation_participation p
  SET cursor = greatest(p.cursor, e.walked), urgent_cursor = greatest(p.urgent_cursor, e.hurried)
  FROM ends e WHERE p.id = %(participation)s AND (p.cursor < e.walked OR p.urgent_cursor < e.hurried)
)
SELECT (SELECT count(*) FROM picked), (SELECT id FROM given)
"""


# One statement, in this order: a place the person once had and gave back, else the first urgent slot from the urgent
# cursor that they never had and may have, else the first of all open slots from the cursor; take a place in it, write
# the assignment, move the cursors to the first such slots *whether locked or not*. Urgent slots are in the walk of all
# open ones too, so no cursor loses them when they are urgent no longer; where none is urgent, that costs one look at an
# empty index. NOT_HAD is a scalar subquery because the planner would turn NOT EXISTS into a join over all slots.
def _claim_sql(*, usual: bool) -> str:
    """`usual`: without what no row meets where nothing is urgent and the stage is for anyone."""
    may_have, staffed = (ANYONE_MAY_HAVE, "true") if usual else (MAY_HAVE, STAFFED)
    urgent_parts, none_urgent, or_urgent, hurried = ("", "", "", "0") if usual else WITH_URGENT
    return f"""
WITH people AS MATERIALIZED (
  SELECT count(*) AS n FROM (
    SELECT 1 FROM annotation_participation
    WHERE cohort_id = %(cohort)s AND last_seen_at > %(active_since)s LIMIT {ACTIVE_LIMIT}) seen
), enough AS MATERIALIZED (
  SELECT %(in_hand)s OR (SELECT n FROM people) <= (SELECT count(*) FROM (
    SELECT 1 FROM annotation_slot s WHERE s.cohort_id = %(cohort)s AND s.open AND s.position >= %(cursor)s
    ORDER BY s.position LIMIT (SELECT n FROM people)) open) AS yes
), own AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
  WHERE a.participation_id = %(participation)s AND a.state = 'released' AND s.open AND (SELECT yes FROM enough)
    AND {staffed}
  ORDER BY a.changed_at LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED{urgent_parts}
), next AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM {ANY} AND (SELECT yes FROM enough)
    AND (SELECT count(*) FROM own) = 0 {none_urgent}AND {may_have}
  ORDER BY s.position LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED
), picked AS MATERIALIZED (
  SELECT id, unit_id FROM own {or_urgent}UNION ALL SELECT id, unit_id FROM next
), first AS MATERIALIZED (
  SELECT s.position FROM {ANY} AND {may_have} ORDER BY s.position LIMIT 1
), ends AS MATERIALIZED (
  SELECT least(coalesce((SELECT position FROM first), {HORIZON}), {HORIZON}) AS walked, {hurried} AS hurried
  WHERE (SELECT yes FROM enough)
{TAKE}"""


CLAIM = _claim_sql(usual=False)
CLAIM_USUAL = _claim_sql(usual=True)
CLAIM_WAITING = CLAIM.replace(" SKIP LOCKED", "")


@dataclass(frozen=True)
class LockedParticipation:
    """A locked Participation."""

    id: int
    campaign_id: int
    cohort_id: int
    rater_id: int
    cursor: int
    urgent_cursor: int = 0
    staffing: str = "anyone"


def claim(
    seat: LockedParticipation,
    *,
    in_hand: bool,
    lease_until: datetime,
    at: datetime,
    wait: bool = False,
    packed: bool = False,
) -> int | None:
    """Take a place for this person: the new or renewed assignment's id, or None if there is none.

    `packed`: for a pack, beside what is in hand and ahead. With `wait`, slots that others hold locked are waited for:
    only in a transaction that holds no slot.
    """
    params = {
        "participation": seat.id, "campaign": seat.campaign_id, "cohort": seat.cohort_id, "rater": seat.rater_id,
        "staffing": seat.staffing, "cursor": seat.cursor, "urgent_cursor": seat.urgent_cursor, "in_hand": in_hand,
        "packed": packed, "lease_until": lease_until, "at": at, "shown_at": at if in_hand else None,
        "active_since": at - ACTIVE,
    }  # fmt: skip
    [(picked, assignment_id)] = fetch(CLAIM_WAITING if wait else CLAIM, params)
    if picked and assignment_id is None:
        raise RetryTransaction  # the same person took the same unit through another cohort, at the same moment
    return int(assignment_id) if picked else None
