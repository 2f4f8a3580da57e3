"""Long work lets others in: after a minute it gives the worker back, if anybody waits for it."""

import time

from jobs.runner import GiveBack, Work

SLICE_SECONDS = 60.0


class Turn:
    def __init__(self, work: Work) -> None:
        self._work, self._until = work, time.monotonic() + SLICE_SECONDS

    def over(self) -> None:
        """Between two steps. Raises GiveBack."""
        if time.monotonic() >= self._until and self._work.others_wait():
            raise GiveBack
