"""What `./emic` prints: one calm line per step, and how long it took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

WIDTH = 46


REPEAT_SECONDS = 600.0
_printed: dict[str, float] = {}


def line(text: str = "") -> None:
    """Print a line; where it goes to a file on a full disk, it is dropped and the work goes on."""
    with suppress(OSError):
        print(text, flush=True)


def line_now_and_then(text: str) -> None:
    """Print a line unless the same one was printed in the last ten minutes."""
    now = time.monotonic()
    if now - _printed.get(text, -REPEAT_SECONDS) >= REPEAT_SECONDS:
        _printed[text] = now
        line(f"  {time.strftime('%H:%M:%S')} {text}")


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
