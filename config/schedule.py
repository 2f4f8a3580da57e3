"""What the scheduler sends again and again, and how long a worker may take it up."""

from collections.abc import Mapping
from typing import Any

from celery.schedules import crontab

LEAST_SECONDS = 300.0  # clocks of machines differ by seconds, and a worker may be busy for some minutes
HOUR = 3600.0


def with_expiry(schedule: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The schedule with a limit on how long each task waits for a worker.

    The scheduler goes on while no worker runs. Without a limit all that it sent in a night would be done in the morning
    before any job and any letter, although once is enough.
    """
    return {name: {**entry, "options": {"expires": _expiry(entry), **entry.get("options", {})}}
            for name, entry in schedule.items()}  # fmt: skip


def _expiry(entry: Mapping[str, Any]) -> float:
    period = HOUR if isinstance(entry["schedule"], crontab) else float(entry["schedule"])
    return max(LEAST_SECONDS, period)
