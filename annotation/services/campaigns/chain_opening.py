"""Open all stages of a benchmark at once: one campaign for each, for the same cohorts, in one transaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from annotation.models import Campaign, CampaignCohort
from annotation.queries.board_counts import opened_for_models
from annotation.services.campaigns import lifecycle
from annotation.services.campaigns.lifecycle import CampaignRefused
from annotation.services.files.campaigns import open_for_imports
from annotation.services.sheets.stages import blocking_problems
from annotation.services.transactions import in_transaction
from benchmarks.models import Benchmark, Stage
from people.models import Cohort, User

RUNNING = (Campaign.State.OPEN, Campaign.State.PAUSED)


@dataclass(frozen=True)
class StageOpening:
    """What is wanted of one stage. `targets`: answers for each item, by the id of the cohort; where all are 0, people
    are not asked, and the stage opens for models and imports."""

    stage_id: int
    targets: Mapping[int, int]
    opens_on: date | None = None
    closes_on: date | None = None


@dataclass(frozen=True)
class OpenedChain:
    """What an opening changed: new campaigns, and cohorts that joined a campaign that was open before."""

    campaigns: list[Campaign] = field(default_factory=list)
    joined: list[CampaignCohort] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        return bool(self.campaigns or self.joined)


@dataclass(frozen=True)
class StageRefusal:
    """Why a stage cannot open. `reasons` are codes or sentences, as of CampaignRefused."""

    stage: Stage
    reasons: Sequence[str]


class ChainRefused(Exception):
    """Nothing was opened: every stage that cannot open, each with all its reasons."""

    def __init__(self, refusals: Sequence[StageRefusal]) -> None:
        super().__init__("; ".join(f"{refusal.stage.key}: {', '.join(refusal.reasons)}" for refusal in refusals))
        self.refusals = list(refusals)


def running_campaigns(benchmark: Benchmark) -> dict[int, Campaign]:
    """Return the campaign of each stage that is open or paused, by the stage's id; the newest of several."""
    rows = Campaign.objects.filter(stage__benchmark=benchmark, state__in=RUNNING).order_by("pk")
    return {campaign.stage_id: campaign for campaign in rows.select_related("stage__benchmark")}


@in_transaction
def open_chain(benchmark: Benchmark, openings: Sequence[StageOpening], actor: User | None, at: datetime) -> OpenedChain:
    """Open what is missing of these stages, in their order. Raises ChainRefused.

    A stage without a running campaign gets one, also before it has items: they are imported or derived later. Cohorts
    that a running campaign does not ask join it. What is there already keeps its targets and dates.
    """
    Benchmark.objects.select_for_update(of=("self",), no_key=True).get(pk=benchmark.pk)  # orders two presses
    stages = {stage.pk: stage for stage in benchmark.stages.select_related("benchmark")}
    cohorts = {cohort.pk: cohort for cohort in Cohort.objects.filter(team=benchmark.team_id)}
    running, chain, refusals = running_campaigns(benchmark), OpenedChain(), []
    for opening in openings:
        try:
            targets = _targets_by_cohort(opening, cohorts)
            if opening.stage_id in running:
                chain.joined.extend(_add_cohorts(running[opening.stage_id], targets, actor))
            elif targets:
                chain.campaigns.append(_open(stages[opening.stage_id], targets, opening, actor, at))
        except CampaignRefused as refused:
            refusals.append(StageRefusal(stages[opening.stage_id], refused.reasons))
    if refusals:
        raise ChainRefused(refusals)
    return chain


def _targets_by_cohort(opening: StageOpening, cohorts: Mapping[int, Cohort]) -> dict[Cohort, int]:
    """Of those that are asked; of all where none is, for the stage then opens for models and imports."""
    if not opening.targets.keys() <= cohorts.keys():
        raise CampaignRefused(["cohort_of_another_team"])
    asked = {pk: target for pk, target in opening.targets.items() if target} or opening.targets
    return {cohorts[pk]: target for pk, target in asked.items()}


def _open(
    stage: Stage, targets: Mapping[Cohort, int], opening: StageOpening, actor: User | None, at: datetime
) -> Campaign:
    blocking = [str(problem) for problem in blocking_problems(stage)]
    if blocking:  # in words, where the refusal of a new campaign would say only that the sheet is wrong
        raise CampaignRefused(blocking)
    campaign = lifecycle.create(
        stage, stage.name, actor, _at_least_one(targets), opens_on=opening.opens_on, closes_on=opening.closes_on
    )
    if any(targets.values()):
        lifecycle.open_campaign(campaign, actor, at, may_be_empty=True)
    else:
        open_for_imports(campaign, actor, at)
    return campaign


def _at_least_one(targets: Mapping[Cohort, int]) -> dict[Cohort, int]:
    """What each cohort would be asked for if the campaign were opened for people."""
    return {cohort: max(1, target) for cohort, target in targets.items()}


def _add_cohorts(campaign: Campaign, targets: Mapping[Cohort, int], actor: User | None) -> list[CampaignCohort]:
    """A cohort that is asked for nothing joins only a campaign in which nobody is given work."""
    if not any(targets.values()) and not opened_for_models([campaign], campaign.stage.benchmark.scope):
        return []
    asked = set(campaign.cohorts.values_list("cohort", flat=True))
    missing = [(cohort, target) for cohort, target in _at_least_one(targets).items() if cohort.pk not in asked]
    return [lifecycle.add_cohort(campaign, cohort, target, actor) for cohort, target in missing]
