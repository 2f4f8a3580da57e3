"""The jobs of runs of answers: the one that asks, and the one that reads kept replies again."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NoReturn

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.services.answers import model_answers
from annotation.services.answers.model_answers import ModelAnswer
from jobs.models import Job, record
from jobs.services.job_context import JobCancelled, JobContext, JobFailed, Requeue
from jobs.services.kinds import JobKind, NextLink
from predictions.models import Call, Reply, Run
from predictions.prompts.contract import MissingInput
from predictions.prompts.registry import UnknownPrompt
from predictions.requests.serialization import reply_from_json
from predictions.services.endpoints import endpoints
from predictions.services.runs.answer_runs import KIND, REREAD
from predictions.services.runs.engine import write
from predictions.services.runs.engine.context import ReadContext, build_read_context, build_run_context
from predictions.services.runs.engine.executor import RunExecutor
from predictions.services.runs.engine.reply_parsing import ParseResult, parse_replies
from predictions.services.runs.unanswered_calls import mark_due
from predictions.services.runs.unit_selection import load_units, scene_seed
from predictions.texts.call_reasons import pause_reason_text

STEP = 200
State = Run.State
READ = ("answered", "no_response", "refused", "unparseable", "out_of_range")


def run(work: JobContext) -> None:
    """A slice of a run; see jobs.services.job_context.Requeue."""
    active_run = _load_active_run(work)
    if (
        active_run.endpoint
        and active_run.options.get("address", active_run.endpoint.base_url) != active_run.endpoint.base_url
    ):
        _halt(active_run, work, "moved")
    try:
        context = build_run_context(active_run, timezone.now())
    except endpoints.SecretUnreadable:
        _halt(active_run, work, "key")
    except endpoints.EndpointRefused:
        _halt(active_run, work, "retired")
    except UnknownPrompt:
        _halt(active_run, work, "prompt_changed")
    if _has_budget(active_run) and not context.rates.known:
        context.requester.backend.close()
        _halt(active_run, work, "price")
    executor = RunExecutor(work, active_run, context)
    try:
        ending = executor.execute()
        executor.release()
    finally:
        executor.stop()
        context.requester.backend.close()
    _end(active_run, work, executor, ending)


def _has_budget(run: Run) -> bool:
    return run.budget is not None or bool(run.plan_set and run.plan_set.budget is not None)


def _load_active_run(work: JobContext) -> Run:
    rows = Run.objects.select_related("benchmark__team", "campaign__stage__benchmark", "campaign__sheet_version",
                                      "campaign__rule_version", "rater", "endpoint", "plan_set")  # fmt: skip
    active_run = rows.get(pk=work.params["run"])
    if active_run.job_id != work.job.pk or active_run.withdrawn_at or active_run.campaign is None:
        raise JobCancelled
    if active_run.state == State.PAUSED:  # somebody goes on at the job's own page
        Run.objects.filter(pk=active_run.pk, state=State.PAUSED).update(state=State.RUNNING, stopped_because="")
    elif active_run.state != State.RUNNING:
        raise JobCancelled
    if active_run.campaign.state == Campaign.State.CLOSED:
        _halt(active_run, work, "closed")
    if model_answers.has_file_answers(active_run.campaign, active_run.rater):
        _halt(active_run, work, "files")
    return active_run


def _end(active_run: Run, work: JobContext, executor: RunExecutor, ending: str) -> None:
    if ending == "slice":
        raise Requeue
    if ending == "wait":
        raise Requeue(timedelta(seconds=executor.wait))
    if ending == "left":
        if Run.objects.filter(pk=active_run.pk, state=State.CANCELLED).exists():
            write.stop_pending(active_run.pk, timezone.now())
        raise JobCancelled
    if ending == "person":
        _pause(active_run, work, "person")
        raise JobCancelled
    if ending == "done" and Call.objects.filter(run=active_run, state=Call.State.OVER_BUDGET).exists():
        ending = "budget"
    if ending == "done":
        _finish(active_run, work)
        return
    if ending == "budget":
        with transaction.atomic():
            write.mark_over_budget(active_run.pk, executor.holder)
    _halt(active_run, work, ending)


def _finish(active_run: Run, work: JobContext) -> None:
    """Done, or failed where nothing was answered; unless there is more to ask by now."""
    now = timezone.now()
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=active_run.pk)
        if locked.state != State.RUNNING or locked.job_id != work.job.pk:
            raise JobCancelled
        if Call.objects.filter(run=locked, state__in=("pending", "running")).exists():
            raise Requeue
        state = write.ended_state(locked.pk)
        Run.objects.filter(pk=locked.pk).update(state=state, finished_at=now, complete=True, stopped_because="")
        verb = "run.done" if state == State.DONE else "run.failed"
        record(work.job.created_by, verb, scope=active_run.benchmark.scope, target=f"run:{active_run.pk}", implied=True)


def _pause(active_run: Run, work: JobContext, why: str) -> None:
    own = Run.objects.filter(pk=active_run.pk, state=State.RUNNING, job=work.job)
    with transaction.atomic():
        if own.update(state=State.PAUSED, stopped_because=why):
            scope, target = active_run.benchmark.scope, f"run:{active_run.pk}"
            record(work.job.created_by, "run.paused", scope=scope, target=target, implied=True, because=why)


def _halt(found: Run, work: JobContext, why: str) -> NoReturn:
    _pause(found, work, why)
    raise JobFailed(pause_reason_text(why))


def next_link(job: Job) -> NextLink | None:
    active_run = Run.objects.select_related("benchmark").filter(pk=job.params.get("run")).first()
    if active_run is None:
        return None
    return NextLink(_("View run"), reverse("predictions:answer_run", args=[active_run.benchmark.slug, active_run.pk]))


def reparse_replies(work: JobContext) -> None:
    """Step by step over the calls that have replies. Nobody is asked, so the endpoint may be gone. Ends where the run
    is withdrawn, or its campaign closed."""
    rows = Run.objects.select_related("benchmark__team", "campaign__stage__benchmark", "campaign__sheet_version",
                                      "campaign__rule_version", "rater", "endpoint")  # fmt: skip
    reparsed_run = rows.get(pk=work.params["run"])
    try:
        context = build_read_context(reparsed_run)
    except UnknownPrompt as gone:
        raise JobFailed(pause_reason_text("prompt_changed")) from gone
    calls = Call.objects.filter(run=reparsed_run, state__in=READ).order_by("pk")
    work.expect(calls.count())
    done, last = work.job.done, work.cursor.get("last", 0)
    while True:
        work.check()
        with transaction.atomic():  # the run's row first: nobody withdraws it, or asks again, in the midst
            if Run.objects.select_for_update(no_key=True).get(pk=reparsed_run.pk).withdrawn_at:
                raise JobCancelled
            campaign = Campaign.objects.select_for_update(no_key=True).get(pk=context.destination.campaign.pk)
            if campaign.state == Campaign.State.CLOSED:  # nor does anybody close it
                raise JobFailed(pause_reason_text("closed"))
            batch = list(calls.select_for_update(no_key=True).filter(pk__gt=last)[:STEP])
            if not batch:
                ended = Run.objects.filter(pk=reparsed_run.pk, state__in=(State.DONE, State.FAILED))
                ended.update(state=write.ended_state(reparsed_run.pk))
                return
            done, last = done + len(batch), batch[-1].pk
            work.step(done=done, cursor={"last": last})
            _reparse_batch(reparsed_run, context, batch, timezone.now())


def _reparse_batch(reparsed_run: Run, context: ReadContext, batch: Sequence[Call], now: datetime) -> None:
    wanted = {pk for call in batch for pk in call.replies}
    bodies = dict(Reply.objects.filter(team=context.team, pk__in=wanted).values_list("pk", "body"))
    units = load_units([call.unit_id for call in batch if call.unit_id])
    readings: dict[int, ParseResult] = {}
    answers: list[ModelAnswer] = []
    for call in batch:
        if not call.replies or call.unit_id is None:
            continue
        scene, shown = context.scenes.of(units[call.unit_id])
        try:
            asked = context.scenes.build_requests(scene, shown, scene_seed(reparsed_run.seed, scene, context.prompt))
        except MissingInput:  # the item has lost something since: what was read then stands
            continue
        asked = replace(asked, order=tuple(call.order) or asked.order)  # as it was shown then
        replies = [reply_from_json(bodies[pk]) for pk in call.replies]
        result = readings[call.pk] = parse_replies(context.prompt, context.sheet, scene, shown, asked, replies)
        if result.parsed is not None:
            at = call.ended_at or now
            answers.append(
                ModelAnswer(call.unit_id, call.item_id, call.repeat, _key(call), result.parsed, at, now, call.run_id)
            )
    annotation_ids = model_answers.write(context.destination, answers, now)
    gone = [
        one.annotation_id
        for one in batch
        if one.annotation_id and one.pk in readings and _key(one) not in annotation_ids
    ]
    if gone:
        model_answers.withdraw(context.destination, gone, now, model_answers.SUPERSEDED)
    annotations = {call.pk: annotation_ids[_key(call)] for call in batch if _key(call) in annotation_ids}
    write.save_readings(readings, annotations)
    mark_due(readings)


def _key(call: Call) -> str:
    return f"{model_answers.OF_RUNS}{call.run_id}:{call.pk}:"


ASK = JobKind(KIND, run, next_link)
REPARSE = JobKind(REREAD, reparse_replies, next_link)
