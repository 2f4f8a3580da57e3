"""The moments of a build in which a worker or the database may be killed: what is done in a state, and in which step.

opening: a step is written, its request is not sent yet. replied: the reply is there, and not stored yet. deciding: a
step of code alone is written. committed: a step is stored, and nothing was done after it.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from papers.valueground.builder.models import Build
from papers.valueground.builder.services.build_job import _BuildWork

Moment = tuple[str, str]
ASKING = ("opening", "replied", "committed")
MOMENTS: list[Moment] = [
    *(("planning", doing) for doing in (*ASKING, "deciding")),
    *((state, doing) for state in ("drawing_base", "instructing", "editing") for doing in ASKING),
    ("comparing", "deciding"),
    ("comparing", "committed"),
    *(("criticising", doing) for doing in ASKING),
    ("routing", "deciding"),
    ("routing", "committed"),
]
"""In the order in which a build comes to them."""
DOING = {"_open_step": "opening", "_settle": "replied", "_take_code_step": "deciding"}
"""By the method that has locked the build, in its transaction."""


@contextmanager
def calling_at(moment: Moment, come: Callable[[], object]) -> Iterator[None]:
    """In this process `come` is called when a build comes to the moment for the first time."""
    lock, follow = _BuildWork._lock, _BuildWork._follow
    waiting = [moment]

    def check(state: str, doing: str) -> None:
        if (state, doing) in waiting:
            waiting.clear()
            come()

    def lock_and_check(self: _BuildWork, held_build: Any) -> Build:
        build = lock(self, held_build)
        check(build.state, DOING.get(sys._getframe(1).f_code.co_name, ""))
        return build

    def check_and_follow(self: _BuildWork, held_build: Any, progress: Any) -> None:
        check(held_build.progress.state, "committed")
        follow(self, held_build, progress)

    _BuildWork._lock, _BuildWork._follow = lock_and_check, check_and_follow  # type: ignore[method-assign]
    try:
        yield
    finally:
        _BuildWork._lock, _BuildWork._follow = lock, follow  # type: ignore[method-assign]


def wait_in(folder: Path) -> None:
    """Say by a file that the moment is there, and wait for another one that lets the worker go on."""
    (folder / "reached").touch()
    while not (folder / "go-on").exists():
        time.sleep(0.01)
