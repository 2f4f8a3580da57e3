"""The job of a build plan: hold builds, take their next steps, and write each result with what follows from it.

A build is held by a lease, and its log says where it is, so that it goes on after any kill. Code and database run in
the job's thread, requests in the threads of a `RequestPool`. Each result is one transaction: the attempt, the reply
with its picture, the step and the state of the build. Lost with a worker are at most the requests in flight: they are
counted as attempts, added to `Build.unaccounted` at the most that they cost, and sent once more.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NoReturn

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from benchmarks.images.pictures import NotAPicture
from jobs.models import Job, record
from jobs.services.job_context import JobCancelled, JobContext, JobFailed, Requeue, TimeSlice
from jobs.services.kinds import JobKind, NextLink
from papers.valueground.builder import states
from papers.valueground.builder.models import Build, BuildPlan, BuildStep
from papers.valueground.builder.queries import committed_cost, progress_of
from papers.valueground.builder.services import plans, review_items
from papers.valueground.builder.services.step_requests import StepContext, StepRequest
from papers.valueground.builder.states import Action, BuildProgress, StepResult
from papers.valueground.builder.texts import REASONS
from predictions.backends.contract import CallError
from predictions.models import Reply
from predictions.services.endpoints.endpoints import EndpointRefused
from predictions.services.runs.engine.retries import may_retry, retry_delay
from predictions.services.sending.pool import RequestPool, SendResult
from predictions.services.sending.prices import RequestPrice, price_of
from predictions.services.sending.results import record_result
from predictions.texts.call_reasons import pause_reason_text

log = logging.getLogger(__name__)
LEASE = timedelta(minutes=10)
RENEW_SECONDS = 60.0
MOST_BUILDS = 8  # at once in one job; each sends at most two requests at a time
BEAT_SECONDS = 2.0
SLOT_WAIT = timedelta(seconds=1)
State, StepState, PlanState = Build.State, BuildStep.State, BuildPlan.State
PAGE = "pairs"


@dataclass
class HeldBuild:
    """A build that this job holds.

    Attributes:
        flights: steps whose request is in flight.
        waits: whether it waits for a request in flight: for room in the budget, or for a reply to the same request.
        fault: reason, message and state of an end that waits for the requests in flight.
    """

    build: Build
    context: StepContext
    progress: BuildProgress
    flights: int = 0
    waits: bool = False
    fault: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Flight:
    """A request in flight, for a step of a build."""

    held_build: HeldBuild
    step: BuildStep
    action: Action
    request: StepRequest
    price: RequestPrice = field(default_factory=RequestPrice)


class BuildLost(Exception):
    """The build is not this job's any more."""


def run(work: JobContext) -> None:
    plan = BuildPlan.objects.select_related("benchmark__team").get(pk=work.params["plan"])
    if plan.state != PlanState.RUNNING or plan.job_id != work.job.pk:
        raise JobCancelled
    pool: RequestPool[Flight] = RequestPool(f"{work.job.pk}:{work.job.attempts}", 2 * MOST_BUILDS)
    try:
        _BuildWork(work, plan, pool).run()
    finally:
        pool.close()


def next_link(job: Job) -> NextLink | None:
    plan = BuildPlan.objects.select_related("benchmark").filter(pk=job.params.get("plan")).first()
    if plan is None:
        return None
    return NextLink(plan.benchmark.name, reverse("benchmarks:plugin_page", args=[plan.benchmark.slug, PAGE]))


BUILD = JobKind(plans.KIND, run, next_link)


