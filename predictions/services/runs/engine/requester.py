"""Asking, in threads: nothing here touches the database, and what came is told through a queue."""

import logging
import queue
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Protocol

from django.utils import timezone

from annotation.fields.contract import Shown
from benchmarks.pictures import NotAPicture
from predictions.backends.contract import Backend, BackendReply, CallError, Decoding
from predictions.backends.payloads import has_pictures
from predictions.prompts.contract import MissingInput, PromptRequests, Reply, Request, Scene
from predictions.requests.keys import Digest, answer_methods, request_key
from predictions.requests.keys import RequestIdentity as Who
from predictions.requests.preprocessing import bytes_of, digest_of
from predictions.requests.serialization import request_json
from predictions.services.runs.engine.run_calls import ClaimedCall

log = logging.getLogger(__name__)
PATIENCE = 20.0  # seconds to wait for the shared limit before the call goes back
WINDOW = 0.03  # seconds in which what comes is written together


class RequestLimiter(Protocol):
    """The limit that all workers share for an endpoint; see predictions.services.runs.engine.limiter."""

    def adopt_tickets(self, holder: str) -> None: ...
    def acquire(self, timeout: float) -> Any: ...
    def release(self, ticket: Any, outcome: str, retry_after: float | None = None) -> None: ...


@dataclass
class CallTask:
    """A call on its way. `replies`: by part, the id and what it says. `most`: what each request may cost. `attempts`,
    `cost`: of this turn. `go`: that it is asked now is written down."""

    call: ClaimedCall
    scene: Scene
    shown: Shown
    asked: PromptRequests
    requests: tuple[Request, ...]
    keys: list[str] = field(default_factory=list)
    sent: list[dict[str, Any]] = field(default_factory=list)
    replies: dict[int, tuple[int, Reply]] = field(default_factory=dict)
    arrived: set[int] = field(default_factory=set)
    most: dict[int, Decimal] = field(default_factory=dict)
    begun: datetime | None = None
    attempts: int = 0
    cost: Decimal = Decimal(0)
    go: threading.Event = field(default_factory=threading.Event)

    @property
    def missing(self) -> list[int]:
        return [part for part in range(len(self.requests)) if part not in self.replies]


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
    """Not asked after all: the turn never came, or asking has ended."""

    task: CallTask


@dataclass(frozen=True)
class Dispatch:
    """It has its place at the endpoint, and is asked as soon as that is written down."""

    task: CallTask


@dataclass(frozen=True)
class Preparation:
    """Its requests have their keys; `problem` says why they could not be made."""

    task: CallTask
    problem: str = ""


@dataclass(frozen=True)
class Crash:
    """Something of ours broke; it is in the log. `part`: of which request, where that had gone out."""

    task: CallTask
    part: int | None = None
    at: datetime | None = None
    seconds: float = 0.0


Event = Response | RequestError | Cancellation | Dispatch | Preparation | Crash


def can_send(asked: PromptRequests, identity: Who) -> None:
    """Whether the endpoint takes pictures, where there are some, and offers a way that the prompt and the run allow.
    Raises MissingInput."""
    for request in asked.requests:
        if request.kind in ("chat", "continuation") and has_pictures(request) and "images" not in identity.offers:
            raise MissingInput("no_pictures")
        if request.kind == "continuation" and "continuation" not in identity.offers:
            raise MissingInput("no_continuation")
        if request.kind == "chat" and not answer_methods(request, identity):
            raise MissingInput("no_way")


class Requester:
    """Puts tasks to a back end, one request after the other, from any number of threads. `is_paid`: what goes out is
    written down before, so that a kill does not make a cost of what only waited."""

    def __init__(
        self,
        backend: Backend,
        limiter: RequestLimiter,
        identity: Who,
        longest: int,
        *,
        is_paid: bool = False,
    ) -> None:
        self.backend, self.limiter, self.who, self.is_paid = backend, limiter, identity, is_paid
        self.pictures, self.digest = partial(bytes_of, longest=longest), partial(digest_of, longest=longest)
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.ended = threading.Event()

    def prepare(self, task: CallTask) -> None:
        """Read the pictures of a task, and work out the keys of its requests."""
        try:
            task.keys = request_keys(task.requests, self.who, task.call.repeat, self.digest)
            task.sent = [request_json(request, self.digest) for request in task.requests]
        except (OSError, NotAPicture) as error:
            log.warning("call %s: a picture cannot be read (%s)", task.call.id, error)
            self.events.put(Preparation(task, "no_image"))
        except Exception:
            log.exception("call %s", task.call.id)
            self.events.put(Crash(task))
        else:
            self.events.put(Preparation(task))

    def ask(self, task: CallTask) -> None:
        """The first of its requests that has no reply yet."""
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
        task.begun = task.begun or at
        decoding = decoding_for_repeat(self.who.decoding, task.call.repeat)
        outcome, retry_after = "transient", None
        try:
            answered = self.backend.answer(task.requests[part], self.who.model, decoding, self.pictures)
            outcome = "reply"
        except CallError as error:
            outcome, retry_after = error.trouble, error.retry_after
            if outcome == "not_allowed":
                self.ended.set()  # before another thread knocks
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
        if self.is_paid:
            until = time.monotonic() + PATIENCE
            task.go.clear()
            self.events.put(Dispatch(task))
            while not task.go.wait(0.1) and time.monotonic() < until and not self.ended.is_set():
                pass
            return task.go.is_set()
        return not self.ended.is_set()

    def collect_events(self, wait: float, most: int) -> list[Event]:
        """What comes within `wait` seconds, and shortly after the first; at once where nothing more can come, or
        where somebody holds a place meanwhile."""
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


def decoding_for_repeat(decoding: Decoding, repeat: int) -> Decoding:
    """A repeat with the same seed would say the same again."""
    return decoding if decoding.seed is None or not repeat else replace(decoding, seed=decoding.seed + repeat)


def request_keys(requests: Sequence[Request], request_identity: Who, repeat: int, digest: Digest) -> list[str]:
    """Of each request of a call. Reads the pictures: OSError, NotAPicture."""
    own = replace(request_identity, decoding=decoding_for_repeat(request_identity.decoding, repeat))
    return [request_key(request, own, repeat=repeat, part=part, digest=digest) for part, request in enumerate(requests)]
