"""Plan sets: several models asked under several conditions, opened together, with one budget for all their runs.

Locks: the team's row, then the set's, then its runs' in the order of their ids.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from benchmarks.models import Benchmark
from jobs.models import record
from jobs.queries.read_once import rows_read_once
from people.models import Team, User
from predictions.models import Call, PlanSet, Run
from predictions.services.runs import answer_runs, plans
from predictions.services.runs.answer_runs import RunRefused
from predictions.services.runs.engine.claim import reset_calls
from predictions.services.runs.plans import MOST_SECONDS, CostEstimate, RunPlan

MOST_RUNS = 100
State = Run.State


@dataclass(frozen=True)
class PlannedRun:
    """A model under a condition. `confirmed`: how many of its units cannot be asked, as the one who starts it was
    shown. `fixed`: the options that the condition sets."""

    plan: RunPlan
    condition: str = ""
    confirmed: int = 0
    fixed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RunOutlook:
    """What becomes of a planned run: `existing`, where there is one already; `refused`, where it cannot be opened,
    perhaps because of another run (`held_by`); else what it asks and costs."""

    planned: PlannedRun
    existing: Run | None = None
    refused: str = ""
    estimate: CostEstimate | None = None
    held_by: Run | None = None

    @property
    def missing(self) -> int:
        """Units that cannot be asked."""
        return sum(self.estimate.missing_input.values()) if self.estimate else 0


def outlook(planned: Sequence[PlannedRun], budget: Decimal | None, at: datetime) -> list[RunOutlook]:
    """What each run would ask and cost, with nothing written and nothing sent. Prices, and the item that tells which
    prompts fit, are read once for all runs of an endpoint and of a campaign."""
    new = max(1, len(planned))
    with rows_read_once():
        return [_outlook(each, budget, at, MOST_SECONDS / new) for each in planned]


def _outlook(planned: PlannedRun, budget: Decimal | None, at: datetime, most_seconds: float) -> RunOutlook:
    plan = planned.plan
    if run := plans.existing_run(plan):
        others = {key: run.prompt_options.get(key) for key in planned.fixed}
        if others == dict(planned.fixed):
            return RunOutlook(planned, existing=run)
        return RunOutlook(planned, refused=_other_options(others), held_by=run)
    try:
        if budget is not None:
            answer_runs.check_price(plan.endpoint, plan.model, at)
        return RunOutlook(planned, estimate=answer_runs.check_plan(plan, at, most_seconds))
    except RunRefused as refused:
        return RunOutlook(planned, refused=str(refused))


def _other_options(options: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{key}: {value}" for key, value in options.items())
    text = _("This was not asked: the model's run here has other options (%(options)s). Withdraw that run first.")
    return text % {"options": shown[:200]}


def confirmed_runs(outlooks: Sequence[RunOutlook]) -> list[PlannedRun]:
    """Those that can be opened, each with the number of its units that cannot be asked, which the outlook showed."""
    chosen = [each for each in outlooks if not each.refused]
    return [replace(each.planned, confirmed=each.missing) for each in chosen]


@transaction.atomic
def start(
    benchmark: Benchmark, planned: Sequence[PlannedRun], budget: Decimal | None, seed: int, actor: User, at: datetime
) -> PlanSet | None:
    """Open the runs that are missing, all or none. Return None where there are all of them already.

    Raises RunRefused, and answer_runs.Unconfirmed where other units cannot be asked than those confirmed.
    """
    Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
    missing = [each for each in planned if plans.existing_run(each.plan) is None]
    if not missing:
        return None
    _check(missing, budget, at)
    plan_set = PlanSet.objects.create(benchmark=benchmark, budget=budget, seed=seed, created_by=actor)
    for each in missing:
        try:
            answer_runs.open_run(each.plan, actor, at, each.confirmed, plan_set)
        except RunRefused as refused:
            name, setting = each.plan.rater_name
            raise type(refused)(f"{name} · {setting or each.plan.prompt.key}: {refused}") from refused
    _event(plan_set, actor, "plan_set.started", runs=len(missing), budget=None if budget is None else str(budget))
    return plan_set


def set_of(planned: Sequence[PlannedRun]) -> PlanSet | None:
    """The newest set that one of these runs belongs to."""
    runs = [run for each in planned if (run := plans.existing_run(each.plan)) and run.plan_set_id]
    return max((run.plan_set for run in runs if run.plan_set), key=lambda row: row.pk, default=None)


def _check(planned: Sequence[PlannedRun], budget: Decimal | None, at: datetime) -> None:
    if len(planned) > MOST_RUNS:
        raise RunRefused(_("One plan has at most %(most)s runs. Start some of them first.") % {"most": MOST_RUNS})
    names = [(each.plan.campaign.pk, *each.plan.rater_name) for each in planned]
    if len(set(names)) < len(names):
        raise RunRefused(_("A model has the same condition twice. Remove one of the two rows."))
    if budget is None:
        return
    if budget <= 0:
        raise RunRefused(_("Give a budget above 0, or none."))
    for each in planned:
        answer_runs.check_price(each.plan.endpoint, each.plan.model, at)


def pause(plan_set: PlanSet, actor: User, at: datetime) -> int:
    """Return how many runs were paused; requests in flight are still read. Raises RunRefused."""
    with _locked(plan_set) as (row, runs):
        if row.state != PlanSet.State.RUNNING:
            raise RunRefused(_("The plan set is not running now."))
        _set_state(plan_set, PlanSet.State.PAUSED, actor, "plan_set.paused")
        return _for_each(runs, lambda run: answer_runs.pause(run, actor, at), State.RUNNING)


def resume(plan_set: PlanSet, actor: User, at: datetime) -> int:
    """Go on with every run that is paused; return how many. Raises RunRefused where none can go on."""
    with _locked(plan_set) as (row, runs):
        if row.state == PlanSet.State.CANCELLED:
            raise RunRefused(_("The plan set was stopped. Plan a new one for what is missing."))
        _set_state(plan_set, PlanSet.State.RUNNING, actor, "plan_set.resumed")
        refusals: list[str] = []
        n = _for_each(runs, lambda run: answer_runs.resume(run, actor, at), State.PAUSED, refusals=refusals)
        n += _for_each(runs, lambda run: _start_waiting(run, actor), State.DONE, State.FAILED)
        if refusals and not n:
            raise RunRefused(refusals[0])
        return n


def retry_failed(plan_set: PlanSet, actor: User, at: datetime) -> int:
    """Ask again what failed in the runs of the set, where a retry can change it; return how many calls. What was read,
    and what a person paused or stopped, stays as it is. Raises RunRefused where nothing can be asked again."""
    with _locked(plan_set) as (row, runs):
        if row.state == PlanSet.State.CANCELLED:
            raise RunRefused(_("The plan set was stopped. Plan a new one for what is missing."))
        if row.state == PlanSet.State.PAUSED:
            raise RunRefused(_("The plan set is paused. Resume it first."))
        counts: list[int] = []
        refusals: list[str] = []
        asked = [run for run in runs if is_retried(run)]
        _for_each(asked, lambda run: counts.append(answer_runs.retry_failed(run, actor, at)), refusals=refusals)
        if not sum(counts):
            none = _("A retry would not change any of these calls. The page of each run says why they have no answer.")
            raise RunRefused(refusals[0] if refusals else none)
        _event(row, actor, "plan_set.retried", calls=sum(counts))
        return sum(counts)


def is_retried(run: Run) -> bool:
    """Whether *Retry failed* takes this run: not one that was stopped, or that a person or the budget holds back."""
    return run.state in (State.RUNNING, State.DONE, State.FAILED) or (
        run.state == State.PAUSED and run.stopped_because not in ("person", "budget")
    )


def _start_waiting(run: Run, actor: User) -> None:
    """Go on with a run that got calls while its set was paused. Raises RunRefused where it got none."""
    if not Call.objects.filter(run=run, state=Call.State.PENDING).exists():
        raise RunRefused(_("There is nothing to resume here."))
    answer_runs.start_job(answer_runs.lock_run(run), actor)


def cancel(plan_set: PlanSet, actor: User, at: datetime) -> int:
    """Stop every run for good; what was answered stays, and counts. Return how many were stopped. Raises RunRefused."""
    with _locked(plan_set) as (row, runs):
        if row.state == PlanSet.State.CANCELLED:
            raise RunRefused(_("The plan set was stopped already."))
        _set_state(plan_set, PlanSet.State.CANCELLED, actor, "plan_set.cancelled")
        Run.objects.filter(plan_set=plan_set).update(follows=False)
        return _for_each(runs, lambda run: answer_runs.stop(run, actor, at), State.RUNNING, State.PAUSED)


def raise_budget(plan_set: PlanSet, budget: Decimal, actor: User, at: datetime) -> int:
    """What waited for money is asked; return how many runs go on. Raises RunRefused."""
    with _locked(plan_set) as (row, runs):
        if row.state == PlanSet.State.CANCELLED:
            raise RunRefused(_("The plan set was stopped. Plan a new one for what is missing."))
        if row.budget is not None and budget <= row.budget:
            raise RunRefused(_("The budget is $%(budget)s. Give more than that.") % {"budget": f"{row.budget:f}"})
        if row.budget is None:
            raise RunRefused(_("This plan set has no budget, so nothing waits for one."))
        PlanSet.objects.filter(pk=row.pk).update(budget=budget)
        _event(row, actor, "plan_set.budget_raised", old=str(row.budget), new=str(budget))
        plan_set.budget = budget
        waiting = [run for run in runs if run.state == State.PAUSED and run.stopped_because == "budget"]
        for run in runs:
            if run.withdrawn_at is None and run.state != State.CANCELLED:
                reset_calls(Call.objects.filter(run=run, state=Call.State.OVER_BUDGET))
        if row.state == PlanSet.State.PAUSED:
            return 0
        return _for_each(waiting, lambda run: answer_runs.resume(run, actor, at), State.PAUSED)


@contextmanager
def _locked(plan_set: PlanSet) -> Iterator[tuple[PlanSet, list[Run]]]:
    """A transaction that holds the set's row: it as it is now, and its runs."""
    with transaction.atomic():
        row = PlanSet.objects.select_for_update(no_key=True, of=("self",)).select_related("benchmark").get(
            pk=plan_set.pk
        )  # fmt: skip
        runs = Run.objects.filter(plan_set=row, withdrawn_at=None).select_related("plan_set").order_by("pk")
        yield row, list(runs)


def _for_each(runs: Sequence[Run], act: Callable[[Run], None], *states: str, refusals: list[str] | None = None) -> int:
    """Do it with the runs in these states, or with all; return for how many it was done. What one refuses keeps no
    other back."""
    n = 0
    for run in runs:
        if states and run.state not in states:
            continue
        try:
            with transaction.atomic():
                act(run)
            n += 1
        except RunRefused as refused:
            if refusals is not None:
                refusals.append(str(refused))
    return n


def _set_state(plan_set: PlanSet, state: str, actor: User, verb: str) -> None:
    PlanSet.objects.filter(pk=plan_set.pk).update(state=state)
    plan_set.state = state
    _event(plan_set, actor, verb)


def _event(plan_set: PlanSet, actor: User, verb: str, **data: Any) -> None:
    record(actor, verb, scope=plan_set.benchmark.scope, target=f"plan_set:{plan_set.pk}", **data)
