"""Places at an endpoint are one number for all threads and processes of all workers. Real Valkey."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from predictions.models import Endpoint
from predictions.services.runs.engine import limiter
from predictions.services.runs.engine.limiter import Limiter, Ticket

ROOT = Path(__file__).resolve().parents[2]
NUMBERS = itertools.count(int(time.time() * 1000) % 10**9)
Make = Callable[..., Limiter]


@pytest.fixture
def make() -> Make:
    """Limiters of one endpoint, as different workers have them. Nothing is read from the database."""
    number = next(NUMBERS)

    def build(**fields: Any) -> Limiter:
        return Limiter(Endpoint(pk=number, **{"most_in_flight": 4, "timeout_seconds": 5, **fields}))

    return build


def pass_time(one: Limiter, seconds: float) -> None:
    """Time, as far as the quiet windows know."""
    limiter._server(os.environ["EMIC_LIMITS_URL"]).hincrby(one._state, "changed", -int(1000 * seconds))


def fill(one: Limiter, most: int = 100) -> list[Ticket]:
    """Enter until nobody else may."""
    return list(itertools.takewhile(bool, (one.acquire(0) for _ in range(most))))  # type: ignore[arg-type]


def test_two_workers_share_the_places(make: Make) -> None:
    endpoint_limiter, other = make(), make()
    tickets = fill(endpoint_limiter)
    assert len(tickets) == 4 and other.acquire(0) is None
    endpoint_limiter.release(tickets[0], "reply")
    ticket = other.acquire(5)
    assert ticket is not None and endpoint_limiter.acquire(0) is None
    other.release(ticket, "reply")
    other.release(ticket, "reply")  # twice makes no second place
    assert len(fill(endpoint_limiter)) == 1


def test_endpoints_and_sites_do_not_share(make: Make, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(make())
    assert Limiter(Endpoint(pk=next(NUMBERS), timeout_seconds=5)).acquire(0)
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", "another site")
    assert len(fill(make())) == 4


def test_who_waits_gets_the_place_as_soon_as_it_is_free(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter, "LONGEST_NAP", 8.0)
    endpoint_limiter = make(most_in_flight=1)
    [ticket] = fill(endpoint_limiter)
    threading.Timer(0.1, lambda: endpoint_limiter.release(ticket, "reply")).start()
    begun = time.monotonic()
    assert endpoint_limiter.acquire(20)
    assert 0.08 < time.monotonic() - begun < 3


def test_who_waits_too_long_gets_none(make: Make) -> None:
    endpoint_limiter = make()
    fill(endpoint_limiter)
    begun = time.monotonic()
    threads = [threading.Thread(target=lambda: endpoint_limiter.acquire(0.3)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.25 < time.monotonic() - begun < 2.0, "those in line behind each other wait together"


def test_too_many_halves_once_for_all_who_were_there(make: Make) -> None:
    endpoint_limiter = make(most_in_flight=32)
    tickets = fill(endpoint_limiter)
    assert len(tickets) == 32
    for ticket in tickets:
        endpoint_limiter.release(ticket, "rate_limit", retry_after=0)
    assert endpoint_limiter.current_limit() == 16
    time.sleep(0.005)
    tickets = fill(make(most_in_flight=32))
    assert len(tickets) == 16, "and for the other workers"
    endpoint_limiter.release(tickets[0], "rate_limit", retry_after=0)
    assert endpoint_limiter.current_limit() == 8
    for outcome in ("reply", "transient", "timeout", "permanent"):
        endpoint_limiter.release(tickets.pop(), outcome)
    assert endpoint_limiter.current_limit() == 8, "only that is a sign of too many"


def test_a_half_is_of_those_who_were_there_and_never_none(make: Make) -> None:
    endpoint_limiter = make(most_in_flight=64)
    for _ in range(4):
        time.sleep(0.005)
        ticket = endpoint_limiter.acquire(0)
        assert ticket
        endpoint_limiter.release(ticket, "rate_limit", retry_after=0)
        assert endpoint_limiter.current_limit() == 1


def test_places_come_back_one_by_one_when_it_is_quiet(make: Make) -> None:
    endpoint_limiter = make(most_in_flight=4)
    for ticket in fill(endpoint_limiter):
        endpoint_limiter.release(ticket, "rate_limit", retry_after=0)
    assert endpoint_limiter.current_limit() == 2
    pass_time(endpoint_limiter, limiter.QUIET_SECONDS - 8)
    assert len(fill(endpoint_limiter)) == 2, "not before"
    pass_time(endpoint_limiter, 8)
    assert len(fill(endpoint_limiter)) == 1, "one more"
    pass_time(endpoint_limiter, 10 * limiter.QUIET_SECONDS)
    assert len(fill(endpoint_limiter)) == 1, "and never more than the endpoint allows"


def test_no_request_is_sent_before_the_time_the_server_gave(make: Make) -> None:
    endpoint_limiter, other = make(), make()
    ticket = endpoint_limiter.acquire(0)
    assert ticket
    begun = time.monotonic()
    endpoint_limiter.release(ticket, "rate_limit", retry_after=1.0)
    assert other.acquire(0.1) is None
    assert other.acquire(10)
    assert 0.9 < time.monotonic() - begun < 5


def test_a_cap_a_minute_holds_whoever_asks(make: Make) -> None:
    endpoint_limiter, other = make(per_minute=3), make(per_minute=3)
    for _ in range(3):
        ticket = endpoint_limiter.acquire(0)
        assert ticket
        endpoint_limiter.release(ticket, "reply")
    assert other.acquire(0.1) is None, "all places are free, and the minute is not over"
    server = limiter._server(os.environ["EMIC_LIMITS_URL"])
    oldest = server.zrange(endpoint_limiter._minute, 0, 0)[0]
    server.zincrby(endpoint_limiter._minute, -60_001, oldest)  # a minute goes by for the first of them
    assert other.acquire(0) and other.acquire(0) is None


def test_a_lower_setting_holds_at_once(make: Make) -> None:
    tickets = fill(make(most_in_flight=8))
    lower = make(most_in_flight=2)
    assert lower.acquire(0) is None
    for ticket in tickets[:7]:
        lower.release(ticket, "reply")
    assert len(fill(lower)) == 1


def test_without_valkey_nobody_enters_and_nobody_fails(make: Make, settings: LazySettings) -> None:
    settings.LIMITS_URL = "redis+socket:///nowhere/valkey.sock"
    endpoint_limiter = make()
    assert endpoint_limiter.acquire(0.1) is None
    endpoint_limiter.release(Ticket("lost", 0), "rate_limit")
    assert endpoint_limiter.current_limit() == 4


WORKER = """
import os, sys, threading, time
from types import SimpleNamespace
from django.conf import settings
task, number, site, spare = sys.argv[1], int(sys.argv[2]), sys.argv[3], float(sys.argv[4])
settings.configure(LIMITS_URL=os.environ["EMIC_LIMITS_URL"], DATABASES={"default": {"NAME": site}})
from predictions.services.runs.engine import limiter
limiter.LEASE_SPARE = spare
one = limiter.Limiter(SimpleNamespace(pk=number, most_in_flight=4, timeout_seconds=1, per_minute=None))
if task == "hold":
    print(len([one.acquire(0) for _ in range(3)]), flush=True)
    time.sleep(60)
