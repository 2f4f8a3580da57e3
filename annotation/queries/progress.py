"""How far a cohort is. Reads the tallies, so its work does not grow with the campaign."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import CampaignCohort
from benchmarks.models import Stage
from jobs.queries.statements import fetch
from people.models import Cohort

SUMS = """SELECT cohort_id, sum(submitted), sum(wanted) FROM annotation_tally
          WHERE cohort_id = ANY(%s) GROUP BY cohort_id"""


@dataclass(frozen=True)
class Progress:
    submitted: int = 0
    wanted: int = 0

    def __add__(self, other: "Progress") -> "Progress":
        return Progress(self.submitted + other.submitted, self.wanted + other.wanted)

    @property
    def submitted_text(self) -> str:
        return f"{self.submitted:,}"

    @property
    def target_text(self) -> str:
        return f"{self.wanted:,}"

    @property
    def percent(self) -> float:
        return min(100.0, 100 * self.submitted / self.wanted) if self.wanted else 0.0

    @property
    def twentieths(self) -> int:
        """The height of a bar, for the page's policy allows no style of its own; the last one only if complete."""
        if not self.wanted:
            return 0
        return 20 if self.submitted >= self.wanted else min(19, 20 * self.submitted // self.wanted)


def progress_of(cohort_ids: Iterable[int]) -> dict[int, Progress]:
    """By campaign cohort; one that was never filled is at nothing of nothing."""
    ids = list(cohort_ids)
    progress_by_cohort = {
        cohort: Progress(int(submitted), int(asked)) for cohort, submitted, asked in fetch(SUMS, [ids])
    }
    return {cohort: progress_by_cohort.get(cohort, Progress()) for cohort in ids}


def cohort_progress(stages: Iterable[Stage]) -> dict[int, dict[Cohort, Progress]]:
    """By stage and cohort, over all opened campaigns that ask people, in the order of the names. Two queries."""
    rows = list(
        CampaignCohort.objects.filter(campaign__stage__in=[stage.pk for stage in stages if stage.target_answers])
        .filter(target_answers__gt=0)
        .exclude(campaign__opened_at=None)
        .select_related("campaign", "cohort")
    )
    sums = progress_of(row.pk for row in rows)
    chain: dict[int, dict[Cohort, Progress]] = {}
    for row in sorted(rows, key=lambda row: (row.cohort.name, row.cohort_id)):
        of_stage = chain.setdefault(row.campaign.stage_id, {})
        of_stage[row.cohort] = of_stage.get(row.cohort, Progress()) + sums[row.pk]
    return chain
