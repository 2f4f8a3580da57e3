"""How much each reviewer decides on, and how long answers wait for a decision."""

# ruff: noqa: S608  (only constants are put into the statement)

from dataclasses import dataclass, replace
from datetime import datetime

from annotation.queries.sql import AVAILABLE
from benchmarks.models import Benchmark
from jobs.queries.statements import fetch

# Decisions that stand, and those that a third person's replaced: these were work, too.
DECISIONS = """
SELECT d.reviewer_id, w.name, count(*) FILTER (WHERE d.batch_id IS NULL),
  count(DISTINCT (d.at AT TIME ZONE %(zone)s)::date) FILTER (WHERE d.batch_id IS NULL),
  percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM d.at - a.submitted_at)::float8)
    FILTER (WHERE d.batch_id IS NULL),
  count(*) FILTER (WHERE d.batch_id IS NOT NULL)
FROM annotation_review d
JOIN annotation_annotation a ON a.id = d.annotation_id
JOIN annotation_assignment s ON s.id = a.assignment_id
JOIN annotation_campaign m ON m.id = s.campaign_id
JOIN benchmarks_stage t ON t.id = m.stage_id
JOIN people_user w ON w.id = d.reviewer_id
WHERE t.benchmark_id = %(benchmark)s AND d.at >= %(since)s AND (d.undone_at IS NULL
  OR EXISTS (SELECT FROM annotation_secondreview o WHERE o.first_id = d.id AND o.final_id IS NOT NULL))
GROUP BY d.reviewer_id, w.name
"""
SECONDS = """
SELECT o.reviewer_id, w.name, count(*)
FROM annotation_secondreview o
JOIN annotation_review d ON d.id = o.first_id
JOIN annotation_annotation a ON a.id = d.annotation_id
JOIN annotation_assignment s ON s.id = a.assignment_id
JOIN annotation_campaign m ON m.id = s.campaign_id
JOIN benchmarks_stage t ON t.id = m.stage_id
JOIN people_user w ON w.id = o.reviewer_id
WHERE t.benchmark_id = %(benchmark)s AND o.at >= %(since)s
GROUP BY o.reviewer_id, w.name
"""
WAITING = f"""
SELECT count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM %(at)s - s.changed_at)::float8),
  max(extract(epoch FROM %(at)s - s.changed_at)::float8)
FROM annotation_assignment s
JOIN annotation_annotation a ON a.assignment_id = s.id AND a.live AND a.counted
JOIN people_rater r ON r.id = a.rater_id AND r.kind = 'person'
JOIN annotation_campaign m ON m.id = s.campaign_id
JOIN benchmarks_stage t ON t.id = m.stage_id
JOIN annotation_unit u ON u.id = s.unit_id JOIN benchmarks_item i ON i.id = u.item_id
WHERE t.benchmark_id = %(benchmark)s AND t.acceptance = 'by_review' AND s.state = 'submitted' AND {AVAILABLE}
"""


@dataclass(frozen=True)
class ReviewerPace:
    """One reviewer. `decided`: answers decided on one by one, on `days` different days; `median_wait` in seconds, from
    the submit of an answer to the decision, over these. `together`: answers accepted after a sample. `seconds`: second
    reviews."""

    user_id: int
    name: str
    decided: int = 0
    days: int = 0
    median_wait: float | None = None
    together: int = 0
    seconds: int = 0

    @property
    def per_day(self) -> float | None:
        """Over the days on which this person decided; None where there is none."""
        return self.decided / self.days if self.days else None


@dataclass(frozen=True)
class PresentWait:
    """How long the answers that wait now have waited, in seconds; None where none waits."""

    n: int
    median: float | None
    longest: float | None


def reviewer_paces(benchmark: Benchmark, since: datetime, zone: str) -> list[ReviewerPace]:
    """Reviewers with a decision since then, sorted by name. Two queries."""
    rows = fetch(DECISIONS, {"benchmark": benchmark.pk, "since": since, "zone": zone})
    paces = {row[0]: ReviewerPace(*row) for row in rows}
    for user, name, seconds in fetch(SECONDS, {"benchmark": benchmark.pk, "since": since}):
        paces[user] = replace(paces.get(user) or ReviewerPace(user, name), seconds=seconds)
    return sorted(paces.values(), key=lambda pace: (pace.name, pace.user_id))


def present_wait(benchmark: Benchmark, at: datetime) -> PresentWait:
    [row] = fetch(WAITING, {"benchmark": benchmark.pk, "at": at})
    return PresentWait(*row)
