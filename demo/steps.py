"""What the demo is made of: chains of named steps, in the order in which they are done."""

from collections.abc import Callable
from dataclasses import dataclass

from annotation.services.queue.leases import release_expired
from demo.context import Demo


@dataclass(frozen=True)
class Step:
    """A part of a chain that is done as a whole or not at all.

    Attributes:
        key: stored by the job that loads the demo.
        run: does the step; returns why it was left out, if it was.
    """

    key: str
    title: str
    run: Callable[[Demo], str | None]


def chain(key: str, name: str, *steps: tuple[str, Callable[[Demo], str | None]]) -> tuple[Step, ...]:
    """The steps of a chain; each is known by the chain and the name of its function."""
    return tuple(Step(f"{key}/{run.__name__}", f"{name}: {title}", run) for title, run in steps)


def run_step(step: Step, demo: Demo) -> str:
    """Do a step within the caller's transaction; simulated people hold no item afterwards. Return why it was left out,
    or an empty text."""
    left_out = step.run(demo) or ""
    release_expired(demo.now)
    return left_out
