"""Which runs of models a derivation reads: those chosen on the stage's page, or all with some prompt variants."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from annotation.models import Annotation, StageInput
from benchmarks.models import Stage
from benchmarks.queries.model_conditions import is_judging, named_conditions
from people.models import Rater

ModelRun = tuple[int, int]
"""Ids of a model rater and of a run; run 0: answers that came in a file of a campaign."""


@dataclass(frozen=True)
class RunChoice:
    """`settings`: prompt variants whose runs are all read, but for those left out; None where each run is chosen.

    `every`: all runs of all models are read.
    """

    chosen: frozenset[ModelRun] = frozenset()
    left_out: frozenset[ModelRun] = frozenset()
    settings: frozenset[str] | None = None
    every: bool = False

    def includes(self, rater: Rater, run: int) -> bool:
        if self.every or (rater.pk, run) in self.left_out:
            return self.every
        return (rater.pk, run) in self.chosen or (self.settings is not None and rater.setting in self.settings)

    def rows(self) -> Q:
        """Annotations of the raters that may be included: fewer than all, no more than that."""
        if self.every:
            return Q()
        raters = Q(rater__in={rater for rater, _run in self.chosen})
        return raters if self.settings is None else raters | Q(rater__setting__in=self.settings)


def run_choice(stage: Stage, params: Mapping[str, Any]) -> RunChoice:
    """The choice of a stage whose derivation has these params."""
    rows = StageInput.objects.filter(stage=stage).values_list("rater", "run", "state")
    runs = params.get("runs", "chosen")
    return RunChoice(
        chosen=frozenset((rater, run) for rater, run, state in rows if state == StageInput.State.CHOSEN),
        left_out=frozenset((rater, run) for rater, run, state in rows if state == StageInput.State.LEFT_OUT),
        settings=frozenset(runs["settings"]) if isinstance(runs, Mapping) else None,
    )


def stages_without_choice(stages: Iterable[Stage]) -> list[Stage]:
    """Of these stages those whose items come of answers of chosen runs, and for which no run is chosen yet; those that
    people's answers reach need none."""
    wanting = [stage for stage in stages if needs_choice(stage)]
    rows = StageInput.objects.filter(stage__in=wanting, state=StageInput.State.CHOSEN) if wanting else ()
    chosen = {row.stage_id for row in rows}
    return [stage for stage in wanting if stage.pk not in chosen]


def needs_choice(stage: Stage) -> bool:
    """Whether the stage's items are answers of models alone, of runs that somebody chooses on its page."""
    if not is_judging(stage):
        return False
    params = stage.derivation.get("params", {})
    return bool(params.get("runs", "chosen") == "chosen" and params.get("people", "none") == "none")


def judges_models(stage: Stage) -> bool:
    """Whether answers of models are to be items of the stage, alone or beside those of people."""
    if not is_judging(stage):
        return False
    return isinstance(stage.derivation.get("params", {}).get("runs"), Mapping) or needs_choice(stage)


def prompt_variants(earlier: Sequence[Stage]) -> list[str]:
    """Prompt variants that models answer these stages with: those of the recipe, then others that answered."""
    keys, benchmarks = {stage.key for stage in earlier}, {stage.benchmark_id: stage.benchmark for stage in earlier}
    conditions = [row for _key, benchmark in sorted(benchmarks.items()) for row in named_conditions(benchmark)]
    planned = [condition.setting for condition in conditions if condition.stage in keys]
    answers = Annotation.objects.filter(assignment__campaign__stage__in=earlier, live=True, rater__kind="model")
    answered = answers.order_by().values_list("rater__setting", flat=True).distinct()
    return list(dict.fromkeys([*planned, *sorted(answered)]))
