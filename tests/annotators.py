"""Simulated annotators: browsers of the standard library that rate over HTTP. Run as a process of their own, so that
they share no lock with what they load: `python -m tests.annotators < plan.json > result.json`.
"""

import http.client
import json
import random
import re
import sys
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

TOKEN = "t" * 32  # a CSRF cookie is believed when the header says the same
HAND = re.compile(r'data-assignment="(\d+)"')
KEY = re.compile(r'name="client_key" value="([^"]+)"')
LOST = (OSError, http.client.HTTPException)


class Browser:
    """One signed-in person on one kept connection."""

    def __init__(self, port: int, session: str) -> None:
        self.port = port
        self.headers = {
            "Cookie": f"sessionid={session}; csrftoken={TOKEN}",
            "X-CSRFToken": TOKEN,
            "X-Requested-With": "emic",
            "Content-Type": "application/x-www-form-urlencoded",
        }
        self.line: http.client.HTTPConnection | None = None
        self.spans: list[tuple[float, float]] = []  # when each request was in flight, by the clock on the wall

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        """Raises one of LOST when there was no whole answer; the next request then dials anew."""
        self.line = self.line or http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        begun = time.time()
        try:
            self.line.request(method, path, urllib.parse.urlencode(form) if form else None, self.headers)
            reply = self.line.getresponse()
            return reply.status, reply.read().decode()
        except LOST:
            self.line.close()
            self.line = None
            raise
        finally:
            self.spans.append((begun, time.time()))


@dataclass
class Sheet:
    assignment: int
    key: str


def current_sheet(page: str) -> Sheet | None:
    """What is in hand; the sheet ahead stands in a template after it."""
    return _sheet(page.partition("<template")[0])


def sheet_ahead(page: str) -> Sheet | None:
    return _sheet(page.partition("<template")[2])


def _sheet(html: str) -> Sheet | None:
    assignment, key = HAND.search(html), KEY.search(html)
    return Sheet(int(assignment[1]), key[1]) if assignment and key else None


@dataclass
class Annotator:
    """Rates until there is nothing or time is over, and remembers what the server said it has kept."""

    browser: Browser
    campaign: int
    deadline: float
    patient: bool = False
    ahead: Sheet | None = None
    seconds: list[float] = field(default_factory=list)
    acknowledged: dict[int, str] = field(default_factory=dict)
    retries: int = 0
    refused: list[str] = field(default_factory=list)

    def run(self) -> None:
        dice = random.Random(self.browser.headers["Cookie"])
        empty = 0
        sheet = self.look()
        while time.monotonic() < self.deadline and empty < (3 if self.patient else 1):
            if sheet is None:
                empty += 1
                time.sleep(0.5 if self.patient else 0)
                sheet = self.look()
                continue
            empty = 0
            sheet = self.rate(sheet, str(dice.randint(1, 5)))

    def look(self) -> Sheet | None:
        page = self.surely("GET", f"/work/{self.campaign}/")[1]
        self.ahead = sheet_ahead(page)
        return current_sheet(page)

    def rate(self, sheet: Sheet, code: str) -> Sheet | None:
        """As the page does it: on to the sheet that was loaded ahead, whose form is not sent again."""
        begun, ahead = time.perf_counter(), self.ahead
        form = {"a-relevance": code, "client_key": sheet.key, "active_seconds": "2.5"}
        form |= {"showing": str(ahead.assignment)} if ahead else {}
        status, page = self.surely("POST", f"/assignments/{sheet.assignment}/submit", form)
        self.seconds.append(time.perf_counter() - begun)
        if status == 200:
            self.acknowledged[sheet.assignment] = code
        else:
            self.refused.append(f"{status} for {sheet.assignment}: {page[:300]}")
        self.ahead = sheet_ahead(page)
        return ahead if "data-bare" in page else current_sheet(page)

    def surely(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        """The same request again, with the same key, until the server answers it."""
        while True:
            try:
                status, page = self.browser.ask(method, path, form)
                if status < 500 or not self.patient or time.monotonic() > self.deadline:
                    return status, page
            except LOST:
                if not self.patient or time.monotonic() > self.deadline:
                    raise
            self.retries += 1
            time.sleep(random.uniform(0.02, 0.2))


@dataclass
class Looker:
    """Asks for one page over and over."""

    browser: Browser
    path: str
    deadline: float
    seconds: list[float] = field(default_factory=list)

    def run(self) -> None:
        while time.monotonic() < self.deadline:
            begun = time.perf_counter()
            status, page = self.browser.ask("GET", self.path)
            assert status == 200, f"{status}: {page[:300]}"
            self.seconds.append(time.perf_counter() - begun)


def main() -> None:
    plan: dict[str, Any] = json.load(sys.stdin)
    deadline = time.monotonic() + plan["seconds"]
    browsers = [Browser(plan["port"], session) for session in plan["sessions"]]
    people: list[Any] = [Looker(one, plan["path"], deadline) for one in browsers] if plan.get("path") else []
    people = people or [Annotator(one, plan["campaign"], deadline, plan.get("patient", False)) for one in browsers]
    threads = [threading.Thread(target=one.run) for one in people]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = time.monotonic() - begun
    rows = [{key: value for key, value in vars(one).items() if key not in ("browser", "ahead")} for one in people]
    spans = [span for one in browsers for span in one.spans] if plan.get("spans") else []
    json.dump({"took": took, "people": rows, "spans": spans}, sys.stdout)


if __name__ == "__main__":
    main()
