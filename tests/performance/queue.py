"""What the queue costs: `python tests/performance/queue.py [--seconds 8] [--items 10000 100000]`.

Prints rating cycles per second (one cycle: submit over HTTP and get the next sheet) with 1, 8 and 32 annotators, beside
an empty signed-in page and the bare SQL of a cycle; then the buffers that one claim touches.
"""

import argparse
import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])  # our own folder holds a queue that is not Python's

from tests.load import server  # noqa: E402

CROWDS = (1, 8, 32)
RATE = 2000  # places for each second of a turn: more than the turns and the bare statements take together


def line(name: str, rates: Sequence[str]) -> None:
    print(f"{name:<44}" + "".join(f"{rate:>41}" for rate in rates), flush=True)


def summary(count: int, took: float, seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p50, p95 = (1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95))
    return f"{count / took:7.1f}/s  {p50:6.1f} {p95:6.1f} ms"


def over_http(home: Path, port: int, sessions: Sequence[str], seconds: float, **plan: Any) -> str:
    before = [server.cpu_seconds(mark) for mark in (f":{port}", str(home))]
    report = server.annotators(port, sessions, seconds, **plan)
    after = [server.cpu_seconds(mark) for mark in (f":{port}", str(home))]
    times = [one for person in report["people"] for one in person["seconds"]]
    refused = [one for person in report["people"] for one in person.get("refused", [])]
    assert not refused, refused[:3]
    spent = "+".join(f"{1000 * (b - a) / len(times):.1f}" for a, b in zip(before, after, strict=True))
    return f"{summary(len(times), report['took'], times)}  {spent:>8}"


def make_campaign(items: int, people: int, seconds: float = 0) -> tuple[Any, list[Any]]:
    """`seconds`: of each turn; where three answers to each item are too few for them, more are wanted."""
    from tests.annotation.queue import factories
    from tests.load.world import pictured

    stage = factories.a_stage()
    pictured(stage, items)
    cohort = factories.a_cohort(stage.benchmark.team)
    target = max(3, math.ceil(RATE * seconds / items))
    campaign = factories.lifecycle.create(stage, "Load", None, {cohort: target}, seed=1)
    factories.lifecycle.open_campaign(campaign, None, factories.timezone.now())
    return campaign, [factories.a_person(cohort) for _ in range(people)]


def bare_sql(campaign: Any, people: Sequence[Any], seconds: float) -> str:
    """The statements that decide a cycle, and nothing round them: lock, claim, count as submitted."""
    from django.db import connection, transaction
    from django.utils import timezone

    from annotation.models import Assignment
    from annotation.services.queue import claim, locks, slots

    seat = campaign.cohorts.get()
    times: list[float] = []

    def work(person: Any) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            begun, at = time.perf_counter(), timezone.now()
            with transaction.atomic():
                place = locks.lock_participation_of(person.pk, seat.pk, at)
                claimed = claim.claim(place, in_hand=True, lease_until=at, at=at)
                if claimed is None:
                    break  # the turns before have taken all
                row = Assignment.objects.filter(pk=claimed)
                slots.adjust_counters(row.values_list("slot_id", flat=True)[0] or 0, reserved=-1, submitted=1)
                row.update(state="submitted", lease_until=None)
            times.append(time.perf_counter() - begun)
        connection.close()

    took = together(work, people)
    return summary(len(times), took, times)


def together(work: Callable[[Any], None], people: Sequence[Any]) -> float:
    threads = [threading.Thread(target=work, args=[person]) for person in people]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.monotonic() - begun


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=8)
    options.add_argument("--items", type=int, nargs="*", default=[10_000, 100_000])
    chosen = options.parse_args()
    with server.database() as home:
        from tests.load import buffers

        line("", [f"{crowd} at once: rate, p50 p95, cpu web+db" for crowd in CROWDS])
        touched: dict[int, dict[str, int]] = {}
        for items in chosen.items:
            campaign, people = make_campaign(items, 3 * max(CROWDS), chosen.seconds)
            sessions = [server.session_of(person.user) for person in people]
            with server.web(home) as port:
                if items == chosen.items[0]:
                    over_http(home, port, sessions[:8], 1, path="/empty")
                    rates = [over_http(home, port, sessions[:n], chosen.seconds, path="/empty") for n in CROWDS]
                    line("empty signed-in page", rates)
                over_http(home, port, sessions[:4], 1, campaign=campaign.pk)
                rates = [over_http(home, port, sessions[:n], chosen.seconds, campaign=campaign.pk) for n in CROWDS]
                line(f"rating cycle, {items:,} items", rates)
            rates = [bare_sql(campaign, people[-n:], min(3, chosen.seconds)) for n in CROWDS]
            line(f"bare SQL of a cycle, {items:,} items", rates)
            touched[items] = buffers.measure(campaign)
        buffers.report(touched)


if __name__ == "__main__":
    main()
