"""The two promises of the queue under load: nobody overshoots, and what was acknowledged is stored.

Slow: run by `./emic test --slow`.
"""

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from config.local.forks import is_possible
from tests.load.instance import Instance, running
from tests.load.server import annotators, wait_until_healthy
from tests.start.helpers import eventually

pytestmark = pytest.mark.slow
ITEMS = 5_000  # enough work for all kills, also on a fast machine
PEOPLE = 32
IN_FLIGHT = 20
KILLED = ("Web server", "Worker", "PostgreSQL")
FORKS = ("Fork server",) if is_possible() else ()


def work(instance: Instance, world: dict[str, Any], seconds: float = 420) -> dict[str, Any]:
    report = annotators(
        instance.port, world["sessions"], seconds, campaign=world["campaign"], patient=True, spans=True
    )  # fmt: skip
    assert report["took"] < seconds, "the server never came back"
    refused = [one for person in report["people"] for one in person["refused"]]
    assert refused == []
    return report


def acknowledged(found: dict[str, Any]) -> dict[str, str]:
    return {key: code for person in found["people"] for key, code in person["acknowledged"].items()}


def settled(instance: Instance, items: int, report: dict[str, Any]) -> None:
    counted = instance.world("count")
    assert counted["differences"] == []
    assert counted["twice"] == 0
    assert counted["stored"] == acknowledged(report)
    assert counted["slots"] == [[3, 0, 3]]
    assert counted["counted"] == counted["annotations"] == 3 * items


def test_thirty_two_annotators_until_nobody_gets_work() -> None:
    with running() as instance:
        world = instance.world("make", "300", str(PEOPLE))
        found = work(instance, world)
        settled(instance, 300, found)
        print(f"900 ratings in {found['took']:.1f} s")


def test_what_was_acknowledged_is_stored_though_everything_is_killed() -> None:
    dice = random.Random(20261120)
    order = [*KILLED * 3, *FORKS * 2]
    dice.shuffle(order)
    with running() as instance, ThreadPoolExecutor(1) as pool:
        world = instance.world("make", str(ITEMS), str(PEOPLE))
        working = pool.submit(work, instance, world)
        kills = []
        for name in order:
            wait_until_healthy(instance.port, 120)
            time.sleep(dice.uniform(1, 3))
            assert not working.done(), f"the work was over after {len(kills)} kills"
            web = instance.children()["Web server"]
            kills.append((name, instance.kill(name)))
            if name in FORKS:  # the web server answers for a moment, and ends
                assert eventually(lambda web=web: instance.children()["Web server"] != web)  # type: ignore[misc]
        report = working.result()
        for name, at in kills:
            in_flight = sum(begun <= at <= ended for begun, ended in report["spans"])
            print(f"{name} was killed with {in_flight} requests in flight")
            assert in_flight >= IN_FLIGHT
        retries = sum(person["retries"] for person in report["people"])
        assert retries >= len(KILLED)  # the kills were felt
        wait_until_healthy(instance.port, 120)
        settled(instance, ITEMS, report)
        print(f"{3 * ITEMS:,} ratings in {report['took']:.1f} s through {len(kills)} kills and {retries} retries")
