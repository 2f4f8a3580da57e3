"""Threads that send requests, each within the limit that all workers share for its endpoint. No database here."""

import logging
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Generic, TypeVar

from django.utils import timezone

from benchmarks.models import Image
from benchmarks.services import storage
from predictions.backends.contract import Backend, BackendReply, CallError
from predictions.backends.image_generation import GeneratedImages, GenerationRefused, ImageMaker
from predictions.models import Endpoint
from predictions.requests.preprocessing import LONGEST, bytes_of
from predictions.services.endpoints import endpoints
from predictions.services.runs.engine.limiter import Limiter
from predictions.services.sending.requests import ChatRequest, ClientKind, ImageRequest, OutgoingRequest

log = logging.getLogger(__name__)
Tag = TypeVar("Tag")
SLOT_SECONDS = 30.0  # that a thread waits for a place at the endpoint
NO_PLACE = "No place at the endpoint was free."
FAULT = "An error of this site; it is in the log."


@dataclass(frozen=True)
class SendResult:
    """What came of one request: images, a chat reply, or an error; exactly one of them. `sent`: whether it went out."""

    at: datetime
    images: GeneratedImages | None = None
    chat: BackendReply | None = None
    error: CallError | None = None
    sent: bool = True

    @property
    def refused(self) -> bool:
        return isinstance(self.error, GenerationRefused)

    @property
    def may_be_charged(self) -> bool:
        """Whether nobody knows if the service has made something that did not arrive."""
        return self.error is not None and self.error.trouble in ("timeout", "connection")


def send(client: ImageMaker | Backend, request: OutgoingRequest, at: datetime) -> SendResult:
    """Send it once. `client`: of the request's kind."""
    try:
        if isinstance(request, ChatRequest):
            pictures = partial(bytes_of, longest=LONGEST)
            return SendResult(at, chat=_chat(client).answer(request.request, request.model, request.decoding, pictures))
        return SendResult(at, images=_make_images(_maker(client), request))
    except CallError as error:
        return SendResult(at, error=error)
    except Exception:
        log.exception("a request to endpoint %s", request.endpoint.pk)
        return SendResult(at, error=CallError("permanent", FAULT))


def _chat(client: Any) -> Backend:
    backend: Backend = client
    return backend


def _maker(client: Any) -> ImageMaker:
    maker: ImageMaker = client
    return maker


def _make_images(maker: ImageMaker, request: ImageRequest) -> GeneratedImages:
    more: dict[str, Any] = {"quality": request.quality} if request.quality else {}
    if "seed" in request.endpoint.offers:
        more["seed"] = request.seed
    if request.originals:
        originals = [original_bytes(image) for image in request.originals]
        return maker.edit(request.prompt, originals, request.model, size=request.size, **more)
    return maker.generate(request.prompt, request.model, size=request.size, **more)


def original_bytes(image: Image) -> bytes:
    """As they came."""
    with storage.open_binary(image.original_name) as file:
        return file.read()


class RequestPool(Generic[Tag]):
    """Requests in flight, each with what the caller knows it by. Used from one thread. `holder`: "job:attempt"; places
    at endpoints of the job's earlier attempts are freed."""

    def __init__(self, holder: str, threads: int) -> None:
        self.holder = holder
        self._threads = ThreadPoolExecutor(threads, "send")
        self._clients: dict[tuple[int, str], ImageMaker | Backend] = {}
        self._limiters: dict[int, Limiter] = {}
        self._flights: dict[Future[SendResult], Tag] = {}

    def connect(self, endpoint: Endpoint, kind: ClientKind) -> None:
        """Raises EndpointRefused where the endpoint is retired or its key cannot be read."""
        if (endpoint.pk, kind) in self._clients:
            return
        make = endpoints.backend_for if kind == "chat" else endpoints.image_maker_for
        self._clients[endpoint.pk, kind] = make(endpoint)
        if endpoint.pk not in self._limiters:
            self._limiters[endpoint.pk] = limiter = Limiter(endpoint)
            limiter.adopt_tickets(self.holder)

    @property
    def in_flight(self) -> int:
        return len(self._flights)

    def submit(self, tag: Tag, request: OutgoingRequest) -> None:
        """Send it in a thread. Raises EndpointRefused."""
        self.connect(request.endpoint, request.kind)
        self._flights[self._threads.submit(self._send, request)] = tag

    def _send(self, request: OutgoingRequest) -> SendResult:
        limiter = self._limiters[request.endpoint.pk]
        ticket = limiter.acquire(SLOT_SECONDS)
        if ticket is None:
            return SendResult(timezone.now(), error=CallError("rate_limit", NO_PLACE), sent=False)
        result = send(self._clients[request.endpoint.pk, request.kind], request, timezone.now())
        error = result.error
        limiter.release(ticket, error.trouble if error else "reply", error.retry_after if error else None)
        return result

    def collect(self, seconds: float) -> list[tuple[Tag, SendResult]]:
        """What has come, after at most so many seconds; at once where nothing is in flight."""
        if not self._flights:
            return []
        done, _pending = wait(self._flights, timeout=seconds, return_when=FIRST_COMPLETED)
        return [(self._flights.pop(future), future.result()) for future in done]

    def close(self) -> None:
        """Waits for what is in flight."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for client in self._clients.values():
            client.close()
