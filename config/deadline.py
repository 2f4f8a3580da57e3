"""Bounds on request bodies, so that slow senders cannot occupy every thread of the web server.

Each web process has a few threads, and a thread that reads a body waits for its sender. Four bounds keep threads free:
a deadline for each body, a limit on the threads that read bodies of visitors or long bodies at the same time, one on
those that read short bodies of signed-in people, of each person and of all, and a size limit for visitors (in
`config.middleware.BodyLimits`, which also tells this module who is signed in).
"""

import contextlib
import os
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

VISITOR_SECONDS = 10.0
SIGNED_IN_SECONDS = 60.0
SLOWEST_BYTES_PER_SECOND = 16 * 1024  # of somebody who is signed in, after the first minute
SMALL_BYTES = 64 * 1024  # the most that a visitor may send; signed-in people have readers of their own below it
READERS_PER_PERSON = 2  # threads of a process that read short bodies of one signed-in person
FREE_THREADS = 2  # threads of a process that never read short bodies of signed-in people
DRAIN_SECONDS = 2.0
WAIT_SECONDS = 0.5  # for another body to be read to its end
DRAIN_BYTES = 1024 * 1024
BLOCK_BYTES = 64 * 1024
KEY = "emic.body"
RETRY_SECONDS = 5
CUT_OFF, TOO_SLOW, BUSY = "400 Bad Request", "408 Request Timeout", "503 Service Unavailable"

Start = Callable[..., Any]


class BodyUnreadable(OSError):
    """The body did not arrive. Django turns an `OSError` into `UnreadablePostError`."""


class Watchdog:
    """One thread that closes the reading side of sockets whose deadline has passed."""

    def __init__(self) -> None:
        self._deadlines: dict[RequestBody, float] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wakes = float("inf")  # when the thread looks next

    def add(self, body: "RequestBody", seconds: float) -> None:
        """The thread is woken only for a deadline before that: nearly every body has long arrived by then."""
        with self._changed:
            self._deadlines[body] = deadline = time.monotonic() + seconds
            if self._thread is None or not self._thread.is_alive():  # a forked process has no thread of its parent
                self._thread = threading.Thread(target=self._run, name="request-bodies", daemon=True)
                self._thread.start()
            if deadline < self._wakes:
                self._changed.notify()

    def remove(self, body: "RequestBody") -> None:
        """After this returns, the socket of the body is not touched."""
        with self._changed:
            self._deadlines.pop(body, None)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = time.monotonic()
                for body in [body for body, deadline in self._deadlines.items() if deadline <= now]:
                    del self._deadlines[body]
                    body.expire()
                self._wakes = min(self._deadlines.values(), default=float("inf"))
                self._changed.wait(max(0.0, self._wakes - now) if self._deadlines else None)


