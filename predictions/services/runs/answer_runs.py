"""Runs of answers: a model asked about the units of a campaign. Opened, paused, gone on with, withdrawn. What asks is
a job; see predictions.services.runs.engine and docs/explanation/runs.md."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import AnswerDestination, MixedSources
from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from people.models import Rater, Team, User
from people.services.raters import models_of
from predictions.models import Call, Endpoint, PlanSet, Run
from predictions.prompts import registry
from predictions.queries.compatible_prompts import is_compatible
from predictions.services.endpoints import endpoints
from predictions.services.runs import plans
from predictions.services.runs.asked_about import AskedAboutRefused, check, nothing_reason
from predictions.services.runs.engine.budgets import Rates
from predictions.services.runs.engine.claim import reset_calls
from predictions.services.runs.engine.write import stop_pending
from predictions.services.runs.plans import CostEstimate, RunPlan, UnitPreview
from predictions.services.runs.repeatable_calls import retryable
from predictions.services.runs.unanswered_calls import mark_run_due
from predictions.services.runs.unit_selection import (
    ItemTarget,
    later_spots,
    make_calls,
    pinned_selection,
    sample_facts,
    select_item_targets,
)
from predictions.texts.call_reasons import no_input_reason

__all__ = ["CostEstimate", "RunPlan", "RunRefused", "UnitPreview", "estimate", "open_run", "preview"]

KIND, REREAD = "answer_run", "answer_reread"
State = Run.State
FAILED = (Call.State.FAILED,)
MOST_REPEATS = 50


class RunRefused(Exception):
    """What was asked for cannot be done; the message says what to do."""


class Unconfirmed(RunRefused):
    """Some units cannot be asked, and nobody has confirmed how many."""


def estimate(plan: RunPlan) -> CostEstimate:
    """What it would ask and cost. Raises RunRefused."""
    _options(plan)
    _check_asked_about(plan)
    return plans.estimate(plan)


def preview(plan: RunPlan, number: int = 0) -> UnitPreview:
    """What would be sent for the `number`-th unit. Raises RunRefused."""
    _options(plan)
    _check_asked_about(plan)
    try:
        return plans.preview(plan, number)
    except plans.NothingToAsk:
        reason = nothing_reason(plan.campaign, plan.selection)
        raise RunRefused(reason or _("No items match. Remove a filter.")) from None


def check_plan(plan: RunPlan, at: datetime, most_seconds: float = plans.MOST_SECONDS) -> CostEstimate:
    """What it would ask and cost, if it can be opened: `open_run` may still meet another number of units. Raises
    RunRefused."""
    _check(plan, at)
    _check_rater(plan, _known_rater(plan))
    looked = plans.estimate(plan, most_seconds, at)
    reason = no_input_reason(looked.units, looked.missing_input) if looked.units else _nothing_reason(plan, 0)
    if reason:
        raise RunRefused(reason)
    return looked


def _nothing_reason(plan: RunPlan, units: int) -> str:
    """Why no run can be opened over so many units; empty where one can."""
    if units or plan.follows:
        return ""
    return nothing_reason(plan.campaign, plan.selection) or _("No items match. Remove a filter.")


def _options(plan: RunPlan) -> None:
    for problem in registry.problems_of(plan.prompt, plan.options):
        words = {
            "unknown_place": _(
                "“%(option)s”: the placeholder {%(place)s} has no value. Remove it, or correct its name."
            ),
            "missing_place": _("“%(option)s”: {%(place)s} is missing, and the prompt needs it."),
            "blank": _("“%(option)s” holds white space only. Write a text, or leave it out: then ours is sent."),
        }.get(problem.code, _("“%(option)s” cannot be used as it is (%(code)s)."))
        raise RunRefused(words % {"option": problem.option, "place": problem.place, "code": problem.code})


def _check_asked_about(plan: RunPlan) -> None:
    try:
        check(plan.campaign, plan.selection)
    except AskedAboutRefused as refused:
        raise RunRefused(str(refused)) from refused


def _check(plan: RunPlan, at: datetime) -> None:
    _options(plan)
    _check_asked_about(plan)
    campaign = plan.campaign
    if plan.endpoint.team_id != campaign.stage.benchmark.team_id or plan.endpoint.retired_at:
        raise RunRefused(_("This endpoint was retired. Choose another one."))
    if campaign.state == Campaign.State.DRAFT:
        raise RunRefused(_("The campaign is a draft, so its questions may still change. Open it first."))
    if campaign.state == Campaign.State.CLOSED:
        raise RunRefused(_("The campaign is closed, so no answer would count. Copy the campaign to continue."))
    if not is_compatible(campaign, plan.prompt, plan.endpoint, may_be_empty=plan.follows):
        raise RunRefused(_("This prompt does not fit the sheet of the campaign and the endpoint. Choose another one."))
    if not plan.model.strip():
        raise RunRefused(_("Name the model, as the endpoint calls it."))
    if not 1 <= plan.repeats <= MOST_REPEATS:
        raise RunRefused(_("Choose 1 to %(most)s requests per item.") % {"most": MOST_REPEATS})
    if plan.budget is not None:
        if plan.budget <= 0:
            raise RunRefused(_("Give a budget above 0, or none."))
        check_price(plan.endpoint, plan.model, at)


def check_price(endpoint: Endpoint, model: str, at: datetime) -> None:
    """Raises RunRefused where nobody has said what the model costs."""
    _prices, row = endpoints.price_of(endpoint, model, at)
    if not Rates.of(row).known:
        words = _("This model has no price, so a budget cannot be checked. Add its price, or run without a budget.")
        raise RunRefused(words)


def _check_input(plan: RunPlan, spots: Sequence[ItemTarget], confirmed: int) -> None:
    missing = plans.missing_input(plan, spots)
    if reason := no_input_reason(len(spots), missing.counts):
        raise RunRefused(reason)
    if missing.n != confirmed:
        text = _("%(n)s of %(units)s items cannot be sent. Confirm the number to send the others, or edit the plan.")
        raise Unconfirmed(text % {"n": f"{missing.n:,}", "units": f"{len(spots):,}"})


def open_run(
    plan: RunPlan,
    actor: User,
    at: datetime,
    confirmed: int = 0,
    plan_set: PlanSet | None = None,
    *,
    starts: bool = True,
) -> Run:
    """Start asking; without `starts` all is made but the job that asks. `confirmed`: how many units cannot be asked, as
    the one who starts it was shown. Raises RunRefused; Unconfirmed where that is another number."""
    _check(plan, at)
    benchmark = plan.campaign.stage.benchmark
    spots = select_item_targets(plan.campaign, plan.selection, plan.seed)
    if reason := _nothing_reason(plan, len(spots)):
        raise RunRefused(reason)
    if spots:
        _check_input(plan, spots, confirmed)
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        run = _make(plan, _rater(plan), spots, actor, at, plan_set)
        calls = make_calls(run, spots)
        record_event(
            run, actor, "run.opened", model=plan.model, prompt=plan.prompt.key, calls=calls, repeats=plan.repeats
        )
        if starts:
            start_job(run, actor)
        else:
            Run.objects.filter(pk=run.pk).update(state=State.DRAFT, started_at=None)
            run.state, run.started_at = State.DRAFT, None
    return run


def _rater(plan: RunPlan) -> Rater:
    """Who answers. Needs the team's row. Raises RunRefused where it has other answers here."""
    rater = models_of(plan.team, [plan.rater_name])[plan.rater_name]
    _check_rater(plan, rater)
    return rater


