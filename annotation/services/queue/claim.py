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
MAY_HAVE = may_have("%(campaign)s", "%(staffing)s::text", "%(rater)s")

ANY = "annotation_slot s WHERE s.cohort_id = %(cohort)s AND s.open AND s.position >= %(cursor)s"
URGENT = "annotation_slot s WHERE s.cohort_id = %(cohort)s AND s.open AND s.urgent AND s.position >= %(urgent_cursor)s"
IN_TURN = "ORDER BY s.position LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED"

HURRY = f"SELECT EXISTS (SELECT FROM {URGENT})"
# Whether there is a slot for each person at work: nobody gets the last ones ahead. Work in hand is given anyway.
ENOUGH = f"""SELECT %(in_hand)s OR (SELECT people.n <= (SELECT count(*) FROM (
    SELECT 1 FROM {ANY} ORDER BY s.position LIMIT people.n) open)
  FROM (SELECT count(*) AS n FROM (SELECT 1 FROM annotation_participation
    WHERE cohort_id = %(cohort)s AND last_seen_at > %(active_since)s LIMIT {ACTIVE_LIMIT}) seen) people)"""
# The first of all open slots from the cursor, and where the cursor goes: to the first one, *locked or not*.
NEXT = f"SELECT s.id, s.unit_id FROM {ANY}{{unless}} AND {{may_have}} {IN_TURN}"
FIRST = f"SELECT s.position FROM {ANY} AND {{may_have}} ORDER BY s.position LIMIT 1"
WALKED = f"least(coalesce(({{first}}), {HORIZON}), {HORIZON})"
NONE_BEFORE = """ AND (SELECT yes FROM enough)
    AND (SELECT count(*) FROM own) = 0 AND (SELECT count(*) FROM urgent) = 0"""
# Of the slot `picked`, and of `ends`, which says where the cursors go: a table, or a variable where there is no source.
TAKE = "UPDATE annotation_slot s SET reserved = s.reserved + 1"
GIVE = """INSERT INTO annotation_assignment (campaign_id, participation_id, slot_id, unit_id, rater_id, state, in_hand,
    packed, lease_until, reserved_at, shown_at, changed_at, skip_reason, skip_note)
  SELECT %(campaign)s, %(participation)s, {picked}.id, {picked}.unit_id, %(rater)s, 'reserved', %(in_hand)s,
    %(packed)s, %(lease_until)s, %(at)s, %(shown_at)s, %(at)s, '', '' {source}
  ON CONFLICT (campaign_id, unit_id, rater_id, repeat) DO UPDATE SET state = 'reserved', in_hand = EXCLUDED.in_hand,
    packed = EXCLUDED.packed, lease_until = EXCLUDED.lease_until, changed_at = EXCLUDED.changed_at,
    shown_at = coalesce(annotation_assignment.shown_at, EXCLUDED.shown_at)
  WHERE annotation_assignment.state = 'released' AND annotation_assignment.slot_id = EXCLUDED.slot_id
  RETURNING id"""
MOVE = """UPDATE annotation_participation p
  SET cursor = greatest(p.cursor, {ends}.walked), urgent_cursor = greatest(p.urgent_cursor, {ends}.hurried) {source}
  WHERE p.id = %(participation)s AND (p.cursor < {ends}.walked OR p.urgent_cursor < {ends}.hurried)"""

# One statement, in this order: a place the person once had and gave back, else the first urgent slot from the urgent
# cursor that they never had and may have, else the first of all open slots from the cursor; take a place in it, write
# the assignment, move the cursors to the first such slots *whether locked or not*. Urgent slots are in the walk of all
# open ones too, so no cursor loses them when they are urgent no longer; where none is urgent, that costs one look at an
# empty index. NOT_HAD is a scalar subquery because the planner would turn NOT EXISTS into a join over all slots.
CLAIM = f"""
WITH enough (yes) AS MATERIALIZED (
  {ENOUGH}
), own AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM annotation_assignment a JOIN annotation_slot s ON s.id = a.slot_id
  WHERE a.participation_id = %(participation)s AND a.state = 'released' AND s.open AND (SELECT yes FROM enough)
    AND {STAFFED}
  ORDER BY a.changed_at LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED
), hurry (yes) AS MATERIALIZED (
  {HURRY}
), urgent AS MATERIALIZED (
  SELECT s.id, s.unit_id FROM {URGENT} AND (SELECT yes FROM hurry) AND (SELECT yes FROM enough)
    AND (SELECT count(*) FROM own) = 0 AND {MAY_HAVE}
  {IN_TURN}
), first_urgent AS MATERIALIZED (
  SELECT s.position FROM {URGENT} AND (SELECT yes FROM hurry) AND {MAY_HAVE} ORDER BY s.position LIMIT 1
), next AS MATERIALIZED (
  {NEXT.format(unless=NONE_BEFORE, may_have=MAY_HAVE)}
), picked AS MATERIALIZED (
  SELECT id, unit_id FROM own UNION ALL SELECT id, unit_id FROM urgent UNION ALL SELECT id, unit_id FROM next
), first AS MATERIALIZED (
  {FIRST.format(may_have=MAY_HAVE)}
), ends AS MATERIALIZED (
  SELECT {WALKED.format(first="SELECT position FROM first")} AS walked, CASE WHEN (SELECT yes FROM hurry)
      THEN {WALKED.format(first="SELECT position FROM first_urgent")} ELSE 0 END AS hurried
  WHERE (SELECT yes FROM enough)
), taken AS (
  {TAKE} FROM picked WHERE s.id = picked.id
), given AS (
  {GIVE.format(picked="picked", source="FROM picked")}
), moved AS (
  {MOVE.format(ends="ends", source="FROM ends")}
)
SELECT (SELECT count(*) FROM picked), (SELECT id FROM given)
"""
# The same in steps of the usual submit, where nothing is urgent, the stage is for anyone, the person gave no place back
# and judged nothing: then all that they may not have is what they had.
UNUSUAL = f"""SELECT %(staffing)s::text <> 'anyone' OR EXISTS (SELECT FROM {URGENT})
  OR EXISTS (SELECT FROM annotation_assignment a WHERE a.participation_id = %(participation)s AND a.state = 'released')
  OR EXISTS (SELECT FROM people_rater judge JOIN benchmarks_formerjudge f ON f.user_id = judge.user_id
    WHERE judge.id = %(rater)s)"""
USUAL_NEXT = NEXT.format(unless="", may_have=NOT_HAD)
USUAL_ENDS = f"SELECT {WALKED.format(first=FIRST.format(may_have=NOT_HAD))} AS walked, 0 AS hurried"
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
