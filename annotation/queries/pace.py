"""How long people take for an answer."""

from collections.abc import Collection
from dataclasses import dataclass

from jobs.queries.statements import fetch

LEAST_ANSWERS = 20  # from here on the pace of a stage counts as known
PACE = """
SELECT c.stage_id, count(*), percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY an.active_seconds)
FROM annotation_annotation an JOIN annotation_assignment a ON a.id = an.assignment_id
  JOIN annotation_campaign c ON c.id = a.campaign_id
WHERE c.stage_id = ANY(%s) AND an.live AND an.active_seconds > 0 AND a.participation_id IS NOT NULL
GROUP BY c.stage_id HAVING count(*) >= %s
"""


@dataclass(frozen=True)
class StagePace:
    """Active seconds of an answer that people gave on this site: first quartile, median and third quartile of `n`."""

    n: int
    low: float
    median: float
    high: float


def pace_of(stage_ids: Collection[int]) -> dict[int, StagePace]:
    """Return the pace of each stage with at least LEAST_ANSWERS answers. One query."""
    rows = fetch(PACE, [list(stage_ids), LEAST_ANSWERS])
    return {stage: StagePace(n, *quartiles) for stage, n, quartiles in rows}