class _BuildWork:
    """One attempt of the job."""

    def __init__(self, work: JobContext, plan: BuildPlan, pool: RequestPool[Flight]) -> None:
        self.work, self.plan, self.pool, self.holder = work, plan, pool, pool.holder
        self.held: dict[int, HeldBuild] = {}
        self.keys: set[str] = set()  # of requests in flight: another build that asks the same waits for the reply
        self.renewed = time.monotonic()
        self.trouble = ""

    def run(self) -> None:
        reclaim(self.plan, self.holder, timezone.now())
        review_items.publish_builds(self.plan, timezone.now())
        self.work.expect(Build.objects.filter(plan=self.plan).count())
        turn = TimeSlice(self.work)
        try:
            while True:
                turn.is_over()
                self._claim()
                for held_build in list(self.held.values()):
                    self._advance(held_build)
                if self.trouble:
                    self._give_up(self.trouble)
                if not self.held:
                    self._end()
                    return
                self._collect()
        except (JobCancelled, Requeue) as stopped:
            self._drain(stop=isinstance(stopped, JobCancelled))
            raise
        except EndpointRefused as refused:
            self._drain()
            self._pause("retired")
            raise JobFailed(str(refused)) from refused

    # --- hold ---

    def _claim(self) -> None:
        room = MOST_BUILDS - len(self.held)
        if room <= 0:
            return
        for build in claim(self.plan, self.work.job.pk, self.holder, room, timezone.now()):
            self.held[build.pk] = HeldBuild(build, StepContext(build), progress_of(build))

    def _renew(self) -> None:
        if time.monotonic() - self.renewed < RENEW_SECONDS:
            return
        self.renewed = time.monotonic()
        Build.objects.filter(plan=self.plan, holder=self.holder).update(lease_until=timezone.now() + LEASE)

    def _lock(self, held_build: HeldBuild) -> Build:
        """The build, if this attempt still holds it. Needs a transaction. Raises BuildLost."""
        rows = Build.objects.select_for_update(no_key=True, of=("self",))
        build = rows.filter(pk=held_build.build.pk, holder=self.holder).first()
        if build is None:
            raise BuildLost
        return build

    def _release(self, held_build: HeldBuild, not_before: datetime | None = None, **changes: object) -> None:
        """Nobody holds the build any more. Its requests in flight, if any, are written nowhere."""
        self.held.pop(held_build.build.pk, None)
        rows = Build.objects.filter(pk=held_build.build.pk, holder=self.holder)
        rows.update(holder="", lease_until=None, not_before=not_before, **changes)

    # --- steps ---

    def _advance(self, held_build: HeldBuild) -> None:
        """Take steps until the build waits for a reply, or is not held any more."""
        try:
            while held_build.build.pk in self.held and not held_build.flights and not self.trouble:
                actions = states.next_actions(held_build.progress, held_build.context.rules)
                if not actions:
                    self._release(held_build)
                    return
                before = held_build.progress
                for action in actions:
                    if action.is_code:
                        self._take_code_step(held_build, action)
                    else:
                        self._open_step(held_build, action, before)
                    if held_build.build.pk not in self.held:
                        return
                if held_build.waits:
                    self._wait_for_room(held_build)
                    return
        except BuildLost:
            self.held.pop(held_build.build.pk, None)
        except (OSError, NotAPicture):
            log.exception("build %s", held_build.build.pk)
            self._fail(held_build, "no_image")
        except (EndpointRefused, OperationalError, InterfaceError):
            raise  # a database that is away leaves the build to the next worker
        except Exception:
            log.exception("build %s", held_build.build.pk)
            self._fail(held_build, "fault")

    def _wait_for_room(self, held_build: HeldBuild) -> None:
        """What is in flight may cost less than reserved: then there is room again."""
        held_build.waits = False
        if not self.pool.in_flight:
            self._fail(held_build, "budget", state=State.OVER_BUDGET)

    def _take_code_step(self, held_build: HeldBuild, action: Action) -> None:
        result, override = held_build.context.code_result(action, held_build.progress)
        now = timezone.now()
        with transaction.atomic():
            build = self._lock(held_build)
            BuildStep.objects.create(
                build=build, number=_next_number(build), kind=action.kind, target=action.target, state=StepState.DONE,
                plan_round=held_build.progress.plan_round, edit_round=held_build.progress.edit_round,
                output=result.output, override=override, at=now, settled_at=now,
            )  # fmt: skip
            progress = self._save_progress(build, held_build, result)
        self._follow(held_build, progress)

    def _open_step(self, held_build: HeldBuild, action: Action, before: BuildProgress) -> None:
        """Write the step before its request goes out; a reply that is there already settles it at once."""
        request, now = held_build.context.step_request(action, before), timezone.now()
        self.pool.connect(request.request.endpoint, request.request.kind)
        key, price = request.request.key, price_of(request.request, now, request.sizes)
        if key in self.keys:
            held_build.waits = True
            return
        with transaction.atomic():
            plan = plans.lock_plan(self.plan.pk)
            build = self._lock(held_build)
            step = self._step_of(build, action, before, request, key, now)
            reply = _unread_reply(plan, build, key)
            if reply is not None:
                step.cached = step.attempts_made == 0
                result = held_build.context.result(action, before, reply, request.request)
                self._settle_step(step, result, reply, now)
                progress = self._save_progress(build, held_build, result)
            elif not self._has_room(plan, price, held_build):
                return
            else:
                progress = None
                step.reserved, step.sent_at, step.prices = price.most or Decimal(0), now, price.prices
                step.save()
        if progress is not None:
            self._follow(held_build, progress)
            return
        self.pool.submit(Flight(held_build, step, action, request, price), request.request)
        held_build.flights += 1
        self.keys.add(key)

    def _step_of(
        self, build: Build, action: Action, progress: BuildProgress, request: StepRequest, key: str, at: datetime
    ) -> BuildStep:
        """The step of this action that waits to be sent again, or a new one; not saved."""
        rows = BuildStep.objects.filter(build=build, state=StepState.ASKED, request_key=key, target=action.target)
        step = rows.first()
        if step is not None:
            return step
        return BuildStep(
            build=build, number=_next_number(build), kind=action.kind, plan_round=progress.plan_round,
            edit_round=progress.edit_round, target=action.target, request_key=key, input=dict(request.input),
            seed=request.seed, parent_image=request.parent, prompt=request.prompt, at=at,
        )  # fmt: skip

    def _has_room(self, plan: BuildPlan, price: RequestPrice, held_build: HeldBuild) -> bool:
        """Whether the budget of the whole plan has room for the request; else the build waits, or ends over budget."""
        if plan.budget is None:
            return True
        if price.most is None:
            self._fail(held_build, "price", state=State.OVER_BUDGET)
            return False
        spent, in_flight = committed_cost(plan)
        if spent + in_flight + price.most <= plan.budget:
            return True
        if held_build.flights or (in_flight and spent + price.most <= plan.budget):
            held_build.waits = True
        else:
            self._fail(held_build, "budget", state=State.OVER_BUDGET)
        return False

    # --- results ---

    def _collect(self) -> None:
        for flight, result in self.pool.collect(BEAT_SECONDS):
            self._settle(flight, result)
        self._renew()
        self.work.beat()

    def _settle(self, flight: Flight, result: SendResult) -> None:
        """The attempt, the reply with its picture, the cost, the step and the build: all of it or nothing."""
        held_build = flight.held_build
        held_build.flights -= 1
        self.keys.discard(flight.step.request_key)
        now = timezone.now()
        try:
            with transaction.atomic():
                build = self._lock(held_build)
                step_result = self._record(build, flight, result, now)
                progress = self._save_progress(build, held_build, step_result) if step_result else None
        except BuildLost:
            self.held.pop(held_build.build.pk, None)
            return
        if progress is not None:
            self._follow(held_build, progress)
        elif result.error is not None:
            self._after_error(flight, result.error, sent=result.sent)

    def _record(self, build: Build, flight: Flight, result: SendResult, now: datetime) -> StepResult | None:
        """Write the attempt and the step; None where the request is sent again."""
        step, request = flight.step, flight.request.request
        step.reserved, step.sent_at = Decimal(0), None
        if not result.sent:
            step.save()
            return None
        step.attempts_made += 1
        recorded = record_result(
            self.plan.benchmark.team, request, result, scope=step.scope, number=step.attempts_made, price=flight.price
        )
        if recorded.cost is not None:
            step.cost = None if step.cost is None else step.cost + recorded.cost
        elif not result.may_be_charged:
            step.cost = None
        step.tokens_in, step.tokens_out = recorded.tokens_in, recorded.tokens_out
        build.cost += recorded.cost or 0
        build.unaccounted += recorded.unaccounted
        build.save(update_fields=["cost", "unaccounted"])
        action = flight.action
        if recorded.reply is not None:
            context, progress = flight.held_build.context, flight.held_build.progress
            step_result = context.result(action, progress, recorded.reply, request)
        elif result.error is not None and self._is_asked_again(step, result.error):
            step.save()
            return None
        else:
            reason = result.error.trouble if result.error else "no_image"
            message = recorded.problem or (result.error.words if result.error else "")
            step_result = StepResult(
                action.kind, action.target, StepState.FAILED, {"reason": reason, "message": message[:500]}
            )
        self._settle_step(step, step_result, recorded.reply, now)
        return step_result

    def _is_asked_again(self, step: BuildStep, error: CallError) -> bool:
        return error.trouble == "not_allowed" or may_retry(error, step.attempts_made)

    def _after_error(self, flight: Flight, error: CallError, *, sent: bool) -> None:
        """The build waits for its time, and its other request, if any, is still read."""
        if sent and error.trouble == "not_allowed":
            self.trouble = "not_allowed"
            return
        delay = retry_delay(flight.step.attempts_made, error.retry_after, flight.step.scope) if sent else SLOT_WAIT
        held_build = flight.held_build
        if held_build.flights:
            return  # the other result decides; then this step is opened again
        if held_build.fault is not None:
            self._fail(held_build, *held_build.fault)
        else:
            self._release(held_build, timezone.now() + delay)

    def _settle_step(self, step: BuildStep, result: StepResult, reply: Reply | None, at: datetime) -> None:
        step.state, step.output, step.image_id = result.state, dict(result.output), result.image
        step.reply, step.settled_at, step.reserved, step.sent_at = reply, at, Decimal(0), None
        step.save()

    def _save_progress(self, build: Build, held_build: HeldBuild, result: StepResult) -> BuildProgress:
        """The state after a step, with the step. Needs the build's lock."""
        progress = states.apply(held_build.progress, result, held_build.context.rules)
        build.state, build.plan_round, build.edit_round = progress.state, progress.plan_round, progress.edit_round
        build.reason, build.message = progress.reason, ""
        if progress.has_ended:
            build.ended_at = timezone.now()
            build.message = str(result.output.get("message", ""))
        if result.state == StepState.FAILED:
            message = str(result.output.get("message") or result.output.get("problem") or "")
            held_build.fault = (str(result.output.get("reason", ""))[:40], message, State.FAILED)
        if held_build.fault is not None and not held_build.flights:
            build.reason, build.message, build.state = held_build.fault
            build.ended_at = timezone.now()
        build.save(update_fields=["state", "plan_round", "edit_round", "reason", "message", "ended_at"])
        return progress

    def _follow(self, held_build: HeldBuild, progress: BuildProgress) -> None:
        """After the commit of a step: the build goes on, or has ended."""
        held_build.progress = progress
        if (progress.has_ended or held_build.fault is not None) and not held_build.flights:
            self._release(held_build)
            if progress.has_ended:
                review_items.publish_builds(self.plan, timezone.now())
            self._step()

    def _fail(self, held_build: HeldBuild, reason: str, message: str = "", state: str = State.FAILED) -> None:
        """End the build with a reason, once its requests in flight are read."""
        if held_build.flights:
            held_build.fault = (reason, message, state)
            return
        self._release(held_build, state=state, reason=reason, message=message, ended_at=timezone.now())
        self._step()

    def _step(self) -> None:
        ended = Build.objects.filter(plan=self.plan).exclude(state__in=states.WORKING).count()
        self.work.step(done=ended, cursor={})

    # --- end ---

    def _drain(self, *, stop: bool = False) -> None:
        """Read what is in flight, send nothing more, and let the builds go."""
        while self.pool.in_flight:
            for flight, result in self.pool.collect(BEAT_SECONDS):
                self._settle(flight, result)
            self._renew()
        with transaction.atomic():
            plan = plans.lock_plan(self.plan.pk)
            if stop and plan.job_id == self.work.job.pk:  # nobody resumed it in the meantime
                plans.mark_stopped(plan, self.holder)
                self._pause("person")
            Build.objects.filter(plan=plan, holder=self.holder).update(holder="", lease_until=None)
        self.held.clear()

    def _end(self) -> None:
        """Nothing can be sent now: done, or there is something to wait for."""
        with transaction.atomic():  # the plan's row first: nobody orders a revision in the midst
            plan = plans.lock_plan(self.plan.pk)
            waiting = Build.objects.filter(plan=plan, state__in=states.WORKING).order_by("not_before").first()
            if waiting is not None:
                left = waiting.not_before - timezone.now() if waiting.not_before else timedelta(0)
                raise Requeue(max(timedelta(seconds=1), left))
            if plan.state != PlanState.RUNNING or plan.job_id != self.work.job.pk:
                raise JobCancelled
            short = (
                Build.objects.filter(plan=plan, state=State.OVER_BUDGET, decision="")
                .values_list("reason", flat=True)
                .first()
            )
            if short is None:
                BuildPlan.objects.filter(pk=plan.pk).update(state=PlanState.DONE)
                scope, actor = plan.benchmark.scope, self.work.job.created_by
                record(actor, "builds.done", scope=scope, target=f"build-plan:{plan.pk}", implied=True)
                return
        self._give_up(short)

    def _pause(self, because: str) -> None:
        running = BuildPlan.objects.filter(pk=self.plan.pk, state=PlanState.RUNNING)
        running.update(state=PlanState.PAUSED, stopped_because=because)

    def _give_up(self, because: str) -> NoReturn:
        """Nothing more can be sent. Raises JobFailed."""
        self._drain()
        self._pause(because)
        raise JobFailed(str(REASONS.get(because) or pause_reason_text(because)))


