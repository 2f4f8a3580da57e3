"""What `./emic` prints: one calm line per step, and how long it took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

WIDTH = 46


REPEAT_SECONDS = 600.0
PROGRESS_SECONDS = 2.0
_printed: dict[str, float] = {}


def print_line(text: str = "") -> None:
    """Print a line; where it goes to a file on a full disk, it is dropped and the work goes on."""
    with suppress(OSError):
        print(text, flush=True)


def line_now_and_then(text: str) -> None:
    """Print a line unless the same one was printed in the last ten minutes."""
    now = time.monotonic()
    if now - _printed.get(text, -REPEAT_SECONDS) >= REPEAT_SECONDS:
        _printed[text] = now
        print_line(f"  {time.strftime('%H:%M:%S')} {text}")


class ProgressLine:
    """How far a step is: on a terminal the line of the step is written again, elsewhere a line every few seconds."""

    def __init__(self, text: str, on_screen: bool, seconds: float = PROGRESS_SECONDS) -> None:
        self._text, self._on_screen, self._seconds = text, on_screen, seconds
        self._due = time.monotonic() + seconds
        self.width = 0

    def show(self, detail: str) -> None:
        shown = f"  {self._text}: {detail}"
        if self._on_screen:
            with suppress(OSError):
                print(f"\r{shown:<{self.width}}", end="", flush=True)
            self.width = max(self.width, len(shown))
        elif time.monotonic() >= self._due:
            print_line(shown)
            self._due = time.monotonic() + self._seconds


@contextmanager
def print_step(text: str) -> Iterator[ProgressLine]:
    """`PostgreSQL ........ 0.6 s`; on a terminal the words appear when the step begins."""
    begun = time.monotonic()
    on_screen = sys.stdout.isatty()
    if on_screen:
        print(f"  {text} ...", end="", flush=True)
    progress = ProgressLine(text, on_screen)
    try:
        yield progress
    except BaseException:
        if on_screen:
            print(flush=True)
        raise
    took = f"  {text:<{WIDTH}}{f'{time.monotonic() - begun:.1f} s':>8}"
    print(f"{chr(13) if on_screen else ''}{took:<{progress.width}}", flush=True)
