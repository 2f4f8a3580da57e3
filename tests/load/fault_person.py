"""A person who answers sheets in a browser, notes what they chose, and asks after each step whether the page tells the
truth."""

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import BrowserContext, Error, Page

from annotation.models import Annotation
from people.models import User
from tests.personas import PASSWORD

WITHIN = 1.0  # seconds until the page says something true
SETTLES = 60.0  # seconds until all is sent, once nothing is broken any more
GUARD = 0.75  # seconds in which a page takes a key or a click for one that was meant for the sheet before

# What the page says, what waits on the device and which sheet is there, all of one moment.
SNAPSHOT = """() => {
  const $ = (id) => document.getElementById(id);
  const shown = (one) => Boolean(one?.checkVisibility({ visibilityProperty: true })); // a hidden word keeps its room
  const kept = (name) => JSON.parse(localStorage.getItem(`emic:${document.body.dataset.person}:${name}`) ?? "[]");
  const sheets = (name) => kept(name).map((one) => one.assignment);
  const saved = $("saved"), line = $("line"), bench = $("bench");
  const begins = (key) => saved.textContent.startsWith(saved.dataset[key].split("WHEN")[0]);
  const says = (words) => words.split("TIME").every((part) => line.textContent.includes(part));
  return {
    path: location.pathname, search: location.search, hidden: document.body.hidden, work: Boolean(bench),
    word: shown(saved) ? Object.keys(saved.dataset).find(begins) : null,
    banner: shown(line) ? Object.keys(line.dataset).find((key) => says(line.dataset[key])) : null,
    sheet: bench?.dataset.assignment ?? null, sends: Boolean(bench?.classList.contains("sends")),
    both: "both" in (bench?.dataset ?? {}), conflict: shown($("conflict")), dialog: Boolean($("session")?.open),
    undo: $("undo")?.dataset.of ?? null, notice: $("notice")?.textContent ?? null,
    waits: sheets("outbox"), drafts: sheets("drafts"), claims: window.claims ?? [],
  };
}"""

# Each moment in which the page says anew that an answer is saved, while one is still on the device. (That an earlier
# answer was saved some seconds ago stays true.)
WATCH = """addEventListener("DOMContentLoaded", () => {
  window.claims = [];
  const saved = document.getElementById("saved");
  if (!saved) return;
  let before = false;
  const look = () => {
    const waits = JSON.parse(localStorage.getItem(`emic:${document.body.dataset.person}:outbox`) ?? "[]");
    const says = !saved.hidden && saved.textContent.startsWith(saved.dataset.saved.split("WHEN")[0]);
    const anew = says && (!before || / (now|0s) /.test(`${saved.textContent} `));
    if (anew && waits.length) window.claims.push(saved.textContent, waits.map((one) => one.assignment));
    before = says;
  };
  new MutationObserver(look).observe(saved, { childList: true, characterData: true, subtree: true, attributes: true });
});"""


class Untrue(AssertionError):
    """What the page said was not so."""


class NoSheet(Untrue):
    """None that can be answered."""


@dataclass
class Ledger:
    """What a person answered, by assignment; how often each was changed and taken back."""

    answers: dict[str, dict[str, str]] = field(default_factory=dict)
    changed: Counter[str] = field(default_factory=Counter)
    undone: Counter[str] = field(default_factory=Counter)
    opinions: set[str] = field(default_factory=set)
    """Answered in one window, and then with something else in another that did not know it."""


