"""What a run of calls costs: `python tests/performance/runs.py [--calls 2000] [--delay 1] [--threads 64] [--profile]`.

So many calls to the scripted server, a process of its own, each answered after a second, 64 in flight: the share of the
ideal time, the processor time of the worker for each call, and whether its memory stays flat. In the same run, the bare
client puts the same requests to the same server from the same number of threads, without database, limits or reading.
"""

import argparse
import cProfile
import os
import pstats
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from concurrent.futures import ThreadPoolExecutor  # noqa: E402  (beside this file lies another "queue")

from config.local.servers import Valkey  # noqa: E402
from tests.load import server  # noqa: E402

ENOUGH = 0.85  # of the ideal time
MOST_CPU = 5.0  # milliseconds a call


class Memory:
    """The process' resident memory, twice a second."""

    def __init__(self) -> None:
        self.seen: list[float] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self) -> None:
        while not self.over.wait(0.5):
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            self.seen.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)

    def stop(self) -> tuple[float, float]:
        """At the end of the first third, and at the end: megabytes."""
        self.over.set()
        self.thread.join()
        return self.seen[len(self.seen) // 3], self.seen[-1]


def a_run(calls: int, threads: int, address: str) -> Any:
    from django.utils import timezone

    from annotation.services.campaigns import lifecycle
    from benchmarks.services.benchmarks import create_blank
    from people.models import Cohort, Team, User
    from predictions.models import Endpoint, Prices
    from predictions.prompts import registry
    from predictions.services.runs import answer_runs
    from tests.personas import make_items
    from tests.predictions.request_helpers import Plainly

    registry.PROMPTS = (Plainly(), *registry.PROMPTS)
    actor = User.objects.create_user("a@example.org", "A")
    team = Team.objects.create(name="A", slug="a")
    stage = create_blank(team, "Load", "load", actor, question="Is it?").stages.get()
    make_items(stage, calls)
    campaign = lifecycle.create(stage, "Models", actor, {Cohort.objects.create(team=team, label="Egypt"): 1})
    lifecycle.open_campaign(campaign, actor, timezone.now())
    campaign.refresh_from_db()
    endpoint = Endpoint.objects.create(
        team=team, name="Scripted", base_url=address, most_in_flight=threads, timeout_seconds=30
    )
    Prices.objects.create(endpoint=endpoint, number=1, table={"*": {"in": "1", "out": "2"}})
    plan = answer_runs.RunPlan(campaign, endpoint, "scripted", Plainly(), seed=1)
    return answer_runs.open_run(plan, actor, timezone.now())


def bare(run: Any, calls: int, threads: int) -> tuple[float, float]:
    """Seconds and processor seconds of the client alone."""
    from predictions.backends.contract import Decoding
    from predictions.prompts.contract import Message, Request, TextPart
    from predictions.services.endpoints.endpoints import backend_for

    backend = backend_for(run.endpoint)
    choices = ("1", "2", "3", "4", "5")

    def ask(number: int) -> None:
        words = TextPart(f"item-{number:05} for Egypt, part 0:\n" + "One of five points, with its words.\n" * 6)
        request = Request(messages=(Message("user", (words,)),), choices=choices, max_tokens=8)
        backend.answer(request, "scripted", Decoding(), lambda sha: b"")

    began, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(ask, range(calls)))
    backend.close()
    return time.perf_counter() - began, time.process_time() - cpu


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=2000)
    options.add_argument("--delay", type=float, default=1.0)
    options.add_argument("--threads", type=int, default=64)
    options.add_argument("--profile", action="store_true")
    arguments = options.parse_args()
    ideal = arguments.delay * -(-arguments.calls // arguments.threads)
    from tests.predictions.model_server import serve_in_process

    with server.database() as home, serve_in_process(delay=arguments.delay) as remote:
        valkey = Valkey(home)
        valkey.start()
        try:
            from django.conf import settings

            settings.LIMITS_URL = valkey.url
            measure(arguments, ideal, remote)
        finally:
            valkey.stop()


def measure(arguments: Any, ideal: float, remote: Any) -> None:
    from jobs.services import runner
    from predictions.queries.progress import progress_of

    began = time.perf_counter()
    run = a_run(arguments.calls, arguments.threads, remote.base_url)
    print(f"{arguments.calls} calls of a run made in {time.perf_counter() - began:.1f} s")
    memory, profile = Memory(), cProfile.Profile()
    if arguments.profile:
        profile.enable()
    began, cpu = time.perf_counter(), time.process_time()
    runner.run(run.job_id)
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    profile.disable()
    first, last = memory.stop()
    run.refresh_from_db()
    progress = progress_of(run)
    counts = remote.counts()
    print(f"{run.state}: {dict(progress.by_state)}; the server was asked {counts['total']} times, most at once "
          f"{counts['most_in_flight']}; ${progress.cost}")  # fmt: skip
    alone, alone_cpu = bare(run, arguments.calls, arguments.threads)
    each = 1000 / arguments.calls
    print(f"ideal {ideal:.1f} s; run {took:.1f} s = {ideal / took:.0%} of it (aim {ENOUGH:.0%})")
    print(f"bare client {alone:.1f} s = {ideal / alone:.0%}")
    print(f"processor time a call: {cpu * each:.2f} ms (aim {MOST_CPU:.0f}); of the bare client {alone_cpu * each:.2f}")
    print(f"memory {first:.0f} MB after a third, {last:.0f} MB at the end")
    if arguments.profile:
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
