"""What becomes of calls when something came: attempts to write, calls that are over, calls that are asked again."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from predictions.backends.contract import RETRIED, CallError
from predictions.bodies import LONGEST, kept_of, pictures_of
from predictions.models import Call
from predictions.services.asking import Back, Came, Event, Failed, Fault, Placed, Ready, Task
from predictions.services.budgets import Ledger, Rates
from predictions.services.run_calls import Claimed, Sent, Settled

State = Call.State
TRIES = 5  # of a call, whatever went wrong; a limit is met more often
LIMITED_TRIES = 12
BACKOFF, MOST_BACKOFF, MOST_RETRY_AFTER = 1.0, 60.0, 3600.0  # seconds
MOST_FAILURES = 10  # one after the other, without a reply between them
BROKEN = "Emic could not read what the server sent. The operator's log has the details."
CUT = "The reply had %(length)s characters. The first %(kept)s were read and kept."
UNPAID = ("rate_limit", "not_allowed", "permanent")  # nobody charges for these


@dataclass
class Batch:
    """What is written together. `whole`: tasks with all their replies; `more`: those with more requests; `over`:
    those that are asked no more for now; `placed`: those that may go out."""

    sent: list[tuple[Sent, Task]] = field(default_factory=list)
    whole: list[Task] = field(default_factory=list)
    more: list[Task] = field(default_factory=list)
    settled: list[Settled] = field(default_factory=list)
    ready: list[Task] = field(default_factory=list)
    over: list[Task] = field(default_factory=list)
    placed: list[Task] = field(default_factory=list)
    unaccounted: Decimal = Decimal(0)

    def of_each_call(self) -> "list[Batch]":
        """The same, each call by itself; what is unaccounted stays with the first."""
        each: dict[int, Batch] = {}
        for one, task in self.sent:
            each.setdefault(one.call, Batch()).sent.append((one, task))
        for task in self.whole:
            each.setdefault(task.call.id, Batch()).whole.append(task)
        for task in self.more:
            each.setdefault(task.call.id, Batch()).more.append(task)
        for settled in self.settled:
            each.setdefault(settled.id, Batch()).settled.append(settled)
        return [Batch(unaccounted=self.unaccounted), *each.values()]

    def given_up(self, at: datetime) -> "Batch":
        """Of a call that cannot be written: it has failed, and what it cost is kept."""
        tasks = {task.call.id: task for _sent, task in self.sent} | {task.call.id: task for task in self.whole}
        cost = sum((one.cost or Decimal(0) for one, _task in self.sent), Decimal(0))
        return Batch(settled=[failed(task, "fault", at) for task in tasks.values()], unaccounted=cost)


class Turns:
    """Judges what came, with the memory it takes: how many failed one after the other, in slices before this one
    too (`told`: what `memory` was then)."""

    def __init__(self, rates: Rates, ledger: Ledger, seed: int, most_troubles: int, told: Mapping[str, int]) -> None:
        self.rates, self.ledger, self.seed, self.most_troubles = rates, ledger, seed, most_troubles
        self.failures, self.troubles = told.get("failures", 0), told.get("troubles", 0)
        self.halt = ""

    def memory(self) -> dict[str, int]:
        """For the next slice; who goes on after a halt begins anew."""
        return {} if self.halt else {"failures": self.failures, "troubles": self.troubles}

    def batch(self, events: Iterable[Event], at: datetime) -> Batch:
        batch = Batch()
        for event in events:
            task = event.task
            if isinstance(event, Came):
                self._came(batch, event)
            elif isinstance(event, Failed):
                self._failed(batch, event, at)
            elif isinstance(event, Placed):
                batch.placed.append(task)
            elif isinstance(event, Ready) and not event.problem:
                batch.ready.append(task)
            else:
                if isinstance(event, Back):
                    batch.settled.append(again(task))
                else:
                    if isinstance(event, Fault) and event.part is not None:  # it went out, so it may have been paid for
                        where = (event.part, event.at or at, event.seconds)
                        sent = self._sent(batch, task, *where, "transient", None, unpaid=False)
                        sent.error = BROKEN
                    reason = event.problem if isinstance(event, Ready) else "fault"
                    batch.settled.append(failed(task, reason, at))
                    self.went_wrong(isinstance(event, Fault))
                self._out(batch, task)
        return batch

    def _came(self, batch: Batch, event: Came) -> None:
        task, got = event.task, event.answered
        cost = self.rates.cost(got.tokens_in, got.tokens_out, len(pictures_of(task.requests[event.part])))
        sent = self._sent(batch, task, event.part, event.at, got.seconds, "reply", cost, unpaid=False)
        sent.status, sent.tokens_in, sent.tokens_out = got.status, got.tokens_in, got.tokens_out
        sent.provider, (sent.said, length) = got.provider_id[:120], kept_of(got.reply)
        if length > LONGEST:
            sent.error = CUT % {"length": length, "kept": LONGEST}
        sent.key, sent.request = task.keys[event.part], task.sent[event.part]
        task.arrived.add(event.part)
        self.failures = self.troubles = 0
        if len(task.arrived) == len(task.requests):
            batch.whole.append(task)
            self._out(batch, task)
        else:
            batch.more.append(task)

    def _failed(self, batch: Batch, event: Failed, at: datetime) -> None:
        task, error = event.task, event.error
        images = len(pictures_of(task.requests[event.part]))
        told = error.tokens_in is not None or error.tokens_out is not None
        cost = self.rates.cost(error.tokens_in, error.tokens_out, images) if told else None
        unpaid = error.trouble in UNPAID and not told
        sent = self._sent(batch, task, event.part, event.at, event.seconds, error.trouble, cost, unpaid=unpaid)
        sent.status, sent.tokens_in, sent.tokens_out = error.status, error.tokens_in, error.tokens_out
        sent.provider, sent.error = error.provider_id[:120], error.words[:500].replace("\x00", "")
        batch.settled.append(self._after(task, error, at))
        self._out(batch, task)

    def _sent(
        self, batch: Batch, task: Task, part: int, at: datetime, seconds: float, outcome: str, cost: Decimal | None,
        *, unpaid: bool,
    ) -> Sent:  # fmt: skip
        """An attempt, paid for: where nobody says what it cost, it is taken at its dearest."""
        most = task.most.pop(part, Decimal(0))
        if unpaid and self.rates.known:
            cost = Decimal(0)
        spent = most if cost is None else cost
        batch.unaccounted += spent if cost is None else 0
        self.ledger.settle(most, spent)
        task.attempts += 1
        task.cost += cost or 0
        sent = Sent(task.call.id, task.call.attempts + task.attempts, part, at, seconds, outcome, cost=cost)
        batch.sent.append((sent, task))
        return sent

    def _after(self, task: Task, error: CallError, at: datetime) -> Settled:
        made = task.call.attempts + task.attempts - task.call.before
        if error.trouble == "not_allowed":
            self.halt = "not_allowed"
            return again(task)
        self.troubles += error.trouble in ("connection", "timeout", "transient")
        if error.trouble in RETRIED and made < (LIMITED_TRIES if error.trouble == "rate_limit" else TRIES):
            if self.troubles >= self.most_troubles:
                self.halt = self.halt or "connection"
            return again(task, at + self._wait(task, made, error.retry_after))
        self.went_wrong()
        return failed(task, error.trouble, at)

    def _wait(self, task: Task, made: int, retry_after: float | None) -> timedelta:
        """As long as the server says; else twice as long each time, and never all at once."""
        chance = random.Random(f"{self.seed}:{task.call.id}:{made}").random()  # noqa: S311  (spreads the retries)
        if retry_after is not None:
            return timedelta(seconds=min(retry_after, MOST_RETRY_AFTER) + chance * BACKOFF / 2)
        return timedelta(seconds=min(MOST_BACKOFF, BACKOFF * 2 ** (made - 1)) * (0.5 + chance))

    def went_wrong(self, one: bool = True) -> None:
        """One more that failed, without a reply since the last."""
        self.failures += one
        if self.failures >= MOST_FAILURES:
            self.halt = self.halt or "failures"

    def _out(self, batch: Batch, task: Task) -> None:
        """What was held for requests that were not sent is free again."""
        for most in task.most.values():
            self.ledger.settle(most, Decimal(0))
        task.most.clear()
        batch.over.append(task)


def lacks(call: Claimed, code: str, at: datetime) -> Settled:
    """Failed without a request."""
    return Settled(
        call.id, State.FAILED, code[:40], replies=sorted(call.read), attempts=call.attempts, cost=call.cost,
        ended_at=at,
    )  # fmt: skip


def again(task: Task, not_before: datetime | None = None) -> Settled:
    return _same(task, State.PENDING, not_before=not_before)


def failed(task: Task, reason: str, at: datetime) -> Settled:
    return _same(task, State.FAILED, reason=reason[:40], ended_at=at)


def _same(task: Task, state: str, **more: object) -> Settled:
    """Without a value. What was read before stays named, so that it is not read again."""
    call = task.call
    notes = {"before": call.before} if call.before else {}
    return Settled(
        call.id, state, replies=sorted(call.read), attempts=call.attempts + task.attempts,
        cost=call.cost + task.cost, order=task.asked.order, notes=notes, **more,  # type: ignore[arg-type]
    )  # fmt: skip