def _known_rater(plan: RunPlan) -> Rater | None:
    name, setting = plan.rater_name
    rows = Rater.objects.filter(team=plan.team, kind=Rater.Kind.MODEL, name=name, setting=setting)
    return rows.order_by("-pk").first()


def _check_rater(plan: RunPlan, rater: Rater | None) -> None:
    """Raises RunRefused where the rater has other answers in the campaign, or is another model elsewhere."""
    if rater is None:
        return
    name = plan.rater_name
    if Run.objects.filter(campaign=plan.campaign, rater=rater, task=Run.Task.ANSWERS, withdrawn_at=None).exists():
        words = _(
            "“%(name)s” with this prompt variant already has a run here. Resume that run, "
            "withdraw it, or use another prompt variant."
        )
        raise RunRefused(words % {"name": name[0]})
    _same_model(plan, rater, name[0])
    if model_answers.has_file_answers(plan.campaign, rater):
        words = _(
            "“%(name)s” already has imported answers with this prompt variant. Withdraw that "
            "import, or use another prompt variant."
        )
        raise RunRefused(words % {"name": name[0]})


def _same_model(plan: RunPlan, rater: Rater, name: str) -> None:
    """One name and setting stand for one model in all numbers. Raises RunRefused."""
    others = Run.objects.filter(rater=rater, task=Run.Task.ANSWERS, withdrawn_at=None).exclude(model="")
    other = others.exclude(model=plan.model.strip(), revision=plan.revision.strip()).first()
    if other is not None:
        words = _(
            "“%(name)s” with this prompt variant is already the model %(model)s. Two models "
            "under one name would be counted as one. Use another name or prompt variant."
        )
        raise RunRefused(words % {"name": name, "model": f"{other.model} {other.revision}".strip()})


