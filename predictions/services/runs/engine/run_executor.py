"""Driving a run: claim calls, have threads ask, write what came in small batches. See docs/explanation/runs.md.

The driving thread alone touches the database. Every batch is one transaction that begins by proving that the job is
still this worker's, and its calls still this driver's.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from django.db import DataError, InterfaceError, OperationalError, connection, transaction
from django.db.models import F, Min, Q
from django.utils import timezone

from annotation.models import Unit
from annotation.services.model_answers import MixedSources, ModelAnswer
from annotation.services.model_answers import write as write_answers
from jobs.runner import LEASE, JobContext
from predictions.models import Call, Run
from predictions.prompts.contract import MissingInput
from predictions.requests.serialization import image_shas
from predictions.services.runs.engine import run_calls
from predictions.services.runs.engine.budgets import Ledger, token_bounds
from predictions.services.runs.engine.reply_parsing import ParseResult, parse_replies
from predictions.services.runs.engine.requester import CallTask, Event, can_send
from predictions.services.runs.engine.result_policy import ResultPolicy, WriteBatch, missing_input_update
from predictions.services.runs.engine.run_calls import CallUpdate, ClaimedCall
from predictions.services.runs.engine.run_context import RunContext
from predictions.services.runs.unit_selection import load_units, unit_seed

log = logging.getLogger(__name__)
R = TypeVar("R")
State = Call.State

SLICE = 60.0  # seconds; then others get their turn, if any wait
LOOK = 0.5  # seconds between two looks at whether the run goes on
RENEW = min(15.0, LEASE.total_seconds() / 4)
LONG_WAIT = 20.0  # with nothing to do for longer than this the worker is given back
ASKED_AS = ("base_url", "secret_set_at", "most_in_flight", "per_minute", "timeout_seconds")
ENDPOINT = ("endpoint__retired_at", *(f"endpoint__{name}" for name in ASKED_AS))
READERS = 3  # threads that read pictures
# Seconds in which the database may come back; then the job is another worker's anyway.
RECONNECT = LEASE.total_seconds() * 0.75


class RunExecutor:
    """One slice. `in_flight`: calls in hand; `dispatched`: those asked now, or whose reply is not kept yet; `waiting`:
    those that wait for a thread, or for room in the budget; `duplicates`: those whose very request is asked for
    another call."""

    def __init__(self, work: JobContext, run: Run, context: RunContext) -> None:
        self.work, self.run, self.outfit = work, run, context
        self.holder = f"{work.job.pk}:{work.job.attempts}"
        self.ledger = Ledger(run.budget, Decimal(0))
        self.turns = ResultPolicy(context.rates, self.ledger, run.seed, 3 * context.threads + 10, work.cursor)
        self.asker = context.asker
        self.endpoint = [getattr(run.endpoint, name) for name in ASKED_AS]
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
        self.dropped = False
        self.went = not self.asker.is_paid  # something has gone out in this slice, so that each gets on
        self.stale = True  # others may have spent something since the ledger was read

    def execute(self) -> str:
        """Until the run is done or something ends the slice: says what."""
        until = time.monotonic() + SLICE
        self._with_reconnect(self._begin)
        while True:
            if not self.closing:
                self._with_reconnect(self._claim_calls)
            batch = self.turns.batch(self._collect_events(), timezone.now())
            self.close(self.turns.halt)
            self._write(batch)
            now = time.monotonic()
            if now - self.looked > LOOK:
                self._with_reconnect(self._check_run_state)
                if now > until + (0 if self.went else LONG_WAIT) and self._with_reconnect(self.work.others_wait):
                    self.close("slice")
            if self.closing and not self.dispatched:
                return self.turns.halt if self.turns.halt and self.closing in ("slice", "wait") else self.closing

    def close(self, why: str) -> None:
        """Ask nothing more; what is being asked is waited for."""
        if why and not self.closing:
            self.closing = why
            self.asker.ended.set()

    def stop(self) -> None:
        self.asker.ended.set()
        self.pool.shutdown(wait=True, cancel_futures=True)
        self.readers.shutdown(wait=True, cancel_futures=True)

    # --- calls come in ---

    def _begin(self) -> None:
        self._reclaim_expired()
        self.asker.limiter.adopt_tickets(self.holder)
        calls = Call.objects.filter(run=self.run)
        waiting = calls.filter(state__in=(State.PENDING, State.RUNNING)).count()
        total = calls.count()
        self.done = total - waiting
        self.work.expect(total)

    def _reclaim_expired(self) -> None:
        with transaction.atomic():
            self._renew_job_lease()
            self.lost += run_calls.reclaim_expired(self.run.pk, self.holder, timezone.now())
            self._renew_job_lease()  # and keep how many were lost, until that is counted
        self.ledger.spent = run_calls.spent_cost(self.run.pk)

    def _claim_calls(self) -> None:
        """Claim as many as there is room for: a few more than are asked at once, so that no thread waits for one."""
        most = self.outfit.threads + max(4, self.outfit.threads // 2)
        room, now = most - len(self.in_flight), time.monotonic()
        if room < min(16, max(1, most // 4)) or now < self.dry_until or not self._is_only_executor():
            return
        with transaction.atomic():  # the run's row before the job's, as those who pause it take them
            if self.dropped:  # calls that were claimed as the database went away are nobody's
                run_calls.release_claims(self.run.pk, self.holder, self.in_flight)
            claimed = run_calls.claim_calls(self.run.pk, self.work.job.pk, self.holder, room, timezone.now())
            self._renew_job_lease()
        self.dropped = False
        if len(claimed) < room:
            self.dry_until = now + LOOK
        if not claimed and not self.in_flight:
            self._finish_or_wait()
        self._prepare_tasks(claimed)

    def _is_only_executor(self) -> bool:
        """A budget is kept by one driver at a time: what another still has in flight is waited for, then counted."""
        if self.ledger.budget is None:
            return True
        if run_calls.has_other_claims(self.run.pk, self.holder, timezone.now()):
            self.stale = True
            return False
        if self.stale:
            self._reclaim_expired()
            self.stale = False
        return True

    def _finish_or_wait(self) -> None:
        """Done; or what is left waits for its time, or is in another driver's hands."""
        left = Call.objects.filter(run=self.run, state__in=(State.PENDING, State.RUNNING))
        earliest = left.aggregate(first=Min("not_before", filter=Q(state=State.PENDING)))
        if not left.exists():
            self.close("done")
        elif not left.filter(state=State.PENDING).filter(Q(not_before=None) | Q(not_before__lte=timezone.now())):
            wait = (earliest["first"] - timezone.now()).total_seconds() if earliest["first"] else RENEW
            self._reclaim_expired()  # what is another driver's, which may be no more by now
            self.dry_until = time.monotonic() + max(0.02, min(wait, LOOK))
            if wait > LONG_WAIT:
                self.wait = wait
                self.close("wait")

    def _prepare_tasks(self, claimed: Sequence[ClaimedCall]) -> None:
        """Make what is asked; what a unit lacks is a failure without a request."""
        units = load_units([one.unit for one in claimed])
        batch = WriteBatch()
        for call in claimed:
            if self.turns.halt:
                break  # the rest waits again when the slice ends
            try:
                task = self._task(call, units)
            except MissingInput as lacking:
                batch.settled.append(missing_input_update(call, lacking.code, timezone.now()))
            except Exception:
                log.exception("call %s", call.id)
                batch.settled.append(missing_input_update(call, "fault", timezone.now()))
                self.turns.count_failure()
            else:
                self.in_flight[call.id] = task
                if any(image_shas(request) for request in task.requests):
                    self.readers.submit(self.asker.prepare, task)
                else:
                    self.asker.prepare(task)
        self._write(batch)

    def _task(self, call: ClaimedCall, found: Mapping[int, Unit]) -> CallTask:
        scene, shown = self.outfit.scenes.of(found[call.unit])
        asked = self.outfit.scenes.build_requests(scene, shown, unit_seed(self.run.seed, scene.item, scene.target))
        can_send(asked, self.asker.who)
        return CallTask(call, scene, shown, asked, asked.requests)

    # --- what came goes out ---

    def _collect_events(self) -> list[Event]:
        wait = LOOK if self.in_flight else max(0.0, min(LOOK, self.dry_until - time.monotonic()))
        return self.asker.collect_events(wait, len(self.dispatched))

    def _send(self, placed: Sequence[CallTask]) -> None:
        """Let those go out that are still this driver's, once it is written that they do."""
        ids = [task.call.id for task in placed]
        mine = self._with_reconnect(lambda: run_calls.mark_dispatched(ids, self.holder, timezone.now())) if ids else ()
        for task in placed:
            if task.call.id in mine:
                task.go.set()
                self.went = True

    def _write(self, batch: WriteBatch) -> None:
        """Write a batch, then go on: a thread asks again only when what it brought is kept, so a kill costs no more
        than what was in flight; and those that are ready find what has just been written."""
        self._send(batch.placed)
        self._save_batch(batch)
        for task in batch.abandoned:
            self.dispatched.discard(task.call.id)
            self.keys.difference_update(task.keys)
        for task in batch.incomplete:
            self.pool.submit(self.asker.ask, task)
        ready = batch.ready
        if batch.abandoned:
            ready, self.duplicates = ready + self.duplicates, []
        if self.closing or not (ready or self.waiting):
            return
        cached = WriteBatch()
        if ready:
            cached.complete = self._with_reconnect(lambda: self._use_cached_replies(ready))
            self.waiting += [task for task in ready if task.missing]
        self._dispatch(cached)
        self._save_batch(cached)

    def _save_batch(self, batch: WriteBatch) -> None:
        if not (batch.attempts or batch.complete or batch.settled or batch.unaccounted):
            return
        try:
            self.done += self._with_reconnect(lambda: self._save(batch))
        except DataError:
            log.exception("run %s: something is not taken by the database", self.run.pk)
            self._save_call_by_call(batch)
        for pk in [*(call_update.id for call_update in batch.settled), *(task.call.id for task in batch.complete)]:
            self.in_flight.pop(pk, None)
        again = [call_update.not_before for call_update in batch.settled if call_update.not_before]
        if again:
            wait = (min(again) - timezone.now()).total_seconds()
            self.dry_until = min(self.dry_until, time.monotonic() + max(0.0, wait))

    def _save_call_by_call(self, batch: WriteBatch) -> None:
        """One call's oddities do not cost the others' replies, which are paid for."""
        for single_batch in batch.of_each_call():
            try:
                self.done += self._with_reconnect(lambda: self._save(single_batch))  # noqa: B023  (called at once)
            except DataError:
                self.turns.count_failure()
                self.done += self._with_reconnect(lambda: self._save(single_batch.given_up(timezone.now())))  # noqa: B023

    def _use_cached_replies(self, ready: Sequence[CallTask]) -> list[CallTask]:
        """Take the replies that are there already; says which tasks need no asking."""
        keys = {key for task in ready for key in task.keys}
        known = run_calls.cached_replies(self.outfit.team, keys, self.outfit.cache_since)
        for task in ready:
            for part, key in enumerate(task.keys):
                if key in known and known[key][0] not in task.call.read:
                    task.replies[part] = known[key]
                    task.arrived.add(part)
        return [task for task in ready if not task.missing]

    def _dispatch(self, batch: WriteBatch) -> None:
        """Ask what there is a thread and room in the budget for, and the same request only once."""
        waiting, self.waiting = self.waiting, []
        for at, task in enumerate(waiting):
            if len(self.dispatched) >= self.outfit.threads:
                self.waiting += waiting[at:]
                return
            keys = {task.keys[part] for part in task.missing}
            if keys & self.keys:
                self.duplicates.append(task)
                continue
            most = {part: self._max_cost(task, part) for part in task.missing}
            self._charge_lost_requests(batch, sum(most.values(), Decimal(0)))
            if not self.ledger.reserve(sum(most.values(), Decimal(0))):
                self.waiting.append(task)
                continue
            task.most = most
            self.keys |= keys
            self.dispatched.add(task.call.id)
            self.pool.submit(self.asker.ask, task)
        if self.waiting and not self.dispatched:
            self.close("budget")

    def _max_cost(self, task: CallTask, part: int) -> Decimal:
        sizes = {image.sha: (image.width, image.height) for image in task.scene.images}
        request = task.requests[part]
        into, out = token_bounds(request, sizes, self.outfit.max_image_side, self.asker.who.decoding)
        return self.outfit.rates.cost(into.high, out.high, len(image_shas(request))) or Decimal(0)

    def _charge_lost_requests(self, batch: WriteBatch, most: Decimal) -> None:
        """What a lost worker had in hand may have been paid for."""
        batch.unaccounted += self.lost * most
        self.ledger.spent += self.lost * most
        self.lost = 0

    def _save(self, batch: WriteBatch) -> int:
        """All or nothing; says how many calls are over. What this driver no longer holds is not written."""
        now = timezone.now()
        ids = {call_update.id for call_update in batch.settled} | {task.call.id for task in batch.complete}
        ids |= {sent.call for sent, _task in batch.attempts}
        with transaction.atomic():
            if batch.unaccounted:
                Run.objects.filter(pk=self.run.pk).update(unaccounted=F("unaccounted") + batch.unaccounted)
            self._renew_job_lease()
            mine = run_calls.lock_held_calls(list(ids), self.holder)
            sent = [(one, task) for one, task in batch.attempts if one.call in mine]
            run_calls.save_attempts(self.outfit.team, [one for one, _task in sent], self.outfit.prices)
            for attempt_row, task in sent:
                if attempt_row.said is not None and attempt_row.reply is not None:
                    task.replies[attempt_row.part] = (attempt_row.reply, attempt_row.said)
            run_calls.save_partial_calls(
                [(task.call, task.attempts, task.cost) for task in batch.incomplete if task.call.id in mine]
            )
            settled = [call_update for call_update in batch.settled if call_update.id in mine]
            settled += self._read([task for task in batch.complete if task.call.id in mine], now)
            run_calls.update_calls(settled)
        return sum(call_update.state != State.PENDING for call_update in settled)

    def _read(self, whole: Sequence[CallTask], now: datetime) -> list[CallUpdate]:
        context = self.outfit
        readings: dict[int, ParseResult] = {}
        answers: list[ModelAnswer] = []
        for task in whole:
            replies = [task.replies[part][1] for part in range(len(task.requests))]
            result = parse_replies(context.prompt, context.sheet, task.scene, task.shown, task.asked, replies)
            readings[task.call.id] = result
            if result.parsed is not None:
                key = f"run:{self.run.pk}:{task.call.id}:"
                call = task.call
                answers.append(
                    ModelAnswer(call.unit, call.item, call.repeat, key, result.parsed, task.begun or now, now)
                )
        try:
            with transaction.atomic():
                annotation_ids = write_answers(context.destination, answers, now)
        except MixedSources:
            self.close("files")
            run_calls.save_partial_calls([(task.call, task.attempts, task.cost) for task in whole])
            return []
        return [self._call_update(task, readings[task.call.id], annotation_ids, now) for task in whole]

    def _call_update(
        self, task: CallTask, result: ParseResult, annotation_ids: dict[str, int], now: datetime
    ) -> CallUpdate:
        call = task.call
        return CallUpdate(
            call.id, result.state, result.reason, result.how, task.asked.order,
            [task.replies[part][0] for part in range(len(task.requests))], result.notes,
            cached=call.attempts + task.attempts == 0, attempts=call.attempts + task.attempts,
            cost=call.cost + task.cost, annotation=annotation_ids.get(f"run:{self.run.pk}:{call.id}:"), ended_at=now,
        )  # fmt: skip

    # --- keeping hold ---

    def _renew_job_lease(self) -> None:
        """Raises LeaseLost where another worker has the job."""
        self.work.step(done=self.done, cursor={**self.turns.memory(), **({"lost": self.lost} if self.lost else {})})

    def _check_run_state(self) -> None:
        """Whether the run goes on, as this job's; where the endpoint has another key or other limits, anew at once."""
        self.looked = time.monotonic()
        rows = Run.objects.filter(pk=self.run.pk)
        names = ("state", "job", "job__cancel_asked", "campaign__state", "budget", *ENDPOINT)
        [(state, job, asked, campaign, self.ledger.budget, *endpoint)] = rows.values_list(*names)
        if state != Run.State.RUNNING or job != self.work.job.pk:
            self.close("left")
        elif asked:
            self.close("person")
        elif campaign == "closed":
            self.close("closed")
        elif endpoint[0]:
            self.close("retired")
        elif endpoint[1:] != self.endpoint or (self.ledger.budget is not None and not self.outfit.rates.known):
            self.close("slice")
        if self.looked - self.renewed > RENEW:
            self.renewed = self.looked
            with transaction.atomic():
                self._renew_job_lease()
                run_calls.renew_claims(self.run.pk, self.holder, timezone.now())

    def _with_reconnect(self, do: Callable[[], R]) -> R:
        """Where the database goes away, what came is kept and written when it is back: a reply is paid for once."""
        until = time.monotonic() + RECONNECT
        while True:
            try:
                return do()
            except (OperationalError, InterfaceError):
                if time.monotonic() > until or connection.in_atomic_block:
                    raise
                log.warning("run %s: the database does not answer", self.run.pk)
                self.dropped = True
                connection.close()
                time.sleep(0.3)

    def release(self) -> None:
        """What was claimed and not asked waits again."""
        with transaction.atomic():
            self._renew_job_lease()
            run_calls.release_claims(self.run.pk, self.holder)
