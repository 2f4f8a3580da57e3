"""What a benchmark's overview says of its campaigns: how far those under way are, and how many problems wait."""

from dataclasses import dataclass

from annotation.models import Campaign, CampaignCohort, ProblemReport
from annotation.queries.file_answer_counts import FileAnswerCounts, count_file_answers
from annotation.queries.progress import Progress, progress_of
from benchmarks.models import Benchmark
from benchmarks.pages.panels import Panel

MOST_CAMPAIGNS = 5
MOST_PROBLEMS = 1000


@dataclass(frozen=True)
class ActiveCampaign:
    campaign: Campaign
    progress: Progress
    file_answers: FileAnswerCounts


@dataclass(frozen=True)
class CampaignSummary:
    """`more` campaigns are under way beside those shown."""

    campaigns: list[ActiveCampaign]
    more: int
    waiting: int


def campaign_summary(benchmark: Benchmark) -> CampaignSummary | None:
    """Four queries, which read tallies, open problems, and of answers only those that came in files."""
    live = (Campaign.State.OPEN, Campaign.State.PAUSED)
    campaigns = list(Campaign.objects.filter(stage__benchmark=benchmark, state__in=live).order_by("-pk"))
    reports = ProblemReport.objects.filter(answered_at=None, assignment__campaign__stage__benchmark=benchmark)
    waiting = reports[:MOST_PROBLEMS].count()
    if not campaigns and not waiting:
        return None
    shown = campaigns[:MOST_CAMPAIGNS]
    cohorts = dict(CampaignCohort.objects.filter(campaign__in=shown).values_list("pk", "campaign_id"))
    submitted, asked = {campaign.pk: 0 for campaign in shown}, {campaign.pk: 0 for campaign in shown}
    for cohort, progress in progress_of(cohorts).items():
        submitted[cohorts[cohort]] += progress.submitted
        asked[cohorts[cohort]] += progress.wanted
    brought = count_file_answers(submitted)
    lines = [
        ActiveCampaign(
            campaign, Progress(submitted[campaign.pk], asked[campaign.pk]), brought.get(campaign.pk, FileAnswerCounts())
        )
        for campaign in shown
    ]
    return CampaignSummary(lines, len(campaigns) - len(shown), waiting)


PANEL = Panel("annotation/overview.html", campaign_summary)