class RequestBody:
    """The `wsgi.input` of one request: reads within a deadline, and only while a reader is free.

    `refusal` is the status line that the request gets in place of its answer, once the body was not read.
    """

    def __init__(self, stream: Any, line: socket.socket | None, length: int | None, bounds: "BodyBounds") -> None:
        self.stream, self.line, self.bounds = stream, line, bounds
        self.length = length
        self.left = length  # bytes that have not been read; None where the length is unknown
        self.refusal = ""
        self._person = ""  # who sends it; "" for a visitor
        self.is_over = False  # all of it was read
        self._reading = self._has_permit = False

    @property
    def seconds(self) -> float:
        if not self._person:
            return VISITOR_SECONDS
        return SIGNED_IN_SECONDS + (self.length or 0) / SLOWEST_BYTES_PER_SECOND

    @property
    def is_personal(self) -> bool:
        """Whether it is a short body of a signed-in person."""
        return bool(self._person) and self.length is not None and self.length <= SMALL_BYTES

    def set_sender(self, person: str) -> None:
        """Call before the first read. `person` tells signed-in people apart."""
        self._person = person

    def admit(self) -> bool:
        """Whether this body may be read now; False while too many threads read bodies."""
        if self.is_over or self._has_permit:
            return True
        if self.is_personal:
            self._has_permit = self.bounds.personal.acquire(self._person)
        else:
            self._has_permit = self.bounds.admit_reader()
        return self._has_permit

    def read(self, size: int | None = -1) -> bytes:
        whole = size is None or size < 0
        wanted = self.left if whole else size if self.left is None else min(size or 0, self.left)
        return self._read_in_time(lambda: self.stream.read(wanted), lambda data: wanted is None or len(data) < wanted)

    def readline(self, size: int | None = -1) -> bytes:
        wanted = self.left if size is None or size < 0 else size

        def is_short(data: bytes) -> bool:
            return not data.endswith(b"\n") and (wanted is None or len(data) < wanted)

        return self._read_in_time(lambda: self.stream.readline(wanted), is_short)

    def readlines(self, hint: int | None = None) -> list[bytes]:
        return list(self)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def _read_in_time(self, read: Callable[[], bytes], is_short: Callable[[bytes], bool]) -> bytes:
        if self.is_over:
            return b""
        if self.refusal:
            raise BodyUnreadable(self.refusal)
        if not self._reading:
            if not self.admit():
                self.refusal = BUSY
                raise BodyUnreadable(self.refusal)
            self._reading = True
            self.bounds.watchdog.add(self, self.seconds)
        data = read()
        if self.left is None:
            if is_short(data):
                self._end()
        else:
            self.left -= len(data)
            if self.left > 0 and is_short(data):  # a form that was cut off must never be taken for a whole one
                self._stop_reading()
                self.refusal = self.refusal or CUT_OFF
                raise BodyUnreadable(self.refusal)
            if self.left == 0:
                self._end()
        return data

    def expire(self) -> None:
        """Called by the watchdog: whoever waits for more of this body gets its end."""
        self.refusal = TOO_SLOW
        self._close_line()

    def finish(self) -> None:
        """After the answer: whatever nobody read is read and dropped, as far as that is quick; else the line closes."""
        if not self.is_over and self.line is not None:
            if not self.refusal and self.admit():
                self._drain()
            if not self.is_over:
                self._stop_reading()
                self._close_line()
                # gunicorn would otherwise read on, and take what is left of this body for the next request.
                self.stream.failed = True
        self._end()

    def _drain(self) -> None:
        self.bounds.watchdog.add(self, DRAIN_SECONDS)
        self._reading = True
        dropped = 0
        with contextlib.suppress(OSError):
            while not self.is_over and dropped < DRAIN_BYTES:
                dropped += len(self.read(BLOCK_BYTES))

    def _close_line(self) -> None:
        if self.line is not None:
            with contextlib.suppress(OSError):
                self.line.shutdown(socket.SHUT_RD)

    def _stop_reading(self) -> None:
        self.bounds.watchdog.remove(self)
        if self._has_permit:
            self._has_permit = False
            if self.is_personal:
                self.bounds.personal.release(self._person)
            else:
                self.bounds.readers.release()

    def _end(self) -> None:
        self._stop_reading()
        self.is_over = True