server, most = limiter._server(settings.LIMITS_URL), []
def work():
    for _ in range(10):
        ticket = one.acquire(20)
        most.append(server.incr(f"test:{number}:now"))
        time.sleep(0.005)
        server.decr(f"test:{number}:now")
        one.release(ticket, "reply")
threads = [threading.Thread(target=work) for _ in range(6)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(max(most), len(most), flush=True)
"""


def worker(task: str, number: int, site: str, spare: float) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WORKER, task, str(number), site, str(spare)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_processes_share_the_places_too(settings: LazySettings) -> None:
    number, site = next(NUMBERS), settings.DATABASES["default"]["NAME"]
    workers = [worker("work", number, site, 30.0) for _ in range(2)]
    outputs = [one.communicate(timeout=60)[0].split() for one in workers]
    assert [int(count) for _most, count in outputs] == [60, 60], "everybody got a place in the end"
    assert max(int(most) for most, _count in outputs) <= 4
    assert Limiter(Endpoint(pk=number, timeout_seconds=1)).acquire(0)


def test_places_of_a_killed_worker_come_back(settings: LazySettings) -> None:
    number, site = next(NUMBERS), settings.DATABASES["default"]["NAME"]
    holder = worker("hold", number, site, 2.0)  # a lease of three seconds
    assert holder.stdout and holder.stdout.readline().strip() == "3"
    endpoint_limiter = Limiter(Endpoint(pk=number, most_in_flight=4, timeout_seconds=5))
    assert endpoint_limiter.acquire(0) and endpoint_limiter.acquire(0) is None
    holder.send_signal(signal.SIGKILL)
    holder.wait(10)
    assert endpoint_limiter.acquire(15), "when the lease is over"
    assert len(fill(endpoint_limiter)) == 2, "and not those of the living"


def test_who_takes_a_job_over_frees_what_its_earlier_attempts_held_and_no_other(make: Make) -> None:
    dead, other, next_one = make(), make(), make()
    dead.adopt_tickets("7:1")
    other.adopt_tickets("70:1")
    assert dead.acquire(0) and dead.acquire(0) and other.acquire(0)
    next_one.adopt_tickets("7:2")
    mine = fill(next_one)
    assert len(mine) == 3, "of four places, one is another job's"
    next_one.adopt_tickets("7:2")
    assert next_one.acquire(0) is None, "its own stay its own"


def test_a_call_costs_little(make: Make) -> None:
    endpoint_limiter = make(most_in_flight=64)
    begun = time.process_time()
    for _ in range(300):
        ticket = endpoint_limiter.acquire(1)
        assert ticket
        endpoint_limiter.release(ticket, "reply")
    assert (time.process_time() - begun) / 300 < 0.002, "of the five milliseconds that a call may take in all"