def _make(
    plan: RunPlan, rater: Rater, spots: Sequence[ItemTarget], actor: User, at: datetime, plan_set: PlanSet | None
) -> Run:
    return Run.objects.create(
        benchmark=plan.campaign.stage.benchmark,
        campaign=plan.campaign,
        rater=rater,
        endpoint=plan.endpoint,
        task=Run.Task.ANSWERS,
        model=plan.model.strip(),
        revision=plan.revision.strip(),
        prompt=plan.prompt.key,
        prompt_version=registry.version_of(plan.prompt, plan.options),
        prompt_options=dict(plan.options),
        decoding={**asdict(plan.decoding), "ways": list(plan.decoding.ways)},
        selection={
            **pinned_selection(plan.campaign, plan.selection),
            **sample_facts(plan.campaign, plan.selection, spots),
        },
        options={
            "longest": plan.longest,
            "address": plan.endpoint.base_url,
            "offers": list(plan.endpoint.offers),
            **({"fresh": True} if plan.fresh else {}),
        },
        repeats=plan.repeats,
        seed=plan.seed,
        budget=plan.budget,
        plan_set=plan_set,
        follows=plan.follows,
        state=State.RUNNING,
        started_at=at,
        source="run",
        created_by=actor,
    )


def start_job(run: Run, actor: User | None) -> None:
    """A new job; an earlier one that is not quite over stops claiming when it sees that it is not the run's."""
    title = _("%(model)s answers “%(campaign)s”")
    words = title % {"model": run.model[:80], "campaign": run.campaign.name if run.campaign else ""}
    job = jobs.start(KIND, words, scope=run.benchmark.scope, actor=actor, params={"run": run.pk})
    Run.objects.filter(pk=run.pk).update(job=job, state=State.RUNNING, stopped_because="", finished_at=None)
    run.job, run.state, run.stopped_because, run.finished_at = job, State.RUNNING, "", None


def lock_run(run: Run) -> Run:
    """The run as it is now, its row held. Needs a transaction."""
    rows = Run.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("job", "benchmark", "campaign", "endpoint", "plan_set").get(pk=run.pk)


def pause(run: Run, actor: User, at: datetime) -> None:
    """What is being asked now is still kept. Raises RunRefused."""
    with transaction.atomic():
        locked_run = lock_run(run)
        if locked_run.state != State.RUNNING:
            raise RunRefused(_("The run is not running now."))
        Run.objects.filter(pk=run.pk).update(state=State.PAUSED, stopped_because="person")
        record_event(locked_run, actor, "run.paused")
        _cancel(locked_run, actor)


def _cancel(run: Run, actor: User) -> None:
    if run.job is not None and run.job.state in Job.LIVE:
        jobs.request_cancel(run.job, actor)


