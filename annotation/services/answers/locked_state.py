"""An assignment as it is under its lock. What was read before the lock may be old."""

from dataclasses import dataclass
from datetime import datetime

from annotation.models import Assignment
from annotation.queries.resolutions import settles_disputes
from annotation.queries.sql import fetch


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


BEFORE = """
SELECT a.state, EXISTS (SELECT FROM annotation_draft d WHERE d.assignment_id = a.id),
  coalesce((SELECT max(version) FROM annotation_annotation v WHERE v.assignment_id = a.id), 0),
  live.id, coalesce(live.counted, false), coalesce(live.uncounted_because = 'surplus', false),
  (SELECT count(*) FROM annotation_assignment h WHERE h.participation_id = a.participation_id AND h.state = 'reserved'),
  (SELECT coalesce(sum(least(t.active_seconds, extract(epoch FROM t.submitted_at - %(since)s::timestamptz))), 0)::float8
    FROM annotation_annotation t WHERE t.rater_id = a.rater_id AND t.submitted_at > %(since)s::timestamptz
      AND t.submitted_at <= coalesce(%(until)s::timestamptz, t.submitted_at)),
  EXISTS (SELECT FROM annotation_exclusion e
    WHERE e.benchmark_id = %(benchmark)s AND e.rater_id = a.rater_id AND e.lifted_at IS NULL),
  (SELECT i.id FROM annotation_instructionversion i WHERE i.campaign_id = a.campaign_id ORDER BY i.number DESC LIMIT 1),
  (SELECT k.id FROM annotation_annotation k WHERE k.rater_id = a.rater_id AND k.client_key = %(key)s),
  %(acceptance)s::text = 'by_rule' OR %(stops)s OR %(settles)s OR EXISTS (SELECT FROM benchmarks_stage later
    WHERE later.benchmark_id = %(benchmark)s AND jsonb_exists(later.derivation -> 'from', %(stage)s))
FROM annotation_assignment a LEFT JOIN annotation_annotation live ON live.assignment_id = a.id AND live.live
WHERE a.id = %(assignment)s FOR NO KEY UPDATE OF a
"""


def lock_assignment(
    assignment: Assignment, client_key: str = "", since: datetime | None = None, until: datetime | None = None
) -> LockedState:
    """Lock it. Needs the lock of its Participation. `seconds` is what was spent after `since`, up to `until`."""
    stage = assignment.campaign.stage
    params = {
        "assignment": assignment.pk, "key": client_key, "benchmark": stage.benchmark_id, "stage": stage.key,
        "acceptance": stage.acceptance, "since": since, "until": until,
        "stops": stage.coverage.get("stop_when_full") is True,
        "settles": settles_disputes(stage),
    }  # fmt: skip
    return LockedState(*fetch(BEFORE, params)[0])
