"""What each sheet costs on a slow line: `python tests/performance/sheet_page.py [--kbit 400] [--latency 400]`.

For every stage of every recipe: requests and compressed bytes (pictures apart), when the page is drawn and when its
keys work, the pictures, and the requests and the time to the next sheet. Chromium's own throttling; nothing is in its
cache. Ends with 1 if a sheet is over its budget.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402

READY = "performance.getEntriesByName('sheet-ready')[0]?.startTime ?? 0"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
SHEET = "document.getElementById('bench').dataset.assignment"
STAGES = (
    "relevance", "screening", "questions", "answers", "model-answers", "finding", "boxes", "verification",
    "pair-review", "merges", "look-alikes", "labels",
)  # fmt: skip
KB, REQUESTS, INTERACTIVE, NEXT, THUMBNAIL = 60, 8, 3000, 100, 12  # what a sheet may cost at 400 kbit/s and 400 ms
MORE = {"boxes": 25, "verification": 25}  # kB for drawing


class Wire:
    """All that goes over the line, by Chromium's own count: headers included, as compressed."""

    def __init__(self, page: Any, kbit: int, latency: int) -> None:
        self.rows: dict[str, dict[str, Any]] = {}
        cdp = page.context.new_cdp_session(page)
        cdp.send("Network.enable")
        speed = kbit * 1000 / 8
        how = {"offline": False, "latency": latency, "downloadThroughput": speed, "uploadThroughput": speed}
        cdp.send("Network.emulateNetworkConditions", how)
        cdp.on("Network.requestWillBeSent", self._sent)
        cdp.on("Network.requestServedFromCache", lambda event: self.rows.pop(event["requestId"], None))
        cdp.on("Network.loadingFinished", self._finished)

    def _sent(self, event: dict[str, Any]) -> None:
        self.rows[event["requestId"]] = {"url": event["request"]["url"], "type": event.get("type"), "bytes": 0}

    def _finished(self, event: dict[str, Any]) -> None:
        if event["requestId"] in self.rows:
            self.rows[event["requestId"]]["bytes"] = event["encodedDataLength"]

    def sizes(self, pictures: bool) -> list[float]:
        """kB of each request, of the pictures or of all else."""
        return [row["bytes"] / 1000 for row in self.rows.values() if ("/image/" in row["url"]) == pictures]

    def each(self) -> None:
        for row in self.rows.values():
            name = row["url"].partition("/static/")[2] or row["url"].partition("//")[2].partition("/")[2][:40]
            print(f"    {row['bytes']:>8.0f} B  {name}")


def when(page: Any, expression: str) -> float:
    """Milliseconds since the page was asked for, once the expression says so."""
    for _time in range(2000):
        value = page.evaluate(expression)
        if value:
            return float(value)
        page.wait_for_timeout(10)
    raise TimeoutError(expression)


@dataclass(frozen=True)
class Cost:
    stage: str
    requests: int
    kb: float
    drawn: float
    interactive: float
    pictures: list[float]
    after: int
    next: float
    ahead: bool  # whether the next sheet was loaded before

    def over(self, slow: bool) -> list[str]:
        """What is over budget; times only on the line that the budget is for."""
        problems = []
        if self.requests > REQUESTS:
            problems.append(f"{self.requests} requests, {REQUESTS} are the budget")
        if self.kb > (most := KB + MORE.get(self.stage, 0)):
            problems.append(f"{self.kb:.1f} kB, {most} are the budget")
        if slow and self.interactive > INTERACTIVE:
            problems.append(f"keys work after {self.interactive:.0f} ms, {INTERACTIVE} are the budget")
        if slow and self.ahead and self.next > NEXT:
            problems.append(f"the next sheet after {self.next:.0f} ms, {NEXT} are the budget")
        if self.after != 1:
            problems.append(f"{self.after} requests to the next sheet, one is the budget")
        if self.stage == "look-alikes" and max(self.pictures) > THUMBNAIL:
            problems.append(f"a thumbnail of {max(self.pictures):.1f} kB, {THUMBNAIL} are the budget")
        return problems

    def line(self) -> str:
        pictures = f"{len(self.pictures):>3} {sum(self.pictures):>7.1f}"
        times = f"{self.drawn:>7.0f} {self.interactive:>12.0f}"
        row = f"{self.stage:<14}{self.requests:>9}{self.kb:>7.1f} {times}   {pictures}{self.after:>7}{self.next:>7.0f}"
        return row if self.ahead else f"{row}  not loaded before"


def measure(browser: Any, base: str, campaign: Any, session: str, how: argparse.Namespace) -> Cost:
    from tests.browser.conftest import PHONE, until_sent

    context = browser.new_context(base_url=base, **PHONE)
    context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
    page = context.new_page()
    page.goto("/healthz")  # the process has started and the browser is warm; the line is not
    wire = Wire(page, how.kbit, how.latency)
    page.goto(f"/work/{campaign.pk}/", wait_until="commit")
    ready, paint = when(page, READY), when(page, PAINT)
    page.wait_for_timeout(3000)  # for the icon, which the browser asks for when it likes, and the pictures
    rest, pictures = wire.sizes(pictures=False), wire.sizes(pictures=True)
    if how.each:
        wire.each()
    wire.rows.clear()
    before, ahead = page.evaluate(SHEET), page.evaluate("document.getElementById('ahead') !== null")
    for key in ("Alt+s", "1"):  # every stage may be skipped, and that goes the way of an answer
        page.keyboard.press(key)
    start = page.evaluate("performance.now()")
    page.keyboard.press("Enter")
    after = when(page, f"{SHEET} !== '{before}' ? performance.now() : 0") - start
    until_sent(page)
    asked = len(wire.sizes(pictures=False))
    context.close()
    return Cost(campaign.stage.key, len(rest), sum(rest), paint, ready, pictures, asked, after, ahead)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kbit", type=int, default=400)
    parser.add_argument("--latency", type=int, default=400)
    parser.add_argument("--each", action="store_true", help="name every file that goes over the line")
    parser.add_argument("stages", nargs="*", help="only these")
    asked = parser.parse_args()
    with server.database() as home:
        from playwright.sync_api import sync_playwright

        from tests.browser.conftest import ARGS, CHROMIUM
        from tests.personas import make_world
        from tests.workflows import every_workflow

        world = make_world()
        campaigns = every_workflow(world)
        nour, bia = server.session_of(world.nour), server.session_of(world.bia)
        assert set(STAGES) == set(campaigns), "a recipe has a stage that is not measured"
        costs = []
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        print(f"{asked.kbit} kbit/s, {asked.latency} ms; load of the machine {os.getloadavg()[0]:.1f}; times in ms")
        print("stage          requests     kB   drawn  interactive   pictures kB   next requests, ms")
        with server.web(home, processes=1) as port, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
            for key in asked.stages or STAGES:
                session = bia if key == "finding" else nour  # Nour has found what she boxes
                costs.append(measure(browser, f"http://127.0.0.1:{port}", campaigns[key], session, asked))
                print(costs[-1].line(), flush=True)
            browser.close()
    slow = asked.kbit >= 400 and asked.latency <= 400
    over = [f"{cost.stage}: {why}" for cost in costs for why in cost.over(slow)]
    print("\n".join(over) or "every sheet is within its budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
