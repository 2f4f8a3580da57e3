"""What the demo is made of: chains of named steps, in the order in which they are done."""

from collections.abc import Callable
from dataclasses import dataclass

from annotation.services.queue.leases import release_expired
from demo.context import Demo


@dataclass(frozen=True)
class Step:
    """A part of a chain that is done as a whole or not at all. `key` is stored by the job that loads the demo."""

    key: str
    title: str
    run: Callable[[Demo], None]


def chain(key: str, name: str, *steps: tuple[str, Callable[[Demo], None]]) -> tuple[Step, ...]:
    """The steps of a chain; each is known by the chain and the name of its function."""
    return tuple(Step(f"{key}/{run.__name__}", f"{name}: {title}", run) for title, run in steps)


def run_step(step: Step, demo: Demo) -> None:
    """Do a step within the caller's transaction; simulated people hold no item afterwards."""
    step.run(demo)
    release_expired(demo.now)
