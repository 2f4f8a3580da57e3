"""What becomes of calls when something came: attempts to write, calls that are over, calls that are asked again."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from predictions.backends.contract import RETRIED, CallError
from predictions.models import Call
from predictions.requests.serialization import LONGEST, image_shas, truncate_reply
from predictions.services.runs.engine.budgets import Ledger, Rates
from predictions.services.runs.engine.requester import (
    CallTask,
    Cancellation,
    Crash,
    Dispatch,
    Event,
    Preparation,
    RequestError,
    Response,
)
from predictions.services.runs.engine.run_calls import AttemptRow, CallUpdate, ClaimedCall

State = Call.State
TRIES = 5  # of a call, whatever went wrong; a limit is met more often
LIMITED_TRIES = 12
BACKOFF, MOST_BACKOFF, MOST_RETRY_AFTER = 1.0, 60.0, 3600.0  # seconds
MOST_FAILURES = 10  # one after the other, without a reply between them
BROKEN = "Emic could not read what the server sent. The operator's log has the details."
CUT = "The reply had %(length)s characters. The first %(kept)s were read and kept."
UNPAID = ("rate_limit", "not_allowed", "permanent")  # nobody charges for these


@dataclass
class WriteBatch:
    """What is written together. `complete`: tasks with all their replies; `incomplete`: those with more requests;
    `abandoned`: those that are asked no more for now; `placed`: those that may go out."""

    attempts: list[tuple[AttemptRow, CallTask]] = field(default_factory=list)
    complete: list[CallTask] = field(default_factory=list)
    incomplete: list[CallTask] = field(default_factory=list)
    settled: list[CallUpdate] = field(default_factory=list)
    ready: list[CallTask] = field(default_factory=list)
    abandoned: list[CallTask] = field(default_factory=list)
    placed: list[CallTask] = field(default_factory=list)
    unaccounted: Decimal = Decimal(0)

    def of_each_call(self) -> "list[WriteBatch]":
        """The same, each call by itself; what is unaccounted stays with the first."""
        each: dict[int, WriteBatch] = {}
        for attempt_row, task in self.attempts:
            each.setdefault(attempt_row.call, WriteBatch()).attempts.append((attempt_row, task))
        for task in self.complete:
            each.setdefault(task.call.id, WriteBatch()).complete.append(task)
        for task in self.incomplete:
            each.setdefault(task.call.id, WriteBatch()).incomplete.append(task)
        for settled in self.settled:
            each.setdefault(settled.id, WriteBatch()).settled.append(settled)
        return [WriteBatch(unaccounted=self.unaccounted), *each.values()]

    def given_up(self, at: datetime) -> "WriteBatch":
        """Of a call that cannot be written: it has failed, and what it cost is kept."""
        tasks = {task.call.id: task for _sent, task in self.attempts} | {task.call.id: task for task in self.complete}
        cost = sum((attempt_row.cost or Decimal(0) for attempt_row, _task in self.attempts), Decimal(0))
        return WriteBatch(settled=[failure_update(task, "fault", at) for task in tasks.values()], unaccounted=cost)


class ResultPolicy:
    """Judges what came, with the memory it takes: how many failed one after the other, in slices before this one
    too (`told`: what `memory` was then)."""

    def __init__(self, rates: Rates, ledger: Ledger, seed: int, most_troubles: int, told: Mapping[str, int]) -> None:
        self.rates, self.ledger, self.seed, self.most_troubles = rates, ledger, seed, most_troubles
        self.failures, self.troubles = told.get("failures", 0), told.get("troubles", 0)
        self.halt = ""

    def memory(self) -> dict[str, int]:
        """For the next slice; who goes on after a halt begins anew."""
        return {} if self.halt else {"failures": self.failures, "troubles": self.troubles}

    def batch(self, events: Iterable[Event], at: datetime) -> WriteBatch:
        batch = WriteBatch()
        for event in events:
            task = event.task
            if isinstance(event, Response):
                self._came(batch, event)
            elif isinstance(event, RequestError):
                self._failed(batch, event, at)
            elif isinstance(event, Dispatch):
                batch.placed.append(task)
            elif isinstance(event, Preparation) and not event.problem:
                batch.ready.append(task)
            else:
                if isinstance(event, Cancellation):
                    batch.settled.append(retry_update(task))
                else:
                    if isinstance(event, Crash) and event.part is not None:  # it went out, so it may have been paid for
                        where = (event.part, event.at or at, event.seconds)
                        sent = self._sent(batch, task, *where, "transient", None, unpaid=False)
                        sent.error = BROKEN
                    reason = event.problem if isinstance(event, Preparation) else "fault"
                    batch.settled.append(failure_update(task, reason, at))
                    self.count_failure(isinstance(event, Crash))
                self._abandon(batch, task)
        return batch

    def _came(self, batch: WriteBatch, event: Response) -> None:
        task, answered = event.task, event.answered
        cost = self.rates.cost(answered.tokens_in, answered.tokens_out, len(image_shas(task.requests[event.part])))
        sent = self._sent(batch, task, event.part, event.at, answered.seconds, "reply", cost, unpaid=False)
        sent.status, sent.tokens_in, sent.tokens_out = answered.status, answered.tokens_in, answered.tokens_out
        sent.provider, (sent.said, length) = answered.provider_id[:120], truncate_reply(answered.reply)
        if length > LONGEST:
            sent.error = CUT % {"length": length, "kept": LONGEST}
        sent.key, sent.request = task.keys[event.part], task.sent[event.part]
        task.arrived.add(event.part)
        self.failures = self.troubles = 0
        if len(task.arrived) == len(task.requests):
            batch.complete.append(task)
            self._abandon(batch, task)
        else:
            batch.incomplete.append(task)

    def _failed(self, batch: WriteBatch, event: RequestError, at: datetime) -> None:
        task, error = event.task, event.error
        images = len(image_shas(task.requests[event.part]))
        told = error.tokens_in is not None or error.tokens_out is not None
        cost = self.rates.cost(error.tokens_in, error.tokens_out, images) if told else None
        unpaid = error.trouble in UNPAID and not told
        sent = self._sent(batch, task, event.part, event.at, event.seconds, error.trouble, cost, unpaid=unpaid)
        sent.status, sent.tokens_in, sent.tokens_out = error.status, error.tokens_in, error.tokens_out
        sent.provider, sent.error = error.provider_id[:120], error.words[:500].replace("\x00", "")
        batch.settled.append(self._after(task, error, at))
        self._abandon(batch, task)

    def _sent(
        self, batch: WriteBatch, task: CallTask, part: int, at: datetime, seconds: float, outcome: str,
        cost: Decimal | None, *, unpaid: bool,
    ) -> AttemptRow:  # fmt: skip
        """An attempt, paid for: where nobody says what it cost, it is taken at its dearest."""
        most = task.most.pop(part, Decimal(0))
        if unpaid and self.rates.known:
            cost = Decimal(0)
        spent = most if cost is None else cost
        batch.unaccounted += spent if cost is None else 0
        self.ledger.settle(most, spent)
        task.attempts += 1
        task.cost += cost or 0
        sent = AttemptRow(task.call.id, task.call.attempts + task.attempts, part, at, seconds, outcome, cost=cost)
        batch.attempts.append((sent, task))
        return sent

    def _after(self, task: CallTask, error: CallError, at: datetime) -> CallUpdate:
        n_attempts = task.call.attempts + task.attempts - task.call.before
        if error.trouble == "not_allowed":
            self.halt = "not_allowed"
            return retry_update(task)
        self.troubles += error.trouble in ("connection", "timeout", "transient")
        if error.trouble in RETRIED and n_attempts < (LIMITED_TRIES if error.trouble == "rate_limit" else TRIES):
            if self.troubles >= self.most_troubles:
                self.halt = self.halt or "connection"
            return retry_update(task, at + self._retry_delay(task, n_attempts, error.retry_after))
        self.count_failure()
        return failure_update(task, error.trouble, at)

    def _retry_delay(self, task: CallTask, n_attempts: int, retry_after: float | None) -> timedelta:
        """As long as the server says; else twice as long each time, and never all at once."""
        chance = random.Random(f"{self.seed}:{task.call.id}:{n_attempts}").random()  # noqa: S311  (spreads the retries)
        if retry_after is not None:
            return timedelta(seconds=min(retry_after, MOST_RETRY_AFTER) + chance * BACKOFF / 2)
        return timedelta(seconds=min(MOST_BACKOFF, BACKOFF * 2 ** (n_attempts - 1)) * (0.5 + chance))

    def count_failure(self, one: bool = True) -> None:
        """One more that failed, without a reply since the last."""
        self.failures += one
        if self.failures >= MOST_FAILURES:
            self.halt = self.halt or "failures"

    def _abandon(self, batch: WriteBatch, task: CallTask) -> None:
        """What was held for requests that were not sent is free again."""
        for most in task.most.values():
            self.ledger.settle(most, Decimal(0))
        task.most.clear()
        batch.abandoned.append(task)


def missing_input_update(call: ClaimedCall, code: str, at: datetime) -> CallUpdate:
    """Failed without a request."""
    return CallUpdate(
        call.id, State.FAILED, code[:40], replies=sorted(call.read), attempts=call.attempts, cost=call.cost,
        ended_at=at,
    )  # fmt: skip


def retry_update(task: CallTask, not_before: datetime | None = None) -> CallUpdate:
    return _same(task, State.PENDING, not_before=not_before)


def failure_update(task: CallTask, reason: str, at: datetime) -> CallUpdate:
    return _same(task, State.FAILED, reason=reason[:40], ended_at=at)


def _same(task: CallTask, state: str, **more: object) -> CallUpdate:
    """Without a value. What was read before stays named, so that it is not read again."""
    call = task.call
    notes = {"before": call.before} if call.before else {}
    return CallUpdate(
        call.id, state, replies=sorted(call.read), attempts=call.attempts + task.attempts,
        cost=call.cost + task.cost, order=task.asked.order, notes=notes, **more,  # type: ignore[arg-type]
    )  # fmt: skip
