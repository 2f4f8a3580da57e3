"""Third step: send requests, in threads. Nothing here touches the database; results are passed on by a queue."""

import logging
import queue
import threading
import time
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol

from django.utils import timezone

from benchmarks.images.pictures import NotAPicture
from predictions.backends.contract import Backend, BackendReply, CallError
from predictions.requests.keys import RequestIdentity
from predictions.requests.preprocessing import bytes_of, digest_of
from predictions.services.runs.engine.prepare import CallTask, decoding_for_repeat

log = logging.getLogger(__name__)
PATIENCE = 20.0  # seconds to wait for the shared limit before the call goes back
WINDOW = 0.03  # seconds in which what comes is written together


class RequestLimiter(Protocol):
    """The limit that all workers share for an endpoint; see predictions.services.runs.engine.limiter."""

    def adopt_tickets(self, holder: str) -> None: ...
    def acquire(self, timeout: float) -> Any: ...
    def release(self, ticket: Any, outcome: str, retry_after: float | None = None) -> None: ...


@dataclass(frozen=True)
class Response:
    """A reply to one of a task's requests."""

    task: CallTask
    part: int
    at: datetime
    answered: BackendReply


@dataclass(frozen=True)
class RequestError:
    """A request that brought no reply."""

    task: CallTask
    part: int
    at: datetime
    seconds: float
    error: CallError


@dataclass(frozen=True)
class Cancellation:
    """Not sent after all: there was no place at the endpoint in time, or the executor is closing."""

    task: CallTask


@dataclass(frozen=True)
class Dispatch:
    """The task has its place at the endpoint. Its thread sends the request as soon as `confirm` is called."""

    task: CallTask
    confirmed: threading.Event

    def confirm(self) -> None:
        self.confirmed.set()


@dataclass(frozen=True)
class Preparation:
    """The task's requests have their keys; `problem` says why they could not be made."""

    task: CallTask
    problem: str = ""


@dataclass(frozen=True)
class Crash:
    """A fault of ours, which is in the log. `part`: of which request, where that had gone out."""

    task: CallTask
    part: int | None = None
    at: datetime | None = None
    seconds: float = 0.0


Event = Response | RequestError | Cancellation | Dispatch | Preparation | Crash


class Requester:
    """Send the requests of tasks to a back end, one after the other, from any number of threads. `is_paid`: a dispatch
    is confirmed first, so that a kill does not charge what only waited."""

    def __init__(
        self,
        backend: Backend,
        limiter: RequestLimiter,
        identity: RequestIdentity,
        longest: int,
        *,
        is_paid: bool = False,
    ) -> None:
        self.backend, self.limiter, self.identity, self.is_paid = backend, limiter, identity, is_paid
        self.pictures, self.digest = partial(bytes_of, longest=longest), partial(digest_of, longest=longest)
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.ended = threading.Event()

    def end(self) -> None:
        """Send nothing more; requests in flight go on."""
        self.ended.set()

    def prepare(self, task: CallTask) -> None:
        """Read the images of a task, and name its requests."""
        try:
            task.add_keys(self.identity, self.digest)
        except (OSError, NotAPicture) as error:
            log.warning("call %s: a picture cannot be read (%s)", task.call.id, error)
            self.events.put(Preparation(task, "no_image"))
        except Exception:
            log.exception("call %s", task.call.id)
            self.events.put(Crash(task))
        else:
            self.events.put(Preparation(task))

    def ask(self, task: CallTask) -> None:
        """Send the first of the task's requests that has no reply yet."""
        try:
            self._ask(task, task.missing[0])
        except Exception:
            log.exception("call %s", task.call.id)
            self.events.put(Crash(task))

    def _ask(self, task: CallTask, part: int) -> None:
        ticket = None if self.ended.is_set() else self.limiter.acquire(PATIENCE)
        if ticket is None or not self._confirm_dispatch(task):
            if ticket is not None:
                self.limiter.release(ticket, "reply")
            self.events.put(Cancellation(task))
            return
        at, began = timezone.now(), time.perf_counter()
        decoding = decoding_for_repeat(self.identity.decoding, task.call.repeat)
        outcome, retry_after = "transient", None
        try:
            answered = self.backend.answer(task.requests[part], self.identity.model, decoding, self.pictures)
            outcome = "reply"
        except CallError as error:
            outcome, retry_after = error.trouble, error.retry_after
            if outcome == "not_allowed":
                self.ended.set()  # before another thread sends
            self.events.put(RequestError(task, part, at, time.perf_counter() - began, error))
            return
        except Exception:
            log.exception("call %s", task.call.id)
            self.events.put(Crash(task, part, at, time.perf_counter() - began))
            return
        finally:
            self.limiter.release(ticket, outcome, retry_after)
        self.events.put(Response(task, part, at, answered))

    def _confirm_dispatch(self, task: CallTask) -> bool:
        """Whether the request may go out. A priced one waits until the executor has noted it."""
        if not self.is_paid:
            return not self.ended.is_set()
        until = time.monotonic() + PATIENCE
        dispatch = Dispatch(task, threading.Event())
        self.events.put(dispatch)
        while not dispatch.confirmed.wait(0.1) and time.monotonic() < until and not self.ended.is_set():
            pass
        return dispatch.confirmed.is_set()

    def collect_events(self, wait: float, most: int) -> list[Event]:
        """Return what comes within `wait` seconds, and shortly after the first; at once where nothing more can come,
        or where a thread holds a place meanwhile."""
        events: list[Event] = []
        try:
            events.append(self.events.get(timeout=wait) if wait else self.events.get_nowait())
            until = time.monotonic() + WINDOW
            while True:
                left = until - time.monotonic()
                more = left > 0 and len(events) < most and not isinstance(events[-1], Dispatch)
                events.append(self.events.get(timeout=left) if more else self.events.get_nowait())
        except queue.Empty:
            pass
        return events
