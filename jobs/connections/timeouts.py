"""Asking something that may hang, and going on without its answer."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from typing import TypeVar

T = TypeVar("T")
_threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="asking")


def call_within(seconds: float, question: Callable[[], T], otherwise: T) -> T:
    """The answer of `question`, asked in another thread, or `otherwise` where it takes longer or fails."""
    try:
        return _threads.submit(question).result(seconds)
    except TookTooLong:
        return otherwise
    except Exception:  # noqa: BLE001  (whatever is wrong with the part that was asked)
        return otherwise