def resume(run: Run, actor: User, at: datetime) -> None:
    """Also where a run was left without a job, or has not begun. Raises RunRefused."""
    with transaction.atomic():
        locked_run = lock_run(run)
        live = locked_run.job is not None and locked_run.job.state in Job.LIVE and not locked_run.job.cancel_asked
        if locked_run.withdrawn_at or locked_run.endpoint_id is None or (
            locked_run.state not in (State.PAUSED, State.DRAFT) and not (locked_run.state == State.RUNNING and not live)
        ):  # fmt: skip
            raise RunRefused(_("There is nothing to resume here."))
        _checked_endpoint(locked_run)
        calls = Call.objects.filter(run=locked_run)
        if locked_run.stopped_because == "budget" and not calls.filter(state__in=("pending", "running")).exists():
            raise RunRefused(_("What is left of the budget is too small for the next request. Raise it to go on."))
        if locked_run.state == State.DRAFT:
            Run.objects.filter(pk=run.pk).update(started_at=at)
        record_event(locked_run, actor, "run.resumed")
        start_job(locked_run, actor)


def stop(run: Run, actor: User, at: datetime) -> None:
    """For good: what was answered stays, and counts. Raises RunRefused."""
    with transaction.atomic():
        locked_run = lock_run(run)
        if locked_run.state not in (State.RUNNING, State.PAUSED):
            raise RunRefused(_("The run is over already."))
        Run.objects.filter(pk=run.pk).update(
            state=State.CANCELLED, stopped_because="stopped", finished_at=at, complete=True, follows=False
        )
        stop_pending(run.pk, at)
        record_event(locked_run, actor, "run.stopped")
        _cancel(locked_run, actor)


def retry_failed(run: Run, actor: User, at: datetime, states: Collection[str] = FAILED) -> int:
    """Ask again what ended without a value, in these states, where a retry can change it (see `retries`); replies that
    were read are not taken again. Returns how many. Raises RunRefused."""
    with transaction.atomic():
        locked_run = lock_run(run)
        _checked_endpoint(locked_run)
        n = reset_calls(retryable(locked_run, states))
        if n:
            record_event(locked_run, actor, "run.retried", calls=n, states=sorted(states))
            _start_if_stopped(locked_run, actor)
    return n


def _active_endpoint(run: Run) -> Endpoint:
    if run.endpoint is None:
        raise RunRefused(_("This run was imported from a file, so there is no model to ask."))
    if run.withdrawn_at:
        raise RunRefused(_("The run is withdrawn. Restore it first."))
    return run.endpoint


def _checked_endpoint(run: Run) -> Endpoint:
    """A run is asked of one server from its first call to its last."""
    endpoint = _active_endpoint(run)
    if run.options.get("address", endpoint.base_url) != endpoint.base_url:
        words = _("The endpoint has another address now (%(now)s), and a run is asked of one server. Plan a new run.")
        raise RunRefused(words % {"now": endpoint.base_url})
    return endpoint


def _start_if_stopped(run: Run, actor: User) -> None:
    if run.state != State.RUNNING:
        start_job(run, actor)


def raise_budget(run: Run, budget: Decimal, actor: User, at: datetime) -> None:
    """What waited for it is asked. Raises RunRefused."""
    if run.plan_set is not None and run.plan_set.budget is not None:
        raise RunRefused(_("This run has no budget of its own. Raise the budget of its plan set."))
    with transaction.atomic():
        locked_run = lock_run(run)
        check_price(_checked_endpoint(locked_run), locked_run.model, at)
        if locked_run.budget is not None and budget <= locked_run.budget:
            raise RunRefused(
                _("The budget is $%(budget)s. Give more than that.") % {"budget": f"{locked_run.budget:f}"}
            )
        Run.objects.filter(pk=run.pk).update(budget=budget)
        n = reset_calls(Call.objects.filter(run=run, state=Call.State.OVER_BUDGET))
        record_event(locked_run, actor, "run.budget_raised", old=str(locked_run.budget), new=str(budget), calls=n)
        if n or (locked_run.state == State.PAUSED and locked_run.stopped_because == "budget"):
            _start_if_stopped(locked_run, actor)


