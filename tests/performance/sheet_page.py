"""What the sheet page costs on a slow line: `python tests/performance/sheet_page.py [--kbit 400] [--latency 400]`.

Prints compressed bytes and requests (pictures apart), when the page is drawn, when its keys work, when its picture is
there; then the same for the next sheet. Chromium's own throttling; nothing is in its cache.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

sys.path[0] = str(Path(__file__).resolve().parents[2])

from tests.load import server  # noqa: E402

READY = "performance.getEntriesByName('sheet-ready')[0]?.startTime ?? 0"
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
PICTURE = "(i => i && i.complete && i.naturalWidth ? performance.now() : 0)(document.querySelector('.view img'))"
SHEET = "document.getElementById('bench').dataset.assignment"


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

    def said(self) -> str:
        pictures = [row for row in self.rows.values() if "/image/" in row["url"]]
        rest = [row for row in self.rows.values() if "/image/" not in row["url"]]
        size, drawn = (sum(row["bytes"] for row in rows) / 1000 for rows in (rest, pictures))
        return f"{len(rest)} requests, {size:.1f} kB; pictures: {len(pictures)} requests, {drawn:.1f} kB"

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


def open_campaign() -> tuple[Any, str]:
    from django.utils import timezone

    from annotation.services import campaigns
    from tests.browser.conftest import dress
    from tests.personas import make_world

    world = make_world()
    dress(world)
    campaign = campaigns.create(
        world.stage, "Relevance", world.owner, {world.egypt: 3}, instructions={"en": "Look first. " * 60}, seed=1
    )
    campaigns.open_campaign(campaign, world.owner, timezone.now())
    return campaign, server.session_of(world.nour)


def measure(base: str, campaign: Any, session: str, kbit: int, latency: int) -> None:
    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import ARGS, CHROMIUM, PHONE

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        context = browser.new_context(base_url=base, **PHONE)
        context.add_cookies([{"name": "sessionid", "value": session, "url": base}])
        page = context.new_page()
        page.goto("/healthz")  # the process has started and the browser is warm; the line is not
        wire = Wire(page, kbit, latency)
        page.goto(f"/work/{campaign.pk}/", wait_until="commit")
        ready, picture, paint = when(page, READY), when(page, PICTURE), when(page, PAINT)
        print(f"first sheet at {kbit} kbit/s and {latency} ms, telephone of 390 pixels")
        spans = zip(("drawn", "interactive", "picture there"), (paint, ready, picture), strict=True)
        print("  " + ", ".join(f"{name} after {span / 1000:.2f} s" for name, span in spans))
        when(page, "document.querySelector('[data-loaded]').textContent ? 1 : 0")
        print(f"  {wire.said()}")
        wire.each()
        page.wait_for_timeout(2000)  # for the icon, which the browser asks for when it likes
        for number in range(2):
            wire.rows.clear()
            before, start = page.evaluate(SHEET), page.evaluate("performance.now()")
            page.keyboard.press("4")
            page.keyboard.press("Enter")
            swapped = when(page, f"{SHEET} !== '{before}' ? performance.now() : 0") - start
            shown = when(page, PICTURE) - start
            sent = [row["url"].partition("//")[2].partition("/")[2] for row in wire.rows.values()]
            asked = [url for url in sent if "/image/" not in f"/{url}"]
            print(f"next sheet {number + 1}: {swapped / 1000:.2f} s to the sheet, {shown / 1000:.2f} s to its picture")
            print(f"  {len(asked)} round trip: {', '.join(asked)}")
            when(page, "document.querySelector('[data-loaded]').textContent ? 1 : 0")
            print(f"  {wire.said()}")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kbit", type=int, default=400)
    parser.add_argument("--latency", type=int, default=400)
    asked = parser.parse_args()
    with server.database() as home:
        campaign, session = open_campaign()
        with server.web(home, processes=1) as port:
            measure(f"http://127.0.0.1:{port}", campaign, session, asked.kbit, asked.latency)


if __name__ == "__main__":
    main()