class PersonalReaders:
    """How many threads read short bodies of signed-in people: at most `most`, and a few for one person."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = threading.Lock()
        self._by_person: Counter[str] = Counter()

    def acquire(self, person: str) -> bool:
        with self._lock:
            if self._by_person.total() >= self.most or self._by_person[person] >= READERS_PER_PERSON:
                return False
            self._by_person[person] += 1
            return True

    def release(self, person: str) -> None:
        with self._lock:
            self._by_person[person] -= 1
            if self._by_person[person] <= 0:
                del self._by_person[person]


class BodyBounds:
    """WSGI wrapper: gives every request with a body a `RequestBody`, and answers for those that did not arrive."""

    TEXTS = {
        CUT_OFF: "The request ended before all of it had arrived, so nothing was saved. Send it again.\n",
        TOO_SLOW: "The request arrived too slowly, so nothing was saved. Send it again.\n",
        BUSY: "The site is receiving many uploads. Wait a few seconds, then send it again.\n",
    }

    def __init__(self, application: Any, threads: int | None = None) -> None:
        self.application = application
        self.watchdog = Watchdog()
        threads = threads or int(os.environ.get("EMIC_WEB_THREADS", "8"))
        self.readers = threading.BoundedSemaphore(max(1, threads // 2))
        self.waiters = threading.BoundedSemaphore(max(1, threads // 2 - 1))
        self.personal = PersonalReaders(max(1, threads - FREE_THREADS))

    def __call__(self, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        length = _length(environ)
        if length == 0:
            return self.application(environ, start)  # type: ignore[no-any-return]
        body = RequestBody(environ["wsgi.input"], environ.get("gunicorn.socket"), length, self)
        environ["wsgi.input"] = environ[KEY] = body
        try:
            if _is_visitor(environ) and not self.has_free_reader():  # without Django, so that a flood costs little
                body.refusal = BUSY
                start(BUSY, self._headers(BUSY))
                return _Closing([self.TEXTS[BUSY].encode()], body)
            return self._answer(body, environ, start)
        except BaseException:
            body.finish()
            raise

    def has_free_reader(self) -> bool:
        """Whether a body can be read. Nothing is taken: a permit is held only while a body is read."""
        is_free = self.admit_reader()
        if is_free:
            self.readers.release()
        return is_free

    def admit_reader(self) -> bool:
        """Take a permit, after a moment if need be: most bodies are here at once, and many people may sign in together.

        One thread at least never waits, so that slow senders cannot hold all of them.
        """
        if self.readers.acquire(blocking=False):
            return True
        if not self.waiters.acquire(blocking=False):
            return False
        try:
            return self.readers.acquire(timeout=WAIT_SECONDS)
        finally:
            self.waiters.release()

    def _answer(self, body: RequestBody, environ: dict[str, Any], start: Start) -> Iterable[bytes]:
        """The application's answer, unless the body failed: Django calls `start` once it has read the body."""
        arguments: list[Any] = []

        def note(*values: Any) -> Callable[[bytes], None]:
            arguments[:] = values
            return lambda data: None

        answer = self.application(environ, note)
        if body.refusal and not body.is_over:
            if hasattr(answer, "close"):
                answer.close()
            answer = [self.TEXTS[body.refusal].encode()]
            arguments[:] = [body.refusal, self._headers(body.refusal)]
        start(*arguments)
        return _Closing(answer, body)

    def _headers(self, refusal: str) -> list[tuple[str, str]]:
        size = str(len(self.TEXTS[refusal].encode()))
        headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", size)]
        return [*headers, ("Retry-After", str(RETRY_SECONDS))] if refusal == BUSY else headers


class _Closing:
    """The answer, and then the end of the request's body: gunicorn calls `close` once all has been sent."""

    def __init__(self, answer: Iterable[bytes], body: RequestBody) -> None:
        self.answer, self.body = answer, body

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.answer)

    def close(self) -> None:
        try:
            if hasattr(self.answer, "close"):
                self.answer.close()
        finally:
            self.body.finish()


def _is_visitor(environ: dict[str, Any]) -> bool:
    """Whether this is certainly nobody who is signed in; the session decides about the others."""
    return "HTTP_AUTHORIZATION" not in environ and "sessionid=" not in environ.get("HTTP_COOKIE", "")


def _length(environ: dict[str, Any]) -> int | None:
    """Bytes of the body; None where it comes in chunks of unknown number."""
    if environ.get("HTTP_TRANSFER_ENCODING"):
        return None
    try:
        return max(0, int(environ.get("CONTENT_LENGTH") or 0))
    except ValueError:
        return 0
