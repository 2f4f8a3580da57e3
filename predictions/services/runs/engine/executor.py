"""The loop of one slice of a run: claim calls, prepare them, have threads send requests, settle results and write them.

Only the executor's own thread touches the database. Each batch is one transaction that begins by proving that the job
is still this worker's, and its calls still this executor's. See docs/explanation/runs.md.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TypeVar

from django.db import DataError, InterfaceError, OperationalError, connection, transaction
from django.db.models import Min, Q
from django.utils import timezone

from annotation.models import Unit
from jobs.services.job_context import LEASE, JobContext
from predictions.models import Call, Run
from predictions.prompts.contract import MissingInput
from predictions.services.runs.engine import claim, shared_budget
from predictions.services.runs.engine.budgets import Ledger
from predictions.services.runs.engine.claim import ClaimedCall
from predictions.services.runs.engine.context import RunContext
from predictions.services.runs.engine.prepare import CallTask, build_task, use_cached_replies
from predictions.services.runs.engine.request import Dispatch, Event
from predictions.services.runs.engine.settle import (
    CallProgress,
    CallUpdate,
    ResultPolicy,
    WriteBatch,
    missing_input_update,
)
from predictions.services.runs.engine.write import ResultWriter
from predictions.services.runs.unit_selection import load_units

log = logging.getLogger(__name__)
R = TypeVar("R")
State = Call.State

SLICE = 60.0  # seconds; then other jobs get their turn, if any wait
LOOK = 0.5  # seconds between two looks at whether the run goes on
RENEW = min(15.0, LEASE.total_seconds() / 4)
LONG_WAIT = 20.0  # with nothing to do for longer than this the worker is given back
CONNECTION_FIELDS = ("base_url", "secret_set_at", "most_in_flight", "per_minute", "timeout_seconds")
ENDPOINT = ("endpoint__retired_at", *(f"endpoint__{name}" for name in CONNECTION_FIELDS))
READERS = 3  # threads that read pictures
# Seconds in which the database may come back; then the job is another worker's anyway.
RECONNECT = LEASE.total_seconds() * 0.75


class RunExecutor:
    """One slice.

    Attributes:
        in_flight: tasks of claimed calls, by call.
        dispatched: calls that are asked now, or whose reply is not stored yet.
        waiting: tasks that wait for a thread, or for room in the budget.
        duplicates: tasks whose very request is being asked for another call; `keys` are of such requests.
        lost: requests that lost workers had sent and that are not charged yet.
        closing: why the slice ends; empty while it goes on.
    """

    def __init__(self, work: JobContext, run: Run, context: RunContext) -> None:
        self.work, self.run, self.context = work, run, context
        self.holder = f"{work.job.pk}:{work.job.attempts}"
        self.plan_set = run.plan_set_id if run.plan_set and run.plan_set.budget is not None else None
        self.ledger = Ledger(run.budget if self.plan_set is None else Decimal(0), Decimal(0))
        self.policy = ResultPolicy(context.rates, self.ledger, run.seed, 3 * context.threads + 10, work.cursor)
        self.writer = ResultWriter(run, context, self.holder, self._renew_job_lease)
        self.requester = context.requester
        self.endpoint = [getattr(run.endpoint, name) for name in CONNECTION_FIELDS]
        self.pool = ThreadPoolExecutor(context.threads, "ask")
        self.readers = ThreadPoolExecutor(READERS, "read")
        self.in_flight: dict[int, CallTask] = {}
        self.dispatched: set[int] = set()
        self.waiting: list[CallTask] = []
        self.duplicates: list[CallTask] = []
        self.keys: set[str] = set()
        self.done, self.lost = 0, int(work.cursor.get("lost", 0))
        self.dry_until = self.looked = self.renewed = 0.0
        self.closing = ""
        self.wait = 0.0
        self.has_dropped_connection = False
        self.has_sent = not self.requester.is_paid  # in this slice, so that each slice gets on
        self.is_ledger_stale = True  # others may have spent something since the ledger was read

    def execute(self) -> str:
        """Work until the run is done or something ends the slice; return which."""
        until = time.monotonic() + SLICE
        self._with_reconnect(self._begin)
        while True:
            if not self.closing:
                self._with_reconnect(self._claim_calls)
            batch = self.policy.settle(self._collect_events(), timezone.now())
            self.close(self.policy.halt)
            self._write(batch)
            now = time.monotonic()
            if now - self.looked > LOOK:
                self._with_reconnect(self._check_run_state)
                if now > until + (0 if self.has_sent else LONG_WAIT) and self._with_reconnect(
                    self.work.has_waiting_jobs
                ):
                    self.close("slice")
            if self.closing and not self.dispatched:
                return self.policy.halt if self.policy.halt and self.closing in ("slice", "wait") else self.closing

    def close(self, reason: str) -> None:
        """Send nothing more; requests in flight are waited for."""
        if reason and not self.closing:
            self.closing = reason
            self.requester.end()

    def stop(self) -> None:
        self.requester.end()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.readers.shutdown(wait=True, cancel_futures=True)

    # --- claim ---

    def _begin(self) -> None:
        self._reclaim_expired()
        self.requester.limiter.adopt_tickets(self.holder)
        calls = Call.objects.filter(run=self.run)
        waiting = calls.filter(state__in=(State.PENDING, State.RUNNING)).count()
        total = calls.count()
        self.done = total - waiting
        self.work.expect(total)

    def _reclaim_expired(self) -> None:
        with transaction.atomic():
            self._renew_job_lease()
            self.lost += claim.reclaim_expired(self.run.pk, self.holder, timezone.now())
            self._renew_job_lease()  # and store how many were lost, until that is charged
        self.ledger.set_spent(claim.spent_cost(self.run.pk))

    def _claim_calls(self) -> None:
        """Claim as many as there is room for: a few more than are asked at once, so that no thread waits for a call."""
        most = self.context.threads + max(4, self.context.threads // 2)
        room, now = most - len(self.in_flight), time.monotonic()
        if room < min(16, max(1, most // 4)) or now < self.dry_until or not self._is_only_executor():
            return
        with transaction.atomic():  # the run's row before the job's, as those who pause it take them
            if self.has_dropped_connection:  # calls that were claimed as the database went away are nobody's
                claim.release_claims(self.run.pk, self.holder, self.in_flight)
            calls = claim.claim_calls(self.run.pk, self.work.job.pk, self.holder, room, timezone.now())
            self._renew_job_lease()
        self.has_dropped_connection = False
        if len(calls) < room:
            self.dry_until = now + LOOK
        if not calls and not self.in_flight:
            self._finish_or_wait()
        self._prepare_tasks(calls)

    def _is_only_executor(self) -> bool:
        """A budget is kept by one executor at a time: what another has in flight is waited for, then counted."""
        if self.ledger.budget is None:
            return True
        if claim.has_other_claims(self.run.pk, self.holder, timezone.now()):
            self.is_ledger_stale = True
            return False
        if self.is_ledger_stale:
            self._reclaim_expired()
            self.is_ledger_stale = False
        return True

    def _finish_or_wait(self) -> None:
        """The run is done; or what is left waits for its time, or is claimed by another executor."""
        left = Call.objects.filter(run=self.run, state__in=(State.PENDING, State.RUNNING))
        times = left.aggregate(first=Min("not_before", filter=Q(state=State.PENDING)))
        if not left.exists():
            self.close("done")
        elif not left.filter(state=State.PENDING).filter(Q(not_before=None) | Q(not_before__lte=timezone.now())):
            wait = (times["first"] - timezone.now()).total_seconds() if times["first"] else RENEW
            self._reclaim_expired()  # the other executor may be lost by now
            self.dry_until = time.monotonic() + max(0.02, min(wait, LOOK))
            if wait > LONG_WAIT:
                self.wait = wait
                self.close("wait")

    # --- prepare ---

    def _prepare_tasks(self, calls: Sequence[ClaimedCall]) -> None:
        """Build what is asked; a call that lacks an input fails without a request."""
        units = load_units([call.unit for call in calls])
        self.context.scenes.read_articles({unit.item_id: unit.item for unit in units.values()}.values())
        updates: list[CallUpdate] = []
        for call in calls:
            if self.policy.halt:
                break  # the rest is released when the slice ends
            try:
                task = self._build_task(call, units)
            except MissingInput as lacking:
                updates.append(missing_input_update(call, lacking.code, timezone.now()))
            except Exception:
                log.exception("call %s", call.id)
                updates.append(missing_input_update(call, "fault", timezone.now()))
                self.policy.count_failure()
            else:
                self.in_flight[call.id] = task
                if task.has_images:
                    self.readers.submit(self.requester.prepare, task)
                else:
                    self.requester.prepare(task)
        self._write(WriteBatch(updates=updates))

    def _build_task(self, call: ClaimedCall, units: Mapping[int, Unit]) -> CallTask:
        return build_task(call, units[call.unit], self.context.scenes, self.run.seed, self.requester.identity)

    # --- request ---

    def _collect_events(self) -> list[Event]:
        wait = LOOK if self.in_flight else max(0.0, min(LOOK, self.dry_until - time.monotonic()))
        return self.requester.collect_events(wait, len(self.dispatched))

    def _confirm(self, dispatches: Sequence[Dispatch]) -> None:
        """Note that these are sent, and let those go out that are still this executor's."""
        if not dispatches:
            return
        ids = [dispatch.task.call.id for dispatch in dispatches]
        mine = self._with_reconnect(lambda: claim.mark_dispatched(ids, self.holder, timezone.now()))
        for dispatch in dispatches:
            if dispatch.task.call.id in mine:
                dispatch.confirm()
                self.has_sent = True

    def _dispatch(self) -> Decimal:
        """Send what there is a thread and room in the budget for, and the same request only once. Return the charge for
        requests of lost workers, in US dollars."""
        charged = Decimal(0)
        if self.plan_set is not None and self.waiting:
            self._share_budget(self.plan_set)
        waiting, self.waiting = self.waiting, []
        for at, task in enumerate(waiting):
            if len(self.dispatched) >= self.context.threads:
                self.waiting += waiting[at:]
                return charged
            keys = {task.keys[part] for part in task.missing}
            if keys & self.keys:
                self.duplicates.append(task)
                continue
            max_costs = self._max_costs(task)
            charged += self.policy.charge_lost(self.lost, sum(max_costs.values(), Decimal(0)))
            self.lost = 0
            if not self.policy.reserve(task, max_costs):
                self.waiting.append(task)
                continue
            self.keys |= keys
            self.dispatched.add(task.call.id)
            self.pool.submit(self.requester.ask, task)
        if self.waiting and not self.dispatched and not self._may_share_grow():
            self.close("budget")
        return charged

    def _max_costs(self, task: CallTask) -> dict[int, Decimal]:
        return task.max_costs(self.context.rates, self.context.max_image_side, self.requester.identity.decoding)

    def _share_budget(self, plan_set: int) -> None:
        """Take as much of the set's budget as the next requests may cost."""
        room = self.context.threads - len(self.dispatched)
        costs = [sum(self._max_costs(task).values(), Decimal(0)) for task in self.waiting[: max(0, room)]]
        if not costs:
            return
        current, wanted = self.ledger.held, sum(costs, Decimal(0)) + self.lost * max(costs)
        limit = self._with_reconnect(lambda: shared_budget.commit(self.run.pk, plan_set, current, wanted))
        self.ledger.set_budget(limit)

    def _may_share_grow(self) -> bool:
        plan_set = self.plan_set
        return plan_set is not None and self._with_reconnect(lambda: shared_budget.may_return(self.run.pk, plan_set))

    # --- settle and write ---

    def _write(self, batch: WriteBatch) -> None:
        """Write a batch, then go on. A thread asks again only when its last reply is stored, so a kill costs no more
        than what was in flight; and tasks that are ready find the replies that have just been stored."""
        self._confirm(batch.dispatches)
        self._save_batch(batch)
        for task in batch.abandoned:
            self.dispatched.discard(task.call.id)
            self.keys.difference_update(task.keys)
        for progress in batch.incomplete:
            self.pool.submit(self.requester.ask, progress.task)
        ready = list(batch.ready)
        if batch.abandoned:
            ready, self.duplicates = ready + self.duplicates, []
        if self.closing or not (ready or self.waiting):
            return
        if ready:
            self._with_reconnect(lambda: use_cached_replies(ready, self.context.team, self.context.cache_since))
            self.waiting += [task for task in ready if task.missing]
        charged = self._dispatch()
        cached = [CallProgress(task) for task in ready if not task.missing]
        self._save_batch(WriteBatch(complete=cached, unaccounted=charged))

    def _save_batch(self, batch: WriteBatch) -> None:
        if not batch.has_rows:
            return
        try:
            self._with_reconnect(lambda: self._save(batch))
        except DataError:
            log.exception("run %s: the database refuses a value", self.run.pk)
            self._save_call_by_call(batch)
        for pk in batch.ended_ids:
            self.in_flight.pop(pk, None)
        if batch.ended_ids and not self.in_flight:
            self.dry_until = 0.0  # the last one: look at once whether the run is done
        times = [update.not_before for update in batch.updates if update.not_before]
        if times:
            wait = (min(times) - timezone.now()).total_seconds()
            self.dry_until = min(self.dry_until, time.monotonic() + max(0.0, wait))

    def _save_call_by_call(self, batch: WriteBatch) -> None:
        """A fault in one call does not cost the others' replies, which are paid for."""
        for part in batch.split():
            try:
                self._with_reconnect(lambda: self._save(part))  # noqa: B023  (called at once)
            except DataError:
                self.policy.count_failure()
                self._with_reconnect(lambda: self._save(part.as_failure(timezone.now())))  # noqa: B023

    def _save(self, batch: WriteBatch) -> None:
        result = self.writer.save(batch)
        self.done += result.ended
        if result.mixed_sources:
            self.close("files")

    # --- the job and the run ---

    def _renew_job_lease(self) -> None:
        """Raises LeaseLost where another worker has the job."""
        self.work.step(done=self.done, cursor={**self.policy.memory(), **({"lost": self.lost} if self.lost else {})})

    def _check_run_state(self) -> None:
        """Close if the run does not go on as this job's, or if the endpoint has another key or other limits."""
        self.looked = time.monotonic()
        rows = Run.objects.filter(pk=self.run.pk)
        names = ("state", "job", "job__cancel_asked", "campaign__state", "budget", "plan_set__budget", *ENDPOINT)
        [(state, job, cancel_asked, campaign, budget, of_set, *endpoint)] = rows.values_list(*names)
        if self.plan_set is None:
            self.ledger.set_budget(budget)
        budget = budget if self.plan_set is None else of_set
        if state != Run.State.RUNNING or job != self.work.job.pk:
            self.close("left")
        elif cancel_asked:
            self.close("person")
        elif campaign == "closed":
            self.close("closed")
        elif endpoint[0]:
            self.close("retired")
        elif endpoint[1:] != self.endpoint or (budget is not None and not self.context.rates.known):
            self.close("slice")
        if self.looked - self.renewed > RENEW:
            self.renewed = self.looked
            with transaction.atomic():
                self._renew_job_lease()
                claim.renew_claims(self.run.pk, self.holder, timezone.now())

    def _with_reconnect(self, do: Callable[[], R]) -> R:
        """Repeat while the database is away: what came is kept and written when it is back, so it is paid for once."""
        until = time.monotonic() + RECONNECT
        while True:
            try:
                return do()
            except (OperationalError, InterfaceError):
                if time.monotonic() > until or connection.in_atomic_block:
                    raise
                log.warning("run %s: the database does not answer", self.run.pk)
                self.has_dropped_connection = True
                connection.close()
                time.sleep(0.3)

    def release(self) -> None:
        """Set what was claimed and not asked to pending."""
        with transaction.atomic():
            if self.plan_set is not None:  # the run's row before the job's
                shared_budget.settle(self.run.pk, self.ledger.held)
            self._renew_job_lease()
            claim.release_claims(self.run.pk, self.holder)
