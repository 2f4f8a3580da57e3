"""Fourth step: decide what follows from results. Attempts to store, calls that have ended, retries, and the money.

Nothing here touches the database or the network: events go in, a `WriteBatch` comes out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from predictions.backends.contract import CallError
from predictions.models import Call
from predictions.prompts.contract import Reply
from predictions.requests.serialization import LONGEST, image_shas, truncate_reply
from predictions.services.runs.engine.budgets import Ledger, Rates
from predictions.services.runs.engine.claim import ClaimedCall
from predictions.services.runs.engine.prepare import CallTask
from predictions.services.runs.engine.request import (
    Cancellation,
    Crash,
    Dispatch,
    Event,
    Preparation,
    RequestError,
    Response,
)
from predictions.services.runs.engine.retries import may_retry, retry_delay

State = Call.State
MOST_FAILURES = 10  # one after the other, without a reply between them
BROKEN = "Emic could not read what the server sent. The operator's log has the details."
CUT = "The reply had %(length)s characters. The first %(kept)s were read and kept."
UNPAID = ("rate_limit", "not_allowed", "permanent")  # nobody charges for these


@dataclass
class AttemptRow:
    """An attempt to store; with `key`, `request` and `body` where a reply came."""

    call: int
    number: int
    part: int
    at: datetime
    seconds: float
    outcome: str
    status: int | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    provider: str = ""
    error: str = ""
    key: str = ""
    request: Mapping[str, Any] = field(default_factory=dict)
    body: Reply | None = None


@dataclass(frozen=True)
class CallUpdate:
    """The new state of a call. `pending` with `not_before`: it is asked again from then on."""

    id: int
    state: str
    reason: str = ""
    how: str = ""
    order: Sequence[str] = ()
    replies: Sequence[int] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)
    cached: bool = False
    attempts: int = 0
    cost: Decimal = Decimal(0)
    annotation: int | None = None
    not_before: datetime | None = None
    ended_at: datetime | None = None


@dataclass
class CallProgress:
    """What a task has taken since it was claimed.

    Attributes:
        attempts, cost: number, and US dollars as far as they are known.
        begun: when the first request with a reply was sent.
        arrived: requests whose reply has come, stored or not.
        reserved: by request, the most it may cost: held in the ledger until its result is there.
    """

    task: CallTask
    attempts: int = 0
    cost: Decimal = Decimal(0)
    begun: datetime | None = None
    arrived: set[int] = field(default_factory=set)
    reserved: dict[int, Decimal] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return len(self.arrived.union(self.task.replies)) == len(self.task.requests)

    @property
    def total_attempts(self) -> int:
        return self.task.call.attempts + self.attempts

    @property
    def total_cost(self) -> Decimal:
        return self.task.call.cost + self.cost


@dataclass
class WriteBatch:
    """What is written together.

    Attributes:
        complete: tasks that have all their replies.
        incomplete: tasks with further requests.
        updates: calls that end, or wait, without an answer.
        ready: tasks whose requests have keys.
        abandoned: tasks that are asked nothing more for now.
        dispatches: tasks that wait for `confirm`.
        unaccounted: US dollars that requests of unknown cost may have cost.
    """

    attempts: list[tuple[AttemptRow, CallProgress]] = field(default_factory=list)
    complete: list[CallProgress] = field(default_factory=list)
    incomplete: list[CallProgress] = field(default_factory=list)
    updates: list[CallUpdate] = field(default_factory=list)
    ready: list[CallTask] = field(default_factory=list)
    abandoned: list[CallTask] = field(default_factory=list)
    dispatches: list[Dispatch] = field(default_factory=list)
    unaccounted: Decimal = Decimal(0)

    @property
    def has_rows(self) -> bool:
        return bool(self.attempts or self.complete or self.updates or self.unaccounted)

    @property
    def ended_ids(self) -> list[int]:
        """Calls that leave the executor's hands when the batch is written."""
        return [*(update.id for update in self.updates), *(progress.task.call.id for progress in self.complete)]

    def split(self) -> "list[WriteBatch]":
        """The same, each call by itself; what is unaccounted stays with the first."""
        batches: dict[int, WriteBatch] = {}
        for attempt, progress in self.attempts:
            batches.setdefault(attempt.call, WriteBatch()).attempts.append((attempt, progress))
        for progress in self.complete:
            batches.setdefault(progress.task.call.id, WriteBatch()).complete.append(progress)
        for progress in self.incomplete:
            batches.setdefault(progress.task.call.id, WriteBatch()).incomplete.append(progress)
        for update in self.updates:
            batches.setdefault(update.id, WriteBatch()).updates.append(update)
        return [WriteBatch(unaccounted=self.unaccounted), *batches.values()]

    def as_failure(self, at: datetime) -> "WriteBatch":
        """For a call that cannot be written: it has failed, and what it cost is charged."""
        each = {progress.task.call.id: progress for _attempt, progress in self.attempts}
        each |= {progress.task.call.id: progress for progress in self.complete}
        cost = sum((attempt.cost or Decimal(0) for attempt, _progress in self.attempts), Decimal(0))
        return WriteBatch(updates=[failure_update(one, "fault", at) for one in each.values()], unaccounted=cost)


