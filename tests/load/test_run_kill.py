"""A run of models through kills: no reply that was kept is asked for again, no unit is left out, the cost adds up.

Slow: run by `./emic test --slow`.
"""

import time
from decimal import Decimal
from typing import Any

import pytest

from config.local.forks import is_possible
from tests.load.instance import Instance, running
from tests.predictions.model_server import Remote, serve_in_process

pytestmark = pytest.mark.slow
CALLS = 500
DELAY = 0.4
EACH = Decimal("0.01")
FORKS = (("Fork server", 300),) if is_possible() else ()
KILLS = (("Worker", 100), ("Worker", 230), *FORKS, ("PostgreSQL", 400))


def wait_for(server: Remote, total: int, seconds: float = 240) -> dict[str, Any]:
    end = time.monotonic() + seconds
    while (counts := server.counts())["total"] < total:
        assert time.monotonic() < end, f"the run stands still at {counts['total']}"
        time.sleep(0.05)
    return counts


def in_flight_now(server: Remote) -> int:
    """The most that were in flight within the time that an answer takes: replies that have come and are not kept yet
    are no longer the server's, and not yet the database's."""
    end, counts = time.monotonic() + DELAY, [0]
    while time.monotonic() < end:
        counts.append(server.counts()["in_flight"])
        time.sleep(0.02)
    return max(counts)


def wait_until_finished(instance: Instance, run: int, seconds: float = 240) -> dict[str, Any]:
    end, status = time.monotonic() + seconds, load_status(instance, run)
    while status.get("state", "running") == "running":
        assert time.monotonic() < end, status
        time.sleep(2)
        status = load_status(instance, run)
    return status


def load_status(instance: Instance, run: int) -> dict[str, Any]:
    """Nothing while the database comes back."""
    try:
        return dict(instance.world("ran", str(run)))
    except AssertionError as problem:
        if "OperationalError" not in str(problem):
            raise
        return {}


def test_what_was_answered_is_not_asked_again_though_everything_is_killed() -> None:
    with serve_in_process(delay=DELAY) as server, running(EMIC_JOB_LEASE="20") as instance:
        port = server.address.rpartition(":")[2]
        run = instance.world("asked", str(CALLS), port)["run"]
        in_flight = []
        for name, after in KILLS:
            wait_for(server, after)
            in_flight.append(in_flight_now(server))
            instance.kill(name)
            print(f"{name} was killed with {in_flight[-1]} calls in flight, after {after} requests")
        status, counts = wait_until_finished(instance, run), server.counts()
    repeats = counts["total"] - counts["distinct"]
    print(f"{counts['total']} requests for {CALLS} calls: {repeats} repeats, {sum(in_flight)} in flight at the kills")
    print(status)
    assert (status["state"], status["states"], status["answers"]) == ("done", {"answered": CALLS}, CALLS)
    assert counts["distinct"] == CALLS, "every unit was asked"
    assert repeats <= sum(in_flight)
    assert status["replies"] == CALLS and status["replaced"] == status["asked_again"] == 0
    assert Decimal(status["cost"]) == Decimal(status["counted"]) == CALLS * EACH
    noted = status["attempts"].pop("lost", 0)
    lost = counts["total"] - sum(status["attempts"].values())
    assert 0 <= lost <= sum(in_flight) and lost * EACH <= Decimal(status["unaccounted"])
    assert lost <= noted, "each request that was lost with its worker is shown as an attempt"
