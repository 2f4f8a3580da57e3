"""How far a cohort is: answers given of those wanted. The one rule for every page that counts them.

What belongs to items that are withdrawn or dropped is left out, wanted and given alike: what nobody can use any more is
no progress. Reads the tallies, which have all answers, and of the slots only those of such items, so the work does not
grow with the campaign.
"""

# ruff: noqa: S608  (only constants of this file are put into the statements)

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from annotation.models import Campaign, CampaignCohort, Participation
from annotation.queries.recent_rows import RecentRows
from annotation.queries.sql import AVAILABLE
from benchmarks.models import Stage
from jobs.queries.statements import fetch
from people.models import Cohort

# The second condition is that of the index `item_unusable`; the third is the rule.
UNUSABLE = f"""
SELECT s.cohort_id, s.submitted, s.wanted
FROM benchmarks_item i JOIN annotation_unit u ON u.item_id = i.id JOIN annotation_slot s ON s.unit_id = u.id
WHERE i.stage_id IN (SELECT c.stage_id FROM annotation_campaigncohort cc JOIN annotation_campaign c
    ON c.id = cc.campaign_id WHERE cc.id = ANY(%(cohorts)s))
  AND (i.withdrawn_at IS NOT NULL OR i.intake IN ('dropped', 'waiting'))
  AND NOT {AVAILABLE} AND s.cohort_id = ANY(%(cohorts)s)
"""
SUMS = f"""
SELECT cohort_id, sum(submitted), sum(wanted) FROM (
  SELECT cohort_id, submitted, wanted FROM annotation_tally WHERE cohort_id = ANY(%(cohorts)s)
  UNION ALL SELECT cohort_id, -submitted, -wanted FROM ({UNUSABLE}) unusable
) counts GROUP BY cohort_id
"""
OF_COHORT = UNUSABLE.replace("%(cohorts)s", "ARRAY[%(id)s::bigint]")
UNUSABLE_SUMS = RecentRows(f"SELECT coalesce(sum(submitted), 0), coalesce(sum(wanted), 0) FROM ({OF_COHORT}) unusable")


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
    """By campaign cohort; one that was never filled is at nothing of nothing. One query."""
    ids = list(cohort_ids)
    rows = fetch(SUMS, {"cohorts": ids}) if ids else ()
    progress_by_cohort = {cohort: Progress(int(submitted), int(asked)) for cohort, submitted, asked in rows}
    return {cohort: progress_by_cohort.get(cohort, Progress()) for cohort in ids}


def usable_progress(cohort_id: int, tallied: Progress) -> Progress:
    """The same, from the sums of the tallies that the caller has just read. What is left out of them may be as it was
    `PLACE_SECONDS` ago.
    """
    submitted, wanted = UNUSABLE_SUMS.fetch(cohort_id)
    return Progress(tallied.submitted - int(submitted), tallied.wanted - int(wanted))


def cohort_progress(stages: Iterable[Stage]) -> dict[int, dict[Cohort, Progress]]:
    """By stage and cohort, over all opened campaigns that ask people, in the order of the names. Two queries."""
    rows = _asked_rows(stages)
    return _by_stage(rows, progress_of(row.pk for row in rows))


def cohort_progress_and_idle_days(
    stages: Iterable[Stage], at: datetime
) -> tuple[dict[int, dict[Cohort, Progress]], dict[tuple[int, int], int]]:
    """`cohort_progress()`; and by stage and cohort the days without an answer since the campaign opened, where work is
    open and not paused and answers are missing. Three queries."""
    rows = _asked_rows(stages)
    sums = progress_of(row.pk for row in rows)
    chain = _by_stage(rows, sums)
    open_rows = [row for row in rows if not row.paused and not row.cohort.paused_at]
    open_rows = [row for row in open_rows if row.campaign.state == Campaign.State.OPEN]
    seen = Participation.objects.filter(cohort__in=[row.pk for row in open_rows]).order_by().values_list("cohort")
    last_seen = dict(seen.annotate(last=Max("last_seen_at")))
    days: dict[tuple[int, int], int] = {}
    for row in open_rows:
        progress = chain[row.campaign.stage_id][row.cohort]
        since = max(filter(None, (last_seen.get(row.pk), row.campaign.opened_at)), default=None)
        if progress.submitted < progress.wanted and since is not None:
            place = row.campaign.stage_id, row.cohort_id
            days[place] = min(days.get(place, (at - since).days), (at - since).days)
    return chain, days


def _asked_rows(stages: Iterable[Stage]) -> list[CampaignCohort]:
    return list(
        CampaignCohort.objects.filter(campaign__stage__in=[stage.pk for stage in stages if stage.target_answers])
        .filter(target_answers__gt=0)
        .exclude(campaign__opened_at=None)
        .select_related("campaign", "cohort")
    )


def _by_stage(rows: Iterable[CampaignCohort], sums: Mapping[int, Progress]) -> dict[int, dict[Cohort, Progress]]:
    chain: dict[int, dict[Cohort, Progress]] = {}
    for row in sorted(rows, key=lambda row: (row.cohort.name, row.cohort_id)):
        of_stage = chain.setdefault(row.campaign.stage_id, {})
        of_stage[row.cohort] = of_stage.get(row.cohort, Progress()) + sums[row.pk]
    return chain