class ResultPolicy:
    """Decides what follows from events. It counts failures in a row, also those of earlier slices (`stored`: what
    `memory` returned then), and keeps the ledger's reservations. `halt`: why the run is to pause."""

    def __init__(self, rates: Rates, ledger: Ledger, seed: int, most_troubles: int, stored: Mapping[str, int]) -> None:
        self.rates, self.ledger, self.seed, self.most_troubles = rates, ledger, seed, most_troubles
        self.failures, self.troubles = stored.get("failures", 0), stored.get("troubles", 0)
        self.halt = ""
        self._progress: dict[int, CallProgress] = {}  # by id() of the task

    def memory(self) -> dict[str, int]:
        """For the next slice; after a halt the count begins anew."""
        return {} if self.halt else {"failures": self.failures, "troubles": self.troubles}

    def reserve(self, task: CallTask, max_costs: Mapping[int, Decimal]) -> bool:
        """Whether the budget has room for the requests; then it is reserved for them."""
        if not self.ledger.reserve(sum(max_costs.values(), Decimal(0))):
            return False
        self._progress_of(task).reserved = dict(max_costs)
        return True

    def charge_lost(self, requests: int, most: Decimal) -> Decimal:
        """Charge requests that lost workers had sent, at most `most` each; return the US dollars."""
        self.ledger.charge(requests * most)
        return requests * most

    def settle(self, events: Iterable[Event], at: datetime) -> WriteBatch:
        batch = WriteBatch()
        for event in events:
            if isinstance(event, Response):
                self._settle_response(batch, event)
            elif isinstance(event, RequestError):
                self._settle_error(batch, event, at)
            elif isinstance(event, Dispatch):
                batch.dispatches.append(event)
            elif isinstance(event, Preparation) and not event.problem:
                batch.ready.append(event.task)
            else:
                self._settle_unsent(batch, event, at)
        return batch

    def _progress_of(self, task: CallTask) -> CallProgress:
        return self._progress.setdefault(id(task), CallProgress(task))

    def _settle_unsent(self, batch: WriteBatch, event: Cancellation | Preparation | Crash, at: datetime) -> None:
        progress = self._progress_of(event.task)
        if isinstance(event, Cancellation):
            batch.updates.append(retry_update(progress))
        else:
            if isinstance(event, Crash) and event.part is not None:  # it went out, so it may have been paid for
                sent_at = event.at or at
                attempt = self._attempt(
                    batch, progress, event.part, sent_at, event.seconds, "transient", None, unpaid=False
                )
                attempt.error = BROKEN
            reason = event.problem if isinstance(event, Preparation) else "fault"
            batch.updates.append(failure_update(progress, reason, at))
            self.count_failure(isinstance(event, Crash))
        self._abandon(batch, progress)

    def _settle_response(self, batch: WriteBatch, event: Response) -> None:
        task, answered, progress = event.task, event.answered, self._progress_of(event.task)
        progress.begun = progress.begun or event.at
        cost = self.rates.cost(answered.tokens_in, answered.tokens_out, len(image_shas(task.requests[event.part])))
        attempt = self._attempt(batch, progress, event.part, event.at, answered.seconds, "reply", cost, unpaid=False)
        attempt.status, attempt.tokens_in, attempt.tokens_out = answered.status, answered.tokens_in, answered.tokens_out
        attempt.provider, (attempt.body, length) = answered.provider_id[:120], truncate_reply(answered.reply)
        if length > LONGEST:
            attempt.error = CUT % {"length": length, "kept": LONGEST}
        attempt.key, attempt.request = task.keys[event.part], task.sent[event.part]
        progress.arrived.add(event.part)
        self.failures = self.troubles = 0
        if progress.is_complete:
            batch.complete.append(progress)
            self._abandon(batch, progress)
        else:
            batch.incomplete.append(progress)

    def _settle_error(self, batch: WriteBatch, event: RequestError, at: datetime) -> None:
        task, error, progress = event.task, event.error, self._progress_of(event.task)
        images = len(image_shas(task.requests[event.part]))
        has_usage = error.tokens_in is not None or error.tokens_out is not None
        cost = self.rates.cost(error.tokens_in, error.tokens_out, images) if has_usage else None
        unpaid = error.trouble in UNPAID and not has_usage
        attempt = self._attempt(
            batch, progress, event.part, event.at, event.seconds, error.trouble, cost, unpaid=unpaid
        )
        attempt.status, attempt.tokens_in, attempt.tokens_out = error.status, error.tokens_in, error.tokens_out
        attempt.provider, attempt.error = error.provider_id[:120], error.words[:500].replace("\x00", "")
        batch.updates.append(self._update_after(progress, error, at))
        self._abandon(batch, progress)

    def _attempt(
        self, batch: WriteBatch, progress: CallProgress, part: int, at: datetime, seconds: float, outcome: str,
        cost: Decimal | None, *, unpaid: bool,
    ) -> AttemptRow:  # fmt: skip
        """Add an attempt, paid for. One of unknown cost is charged at the most it may have cost."""
        most = progress.reserved.pop(part, Decimal(0))
        if unpaid and self.rates.known:
            cost = Decimal(0)
        spent = most if cost is None else cost
        batch.unaccounted += spent if cost is None else 0
        self.ledger.settle(most, spent)
        progress.attempts += 1
        progress.cost += cost or 0
        attempt = AttemptRow(progress.task.call.id, progress.total_attempts, part, at, seconds, outcome, cost=cost)
        batch.attempts.append((attempt, progress))
        return attempt

    def _update_after(self, progress: CallProgress, error: CallError, at: datetime) -> CallUpdate:
        tries = progress.total_attempts - progress.task.call.before
        if error.trouble == "not_allowed":
            self.halt = "not_allowed"
            return retry_update(progress)
        self.troubles += error.trouble in ("connection", "timeout", "transient")
        if may_retry(error, tries):
            if self.troubles >= self.most_troubles:
                self.halt = self.halt or "connection"
            seed = f"{self.seed}:{progress.task.call.id}:{tries}"
            return retry_update(progress, at + retry_delay(tries, error.retry_after, seed))
        self.count_failure()
        return failure_update(progress, error.trouble, at)

    def count_failure(self, is_failure: bool = True) -> None:
        """One more failure without a reply since the last."""
        self.failures += is_failure
        if self.failures >= MOST_FAILURES:
            self.halt = self.halt or "failures"

    def _abandon(self, batch: WriteBatch, progress: CallProgress) -> None:
        """Free what was reserved for requests that were not sent."""
        for most in progress.reserved.values():
            self.ledger.settle(most, Decimal(0))
        progress.reserved.clear()
        batch.abandoned.append(progress.task)
        self._progress.pop(id(progress.task), None)


def missing_input_update(call: ClaimedCall, code: str, at: datetime) -> CallUpdate:
    """Failed without a request."""
    return CallUpdate(
        call.id, State.FAILED, code[:40], replies=sorted(call.read), attempts=call.attempts, cost=call.cost,
        ended_at=at,
    )  # fmt: skip


def retry_update(progress: CallProgress, not_before: datetime | None = None) -> CallUpdate:
    return _update_without_value(progress, State.PENDING, not_before=not_before)


def failure_update(progress: CallProgress, reason: str, at: datetime) -> CallUpdate:
    return _update_without_value(progress, State.FAILED, reason=reason[:40], ended_at=at)


def _update_without_value(progress: CallProgress, state: str, **more: object) -> CallUpdate:
    """What was read before stays named, so that it is not read again."""
    call = progress.task.call
    notes = {"before": call.before} if call.before else {}
    return CallUpdate(
        call.id, state, replies=sorted(call.read), attempts=progress.total_attempts, cost=progress.total_cost,
        order=progress.task.asked.order, notes=notes, **more,  # type: ignore[arg-type]
    )  # fmt: skip
