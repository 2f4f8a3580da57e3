"""An assignment as it is under its lock. What was read before the lock may be old."""

# ruff: noqa: S608  (only constants are put into the statements)

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from annotation.models import Assignment
from annotation.queries import gate
from annotation.queries.gate import Gate
from annotation.queries.resolutions import settles_disputes
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
    seconds: float
    """At work, since the moment that was asked about, on what they sent after it, here and elsewhere. Of an answer that
    was sent a millisecond after it (pages keep time in whole ones) no more than that millisecond."""
    excluded: bool
    instructions: int | None
    same_key: int | None
    matters: bool
    """Somebody waits for what becomes of it: a rule, a dispute that it settles, or a stage that takes its items from
    this one."""


# Of an assignment `a` and its stage `st`; what a decision needs of the stage is read here, under the lock.
COLUMNS = """a.state, EXISTS (SELECT FROM annotation_draft d WHERE d.assignment_id = a.id),
  coalesce((SELECT max(version) FROM annotation_annotation v WHERE v.assignment_id = a.id), 0),
  live.id, coalesce(live.counted, false), coalesce(live.uncounted_because = 'surplus', false),
  (SELECT count(*) FROM annotation_assignment h WHERE h.participation_id = a.participation_id AND h.state = 'reserved'),
  (SELECT coalesce(sum(least(t.active_seconds, extract(epoch FROM t.submitted_at - %(since)s::timestamptz))), 0)::float8
    FROM annotation_annotation t WHERE t.rater_id = a.rater_id AND t.submitted_at > %(since)s::timestamptz
      AND t.submitted_at <= coalesce(%(until)s::timestamptz, t.submitted_at)),
  EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = st.benchmark_id AND e.rater_id = a.rater_id AND e.lifted_at IS NULL),
  (SELECT i.id FROM annotation_instructionversion i WHERE i.campaign_id = a.campaign_id ORDER BY i.number DESC LIMIT 1),
  (SELECT k.id FROM annotation_annotation k WHERE k.rater_id = a.rater_id AND k.client_key = %(key)s),
  st.acceptance = 'by_rule' OR coalesce(st.coverage -> 'stop_when_full' = 'true'::jsonb, false) OR %(settles)s
    OR EXISTS (SELECT FROM benchmarks_stage later WHERE later.benchmark_id = st.benchmark_id
      AND jsonb_exists(later.derivation -> 'from', st.key))"""
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


def lock_assignment(
    assignment: Assignment, client_key: str = "", since: datetime | None = None, until: datetime | None = None
) -> LockedState:
    """Lock it. Needs the lock of its Participation. `seconds` is what was spent after `since`, up to `until`."""
    return LockedState(*fetch(BEFORE, _params(assignment, client_key, since, until))[0])


def lock_and_check(
    assignment: Assignment, seat: LockedParticipation, client_key: str, since: datetime, at: datetime
) -> tuple[LockedState, Gate]:
    """The same, with what `check_gate` says at `at`, in one statement. Needs the lock of the Participation."""
    params = _params(assignment, client_key, since, at) | {"cohort": seat.cohort_id, "rater": seat.rater_id}
    row = fetch(BEFORE_AND_GATE, params)[0]
    return LockedState(*row[:OWN_COLUMNS]), gate.gate_of(row[OWN_COLUMNS:], seat.cohort_id, seat.rater_id, at)


def _params(assignment: Assignment, client_key: str, since: datetime | None, until: datetime | None) -> dict[str, Any]:
    settles = settles_disputes(assignment.campaign.stage)
    return {"assignment": assignment.pk, "key": client_key, "since": since, "until": until, "settles": settles}
