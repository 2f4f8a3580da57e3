"""Runs of answers: a model asked about the units of a campaign. Opened, paused, gone on with, withdrawn. What asks is
a job; see predictions.services.driving and docs/explanation/runs.md."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.services import model_answers
from annotation.services.model_answers import AnswerDestination, MixedSources
from jobs import services as jobs
from jobs.models import Job, record
from people.models import Rater, Team, User
from people.services.raters import models_of
from predictions.fitting import fits
from predictions.models import Call, Endpoint, Run
from predictions.prompts import registry
from predictions.services import endpoints, plans
from predictions.services.budgets import Rates
from predictions.services.plans import Estimate, Plan, Preview
from predictions.services.retries import retryable
from predictions.services.selecting import Spot, later_spots, make_calls, sample_facts, spots_of
from predictions.words import no_input_reason

__all__ = ["Estimate", "Plan", "Preview", "Refused", "estimate", "open_run", "preview"]

KIND, REREAD = "answer_run", "answer_reread"
State = Run.State
FAILED = (Call.State.FAILED,)
MOST_REPEATS = 50


class Refused(Exception):
    """What was asked for cannot be done; the message says what to do."""


class Unconfirmed(Refused):
    """Some units cannot be asked, and nobody has confirmed how many."""


def estimate(plan: Plan) -> Estimate:
    """What it would ask and cost. Raises Refused."""
    _options(plan)
    return plans.estimate(plan)


def preview(plan: Plan, number: int = 0) -> Preview:
    """What would be sent for the `number`-th unit. Raises Refused."""
    _options(plan)
    try:
        return plans.preview(plan, number)
    except plans.NothingToAsk:
        raise Refused(_("No item fits this selection. Choose less narrowly.")) from None


def _options(plan: Plan) -> None:
    for one in registry.problems_of(plan.prompt, plan.options):
        words = {
            "unknown_place": _("“%(option)s”: nothing fills {%(place)s}. Take it out, or correct its name."),
            "missing_place": _("“%(option)s”: {%(place)s} is missing, and the prompt needs it."),
            "blank": _("“%(option)s” holds white space only. Write a text, or leave it out: then ours is sent."),
        }.get(one.code, _("“%(option)s” cannot be used as it is (%(code)s)."))
        raise Refused(words % {"option": one.option, "place": one.place, "code": one.code})


def _check(plan: Plan, at: datetime) -> None:
    _options(plan)
    campaign = plan.campaign
    if plan.endpoint.team_id != campaign.stage.benchmark.team_id or plan.endpoint.retired_at:
        raise Refused(_("This endpoint is not asked any more. Choose another one."))
    if campaign.state == Campaign.State.DRAFT:
        raise Refused(_("The campaign is a draft, so its questions may still change. Open it first."))
    if campaign.state == Campaign.State.CLOSED:
        raise Refused(_("The campaign is closed, so no answer would count. Clone it, and ask there."))
    if not fits(campaign, plan.prompt, plan.endpoint):
        raise Refused(_("This prompt does not fit the sheet of the campaign and the endpoint. Choose another one."))
    if not plan.model.strip():
        raise Refused(_("Name the model, as the endpoint calls it."))
    if not 1 <= plan.repeats <= MOST_REPEATS:
        raise Refused(_("Ask each unit 1 to %(most)s times.") % {"most": MOST_REPEATS})
    if plan.budget is not None:
        if plan.budget <= 0:
            raise Refused(_("Give a budget above 0, or none."))
        _priced(plan.endpoint, plan.model, at)


def _priced(endpoint: Endpoint, model: str, at: datetime) -> None:
    _prices, row = endpoints.price_of(endpoint, model, at)
    if not Rates.of(row).known:
        words = _("Nobody has said what this model costs, so no budget can be kept. Add its price, or ask without one.")
        raise Refused(words)


def _check_input(plan: Plan, spots: Sequence[Spot], confirmed: int) -> None:
    missing = plans.missing_input(plan, spots)
    if reason := no_input_reason(len(spots), missing.counts):
        raise Refused(reason)
    if missing.n != confirmed:
        text = _("%(n)s of %(units)s units cannot be asked. Confirm the number to ask the others, or change the plan.")
        raise Unconfirmed(text % {"n": f"{missing.n:,}", "units": f"{len(spots):,}"})


def open_run(plan: Plan, actor: User, at: datetime, confirmed: int = 0) -> Run:
    """Start asking. `confirmed`: how many units cannot be asked, as the one who starts it was shown. Raises Refused;
    Unconfirmed where that is another number."""
    _check(plan, at)
    benchmark = plan.campaign.stage.benchmark
    spots = spots_of(plan.campaign, plan.selection, plan.seed)
    if not spots:
        raise Refused(_("No item fits this selection. Choose less narrowly."))
    _check_input(plan, spots, confirmed)
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        run = _make(plan, _rater(plan), spots, actor, at)
        calls = make_calls(run, spots)
        _event(run, actor, "run.opened", model=plan.model, prompt=plan.prompt.key, calls=calls, repeats=plan.repeats)
        _ask(run, actor)
    return run


def _rater(plan: Plan) -> Rater:
    """Who answers. Needs the team's row. Raises Refused where it has other answers here."""
    name = (plan.name.strip() or plan.model.strip(), plan.setting.strip() or plan.prompt.setting)
    rater = models_of(plan.team, [name])[name]
    if Run.objects.filter(campaign=plan.campaign, rater=rater, task=Run.Task.ANSWERS, withdrawn_at=None).exists():
        words = _(
            "“%(name)s” with this setting has a run here already. Go on with that one, withdraw it, or give another "
            "setting."
        )
        raise Refused(words % {"name": name[0]})
    _same_model(plan, rater, name[0])
    if model_answers.has_file_answers(plan.campaign, rater):
        words = _(
            "“%(name)s” with this setting has answers here that came in a file, and answers are not mixed. Withdraw "
            "that import, or give another setting."
        )
        raise Refused(words % {"name": name[0]})
    return rater