def extend(run: Run, actor: User, at: datetime) -> int:
    """Ask also about units that came later; says how many calls are new. Raises RunRefused."""
    with transaction.atomic():
        locked_run = lock_run(run)
        _checked_endpoint(locked_run)
        if locked_run.campaign is None:
            return 0
        n = make_calls(locked_run, later_spots(locked_run))
        if n:
            record_event(locked_run, actor, "run.extended", calls=n)
            _start_if_stopped(locked_run, actor)
    return n


def _annotations(run: Run) -> list[int]:
    return list(Call.objects.filter(run=run, annotation__isnull=False).values_list("annotation_id", flat=True))


def _check_idle(run: Run) -> None:
    if run.state == State.RUNNING or Call.objects.filter(
        run=run, state=Call.State.RUNNING, lease_until__gt=timezone.now()
    ):  # fmt: skip
        raise RunRefused(_("Something is being asked now. Pause the run, and wait a moment."))


def _destination(run: Run) -> AnswerDestination:
    if run.campaign is None:
        raise ValueError(f"run {run.pk} answers no campaign")
    return AnswerDestination.of(run.campaign, run.rater)


def withdraw(run: Run, actor: User, at: datetime) -> None:
    """Kept whole, and counted nowhere. Raises RunRefused."""
    with transaction.atomic():
        locked_run = lock_run(run)
        _check_idle(locked_run)
        if locked_run.withdrawn_at:
            return
        Run.objects.filter(pk=run.pk).update(withdrawn_at=at)
        n = model_answers.withdraw(_destination(locked_run), _annotations(locked_run), at)
        mark_run_due(locked_run)
        record_event(locked_run, actor, "run.withdrawn", answers=n)


def restore(run: Run, actor: User, at: datetime) -> None:
    """Raises RunRefused where the model has other answers by now."""
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=run.benchmark.team_id)
        locked_run = lock_run(run)
        if not locked_run.withdrawn_at:
            return
        newer = Run.objects.filter(
            campaign=locked_run.campaign, rater=locked_run.rater, task=locked_run.task, withdrawn_at=None
        )
        try:
            if newer.exists():
                raise MixedSources
            with transaction.atomic():
                n = model_answers.restore(_destination(locked_run), _annotations(locked_run), at)
        except MixedSources:
            raise RunRefused(_("The model has other answers here by now. Withdraw those first.")) from None
        Run.objects.filter(pk=run.pk).update(withdrawn_at=None)
        mark_run_due(locked_run)
        record_event(locked_run, actor, "run.brought_back", answers=n)


def start_reparse(run: Run, actor: User, at: datetime) -> Job:
    """Read all replies again, as a job; no model is asked. Raises RunRefused, also where the campaign is closed: what
    is read otherwise would take the place of an answer that counts, and not count itself."""
    with transaction.atomic():
        locked_run = lock_run(run)
        _active_endpoint(locked_run)
        if locked_run.campaign is not None and locked_run.campaign.state == Campaign.State.CLOSED:
            raise RunRefused(_("The campaign is closed, so no answer would count. Copy the campaign to continue."))
        _check_idle(locked_run)
        try:
            registry.prompt(locked_run.prompt, locked_run.prompt_version)
        except registry.UnknownPrompt as gone:
            words = _("The prompt's wording has changed since: its replies are not read by another one.")
            raise RunRefused(words) from gone
        record_event(locked_run, actor, "run.reread")
        title = _("Replies of %(model)s read again") % {"model": locked_run.model[:80]}
        return jobs.start(REREAD, title, scope=locked_run.benchmark.scope, actor=actor, params={"run": locked_run.pk})


def record_event(run: Run, actor: User | None, verb: str, **data: Any) -> None:
    """Note what was done with a run; by nobody, where the platform did it."""
    record(actor, verb, scope=run.benchmark.scope, target=f"run:{run.pk}", **data)
