"""An assignment as it is under its lock. What was read before the lock may be old."""

# ruff: noqa: S608  (only constants are put into the statements)

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from annotation.models import Annotation, Assignment
from annotation.queries import gate
from annotation.queries.gate import Gate
from annotation.queries.resolutions import settles_disputes
from annotation.services.derivation.outbox import FEEDS_LATER
from annotation.services.queue.claim import LockedParticipation
from jobs.queries.statements import fetch


@dataclass(frozen=True)
class LockedState:
    """The assignment as it is under its lock."""

    state: str
    has_draft: bool
    version: int
    live_annotation: int | None
    live_counted: bool
    waits: bool
    """Its answer is kept as surplus: only a place that comes free counts it."""
    reserved: int
    """Places that the person holds here now."""
    active_seconds: float | None
    """What a browser measured, but no more than the time since the sheet was shown, less what other sheets took of it.
    Of an answer that was sent a millisecond after that moment (pages keep time in whole ones) no more than that
    millisecond."""
    excluded: bool
    instructions: int | None
    same_key: int | None
    matters: bool
    """Somebody waits for what becomes of it: a rule, a dispute that it settles, or a stage that takes something from
    this one."""
    in_hand: bool


# Each of the two has an index of its own. Together they would be sought among all that the person ever had.
HELD = """(SELECT count(*) FROM annotation_assignment h
    WHERE h.participation_id = a.participation_id AND {of} AND h.state = 'reserved')"""
# Of an assignment `a` and its stage `st`; what a decision needs of the stage is read here, under the lock.
COLUMNS = f"""a.state, EXISTS (SELECT FROM annotation_draft d WHERE d.assignment_id = a.id),
  coalesce((SELECT max(version) FROM annotation_annotation v WHERE v.assignment_id = a.id), 0),
  live.id, coalesce(live.counted, false), coalesce(live.uncounted_because = 'surplus', false),
  {HELD.format(of="NOT h.packed")} + {HELD.format(of="h.packed")},
  CASE WHEN %(measured)s::float8 IS NOT NULL THEN greatest(0, least(%(measured)s::float8,
    extract(epoch FROM %(until)s::timestamptz - %(since)s::timestamptz)::float8
    - (SELECT coalesce(sum(least(t.active_seconds, extract(epoch FROM t.submitted_at - %(since)s::timestamptz))), 0)
      FROM annotation_annotation t WHERE t.rater_id = a.rater_id AND t.submitted_at > %(since)s::timestamptz
        AND t.submitted_at <= %(until)s::timestamptz)::float8)) END,
  EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = a.rater_id AND e.lifted_at IS NULL),
  (SELECT i.id FROM annotation_instructionversion i WHERE i.campaign_id = a.campaign_id ORDER BY i.number DESC LIMIT 1),
  (SELECT k.id FROM annotation_annotation k WHERE k.rater_id = a.rater_id AND k.client_key = %(key)s),
  st.acceptance = 'by_rule' OR coalesce(st.coverage -> 'stop_when_full' = 'true'::jsonb, false) OR %(settles)s
    OR {FEEDS_LATER},
  a.in_hand"""
LIVE = "LEFT JOIN annotation_annotation live ON live.assignment_id = a.id AND live.live"
BEFORE = f"""
SELECT {COLUMNS} FROM annotation_assignment a
  JOIN annotation_campaign c ON c.id = a.campaign_id JOIN benchmarks_stage st ON st.id = c.stage_id {LIVE}
WHERE a.id = %(assignment)s FOR NO KEY UPDATE OF a
"""
BEFORE_AND_GATE = f"""
SELECT {COLUMNS}, {gate.COLUMNS} FROM {gate.SOURCES} JOIN annotation_assignment a ON a.id = %(assignment)s {LIVE}
WHERE cc.id = %(cohort)s FOR NO KEY UPDATE OF a
"""
OWN_COLUMNS = len(fields(LockedState))
# The same seconds for an answer of a pack. Those before it arrive together with it, so when they came says nothing:
# from when any sheet was shown, up to now, the answers to it and to later sheets take no more seconds than passed.
IN_PACK = """
WITH own AS (
  SELECT shown_at, coalesce(active_seconds, 0) AS seconds FROM annotation_annotation
  WHERE rater_id = %(rater)s AND submitted_at > %(since)s AND submitted_at <= %(until)s
), taken (at, seconds) AS (
  SELECT %(since)s::timestamptz, coalesce(sum(seconds), 0) FROM own WHERE shown_at >= %(since)s
  UNION ALL SELECT shown_at, sum(seconds) OVER (ORDER BY shown_at DESC) FROM own
)
SELECT greatest(0, least(%(measured)s::float8, min(extract(epoch FROM %(until)s::timestamptz - at) - seconds)))
FROM taken WHERE at <= %(since)s
"""


def lock_assignment(assignment: Assignment) -> LockedState:
    """Lock it. Needs the lock of its Participation."""
    return LockedState(*fetch(BEFORE, _params(assignment, "", None, None, None))[0])


def lock_and_check(
    assignment: Assignment, seat: LockedParticipation, client_key: str, since: datetime, at: datetime,
    measured: float | None,
) -> tuple[LockedState, Gate]:  # fmt: skip
    """The same, with what `check_gate` says at `at`, in one statement. `measured`: seconds between `since` and `at`."""
    params = _params(assignment, client_key, since, at, measured)
    params |= {"cohort": seat.cohort_id, "rater": seat.rater_id}
    row = fetch(BEFORE_AND_GATE, params)[0]
    return LockedState(*row[:OWN_COLUMNS]), gate.gate_of(row[OWN_COLUMNS:], seat.cohort_id, seat.rater_id, at)


def seconds_in_pack(answer: Annotation) -> float | None:
    """What a browser measured of an answer of a pack that is not stored yet, but no more than was possible."""
    if answer.active_seconds is None:
        return None
    times = {"since": answer.shown_at, "until": answer.submitted_at, "measured": answer.active_seconds}
    [(seconds,)] = fetch(IN_PACK, {"rater": answer.rater_id, **times})
    return float(seconds)


def _params(
    assignment: Assignment, key: str, since: datetime | None, until: datetime | None, measured: float | None
) -> dict[str, Any]:
    settles = settles_disputes(assignment.campaign.stage)
    times = {"since": since, "until": until, "measured": measured}
    return {"assignment": assignment.pk, "key": key, "settles": settles, **times}