def _same_model(plan: Plan, rater: Rater, name: str) -> None:
    """One name and setting stand for one model in all numbers. Raises Refused."""
    others = Run.objects.filter(rater=rater, task=Run.Task.ANSWERS, withdrawn_at=None).exclude(model="")
    other = others.exclude(model=plan.model.strip(), revision=plan.revision.strip()).first()
    if other is not None:
        words = _(
            "“%(name)s” with this setting stands for the model %(model)s already, and two models under one name "
            "would be one in all numbers. Give another name or setting."
        )
        raise Refused(words % {"name": name, "model": f"{other.model} {other.revision}".strip()})


def _make(plan: Plan, rater: Rater, spots: Sequence[Spot], actor: User, at: datetime) -> Run:
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
        selection={**plan.selection, **sample_facts(plan.campaign, plan.selection, spots)},
        options={
            "longest": plan.longest,
            "address": plan.endpoint.base_url,
            "offers": list(plan.endpoint.offers),
            **({"fresh": True} if plan.fresh else {}),
        },
        repeats=plan.repeats,
        seed=plan.seed,
        budget=plan.budget,
        state=State.RUNNING,
        started_at=at,
        source="run",
        created_by=actor,
    )


def _ask(run: Run, actor: User | None) -> None:
    """A new job; an earlier one that is not quite over stops claiming when it sees that it is not the run's."""
    title = _("%(model)s answers “%(campaign)s”")
    words = title % {"model": run.model[:80], "campaign": run.campaign.name if run.campaign else ""}
    job = jobs.start(KIND, words, scope=run.benchmark.scope, actor=actor, params={"run": run.pk})
    Run.objects.filter(pk=run.pk).update(job=job, state=State.RUNNING, stopped_because="", finished_at=None)
    run.job, run.state, run.stopped_because, run.finished_at = job, State.RUNNING, "", None


def _held(run: Run) -> Run:
    rows = Run.objects.select_for_update(no_key=True, of=("self",))
    return rows.select_related("job", "benchmark", "campaign", "endpoint").get(pk=run.pk)


def pause(run: Run, actor: User, at: datetime) -> None:
    """What is being asked now is still kept. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        if held.state != State.RUNNING:
            raise Refused(_("The run is not running now."))
        Run.objects.filter(pk=run.pk).update(state=State.PAUSED, stopped_because="person")
        _event(held, actor, "run.paused")
        _cancel(held, actor)


def _cancel(run: Run, actor: User) -> None:
    if run.job is not None and run.job.state in Job.LIVE:
        jobs.request_cancel(run.job, actor)


def resume(run: Run, actor: User, at: datetime) -> None:
    """Also where a run was left without a job. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        live = held.job is not None and held.job.state in Job.LIVE and not held.job.cancel_asked
        if held.withdrawn_at or held.endpoint_id is None or (
            held.state != State.PAUSED and not (held.state == State.RUNNING and not live)
        ):  # fmt: skip
            raise Refused(_("There is nothing to go on with here."))
        _may_ask(held)
        calls = Call.objects.filter(run=held)
        if held.stopped_because == "budget" and not calls.filter(state__in=("pending", "running")).exists():
            raise Refused(_("What is left of the budget is too small for the next request. Raise it to go on."))
        _event(held, actor, "run.resumed")
        _ask(held, actor)


def stop(run: Run, actor: User, at: datetime) -> None:
    """For good: what was answered stays, and counts. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        if held.state not in (State.RUNNING, State.PAUSED):
            raise Refused(_("The run is over already."))
        Run.objects.filter(pk=run.pk).update(
            state=State.CANCELLED, stopped_because="stopped", finished_at=at, complete=True
        )
        stop_rest(run.pk, at)
        _event(held, actor, "run.stopped")
        _cancel(held, actor)


def stop_rest(run: int, at: datetime) -> None:
    """What had not had its turn has a reason for it."""
    rest = Call.objects.filter(run=run, state=Call.State.PENDING)
    rest.update(state=Call.State.FAILED, reason="stopped", ended_at=at, not_before=None)


def retry_failed(run: Run, actor: User, at: datetime, states: Collection[str] = FAILED) -> int:
    """Ask again what ended without a value, in these states, where a retry can change it (see `retries`); replies that
    were read are not taken again. Returns how many. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        _may_ask(held)
        n = _again(retryable(held, states))
        if n:
            _event(held, actor, "run.retried", calls=n, states=sorted(states))
            _go_on(held, actor)
    return n


