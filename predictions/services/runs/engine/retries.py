"""Whether a call that failed is asked again, and when: after HTTP 429, a lost connection, a time-out, 5xx.

What a reply's status means is in `predictions/backends/failures.py`; how all workers of an endpoint wait after a rate
limit is in `limiter.py`; which ended calls a person may ask again is in `services/runs/repeatable_calls.py`.
"""

import random
from datetime import timedelta

from predictions.backends.contract import RETRIED, CallError

TRIES = 5  # of a call, whatever went wrong; a limit is met more often
LIMITED_TRIES = 12
BACKOFF, MOST_BACKOFF, MOST_RETRY_AFTER = 1.0, 60.0, 3600.0  # seconds


def may_retry(error: CallError, tries: int) -> bool:
    """Whether a call is asked again after its attempt number `tries` (from 1) ended with this error."""
    return error.trouble in RETRIED and tries < (LIMITED_TRIES if error.trouble == "rate_limit" else TRIES)


def retry_delay(tries: int, retry_after: float | None, seed: str) -> timedelta:
    """As long as the server says; else twice as long each time, and never all at once (`seed` spreads the calls).

    >>> retry_delay(1, 30, "a") >= timedelta(seconds=30)
    True
    >>> retry_delay(20, None, "a") <= timedelta(seconds=1.5 * MOST_BACKOFF)
    True
    """
    chance = random.Random(seed).random()  # noqa: S311  (spreads the retries)
    if retry_after is not None:
        return timedelta(seconds=min(retry_after, MOST_RETRY_AFTER) + chance * BACKOFF / 2)
    return timedelta(seconds=min(MOST_BACKOFF, BACKOFF * 2 ** (tries - 1)) * (0.5 + chance))
