"""Asking something that may hang, and going on without its answer."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

T = TypeVar("T")
_threads = ThreadPoolExecutor(max_workers=8, thread_name_prefix="asking")


class PatientCall(Generic[T]):
    """One question to something that may hang. It holds one thread at most, so that others can still be asked: while
    it has no answer it is waited for, and not asked again."""

    def __init__(self) -> None:
        self._running: Future[T] | None = None

    def answer_within(self, seconds: float, ask: Callable[[], T], otherwise: T) -> T:
        """The answer of `ask`, called in another thread, or `otherwise` where it takes longer or fails."""
        if self._running is None or self._running.done():
            self._running = _threads.submit(ask)
        try:
            return self._running.result(seconds)
        except Exception:  # noqa: BLE001  (too late, or whatever is wrong with the part that was asked)
            return otherwise