def _next_number(build: Build) -> int:
    return (BuildStep.objects.filter(build=build).order_by("-number").values_list("number", flat=True).first() or 0) + 1


def _unread_reply(plan: BuildPlan, build: Build, key: str) -> Reply | None:
    """The newest stored reply to this request that this build has not read: one that it could not use is asked for
    again where a person resumed the build."""
    used = BuildStep.objects.filter(build=build, request_key=key, reply__isnull=False).values("reply")
    replies = Reply.objects.filter(team=plan.benchmark.team_id, key=key).exclude(pk__in=used)
    return replies.order_by("-number").first()


def claim(plan: BuildPlan, job: int, holder: str, most: int, at: datetime) -> list[Build]:
    """Hold at most `most` builds that can go on now. Raises JobCancelled where the plan is not this job's any more."""
    due = Q(not_before=None) | Q(not_before__lte=at)
    with transaction.atomic():
        if not BuildPlan.objects.filter(pk=plan.pk, state=PlanState.RUNNING, job=job).exists():
            raise JobCancelled
        rows = Build.objects.select_for_update(no_key=True, skip_locked=True, of=("self",))
        wanted = rows.filter(due, plan=plan, state__in=states.WORKING, holder="").order_by("pk")
        ids = list(wanted.values_list("pk", flat=True)[:most])
        Build.objects.filter(pk__in=ids).update(holder=holder, lease_until=at + LEASE, not_before=None)
    joined = Build.objects.select_related(
        "plan__benchmark", "question", "source__chat_endpoint", "source__image_endpoint", "replaces__plan",
        "replaces__question",
    )  # fmt: skip
    return list(joined.filter(pk__in=ids).order_by("pk"))


def reclaim(plan: BuildPlan, holder: str, at: datetime) -> int:
    """Builds of attempts that ended without a word wait again; return how many of their requests had been sent."""
    job = holder.partition(":")[0]
    gone = Q(lease_until__lt=at) | Q(holder__startswith=f"{job}:")
    with transaction.atomic():
        rows = Build.objects.select_for_update(no_key=True).filter(gone, plan=plan).exclude(holder__in=("", holder))
        builds = list(rows.order_by("pk"))
        lost = plans.write_off(builds, at)
        Build.objects.filter(pk__in=[build.pk for build in builds]).update(holder="", lease_until=None)
    return lost
