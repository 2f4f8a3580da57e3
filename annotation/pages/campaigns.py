"""What the campaign pages show."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import Campaign, CampaignCohort, ProblemReport
from annotation.queries.answers import is_of_withdrawn
from annotation.queries.board_counts import opened_for_models
from annotation.queries.file_answer_counts import FileAnswerCounts, count_file_answers
from annotation.queries.progress import Progress, progress_of
from annotation.services.queue.slot_creation import items_for
from annotation.services.sheets.sheet_versions import published_number
from benchmarks.models import Benchmark

REFUSALS: dict[str, Any] = {
    "no_cohorts": _("No cohort is selected. Create a campaign for at least one cohort."),
    "no_items": _("There are no items to show yet. Import some, or choose other conditions."),
    "closes_before_it_opens": _(
        "Its last day has passed or is before the first day. Copy the campaign with other dates."
    ),
    "sheet_wrong": _("The sheet is incomplete. Complete it under Stages, then open the campaign."),
    "rule_wrong": _("The acceptance rule of the stage has an error. Correct it under Stages."),
    "target_in_all": _("The cohorts share the answers to each item. Close the campaign, and create one with more."),
    "target_too_small": _("At least one answer is wanted, and at most 1000."),
    "limit_too_small": _("A limit is a number from 1 to 100,000. Leave it empty for no limit."),
    "pack_hours_wrong": _("Items are kept for a whole number of hours, at most 168. Enter 0 to offer none."),
    "cohort_of_another_team": _("A cohort belongs to another team."),
    "cohort_is_asked": _("The cohort is asked in this campaign already."),
    "is_draft": _("The campaign has not been opened yet."),
    "is_open": _("The campaign is open already."),
    "is_paused": _("The campaign is paused already."),
    "is_closed": _("The campaign is closed. Copy the campaign to continue."),
}
LOOKS = {
    Campaign.State.DRAFT: "hollow",
    Campaign.State.OPEN: "ok",
    Campaign.State.PAUSED: "wait",
    Campaign.State.CLOSED: "",
}
PROBLEMS_SHOWN = 50


@dataclass(frozen=True)
class CohortRow:
    """`items`: how many it would be asked about; None once the campaign was opened."""

    row: CampaignCohort
    progress: Progress
    items: int | None = None


@dataclass(frozen=True)
class ProblemCounts:
    """How many were reported in a campaign, and how many of them wait for an answer."""

    all: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class CampaignRow:
    campaign: Campaign
    style: str
    cohorts: list[CohortRow]
    problems: ProblemCounts
    brought: FileAnswerCounts
    for_models: bool = False

    @property
    def state(self) -> str:
        return state_label(self.campaign, for_models=self.for_models)


def sheet_version_text(campaign: Campaign) -> str:
    """The version of the stage that has the campaign's sheet, as the pages of the stage number it."""
    frozen = str(campaign.sheet_version)
    number = published_number(campaign.stage, campaign.sheet_version)
    if number is None:
        return gettext("version %(number)s") % {"number": frozen}
    return gettext("version %(number)s (%(frozen)s in filters and exports)") % {"number": number, "frozen": frozen}


def chip_style(campaign: Campaign) -> str:
    return LOOKS[Campaign.State(campaign.state)]


def state_label(campaign: Campaign, *, for_models: bool = False) -> str:
    """A draft that was given up is closed like any other, and one that is open for models is paused for people; the
    page says which it is."""
    if for_models:
        return str(_("Open for models and imports"))
    if campaign.state == Campaign.State.CLOSED and campaign.opened_at is None:
        return str(_("Discarded draft"))
    return str(campaign.get_state_display())


def count_target_items(campaign: Campaign, cohorts: Sequence[CampaignCohort]) -> dict[int, int]:
    """How many items a campaign would ask each cohort about, by its id; empty once it was opened, since then the
    tallies say it."""
    return items_for(campaign, cohorts) if campaign.opened_at is None else {}


def problem_counts(campaigns: Iterable[Campaign]) -> dict[int, ProblemCounts]:
    rows = ProblemReport.objects.filter(assignment__campaign__in=list(campaigns)).values("assignment__campaign")
    counted = rows.annotate(all=Count("pk"), waiting=Count("pk", filter=Q(answered_at=None)))
    return {row["assignment__campaign"]: ProblemCounts(row["all"], row["waiting"]) for row in counted}


def campaign_rows(benchmark: Benchmark) -> list[CampaignRow]:
    """Newest first, each with a ruler per cohort; as many queries for all as for one, and one more for each draft."""
    campaigns = list(Campaign.objects.filter(stage__benchmark=benchmark).select_related("stage").order_by("-pk"))
    rows = CampaignCohort.objects.filter(campaign__in=campaigns).select_related("cohort").order_by("cohort__label")
    progress = progress_of(row.pk for row in rows)
    by_campaign: dict[int, list[CohortRow]] = {campaign.pk: [] for campaign in campaigns}
    of_campaign: dict[int, list[CampaignCohort]] = {campaign.pk: [] for campaign in campaigns}
    for row in rows:
        of_campaign[row.campaign_id].append(row)
    for campaign in campaigns:
        items = count_target_items(campaign, of_campaign[campaign.pk])
        lines = [CohortRow(row, progress[row.pk], items.get(row.pk)) for row in of_campaign[campaign.pk]]
        by_campaign[campaign.pk] = lines
    problems, brought = problem_counts(campaigns), count_file_answers(benchmark)
    for_models = opened_for_models(campaigns, benchmark.scope)
    return [
        CampaignRow(
            campaign=shown_campaign,
            style="ok" if shown_campaign.pk in for_models else chip_style(shown_campaign),
            cohorts=[] if shown_campaign.pk in for_models else by_campaign[shown_campaign.pk],
            for_models=shown_campaign.pk in for_models,
            problems=problems.get(shown_campaign.pk, ProblemCounts()),
            brought=brought.get(shown_campaign.pk, FileAnswerCounts()),
        )
        for shown_campaign in campaigns
    ]


@dataclass(frozen=True)
class ProblemRow:
    """`pseudonym` is empty where the author withdrew their consent."""

    problem: ProblemReport
    pseudonym: str


def problem_rows(benchmark: Benchmark, campaign: Campaign) -> list[ProblemRow]:
    """Unanswered ones first, then the newest."""
    reports = ProblemReport.objects.filter(assignment__campaign=campaign).select_related(
        "assignment__unit__item", "answered_by"
    )
    reports = reports.annotate(nameless=is_of_withdrawn(benchmark.team_id))
    newest = reports.order_by("-answered_at", "-pk")[:PROBLEMS_SHOWN]  # Postgres puts NULL first when descending
    return [ProblemRow(row, "" if row.nameless else benchmark.pseudonym(row.rater_id)) for row in newest]
