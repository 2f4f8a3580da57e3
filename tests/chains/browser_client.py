"""A person in a real browser, who presses what a LinkClient names: the same steps, each link and button to be seen."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.test import Client
from playwright.sync_api import ElementHandle, Error, Locator, Page, expect

from annotation.models import Assignment
from people.models import User
from tests.browser.conftest import until_sent, wait_until
from tests.chains.annotators import Annotator, Answer
from tests.chains.link_client import BUTTON, FORM, LinkClient, attribute, text_of
from tests.chains.researcher import Researcher

LABELLED = """([selector, label]) => {
  const folded = (text) => text.replace(/\\s+/g, "");
  const wanted = folded(label);
  const all = [...document.querySelectorAll(selector)].filter((one) => folded(one.textContent) === wanted);
  window.pressed = all.find((one) => one.checkVisibility()) ?? all[0] ?? null;
  if (!window.pressed) return null;
  const form = [...document.forms].indexOf(window.pressed.form);
  return {form, closed: !!window.pressed.closest("details:not([open])")};
}"""
"""Notes as `window.pressed` the first element to be seen that has this text; if none is to be seen, the first in a
closed part of the page. What is returned: the number of its form, and whether a part of the page is closed."""
CONTROLS = """(all) => all.map((one) => (
  {type: one.type, value: one.value, checked: one.checked, closed: !!one.closest("details:not([open])")}))"""
CLOSED = """(one) => [...document.querySelectorAll('details:not([open])')].find((part) =>
  part.contains(one) && !part.querySelector(':scope > summary')?.contains(one)) ?? null"""
"""The outermost closed part of the page that hides an element."""
WITHOUT_TEMPLATES = """(one) => {
  const copy = one.cloneNode(true);
  copy.querySelectorAll("template").forEach((part) => part.remove());
  return copy.outerHTML;
}"""
"""Of an element what can be seen: the next sheet waits in a template."""
TAKEN = """(shown) => {
  const bench = document.getElementById('bench');
  return bench?.dataset.assignment !== shown || bench.classList.contains('sends');
}"""
"""Whether a press on Submit was accepted: the next sheet is there, or this one is being sent."""
REPLACED = ("ERR_ABORTED", "interrupted by another navigation")
"""What Chromium says of a page that another one took the place of while it loaded."""
NOT_PRESSED = ("not attached", "DOM.scrollIntoViewIfNeeded")
"""What Playwright says of a button that was replaced before it was pressed: its form was drawn anew after a choice, or
the page of a job that ended loaded itself anew."""
ARRIVED = """() => (!window.pressed?.isConnected && document.readyState === 'complete'
  ? document.documentElement.outerHTML : null)"""
"""The page that followed what was pressed, once it is whole."""


class BrowserPages(LinkClient):
    """What is read of a page is what the browser shows after its scripts ran. `window` is there before a page is."""

    window: Page

    def open(self, path: str) -> None:
        for _time in range(3):
            try:
                self.window.goto(path)
                break
            except Error as error:  # the page of a job that ends loads itself anew, in place of what was asked
                if not any(text in error.message for text in REPLACED):
                    raise
        else:
            self.window.goto(path)
        self._read(self.window.content())

    def follow(self, label: str) -> None:
        self._press("a[href]", label)

    def submit(self, button: str, changes: Mapping[str, Any] | None = None, within: str = "") -> None:
        forms = f'form[action="{action_in(within, button)}"]' if within else "form"
        form = self.window.locator("form").nth(self._find(f"{forms} button", button)["form"])
        for name, value in (changes or {}).items():
            fill_control(form.locator(f'[name="{name}"]'), value)
        self._press(f"{forms} button", button)

    def _press(self, selector: str, label: str) -> None:
        """Press it, and wait for the page that follows."""
        for _time in range(3):
            element = self._reveal(selector, label)
            try:
                element.click()
                break
            except Error as error:
                if not any(text in error.message for text in NOT_PRESSED):
                    raise
        else:
            raise AssertionError(f"{label} on {self.path} never rests")
        self._read(self._wait_for_next_page())

    def _reveal(self, selector: str, label: str) -> ElementHandle:
        """The element, to be seen and noted as the one that is pressed."""
        for _time in range(3):
            with suppress(Error):  # the page of a job that ends loads itself anew
                is_closed = self._find(selector, label)["closed"]
                element = self.window.evaluate_handle("window.pressed").as_element()
                if element:
                    if is_closed:
                        reveal(element)
                    return element
            self.window.wait_for_load_state()
        raise AssertionError(f"{self.path} never rests")

    def _find(self, selector: str, label: str) -> dict[str, Any]:
        place: dict[str, Any] | None = self.window.evaluate(LABELLED, [selector, label])
        assert place, f"{self.path} shows no “{label}”"
        return place

    def _wait_for_next_page(self) -> str:
        """A new page, or what a script draws in place of the part that was pressed."""
        for _time in range(600):
            with suppress(Error):  # the page changes at this moment
                if page := self.window.evaluate(ARRIVED):
                    return str(page)
            self.window.wait_for_timeout(25)
        raise AssertionError(f"nothing follows {self.window.url}")

    def _read(self, page: str) -> None:
        address = urlsplit(self.window.url)
        self.path = f"{address.path}?{address.query}" if address.query else address.path
        self.page, self.loads = page, self.loads + 1


def action_in(part: str, button: str) -> str:
    """Where the form of a part of the page is sent that has this button."""
    forms = FORM.findall(part)
    return next(
        attribute("action", start)
        for start, inside in forms
        if any(text_of(label) == button for _attributes, label in BUTTON.findall(inside))
    )


def reveal(element: ElementHandle) -> None:
    """Open the parts of the page that hide it, the outermost first."""
    while outer := element.evaluate_handle(CLOSED).as_element():
        summary = outer.query_selector(":scope > summary")
        assert summary, "a closed part without a summary"
        summary.click()


def fill_control(controls: Locator, value: Any) -> None:
    """Fill in the control, or the boxes, of one name; None leaves a box empty."""
    states: list[dict[str, Any]] = []
    with suppress(Error):  # the choice before this one loads the page anew
        states = controls.evaluate_all(CONTROLS)
    if not states:
        controls.first.wait_for(state="attached")
        states = controls.evaluate_all(CONTROLS)
    kind = states[0]["type"]
    if kind in ("checkbox", "radio"):
        chosen = {str(code) for code in value} if isinstance(value, list) else {value if value is None else str(value)}
        for number, state in enumerate(states):
            is_chosen = (state["value"] or "on") in chosen
            if state["checked"] != is_chosen and (is_chosen or kind == "checkbox"):
                reveal_closed(controls.nth(number), state)
                controls.nth(number).set_checked(is_chosen)
        return
    if kind == "hidden":
        assert states[0]["value"] == str(value), "nobody can change this"
        return
    reveal_closed(controls.first, states[0])
    if kind == "file":
        assert isinstance(value, UploadedFile)
        send_file(controls, value)
    elif kind.startswith("select"):
        controls.select_option([str(code) for code in value] if isinstance(value, list) else str(value))
    elif isinstance(value, list):
        for number, text in zip(range(len(states)), value, strict=True):
            controls.nth(number).fill(str(text))
    else:
        controls.fill(str(value))


def reveal_closed(control: Locator, state: Mapping[str, Any]) -> None:
    if state["closed"]:
        reveal(control.element_handle())


def send_file(control: Locator, file: UploadedFile) -> None:
    file.seek(0)
    upload = {"name": file.name or "", "mimeType": file.content_type or "", "buffer": file.read()}
    control.set_input_files([upload])  # type: ignore[list-item]


class BrowserResearcher(BrowserPages, Researcher):
    """The researcher of a chain, in a window where they are signed in."""

    def __init__(self, client: Client, window: Page) -> None:
        self.window = window
        super().__init__(client)


class BrowserVisitor(BrowserPages):
    """Anybody in a window where they are signed in; no page is open yet."""

    def __init__(self, client: Client, window: Page) -> None:
        self.window = window
        self.client, self.path, self.page, self.loads = client, "", "", 0


class BrowserAnnotator(Annotator):
    """Somebody who joined already, and answers in a window."""

    def __init__(self, person: Annotator, window: Page) -> None:
        self.name, self.cohort = person.name, person.cohort
        self.window = window
        self.visitor = BrowserVisitor(person.visitor.client, window)
        self.desks = dict(person.desks)

    @property
    def _sheet(self) -> str:
        return str(self.window.locator("main").first.evaluate(WITHOUT_TEMPLATES))

    def _submit(self, fields: Mapping[str, Any]) -> None:
        for key, value in fields.items():
            if isinstance(value, UploadedFile):
                self._upload(key, value)
            elif self.window.locator(f"#main [data-field={key}].grouping").count():
                group_pictures(self.window, value)
            else:
                fill_control(self.window.locator(f"#main [name='a-{key}']"), value)
        self._send("#main .acts .go")

    def _upload(self, key: str, file: UploadedFile) -> None:
        send_file(self.window.locator(f"#u-{key}"), file)
        expect(self.window.locator(f"[data-field={key}] [data-came]")).to_be_visible()
        self.window.locator(f"#c-{key}").select_option("own")

    def _skip(self, reason: str) -> None:
        self.window.locator(".acts [data-dialog=why]").click()
        self.window.locator(f"#why [value='{reason}']").check()
        self._send("#why .go")

    def _send(self, button: str) -> None:
        """Press it, and wait until the server has the answer and the next sheet is shown."""
        shown = self.window.locator("#bench").get_attribute("data-assignment")
        for _time in range(3):  # a filled sheet that has just come takes no press; a person presses again
            self.window.locator(button).click()
            if self.window.evaluate(TAKEN, shown):
                break
            self.window.wait_for_timeout(400)
        wait_until(self.window, "(shown) => document.getElementById('bench')?.dataset.assignment !== shown", shown)
        for _time in range(300):
            if not Assignment.objects.filter(pk=shown, state="reserved").exists():
                until_sent(self.window)  # the reply says what was answered last
                return
            self.window.wait_for_timeout(25)
        raise AssertionError(f"{self.name}: the answer never reached the server")


def group_pictures(window: Page, acts: Sequence[str]) -> None:
    """Say of each picture of a contact sheet, by a press on it and keys, what "keep:p1" or "same:p2:p1" says."""
    expect(window.locator(".grouping [data-done]")).to_be_visible()  # the script has begun
    for act in acts:
        name, picture, *others = act.split(":")
        pressed = window.locator(f"[data-picture={picture}]")
        if not pressed.get_attribute("aria-current"):  # a press on the picture at hand shows it large
            pressed.click()
        if others:
            window.keyboard.type(window.locator(f"[data-picture={others[0]}]").get_attribute("data-n") or "")
        window.keyboard.press({"keep": "k", "drop": "d", "same": "s", "unsure": "n"}[name])
    expect(window.locator(".grouping [data-count]")).to_have_text(f"{len(acts)} of {len(acts)} pictures")


class BrowserSheets:
    """A browser for the first sheets of each stage, whoever gets them; what follows is posted."""

    def __init__(self, open_as: Callable[..., Page], sheets: int = 2) -> None:
        self.open_as, self.sheets = open_as, sheets
        self.shown: Counter[str] = Counter()
        self.window: Page | None = None

    def answer(self, person: Annotator, stage: str, answer: Answer) -> int:
        """As `Annotator.answer`."""
        return self._answer(person, stage, lambda _reader: answer)

    def answer_by_sheet(self, person: Annotator, stage: str, answer: Callable[[Annotator], Mapping[str, Any]]) -> int:
        """Where no text tells sheets apart: `answer` gets who has the sheet in hand, in a window or not."""
        return self._answer(person, stage, lambda reader: lambda _text: answer(reader))

    def _answer(self, person: Annotator, stage: str, answer_of: Callable[[Annotator], Answer]) -> int:
        left, shown = self.sheets - self.shown[stage], 0
        if left > 0:
            window = self._window_of(person)
            reader = BrowserAnnotator(person, window)
            shown = reader.answer(stage, answer_of(reader), left)
            person.desks.update(reader.desks)
            self.shown[stage] += shown
            window.goto("/static/img/mark.svg")  # an open sheet would keep what is in hand
            if shown < left:  # the browser has shown that there is no more
                return shown
        return person.answer(stage, answer_of(person)) + shown

    def _window_of(self, person: Annotator) -> Page:
        """The same one for everybody, who signs in there in turn: a new one reads all styles and scripts again."""
        if self.window is None:
            self.window = self.open_as(User.objects.get(email=person.email))
        context, name = self.window.context, settings.SESSION_COOKIE_NAME
        [session] = [cookie for cookie in context.cookies() if cookie["name"] == name]
        session["value"] = person.visitor.client.cookies[name].value
        context.add_cookies([session])  # type: ignore[list-item]
        return self.window
