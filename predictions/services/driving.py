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
from predictions.bodies import pictures_of
from predictions.models import Call, Run
from predictions.prompts.contract import Lacking
from predictions.services import run_calls
from predictions.services.asking import Event, Task, can_be_asked
from predictions.services.budgets import Ledger, tokens
from predictions.services.outfits import Outfit
from predictions.services.reading import Reading, read
from predictions.services.run_calls import Claimed, Settled
from predictions.services.selecting import seed_of, units
from predictions.services.turns import Batch, Turns, lacks

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


class Driver:
    """One slice. `out`: calls in hand; `asking`: those asked now, or whose reply is not kept yet; `held`: those that
    wait for a thread, or for room in the budget; `parked`: those whose very request is asked for another call."""

    def __init__(self, work: JobContext, run: Run, outfit: Outfit) -> None:
        self.work, self.run, self.outfit = work, run, outfit
        self.holder = f"{work.job.pk}:{work.job.attempts}"
        self.ledger = Ledger(run.budget, Decimal(0))
        self.turns = Turns(outfit.rates, self.ledger, run.seed, 3 * outfit.threads + 10, work.cursor)
        self.asker = outfit.asker
        self.endpoint = [getattr(run.endpoint, name) for name in ASKED_AS]
        self.pool = ThreadPoolExecutor(outfit.threads, "ask")
        self.readers = ThreadPoolExecutor(READERS, "read")
        self.out: dict[int, Task] = {}
        self.asking: set[int] = set()
        self.held: list[Task] = []
        self.parked: list[Task] = []
        self.keys: set[str] = set()
        self.done, self.lost = 0, int(work.cursor.get("lost", 0))
        self.dry_until = self.looked = self.renewed = 0.0
        self.closing = ""
        self.wait = 0.0
        self.dropped = False
        self.went = not self.asker.paid  # something has gone out in this slice, so that each gets on
        self.stale = True  # others may have spent something since the ledger was read

    def drive(self) -> str:
        """Until the run is done or something ends the slice: says what."""
        until = time.monotonic() + SLICE
        self._db(self._begin)
        while True:
            if not self.closing:
                self._db(self._feed)
            batch = self.turns.batch(self._gather(), timezone.now())
            self.close(self.turns.halt)
            self._write(batch)
            now = time.monotonic()
            if now - self.looked > LOOK:
                self._db(self._look)
                if now > until + (0 if self.went else LONG_WAIT) and self._db(self.work.others_wait):
                    self.close("slice")
            if self.closing and not self.asking:
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
        self._take_up()
        self.asker.limiter.take_over(self.holder)
        calls = Call.objects.filter(run=self.run)
        waiting = calls.filter(state__in=(State.PENDING, State.RUNNING)).count()
        total = calls.count()
        self.done = total - waiting
        self.work.expect(total)

    def _take_up(self) -> None:
        with transaction.atomic():
            self._prove()
            self.lost += run_calls.take_up_lost(self.run.pk, self.holder, timezone.now())
            self._prove()  # and keep how many were lost, until that is counted
        self.ledger.spent = run_calls.spent(self.run.pk)

    def _feed(self) -> None:
        """Claim as many as there is room for: a few more than are asked at once, so that no thread waits for one."""
        most = self.outfit.threads + max(4, self.outfit.threads // 2)
        room, now = most - len(self.out), time.monotonic()
        if room < min(16, max(1, most // 4)) or now < self.dry_until or not self._alone():
            return
        with transaction.atomic():  # the run's row before the job's, as those who pause it take them
            if self.dropped:  # calls that were claimed as the database went away are nobody's
                run_calls.let_go(self.run.pk, self.holder, self.out)
            claimed = run_calls.claim(self.run.pk, self.work.job.pk, self.holder, room, timezone.now())
            self._prove()
        self.dropped = False
        if len(claimed) < room:
            self.dry_until = now + LOOK
        if not claimed and not self.out:
            self._nothing_left()
        self._stage(claimed)

    def _alone(self) -> bool:
        """A budget is kept by one driver at a time: what another still has in flight is waited for, then counted."""
        if self.ledger.budget is None:
            return True
        if run_calls.others_ask(self.run.pk, self.holder, timezone.now()):
            self.stale = True
            return False
        if self.stale:
            self._take_up()
            self.stale = False
        return True

    def _nothing_left(self) -> None:
        """Done; or what is left waits for its time, or is in another driver's hands."""
        left = Call.objects.filter(run=self.run, state__in=(State.PENDING, State.RUNNING))
        found = left.aggregate(first=Min("not_before", filter=Q(state=State.PENDING)))
        if not left.exists():
            self.close("done")
        elif not left.filter(state=State.PENDING).filter(Q(not_before=None) | Q(not_before__lte=timezone.now())):
            wait = (found["first"] - timezone.now()).total_seconds() if found["first"] else RENEW
            self._take_up()  # what is another driver's, which may be no more by now
            self.dry_until = time.monotonic() + max(0.02, min(wait, LOOK))
            if wait > LONG_WAIT:
                self.wait = wait
                self.close("wait")

    def _stage(self, claimed: Sequence[Claimed]) -> None:
        """Make what is asked; what a unit lacks is a failure without a request."""
        found = units([one.unit for one in claimed])
        batch = Batch()
        for call in claimed:
            if self.turns.halt:
                break  # the rest waits again when the slice ends
            try:
                task = self._task(call, found)
            except Lacking as lacking:
                batch.settled.append(lacks(call, lacking.code, timezone.now()))
            except Exception:
                log.exception("call %s", call.id)
                batch.settled.append(lacks(call, "fault", timezone.now()))
                self.turns.went_wrong()
            else:
                self.out[call.id] = task
                if any(pictures_of(request) for request in task.requests):
                    self.readers.submit(self.asker.prepare, task)
                else:
                    self.asker.prepare(task)
        self._write(batch)

    def _task(self, call: Claimed, found: Mapping[int, Unit]) -> Task:
        scene, shown = self.outfit.scenes.of(found[call.unit])
        asked = self.outfit.scenes.ask(scene, shown, seed_of(self.run.seed, scene.item, scene.target))
        can_be_asked(asked, self.asker.who)
        return Task(call, scene, shown, asked, asked.requests)

    # --- what came goes out ---

    def _gather(self) -> list[Event]:
        wait = LOOK if self.out else max(0.0, min(LOOK, self.dry_until - time.monotonic()))
        return self.asker.gather(wait, len(self.asking))

    def _send(self, placed: Sequence[Task]) -> None:
        """Let those go out that are still this driver's, once it is written that they do."""
        ids = [task.call.id for task in placed]
        mine = self._db(lambda: run_calls.goes_out(ids, self.holder, timezone.now())) if ids else ()
        for task in placed:
            if task.call.id in mine:
                task.go.set()
                self.went = True

    def _write(self, batch: Batch) -> None:
        """Write a batch, then go on: a thread asks again only when what it brought is kept, so a kill costs no more
        than what was in flight; and those that are ready find what has just been written."""
        self._send(batch.placed)
        self._keep(batch)
        for task in batch.over:
            self.asking.discard(task.call.id)
            self.keys.difference_update(task.keys)
        for task in batch.more:
            self.pool.submit(self.asker.ask, task)
        ready = batch.ready
        if batch.over:
            ready, self.parked = ready + self.parked, []
        if self.closing or not (ready or self.held):
            return
        cached = Batch()
        if ready:
            cached.whole = self._db(lambda: self._known(ready))
            self.held += [task for task in ready if task.missing]
        self._route(cached)
        self._keep(cached)

    def _keep(self, batch: Batch) -> None:
        if not (batch.sent or batch.whole or batch.settled or batch.unaccounted):
            return
        try:
            self.done += self._db(lambda: self._save(batch))
        except DataError:
            log.exception("run %s: something is not taken by the database", self.run.pk)
            self._apart(batch)
        for pk in [*(one.id for one in batch.settled), *(task.call.id for task in batch.whole)]:
            self.out.pop(pk, None)
        again = [one.not_before for one in batch.settled if one.not_before]
        if again:
            wait = (min(again) - timezone.now()).total_seconds()
            self.dry_until = min(self.dry_until, time.monotonic() + max(0.0, wait))

    def _apart(self, batch: Batch) -> None:
        """One call's oddities do not cost the others' replies, which are paid for."""
        for one in batch.of_each_call():
            try:
                self.done += self._db(lambda: self._save(one))  # noqa: B023  (called at once)
            except DataError:
                self.turns.went_wrong()
                self.done += self._db(lambda: self._save(one.given_up(timezone.now())))  # noqa: B023

    def _known(self, ready: Sequence[Task]) -> list[Task]:
        """Take the replies that are there already; says which tasks need no asking."""
        keys = {key for task in ready for key in task.keys}
        known = run_calls.known(self.outfit.team, keys, self.outfit.since)
        for task in ready:
            for part, key in enumerate(task.keys):
                if key in known and known[key][0] not in task.call.read:
                    task.replies[part] = known[key]
                    task.arrived.add(part)
        return [task for task in ready if not task.missing]

    def _route(self, batch: Batch) -> None:
        """Ask what there is a thread and room in the budget for, and the same request only once."""
        waiting, self.held = self.held, []
        for at, task in enumerate(waiting):
            if len(self.asking) >= self.outfit.threads:
                self.held += waiting[at:]
                return
            keys = {task.keys[part] for part in task.missing}
            if keys & self.keys:
                self.parked.append(task)
                continue
            most = {part: self._most(task, part) for part in task.missing}
            self._count_lost(batch, sum(most.values(), Decimal(0)))
            if not self.ledger.reserve(sum(most.values(), Decimal(0))):
                self.held.append(task)
                continue
            task.most = most
            self.keys |= keys
            self.asking.add(task.call.id)
            self.pool.submit(self.asker.ask, task)
        if self.held and not self.asking:
            self.close("budget")

    def _most(self, task: Task, part: int) -> Decimal:
        sizes = {image.sha: (image.width, image.height) for image in task.scene.images}
        request = task.requests[part]
        into, out = tokens(request, sizes, self.outfit.longest, self.asker.who.decoding)
        return self.outfit.rates.cost(into.high, out.high, len(pictures_of(request))) or Decimal(0)

    def _count_lost(self, batch: Batch, most: Decimal) -> None:
        """What a lost worker had in hand may have been paid for."""
        batch.unaccounted += self.lost * most
        self.ledger.spent += self.lost * most
        self.lost = 0

    def _save(self, batch: Batch) -> int:
        """All or nothing; says how many calls are over. What this driver no longer holds is not written."""
        now = timezone.now()
        ids = {one.id for one in batch.settled} | {task.call.id for task in batch.whole}
        ids |= {sent.call for sent, _task in batch.sent}
        with transaction.atomic():
            if batch.unaccounted:
                Run.objects.filter(pk=self.run.pk).update(unaccounted=F("unaccounted") + batch.unaccounted)
            self._prove()
            mine = run_calls.held(list(ids), self.holder)
            sent = [(one, task) for one, task in batch.sent if one.call in mine]
            run_calls.keep(self.outfit.team, [one for one, _task in sent], self.outfit.prices)
            for one, task in sent:
                if one.said is not None and one.reply is not None:
                    task.replies[one.part] = (one.reply, one.said)
            run_calls.go_on([(task.call, task.attempts, task.cost) for task in batch.more if task.call.id in mine])
            settled = [one for one in batch.settled if one.id in mine]
            settled += self._read([task for task in batch.whole if task.call.id in mine], now)
            run_calls.settle(settled)
        return sum(one.state != State.PENDING for one in settled)

    def _read(self, whole: Sequence[Task], now: datetime) -> list[Settled]:
        outfit = self.outfit
        readings: dict[int, Reading] = {}
        answers: list[ModelAnswer] = []
        for task in whole:
            replies = [task.replies[part][1] for part in range(len(task.requests))]
            found = read(outfit.prompt, outfit.sheet, task.scene, task.shown, task.asked, replies)
            readings[task.call.id] = found
            if found.parsed is not None:
                key = f"run:{self.run.pk}:{task.call.id}:"
                call = task.call
                answers.append(
                    ModelAnswer(call.unit, call.item, call.repeat, key, found.parsed, task.begun or now, now)
                )
        try:
            with transaction.atomic():
                made = write_answers(outfit.desk, answers, now)
        except MixedSources:
            self.close("files")
            run_calls.go_on([(task.call, task.attempts, task.cost) for task in whole])
            return []
        return [self._settled(task, readings[task.call.id], made, now) for task in whole]

    def _settled(self, task: Task, found: Reading, made: dict[str, int], now: datetime) -> Settled:
        call = task.call
        return Settled(
            call.id, found.state, found.reason, found.how, task.asked.order,
            [task.replies[part][0] for part in range(len(task.requests))], found.notes,
            cached=call.attempts + task.attempts == 0, attempts=call.attempts + task.attempts,
            cost=call.cost + task.cost, annotation=made.get(f"run:{self.run.pk}:{call.id}:"), ended_at=now,
        )  # fmt: skip

    # --- keeping hold ---

    def _prove(self) -> None:
        """Raises LeaseLost where another worker has the job."""
        self.work.step(done=self.done, cursor={**self.turns.memory(), **({"lost": self.lost} if self.lost else {})})

    def _look(self) -> None:
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
                self._prove()
                run_calls.renew(self.run.pk, self.holder, timezone.now())

    def _db(self, do: Callable[[], R]) -> R:
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
            self._prove()
            run_calls.let_go(self.run.pk, self.holder)
