"""How far a cohort is. Reads the tallies, so its work does not grow with the campaign."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.queries.statements import fetch

SUMS = """SELECT cohort_id, sum(submitted), sum(wanted) FROM annotation_tally
          WHERE cohort_id = ANY(%s) GROUP BY cohort_id"""


@dataclass(frozen=True)
class Progress:
    submitted: int = 0
    wanted: int = 0

    @property
    def submitted_text(self) -> str:
        return f"{self.submitted:,}"

    @property
    def target_text(self) -> str:
        return f"{self.wanted:,}"

    @property
    def percent(self) -> float:
        return min(100.0, 100 * self.submitted / self.wanted) if self.wanted else 0.0


def progress_of(cohort_ids: Iterable[int]) -> dict[int, Progress]:
    """By campaign cohort; one that was never filled is at nothing of nothing."""
    ids = list(cohort_ids)
    progress_by_cohort = {
        cohort: Progress(int(submitted), int(asked)) for cohort, submitted, asked in fetch(SUMS, [ids])
    }
    return {cohort: progress_by_cohort.get(cohort, Progress()) for cohort in ids}
