"""The jobs of runs of answers: the one that asks, and the one that reads kept replies again."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NoReturn

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models import Campaign
from annotation.services import model_answers
from annotation.services.model_answers import ModelAnswer
from jobs.kinds import JobKind, NextLink
from jobs.models import Job, record
from jobs.runner import JobCancelled, JobContext, JobFailed, Requeue
from predictions.models import Call, Reply, Run
from predictions.prompts.contract import MissingInput
from predictions.prompts.registry import UnknownPrompt
from predictions.requests.serialization import reply_from_json
from predictions.services.endpoints import endpoints
from predictions.services.runs.answer_runs import KIND, REREAD, stop_pending
from predictions.services.runs.engine import run_calls
from predictions.services.runs.engine.reply_parsing import ParseResult, parse_replies
from predictions.services.runs.engine.run_context import ReadContext, build_read_context, build_run_context
from predictions.services.runs.engine.run_executor import RunExecutor
from predictions.services.runs.unit_selection import load_units, unit_seed
from predictions.texts.call_reasons import pause_reason_text

STEP = 200
State = Run.State
READ = ("answered", "no_response", "refused", "unparseable", "out_of_range")


def run(work: JobContext) -> None:
    """A slice of a run; see jobs.runner.Requeue."""
    found = _load_active_run(work)
    if found.endpoint and found.options.get("address", found.endpoint.base_url) != found.endpoint.base_url:
        _halt(found, work, "moved")
    try:
        outfit = build_run_context(found, timezone.now())
    except endpoints.SecretUnreadable:
        _halt(found, work, "key")
    except endpoints.EndpointRefused:
        _halt(found, work, "retired")
    except UnknownPrompt:
        _halt(found, work, "prompt_changed")
    if found.budget is not None and not outfit.rates.known:
        outfit.asker.backend.close()
        _halt(found, work, "price")
    driver = RunExecutor(work, found, outfit)
    try:
        ending = driver.execute()
        driver.release()
    finally:
        driver.stop()
        outfit.asker.backend.close()
    _end(found, work, driver, ending)


def _load_active_run(work: JobContext) -> Run:
    rows = Run.objects.select_related("benchmark__team", "campaign__stage__benchmark", "campaign__sheet_version",
                                      "campaign__rule_version", "rater", "endpoint")  # fmt: skip
    found = rows.get(pk=work.params["run"])
    if found.job_id != work.job.pk or found.withdrawn_at or found.campaign is None:
        raise JobCancelled
    if found.state == State.PAUSED:  # somebody goes on at the job's own page
        Run.objects.filter(pk=found.pk, state=State.PAUSED).update(state=State.RUNNING, stopped_because="")
    elif found.state != State.RUNNING:
        raise JobCancelled
    if found.campaign.state == Campaign.State.CLOSED:
        _halt(found, work, "closed")
    if model_answers.has_file_answers(found.campaign, found.rater):
        _halt(found, work, "files")
    return found


def _end(found: Run, work: JobContext, driver: RunExecutor, ending: str) -> None:
    if ending == "slice":
        raise Requeue
    if ending == "wait":
        raise Requeue(timedelta(seconds=driver.wait))
    if ending == "left":
        if Run.objects.filter(pk=found.pk, state=State.CANCELLED).exists():
            stop_pending(found.pk, timezone.now())
        raise JobCancelled
    if ending == "person":
        _pause(found, work, "person")
        raise JobCancelled
    if ending == "done" and Call.objects.filter(run=found, state=Call.State.OVER_BUDGET).exists():
        ending = "budget"
    if ending == "done":
        _finish(found, work)
        return
    if ending == "budget":
        with transaction.atomic():
            run_calls.mark_over_budget(found.pk, driver.holder)
    _halt(found, work, ending)


def _finish(found: Run, work: JobContext) -> None:
    """Done, or failed where nothing was answered; unless there is more to ask by now."""
    now = timezone.now()
    with transaction.atomic():
        held = Run.objects.select_for_update(no_key=True).get(pk=found.pk)
        if held.state != State.RUNNING or held.job_id != work.job.pk:
            raise JobCancelled
        if Call.objects.filter(run=held, state__in=("pending", "running")).exists():
            raise Requeue
        state = run_calls.ended_state(held.pk)
        Run.objects.filter(pk=held.pk).update(state=state, finished_at=now, complete=True, stopped_because="")
        verb = "run.done" if state == State.DONE else "run.failed"
        record(work.job.created_by, verb, scope=found.benchmark.scope, target=f"run:{found.pk}", implied=True)


def _pause(found: Run, work: JobContext, why: str) -> None:
    own = Run.objects.filter(pk=found.pk, state=State.RUNNING, job=work.job)
    with transaction.atomic():
        if own.update(state=State.PAUSED, stopped_because=why):
            scope, target = found.benchmark.scope, f"run:{found.pk}"
            record(work.job.created_by, "run.paused", scope=scope, target=target, implied=True, because=why)


def _halt(found: Run, work: JobContext, why: str) -> NoReturn:
    _pause(found, work, why)
    raise JobFailed(pause_reason_text(why))


def next_link(job: Job) -> NextLink | None:
    found = Run.objects.select_related("benchmark").filter(pk=job.params.get("run")).first()
    if found is None:
        return None
    return NextLink(_("See the run"), reverse("predictions:answer_run", args=[found.benchmark.slug, found.pk]))


def reparse_replies(work: JobContext) -> None:
    """Step by step over the calls that have replies. Nobody is asked, so the endpoint may be gone. Ends where the run
    is withdrawn."""
    rows = Run.objects.select_related("benchmark__team", "campaign__stage__benchmark", "campaign__sheet_version",
                                      "campaign__rule_version", "rater", "endpoint")  # fmt: skip
    found = rows.get(pk=work.params["run"])
    try:
        outfit = build_read_context(found)
    except UnknownPrompt as gone:
        raise JobFailed(pause_reason_text("prompt_changed")) from gone
    calls = Call.objects.filter(run=found, state__in=READ).order_by("pk")
    work.expect(calls.count())
    done, last = work.job.done, work.cursor.get("last", 0)
    while True:
        work.check()
        with transaction.atomic():  # the run's row first: nobody withdraws it, or asks again, in the midst
            if Run.objects.select_for_update(no_key=True).get(pk=found.pk).withdrawn_at:
                raise JobCancelled
            batch = list(calls.select_for_update(no_key=True).filter(pk__gt=last)[:STEP])
            if not batch:
                ended = Run.objects.filter(pk=found.pk, state__in=(State.DONE, State.FAILED))
                ended.update(state=run_calls.ended_state(found.pk))
                return
            done, last = done + len(batch), batch[-1].pk
            work.step(done=done, cursor={"last": last})
            _reparse_batch(found, outfit, batch, timezone.now())


def _reparse_batch(found: Run, outfit: ReadContext, batch: Sequence[Call], now: datetime) -> None:
    wanted = {pk for call in batch for pk in call.replies}
    bodies = dict(Reply.objects.filter(team=outfit.team, pk__in=wanted).values_list("pk", "body"))
    there = load_units([call.unit_id for call in batch if call.unit_id])
    readings: dict[int, ParseResult] = {}
    answers: list[ModelAnswer] = []
    for call in batch:
        if not call.replies or call.unit_id is None:
            continue
        scene, shown = outfit.scenes.of(there[call.unit_id])
        try:
            asked = outfit.scenes.build_requests(scene, shown, unit_seed(found.seed, scene.item, scene.target))
        except MissingInput:  # the item has lost something since: what was read then stands
            continue
        replies = [reply_from_json(bodies[pk]) for pk in call.replies]
        got = readings[call.pk] = parse_replies(outfit.prompt, outfit.sheet, scene, shown, asked, replies)
        if got.parsed is not None:
            at = call.ended_at or now
            answers.append(ModelAnswer(call.unit_id, call.item_id, call.repeat, _key(call), got.parsed, at, now))
    made = model_answers.write(outfit.destination, answers, now)
    gone = [one.annotation_id for one in batch if one.annotation_id and one.pk in readings and _key(one) not in made]
    if gone:
        model_answers.withdraw(outfit.destination, gone, now, model_answers.SUPERSEDED)
    for call in (one for one in batch if one.pk in readings):
        got = readings[call.pk]
        call.state, call.reason, call.how, call.notes = got.state, got.reason, got.how, dict(got.notes)
        call.annotation_id = made.get(_key(call), call.annotation_id)
    Call.objects.bulk_update(
        [one for one in batch if one.pk in readings], ["state", "reason", "how", "notes", "annotation"], batch_size=STEP
    )


def _key(call: Call) -> str:
    return f"{model_answers.OF_RUNS}{call.run_id}:{call.pk}:"


ASK = JobKind(KIND, run, next_link)
REPARSE = JobKind(REREAD, reparse_replies, next_link)