class FaultPerson:
    """One person, in one browser, with one or more windows."""

    def __init__(self, user: User, context: BrowserContext, address: str, dice: random.Random) -> None:
        self.user, self.context, self.address, self.dice = user, context, address, dice
        self.ledger = Ledger()
        self.history: list[str] = []
        self.slowest = 0.0
        context.add_init_script(WATCH)
        self.page = self.open()

    def open(self) -> Page:
        page = self.context.new_page()
        page.goto(self.address)
        self.wait_for_sheet(page)
        return page

    def note(self, text: str) -> None:
        self.history.append(f"{time.strftime('%H:%M:%S')} {self.user.name}: {text}")

    # ---- the session ----

    def session_ends(self, *, expired: bool) -> None:
        rows = Session.objects.filter(session_key=self.session_key())
        if expired:
            rows.update(expire_date=timezone.now())
        else:
            rows.delete()

    def session_key(self) -> str:
        names = settings.SESSION_COOKIE_NAME
        return next((str(one["value"]) for one in self.context.cookies() if one["name"] == names), "")

    def is_signed_in(self) -> bool:
        return Session.objects.filter(session_key=self.session_key(), expire_date__gt=timezone.now()).exists()

    def sign_in_if_asked(self, page: Page) -> None:
        """In the dialog of a sheet, or on the page that a reload leads to."""
        if "/sign-in" in page.url:
            page.locator("[name=username]").fill(self.user.email)
            page.locator("[name=password]").fill(PASSWORD)
            page.locator("[name=password]").press("Enter")
            pause(page, 0.5)
        elif page.evaluate("document.getElementById('session')?.open"):
            page.locator("#session-password").fill(PASSWORD)
            page.keyboard.press("Enter")
            pause(page, 0.3)

    # ---- one answer ----

    def snapshot(self, page: Page) -> dict[str, Any]:
        state: dict[str, Any] = page.evaluate(SNAPSHOT)
        return state

    def wait_for_sheet(self, page: Page, seconds: float = SETTLES) -> dict[str, Any]:
        """Until a sheet can be answered; whoever is asked signs in."""
        end = time.monotonic() + seconds
        state: dict[str, Any] = {}
        while time.monotonic() < end:
            try:
                self.sign_in_if_asked(page)
                state = self.snapshot(page)
            except Error:  # it is just going to another page
                pause(page, 0.1)
                continue
            if state["path"] == "/work/history/":
                page.goto(self.address)
            elif state["sheet"] and not state["sends"] and not state["dialog"]:
                return state
            pause(page, 0.1)
        raise NoSheet(f"no sheet comes: {state}")

    def choose(self, page: Page) -> dict[str, str]:
        """Fill the sheet; returns what was chosen."""
        answers = {"relevance": str(self.dice.randint(1, 5))}
        why = page.locator("[name=a-why]")
        if self.dice.random() < 0.3:
            answers["why"] = f"Because of {self.dice.randint(1, 10**6)}"
            why.fill("")
            why.press_sequentially(answers["why"], delay=5)
        elif why.input_value():
            why.fill("")
        page.locator(f"#main .opt:has(input[value='{answers['relevance']}'])").click()
        checked = page.evaluate("document.querySelector('#main [name=a-relevance]:checked')?.value")
        assert checked == answers["relevance"], f"the page took no choice: {checked}"
        return answers

    def give(self, page: Page, seconds: float = SETTLES) -> str:
        """Answer the sheet that is there; returns its assignment, or nothing if none can be answered in this time."""
        try:
            self.wait_for_sheet(page, seconds)
            pause(page, GUARD)
            state = self.wait_for_sheet(page, seconds)
        except NoSheet:
            if seconds < SETTLES:
                return ""
            raise
        sheet, changes = str(state["sheet"]), state["both"] or "change" in state["search"]
        answers = self.choose(page)
        before = self.snapshot(page)
        if before["sheet"] != sheet or before["sends"]:
            self.note(f"{sheet} went away while it was being answered")
            return ""
        page.keyboard.press("Control+Enter")
        if not self.is_taken(page, sheet):
            raise Untrue(f"nobody took the answer: {self.snapshot(page)}")
        self.note(f"answered {sheet} with {answers}{' as a change' if changes else ''}")
        if changes:
            self.ledger.changed[sheet] += 1
        if changes or sheet not in self.ledger.answers:
            self.ledger.answers[sheet] = answers
        elif self.ledger.answers[sheet] != answers:
            self.ledger.opinions.add(sheet)
        self.hear_truth(page)
        return sheet

    def is_taken(self, page: Page, sheet: str) -> bool:
        for _time in range(40):
            try:
                state = self.snapshot(page)
            except Error:
                return True  # it goes to the page of answers
            if state["sheet"] != sheet or state["sends"] or sheet in state["waits"] or state["path"] != self.path:
                return True
            pause(page, 0.025)
        return False

    @property
    def path(self) -> str:
        return "/" + self.address.split("/", 3)[3]

    # ---- the truth ----

    def hear_truth(self, page: Page) -> None:
        """Within a second the page says something about the answers, and all that it says is true."""
        start = time.monotonic()
        problem = "?"
        while time.monotonic() < start + WITHIN:
            try:
                problem = self.what_is_untrue(page)
            except Error:
                problem = "the page is changing"
            if not problem:
                self.slowest = max(self.slowest, time.monotonic() - start)
                return
            pause(page, 0.05)
        raise Untrue(f"after {WITHIN} s: {problem}")

    def what_is_untrue(self, page: Page) -> str:
        """Empty if all is true."""
        signed_in = self.is_signed_in()
        state = self.snapshot(page)
        if state["claims"]:
            return f"said Saved while {state['claims']} waited"
        if state["hidden"]:
            return f"an empty page: {state}"
        if not state["work"]:
            return ""
        word, waits = state["word"], state["waits"]
        banner, told = state["banner"], state["banner"] or state["dialog"]
        false_sentences = {
            "nothing of what waits": waits and word not in ("saving", "here") and not told,
            "Saved though something waits": word == "saved" and waits,
            "Saved though the server has it not": word == "saved" and not waits and self.missing(waits),
            "Saving though nothing waits": word == "saving" and not waits,
            "On this device though nothing is": word == "here" and not waits and state["sheet"] not in state["drafts"],
            "answers wait for the line though none do": banner == "waiting" and not waits,
            "signed out though it is not so": banner == "signedOut" and signed_in and self.is_signed_in(),
        }
        wrong = [words for words, is_shown in false_sentences.items() if is_shown]
        return f"{wrong}: {state}" if wrong else ""

    def missing(self, waits: list[str]) -> set[str]:
        """Sheets that were answered, are not on their way and are not stored."""
        stored = Annotation.objects.filter(rater__user=self.user, live=True).values_list("assignment_id", flat=True)
        return set(self.ledger.answers) - set(waits) - {str(pk) for pk in stored}

    def settle(self, page: Page) -> None:
        """Nothing is broken any more: all goes out, and the page says so."""
        end = time.monotonic() + SETTLES
        state: dict[str, Any] = {}
        while time.monotonic() < end:
            state = self.wait_for_sheet(page)
            if not state["waits"] and not state["banner"]:
                break
            pause(page, 0.1)
        else:
            raise Untrue(f"it never settled: {state}")
        if state["both"]:
            self.decide(page, str(state["sheet"]))
        self.hear_truth(page)
        self.compare()

    def decide(self, page: Page, sheet: str) -> None:
        """Two windows wrote different things and this one shows both: submit what is here, or keep the earlier one."""
        if sheet not in self.ledger.opinions:
            raise Untrue(f"shows both, though {sheet} was answered once")
        self.ledger.opinions.remove(sheet)
        pause(page, GUARD)
        if self.dice.random() < 0.5:
            self.give(page)
        else:
            page.get_by_role("button", name="Keep the earlier answer").click()
            page.wait_for_url("**/work/history/")
            self.note(f"kept the earlier answer of {sheet}")
        self.settle(page)

    def compare(self) -> None:
        """What is stored is what was chosen, once."""
        rows = Annotation.objects.filter(rater__user=self.user).order_by("pk")
        by_sheet: dict[str, list[Annotation]] = {}
        for row in rows:
            by_sheet.setdefault(str(row.assignment_id), []).append(row)
        wrong = {}
        for sheet, answers in self.ledger.answers.items():
            own = by_sheet.pop(sheet, [])
            live = [row.answers for row in own if row.live]
            superseded = sum(row.uncounted_because == "superseded" for row in own)
            undone = sum(row.uncounted_because == "undone" for row in own)
            expected = ([answers], self.ledger.changed[sheet], self.ledger.undone[sheet])
            if (live, superseded, undone) != expected or len(own) != 1 + superseded + undone:
                wrong[sheet] = {"expected": expected, "stored": (live, superseded, undone), "rows": len(own)}
        if by_sheet:
            wrong["never given"] = {sheet: [row.answers for row in own] for sheet, own in by_sheet.items()}  # type: ignore[assignment]
        if wrong:
            raise Untrue(f"what is stored is not what was given: {wrong}")


def pause(page: Page, seconds: float) -> None:
    page.wait_for_timeout(seconds * 1000)
