"""De-duplicating 200 drawn pictures by keys, on a processor four times slower: `python tests/performance/dedup.py`.

Prints keys for each picture, the time from key to paint (Chromium's event timing, and to the frame after it), the
bytes of the page and its thumbnails, and pictures an hour at the pace of the keys. Two people group the pictures; the
second goes wrong now and then, and their agreement is printed.
"""

import argparse
import sys
import time
from pathlib import Path
from statistics import mean, median
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402

WATCH = """() => {
  window.spans = [], window.events = [];
  addEventListener('keydown', (event) => requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = () => window.spans.push(performance.now() - event.timeStamp);
    after.port2.postMessage(0);
  }), { capture: true });
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) if (one.name === 'keydown') window.events.push(one.duration);
  }).observe({ type: 'event', durationThreshold: 16 });
}"""


def ticks(cdp: Any) -> dict[str, float]:
    """Seconds of processor time so far: what a busy machine does not blur."""
    wanted = ("TaskDuration", "ScriptDuration", "LayoutDuration", "RecalcStyleDuration")
    found = {row["name"]: row["value"] for row in cdp.send("Performance.getMetrics")["metrics"]}
    return {name: found[name] for name in wanted}


def share(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))] if values else 0.0


def spoken(name: str, values: list[float]) -> str:
    middle, late = median(values), share(values, 0.95)
    return f"  {name}: median {middle:.0f}, p95 {late:.0f}, most {max(values):.0f} ms, n = {len(values)}"


def group(page: Any, truth: dict[str, str], pause: float, wrong: int = 0) -> list[int]:
    """By keys alone; every `wrong`-th picture is kept although it is a duplicate."""
    from tests.browser.dedup_steps import decide

    names_of_shown: dict[str, str] = {}
    taken = []
    for number in range(len(truth)):
        if wrong and number % wrong == wrong - 1:
            page.keyboard.press("k")
            taken.append(1)
        else:
            taken.append(decide(page, truth, names_of_shown))
        page.wait_for_timeout(pause)
    return taken


def measure(base: str, campaign: Any, sessions: list[str], truth: dict[str, str], rate: int, pause: float) -> None:
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGS, CHROMIUM, DESKTOP, until_sheet_ready, wait_until

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        for number, session in enumerate(sessions):
            context = browser.new_context(base_url=base, **DESKTOP)
            context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
            page = context.new_page()
            sizes: dict[str, int] = {}
            cdp = context.new_cdp_session(page)
            cdp.send("Network.enable")
            cdp.on(
                "Network.responseReceived", lambda e, at=sizes: at.setdefault(e["requestId"] + e["response"]["url"], 0)
            )
            done: dict[str, float] = {}
            cdp.on("Network.loadingFinished", lambda e, at=done: at.setdefault(e["requestId"], e["encodedDataLength"]))
            page.goto(f"/work/{campaign.pk}/")
            until_sheet_ready(page)
            page.wait_for_timeout(1500)
            named = [(key, done[request]) for request in done for key in sizes if key.startswith(request + "http")]
            rest = [size for key, size in named if "/image/" not in key]
            sheet = [size for key, size in named if f"/work/{campaign.pk}/" in key]
            if not number:
                size = f"{sum(rest) / 1000:.1f} kB without pictures, of it the sheet {sum(sheet) / 1000:.1f} kB"
                print(f"page: {len(rest)} requests, {size}")
            if rate > 1:
                cdp.send("Emulation.setCPUThrottlingRate", {"rate": rate})
            page.evaluate(WATCH)
            cdp.send("Performance.enable", {"timeDomain": "threadTicks"})
            before = ticks(cdp)
            begun = time.monotonic()
            taken = group(page, truth, pause, wrong=0 if not number else 20)
            took = time.monotonic() - begun
            used = {name: 1000 * (value - before[name]) / sum(taken) for name, value in ticks(cdp).items()}
            spans, events = page.evaluate("window.spans"), page.evaluate("window.events")
            print(
                f"person {number + 1}: {len(truth)} pictures, {sum(taken)} keys, {took:.0f} s, pauses of {pause:.0f} ms"
            )
            print(f"  keys a picture: median {median(taken):.2f}, mean {mean(taken):.2f}, most {max(taken)}")
            print(spoken("key to the frame after it", spans))
            if events:
                print(spoken("key to paint as Chromium times events (those over 16)", events))
            parts = ", ".join(f"{name.removesuffix('Duration').lower()} {value:.1f}" for name, value in used.items())
            print(f"  processor time of the page's thread for each key, not slowed down, in ms: {parts}")
            print(f"  {3600 * len(truth) / took:,.0f} pictures an hour")
            cdp.send("Emulation.setCPUThrottlingRate", {"rate": 1})
            page.wait_for_timeout(300)
            page.keyboard.press("Enter")
            wait_until(page, "!document.querySelector('#bench [data-picture]')")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=20, help="of ten pictures each")
    parser.add_argument("--rate", type=int, default=4, help="how many times slower the processor is")
    parser.add_argument("--pause", type=float, default=150, help="ms between keys")
    asked = parser.parse_args()
    with server.database() as home:
        from django.core.files.storage import default_storage

        from annotation.models import Annotation
        from benchmarks.models import Item
        from benchmarks.services.derivatives import derivative_name
        from evaluation.metrics.partitions import Partition, Partitions, adjusted_rand, keep_alpha, pairwise_f1
        from tests.browser.dedup_steps import make_campaign, truth_of
        from tests.personas import make_world

        world = make_world()
        begun = time.monotonic()
        campaign = make_campaign(world, asked.scenes)
        item = Item.objects.get(stage__key="look-alikes")
        count = len(item.context["groups"])
        print(f"drawn and laid out in {time.monotonic() - begun:.1f} s: {count} groups of look-alikes")
        thumbs = [default_storage.size(derivative_name(use.image.sha256, 240)) for use in item.images.all()]
        print(f"thumbnails: {max(thumbs) / 1000:.1f} kB at most, {mean(thumbs) / 1000:.1f} kB on average")
        sessions = [server.session_of(one) for one in (world.nour, world.tarek)]
        with server.web(home, processes=1) as port:
            measure(f"http://127.0.0.1:{port}", campaign, sessions, truth_of(item), asked.rate, asked.pause)
        rows = Annotation.objects.filter(live=True).values_list(
            "assignment__unit_id", "rater_id", "answers__duplicates"
        )
        both = Partitions.from_rows((unit, rater, Partition.of(answer)) for unit, rater, answer in rows)
        for estimate in (pairwise_f1(both), adjusted_rand(both), keep_alpha(both)):
            value = "no value" if estimate.value is None else f"{estimate.value:.3f}"
            print(
                f"{estimate.method}: {value}, {estimate.extras['n_pictures']} pictures, "
                f"no interval: {estimate.interval_reason}"
            )


if __name__ == "__main__":
    main()
