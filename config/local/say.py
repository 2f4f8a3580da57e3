"""What `./emic` prints: one calm line per step, and how long it took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

WIDTH = 46


def line(text: str = "") -> None:
    print(text, flush=True)


@contextmanager
def step(text: str) -> Iterator[None]:
    """`PostgreSQL ........ 0.6 s`; on a terminal the words appear when the step begins."""
    begun = time.monotonic()
    on_screen = sys.stdout.isatty()
    if on_screen:
        print(f"  {text} ...", end="", flush=True)
    try:
        yield
    except BaseException:
        if on_screen:
            print(flush=True)
        raise
    took = f"{time.monotonic() - begun:.1f} s"
    print(f"{chr(13) if on_screen else ''}  {text:<{WIDTH}}{took:>8}", flush=True)
