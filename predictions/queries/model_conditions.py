"""The conditions under which a benchmark asks models, with the campaigns and prompts that they need."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Campaign
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.model_conditions import model_conditions
from benchmarks.recipes.contract import ModelCondition
from predictions.prompts import registry
from predictions.prompts.contract import Prompt

TAKES_ANSWERS = (Campaign.State.OPEN, Campaign.State.PAUSED)


@dataclass(frozen=True)
class OfferedCondition:
    """A condition of a benchmark. `campaign`: the newest of its stage that takes answers; None where no one is open.
    `prompt`: None where this site has no such prompt."""

    condition: ModelCondition
    stage: Stage
    campaign: Campaign | None
    prompt: Prompt | None

    @property
    def is_ready(self) -> bool:
        """Whether models can be asked under it now."""
        return self.campaign is not None and self.prompt is not None


def condition_names(offers: Sequence[OfferedCondition]) -> dict[str, Mapping[str, str]]:
    """By key and language; with the stage where several have one name."""
    counts = Counter(offer.condition.name.get("en", "") for offer in offers)
    return {
        offer.condition.key: offer.condition.name
        if counts[offer.condition.name.get("en", "")] < 2
        else {language: f"{name} ({offer.stage.name})" for language, name in offer.condition.name.items()}
        for offer in offers
    }


def offered_conditions(benchmark: Benchmark) -> list[OfferedCondition]:
    """In the order of the chain. Three queries."""
    stages = {stage.key: stage for stage in benchmark.stages.select_related("benchmark__team")}
    rows = Campaign.objects.filter(stage__benchmark=benchmark, state__in=TAKES_ANSWERS)
    rows = rows.select_related("stage__benchmark__team", "sheet_version").order_by("pk")
    campaigns = {row.stage_id: row for row in rows}
    prompts = {prompt.key: prompt for prompt in registry.PROMPTS}
    return [
        OfferedCondition(
            condition, stages[condition.stage], campaigns.get(stages[condition.stage].pk), prompts.get(condition.prompt)
        )
        for condition in model_conditions(benchmark, stages.values())
    ]
