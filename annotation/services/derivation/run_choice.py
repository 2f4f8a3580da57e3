"""Which runs of models a derivation reads: those chosen on the stage's page, or all with some prompt variants."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from annotation.models import StageInput
from benchmarks.models import Stage
from people.models import Rater

ModelRun = tuple[int, int]
"""Ids of a model rater and of a run; run 0: answers that came in a file of a campaign."""


@dataclass(frozen=True)
class RunChoice:
    """`settings`: prompt variants whose runs are all read, but for those left out; None where each run is chosen."""

    chosen: frozenset[ModelRun] = frozenset()
    left_out: frozenset[ModelRun] = frozenset()
    settings: frozenset[str] | None = None

    def includes(self, rater: Rater, run: int) -> bool:
        if (rater.pk, run) in self.left_out:
            return False
        return (rater.pk, run) in self.chosen or (self.settings is not None and rater.setting in self.settings)

    def rows(self) -> Q:
        """Annotations of the raters that may be included: fewer than all, no more than that."""
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