def _again(rows: Any) -> int:
    """Waiting anew, with as many tries as at first."""
    many = list(rows.select_for_update(no_key=True).only("pk", "attempts_made"))
    for call in many:
        call.state, call.reason, call.ended_at, call.not_before = Call.State.PENDING, "", None, None
        call.notes = {"before": call.attempts_made}
    Call.objects.bulk_update(many, ["state", "reason", "ended_at", "not_before", "notes"], batch_size=1000)
    return len(many)


def _standing(run: Run) -> Endpoint:
    if run.endpoint is None:
        raise Refused(_("This run came as a file: there is nobody to ask."))
    if run.withdrawn_at:
        raise Refused(_("The run is withdrawn. Bring it back first."))
    return run.endpoint


def _may_ask(run: Run) -> Endpoint:
    """A run is asked of one server from its first call to its last."""
    endpoint = _standing(run)
    if run.options.get("address", endpoint.base_url) != endpoint.base_url:
        words = _("The endpoint has another address now (%(now)s), and a run is asked of one server. Plan a new run.")
        raise Refused(words % {"now": endpoint.base_url})
    return endpoint


def _go_on(run: Run, actor: User) -> None:
    if run.state != State.RUNNING:
        _ask(run, actor)


def raise_budget(run: Run, budget: Decimal, actor: User, at: datetime) -> None:
    """What waited for it is asked. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        _priced(_may_ask(held), held.model, at)
        if held.budget is not None and budget <= held.budget:
            raise Refused(_("The budget is $%(budget)s. Give more than that.") % {"budget": f"{held.budget:f}"})
        Run.objects.filter(pk=run.pk).update(budget=budget)
        n = _again(Call.objects.filter(run=run, state=Call.State.OVER_BUDGET))
        _event(held, actor, "run.budget_raised", old=str(held.budget), new=str(budget), calls=n)
        if n or (held.state == State.PAUSED and held.stopped_because == "budget"):
            _go_on(held, actor)


def extend(run: Run, actor: User, at: datetime) -> int:
    """Ask also about units that came later; says how many calls are new. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        _may_ask(held)
        if held.campaign is None:
            return 0
        n = make_calls(held, later_spots(held))
        if n:
            _event(held, actor, "run.extended", calls=n)
            _go_on(held, actor)
    return n


def _annotations(run: Run) -> list[int]:
    return list(Call.objects.filter(run=run, annotation__isnull=False).values_list("annotation_id", flat=True))


def _quiet(run: Run) -> None:
    if run.state == State.RUNNING or Call.objects.filter(
        run=run, state=Call.State.RUNNING, lease_until__gt=timezone.now()
    ):  # fmt: skip
        raise Refused(_("Something is being asked now. Pause the run, and wait a moment."))


def _desk(run: Run) -> AnswerDestination:
    if run.campaign is None:
        raise ValueError(f"run {run.pk} answers no campaign")
    return AnswerDestination.of(run.campaign, run.rater)


def withdraw(run: Run, actor: User, at: datetime) -> None:
    """Kept whole, and counted nowhere. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        _quiet(held)
        if held.withdrawn_at:
            return
        Run.objects.filter(pk=run.pk).update(withdrawn_at=at)
        n = model_answers.withdraw(_desk(held), _annotations(held), at)
        _event(held, actor, "run.withdrawn", answers=n)


def bring_back(run: Run, actor: User, at: datetime) -> None:
    """Raises Refused where the model has other answers by now."""
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=run.benchmark.team_id)
        held = _held(run)
        if not held.withdrawn_at:
            return
        newer = Run.objects.filter(campaign=held.campaign, rater=held.rater, task=held.task, withdrawn_at=None)
        try:
            if newer.exists():
                raise MixedSources
            with transaction.atomic():
                n = model_answers.restore(_desk(held), _annotations(held), at)
        except MixedSources:
            raise Refused(_("The model has other answers here by now. Withdraw those first.")) from None
        Run.objects.filter(pk=run.pk).update(withdrawn_at=None)
        _event(held, actor, "run.brought_back", answers=n)


def reread(run: Run, actor: User, at: datetime) -> Job:
    """Read all replies again, as a job; no model is asked. Raises Refused."""
    with transaction.atomic():
        held = _held(run)
        _standing(held)
        _quiet(held)
        try:
            registry.prompt(held.prompt, held.prompt_version)
        except registry.UnknownPrompt as gone:
            words = _("The prompt's wording has changed since: its replies are not read by another one.")
            raise Refused(words) from gone
        _event(held, actor, "run.reread")
        title = _("Replies of %(model)s read again") % {"model": held.model[:80]}
        return jobs.start(REREAD, title, scope=held.benchmark.scope, actor=actor, params={"run": held.pk})


def _event(run: Run, actor: User | None, verb: str, **data: Any) -> None:
    record(actor, verb, scope=run.benchmark.scope, target=f"run:{run.pk}", **data)
