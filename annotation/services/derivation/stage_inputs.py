"""Choosing the runs of models whose answers become items of a stage that judges or rates answers."""

from collections.abc import Mapping
from datetime import datetime

from annotation.models import StageInput
from annotation.services.derivation.derived_items import rederive_stage
from annotation.services.derivation.run_choice import ModelRun
from annotation.services.transactions import in_transaction
from benchmarks.models import Stage
from jobs.models import record
from people.models import User

State = StageInput.State


@in_transaction
def choose_runs(stage: Stage, choices: Mapping[ModelRun, bool], actor: User, at: datetime) -> int:
    """Choose these runs (true) or leave them out (false); return how many of them changed.

    Items are made and withdrawn by the worker, in the same way as when an answer comes.
    """
    locked = Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    known = {(row.rater_id, row.run): row.state for row in StageInput.objects.filter(stage=locked)}
    states = {run: State.CHOSEN if chosen else State.LEFT_OUT for run, chosen in choices.items()}
    changed = {run: state for run, state in states.items() if known.get(run) != state}
    StageInput.objects.bulk_create(
        [
            StageInput(stage=locked, rater_id=rater, run=run, state=state, by=actor, at=at)
            for (rater, run), state in changed.items()
        ],
        update_conflicts=True,
        unique_fields=["stage", "rater", "run"],
        update_fields=["state", "by", "at"],
    )
    if changed:
        rederive_stage(locked)
        names = {state: [f"{rater}/{run}" for (rater, run), new in changed.items() if new == state] for state in State}
        record(
            actor,
            "stage.runs_chosen",
            scope=stage.benchmark.scope,
            target=f"stage:{stage.pk}",
            chosen=names[State.CHOSEN],
            left_out=names[State.LEFT_OUT],
        )
    return len(changed)
