"""Requests for facts: created, paused, resumed, retried and cancelled; and the jobs that carry them out.

A request is active until somebody cancels it: whenever items without its fact are there, a job is started. Locks are
taken in the order request, job.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmarks.models import Stage
from jobs.connections.broker import dispatch
from jobs.models import Job, record
from jobs.services import lifecycle as jobs
from people.models import Team, User
from people.services.raters import models_of
from predictions.backends import detector
from predictions.models import Endpoint, FactRequest, KnowledgeIndex, Run
from predictions.models.facts import BASE_SIMILARITY, OBJECTS, SCORE, TEXT_VECTOR
from predictions.queries.fact_requests import missing_items, room_of, suitable_items
from predictions.services.runs.result_runs import FileRunRefused

KIND = "item_facts"
TASK = "predictions.start_fact_jobs"
NEEDS = {
    SCORE: Endpoint.Kind.OPEN_CLIP,
    OBJECTS: Endpoint.Kind.DETECTOR,
    TEXT_VECTOR: Endpoint.Kind.OPEN_CLIP,
    BASE_SIMILARITY: Endpoint.Kind.OPEN_CLIP,
}
READS_WORDS = (SCORE, TEXT_VECTOR)
MODEL, PERSON, RETIRED, FAULT, LIMIT = "model", "person", "retired", "fault", "limit"
State = FactRequest.State


@dataclass(frozen=True)
class FactPlan:
    """What is to be computed.

    Attributes:
        endpoint: None where the index names it (BASE_SIMILARITY).
        what: SCORE, OBJECTS, TEXT_VECTOR or BASE_SIMILARITY.
        words: where an item's text is, "text", "concept" or "context.KEY" (SCORE, TEXT_VECTOR).
        threshold: from which score on an object counts (OBJECTS).
        index: over the pictures of the knowledge base that pictures are compared with (BASE_SIMILARITY).
        at_most: how many items it may be computed of; None for any number.
    """

    stage: Stage
    endpoint: Endpoint | None
    model: str
    what: str
    name: str = ""
    words: str = "text"
    threshold: float = detector.THRESHOLD
    index: KnowledgeIndex | None = None
    at_most: int | None = None


def create(plan: FactPlan, actor: User, at: datetime) -> FactRequest:
    """Create a request with its run, and start the job if items are there. Raises FileRunRefused."""
    benchmark = plan.stage.benchmark
    if plan.what == BASE_SIMILARITY:
        plan = _with_index(plan)
    options = _options_of(plan)
    endpoint = plan.endpoint
    if endpoint is None or endpoint.kind != NEEDS[plan.what] or endpoint.team_id != benchmark.team_id:
        raise FileRunRefused(
            _("Choose another endpoint of your team: an encoder for scores and vectors, a detector for objects.")
        )
    items = plan.stage.items.filter(withdrawn_at=None)
    if items.exists() and not suitable_items(items, plan.what, options).exists():
        if plan.what == TEXT_VECTOR:
            raise FileRunRefused(_("No item of this stage has words where you look for them."))
        raise FileRunRefused(_("No item of this stage has a picture, and words where you look for them."))
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=benchmark.team_id)
        _refuse_second(plan)
        model = (plan.name or plan.model, "")
        selection = {"stage": plan.stage.key, "what": plan.what}
        run = Run.objects.create(
            benchmark=benchmark, rater=models_of(benchmark.team, [model])[model], endpoint=endpoint,
            model=plan.model, task=Run.Task.FACTS, selection=selection, options=options, source="here",
            knowledge_index=plan.index, state=Run.State.RUNNING, started_at=at, created_by=actor,
        )  # fmt: skip
        request = FactRequest.objects.create(
            stage=plan.stage, what=plan.what, endpoint=endpoint, model=plan.model, options=options, run=run,
            changed_at=at, created_by=actor,
        )  # fmt: skip
        record(actor, "run.started", scope=benchmark.scope, target=f"run:{run.pk}", model=plan.model, told=selection)
        _start_job_if_needed(request, actor)
    return request


def _with_index(plan: FactPlan) -> FactPlan:
    """With the encoder of the index. Raises FileRunRefused."""
    index, team = plan.index, plan.stage.benchmark.team_id
    if index is None or index.base.team_id != team or index.built_at is None:
        raise FileRunRefused(_("Choose an index of your team that is built."))
    if index.over != KnowledgeIndex.Over.IMAGES or index.endpoint is None:
        raise FileRunRefused(_("Choose an index over pictures that names its encoder."))
    return replace(plan, endpoint=index.endpoint, model=index.model, name=f"{index.base}, {index.model}"[:120])


def _options_of(plan: FactPlan) -> dict[str, str | float]:
    options: dict[str, str | float] = {"at_most": plan.at_most} if plan.at_most else {}
    if plan.what == BASE_SIMILARITY:
        return options
    return options | ({"words": plan.words} if plan.what in READS_WORDS else {"threshold": plan.threshold})


def _refuse_second(plan: FactPlan) -> None:
    """Needs the lock of the team. Raises FileRunRefused."""
    current = FactRequest.objects.filter(stage=plan.stage, what=plan.what).exclude(state=State.CANCELLED).first()
    if current is not None:
        text = _("“%(stage)s” has a request for %(fact)s already, by %(model)s. Cancel it first.")
        raise FileRunRefused(text % {"stage": plan.stage.name, "fact": plan.what, "model": current.model})


def lock_request(request_id: int) -> FactRequest:
    """The request as it is now. Needs a transaction."""
    rows = FactRequest.objects.select_related("stage__benchmark__team", "run__job", "run__rater", "endpoint")
    return rows.select_for_update(of=("self",), no_key=True).get(pk=request_id)


def _start_job_if_needed(request: FactRequest, actor: User | None) -> bool:
    """Start a job if items without the fact are there. Needs the lock of the request, which has no unfinished job."""
    if not missing_items(request).exists():
        return False
    if room_of(request) == 0:
        pause_locked(request, LIMIT, "", None)
        return False
    titles = {
        SCORE: _("CLIP scores of %(stage)s"),
        OBJECTS: _("Objects in %(stage)s"),
        TEXT_VECTOR: _("Text vectors of %(stage)s"),
        BASE_SIMILARITY: _("Pictures of %(stage)s, compared with the knowledge base"),
    }
    title = titles[request.what] % {"stage": request.stage.name}
    scope = request.stage.benchmark.scope
    request.run.job = jobs.start(KIND, title, scope=scope, actor=actor, params={"run": request.run_id})
    request.run.state = Run.State.RUNNING
    request.run.save(update_fields=["job", "state"])
    return True


def pause(request: FactRequest, actor: User) -> bool:
    """Stop before the next step; returns whether the request was active."""
    with transaction.atomic():
        locked = lock_request(request.pk)
        if not pause_locked(locked, PERSON, "", actor):
            return False
        if locked.run.job is not None:
            jobs.request_cancel(locked.run.job, actor)
    return True


def pause_locked(request: FactRequest, reason: str, message: str, actor: User | None) -> bool:
    """Pause an active request. Needs its lock. Returns whether it was active."""
    if request.state != State.ACTIVE:
        return False
    request.state, request.reason, request.message, request.changed_at = State.PAUSED, reason, message, timezone.now()
    request.save(update_fields=["state", "reason", "message", "changed_at"])
    Run.objects.filter(pk=request.run_id).update(state=Run.State.PAUSED, stopped_because=reason)
    _record(request, "facts.paused", actor, because=reason)
    return True


def pause_by_job(job: Job, reason: str, message: str = "") -> None:
    """Pause the request whose work the job does. Nothing happens if another job does it by now."""
    with transaction.atomic():
        own = FactRequest.objects.filter(run__job=job).values_list("pk", flat=True).first()
        if own is not None and (request := lock_request(own)).run.job_id == job.pk:
            pause_locked(request, reason, message, job.created_by if reason == PERSON else None)


def resume(request: FactRequest, actor: User) -> bool:
    """Go on after a pause, or try failed items again; returns whether there is anything to do."""
    with transaction.atomic():
        locked = lock_request(request.pk)
        if locked.state == State.CANCELLED:
            return False
        forgotten, _rows = locked.failures.all().delete()
        if locked.state == State.ACTIVE and not forgotten:
            return False
        activate_locked(locked, actor)
        job = locked.run.job
        if job is None or job.state not in Job.LIVE or job.cancel_asked:
            locked.run.job = None  # else the next look would take its end for the reason to pause again
            locked.run.save(update_fields=["job"])
            _start_job_if_needed(locked, actor)
    return True


def raise_limit(request: FactRequest, limit: int | None, actor: User) -> None:
    """Let it be computed of so many items, None for any number, and go on where the limit had paused it."""
    with transaction.atomic():
        locked = lock_request(request.pk)
        locked.options = {name: value for name, value in locked.options.items() if name != "at_most"}
        locked.options |= {"at_most": limit} if limit else {}
        locked.save(update_fields=["options"])
        _record(locked, "facts.limit_changed", actor, limit=str(limit or ""))
        is_waiting = locked.state == State.PAUSED and locked.reason == LIMIT
    if is_waiting:
        resume(request, actor)


def activate_locked(request: FactRequest, actor: User | None) -> None:
    """Make a paused request active. Needs its lock."""
    if request.state != State.PAUSED:
        return
    request.state, request.reason, request.message, request.changed_at = State.ACTIVE, "", "", timezone.now()
    request.save(update_fields=["state", "reason", "message", "changed_at"])
    request.run.state = Run.State.DONE if request.run.complete else Run.State.RUNNING
    request.run.stopped_because = ""
    request.run.save(update_fields=["state", "stopped_because"])
    _record(request, "facts.resumed", actor)


def cancel(request: FactRequest, actor: User) -> bool:
    """Compute nothing more; facts that are there stay. Returns whether it was not cancelled before."""
    with transaction.atomic():
        locked = lock_request(request.pk)
        if locked.state == State.CANCELLED:
            return False
        locked.state, locked.changed_at = State.CANCELLED, timezone.now()
        locked.save(update_fields=["state", "changed_at"])
        if not (locked.run.complete and locked.run.state == Run.State.DONE):
            Run.objects.filter(pk=locked.run_id).update(state=Run.State.CANCELLED, stopped_because=PERSON)
        if locked.run.job is not None:
            jobs.request_cancel(locked.run.job, actor)
        _record(locked, "facts.cancelled", actor)
    return True


def start_pending() -> int:
    """Start a job of each active request that has items to do and no unfinished job. For the worker and the beat."""
    active = FactRequest.objects.filter(state=State.ACTIVE, run__withdrawn_at=None)
    return sum(_start_pending(pk) for pk in active.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _start_pending(request_id: int) -> bool:
    """A job that failed, or that was cancelled before it began, has paused nothing: that is made up for here."""
    request = lock_request(request_id)
    job = request.run.job
    if request.state != State.ACTIVE or (job is not None and job.state in Job.LIVE):
        return False
    if job is not None and job.state == Job.State.FAILED:
        pause_locked(request, FAULT, job.error, None)
        return False
    if job is not None and job.state == Job.State.CANCELLED:
        pause_locked(request, PERSON, "", None)
        return False
    return _start_job_if_needed(request, request.created_by)


def follow(stage_id: int, item_ids: Sequence[int]) -> None:
    """Listen to benchmarks.services.item_changes: tell the worker when this transaction commits, once."""
    if not FactRequest.objects.filter(stage=stage_id, state=State.ACTIVE).exists():
        return
    if all(hook[1] is not send_task for hook in connection.run_on_commit):
        transaction.on_commit(send_task, robust=True)


def send_task() -> None:
    """Without a broker, the items wait for the beat."""
    dispatch(TASK)


def _record(request: FactRequest, verb: str, actor: User | None, **data: str) -> None:
    scope, target = request.stage.benchmark.scope, f"run:{request.run_id}"
    record(actor, verb, scope=scope, target=target, implied=actor is None, fact=request.what, **data)
