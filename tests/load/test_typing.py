"""Twenty people write in Chromium, without a pause, while the web server is killed: no draft older than 5 s is lost.

What they write is when they wrote it, so a stored draft tells its own age. Slow: run by `./emic test --slow`.
"""

import random
import time
from typing import Any

import psycopg
import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.load.instance import Instance, running
from tests.load.server import wait_until_healthy

pytestmark = pytest.mark.slow
PEOPLE = 20
KILLS = 3
MOST = 5.0  # seconds
TYPE = """() => {
  const field = document.querySelector("[name=a-story]");
  window.typing = setInterval(() => {
    field.value = String(Date.now());
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }, 400);
}"""
STORED = "SELECT a.rater_id, (d.answers ->> 'story')::bigint FROM annotation_draft d JOIN annotation_assignment a"
STORED += " ON a.id = d.assignment_id"


def open_sheet_pages(browser: Browser, instance: Instance, world: dict[str, Any]) -> list[Page]:
    pages = []
    for session in world["sessions"]:
        url = f"http://127.0.0.1:{instance.port}"
        context: BrowserContext = browser.new_context(base_url=url)
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        page = context.new_page()
        page.goto(f"/work/{world['campaign']}/", timeout=60_000)
        page.evaluate(TYPE)
        pages.append(page)
    return pages


def draft_ages(database: Any, at: float) -> list[float]:
    """Of each person's stored draft, in seconds."""
    return [at - typed / 1000 for _rater, typed in database.execute(STORED).fetchall()]


def pause(page: Page, seconds: float) -> None:
    page.wait_for_timeout(seconds * 1000)


def test_no_draft_older_than_five_seconds_is_lost_though_the_server_is_killed(chromium: Browser) -> None:
    dice = random.Random(20261120)
    with running() as instance:
        world = instance.world("writing", str(PEOPLE))
        pages = open_sheet_pages(chromium, instance, world)
        with psycopg.connect(instance.database_url(), autocommit=True) as database:
            for number in range(KILLS):
                pause(pages[0], dice.uniform(7, 10))
                killed = instance.kill("Web server")
                lost = draft_ages(database, killed)
                print(f"kill {number + 1}: drafts were {min(lost):.1f} to {max(lost):.1f} s old")
                assert len(lost) == PEOPLE and max(lost) < MOST
                wait_until_healthy(instance.port, 120)
            pause(pages[0], 10)
            assert max(draft_ages(database, time.time())) < MOST  # they went on by themselves
            last = [
                page.evaluate("clearInterval(typing), document.querySelector('[name=a-story]').value") for page in pages
            ]
            pause(pages[0], 6)
            stored = sorted(str(typed) for _rater, typed in database.execute(STORED).fetchall())
            assert stored == sorted(last)
            assert not any(page.locator("#conflict").is_visible() for page in pages)
