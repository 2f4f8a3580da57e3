"""What the campaign pages show."""

from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign, CampaignCohort, ProblemReport
from annotation.progress import Progress, progress_of
from benchmarks.models import Benchmark

REFUSALS: dict[str, Any] = {
    "no_cohorts": _("No cohort is asked. Make a campaign that asks at least one."),
    "no_items": _("There are no items to show yet. Import some, or choose other conditions."),
    "closes_before_it_opens": _("Its last day is over or lies before the first. Make a copy with other dates."),
    "sheet_wrong": _("The stage's sheet is not complete, so it cannot be frozen."),
    "target_too_small": _("At least one answer is wanted, and at most 1000."),
    "cohort_of_another_team": _("A cohort belongs to another team."),
    "is_draft": _("The campaign has not been opened yet."),
    "is_open": _("The campaign is open already."),
    "is_paused": _("The campaign is paused already."),
    "is_closed": _("The campaign is closed. Make a copy to go on."),
}
LOOKS = {
    Campaign.State.DRAFT: "hollow",
    Campaign.State.OPEN: "ok",
    Campaign.State.PAUSED: "wait",
    Campaign.State.CLOSED: "",
}
PROBLEMS_SHOWN = 50


@dataclass(frozen=True)
class CohortLine:
    row: CampaignCohort
    progress: Progress


@dataclass(frozen=True)
class CampaignLine:
    campaign: Campaign
    look: str
    cohorts: list[CohortLine]


def look_of(campaign: Campaign) -> str:
    return LOOKS[Campaign.State(campaign.state)]


def listed(benchmark: Benchmark) -> list[CampaignLine]:
    """Newest first, each with a ruler per cohort; two queries for all of them, and one for their tallies."""
    campaigns = list(Campaign.objects.filter(stage__benchmark=benchmark).select_related("stage").order_by("-pk"))
    rows = CampaignCohort.objects.filter(campaign__in=campaigns).select_related("cohort").order_by("cohort__label")
    progress = progress_of(row.pk for row in rows)
    by_campaign: dict[int, list[CohortLine]] = {campaign.pk: [] for campaign in campaigns}
    for row in rows:
        by_campaign[row.campaign_id].append(CohortLine(row, progress[row.pk]))
    return [CampaignLine(campaign, look_of(campaign), by_campaign[campaign.pk]) for campaign in campaigns]


@dataclass(frozen=True)
class ProblemLine:
    problem: ProblemReport
    pseudonym: str


def problems_of(benchmark: Benchmark, campaign: Campaign) -> list[ProblemLine]:
    """Unanswered ones first, then the newest."""
    reports = ProblemReport.objects.filter(assignment__campaign=campaign).select_related(
        "assignment__unit__item", "answered_by"
    )
    newest = reports.order_by("-answered_at", "-pk")[:PROBLEMS_SHOWN]  # Postgres puts NULL first when descending
    return [ProblemLine(problem, benchmark.pseudonym(problem.rater_id)) for problem in newest]
