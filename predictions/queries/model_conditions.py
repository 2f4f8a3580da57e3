"""The conditions under which a benchmark asks models: those of its recipe, else each open stage's sheet as it is."""

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import Campaign
from benchmarks.models import Benchmark, Stage
from benchmarks.queries.saved_recipes import recipe_of
from benchmarks.recipes.contract import ModelCondition
from benchmarks.rules.derivations import Derivation, DerivationError
from predictions.prompts import registry
from predictions.prompts.contract import Prompt

SHEET = "sheet"
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


def is_judging(stage: Stage) -> bool:
    """Whether the stage's items are answers of an earlier stage to judge."""
    try:
        derivation = Derivation.from_json(stage.derivation)
    except DerivationError:
        return False
    return derivation is not None and derivation.rules.all_raters


def offered_conditions(benchmark: Benchmark) -> list[OfferedCondition]:
    """In the recipe's order, else in that of the stages. Two queries."""
    stages = {stage.key: stage for stage in benchmark.stages.select_related("benchmark__team")}
    rows = Campaign.objects.filter(stage__benchmark=benchmark, state__in=TAKES_ANSWERS)
    rows = rows.select_related("stage__benchmark__team", "sheet_version").order_by("pk")
    campaigns = {row.stage_id: row for row in rows}
    prompts = {prompt.key: prompt for prompt in registry.PROMPTS}
    return [
        OfferedCondition(
            condition, stages[condition.stage], campaigns.get(stages[condition.stage].pk), prompts.get(condition.prompt)
        )
        for condition in _conditions(benchmark, stages.values())
        if condition.stage in stages
    ]


def _conditions(benchmark: Benchmark, stages: Iterable[Stage]) -> list[ModelCondition]:
    recipe = recipe_of(benchmark)
    if recipe is not None and recipe.model_conditions:
        return list(recipe.model_conditions)
    return [
        ModelCondition(stage.key, {"en": stage.name}, stage.key, SHEET, judge=is_judging(stage)) for stage in stages
    ]
