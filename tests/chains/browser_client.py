"""A person in a real browser, who presses what a LinkClient names: the same steps, each link and button to be seen."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from django.core.files.uploadedfile import UploadedFile
from django.test import Client
from playwright.sync_api import ElementHandle, Error, Locator, Page

from annotation.models import Assignment
from people.models import User
from tests.browser.conftest import wait_until
from tests.chains.annotators import Annotator, Answer
from tests.chains.link_client import LinkClient
from tests.chains.researcher import Researcher

LABELLED = """([selector, label]) => {
  const folded = (text) => text.replace(/\\s+/g, "");
  const wanted = folded(label);
  const all = [...document.querySelectorAll(selector)].filter((one) => folded(one.textContent) === wanted);
  return all.find((one) => one.checkVisibility()) ?? all[0] ?? null;
}"""
"""The first element to be seen that has this text; if none is to be seen, the first in a closed part of the page."""
CLOSED = """(one) => [...document.querySelectorAll('details:not([open])')].find((part) =>
  part.contains(one) && !part.querySelector(':scope > summary')?.contains(one)) ?? null"""
"""The outermost closed part of the page that hides an element."""

ARRIVED = "() => !window.pressed?.isConnected && document.readyState === 'complete'"


class BrowserPages(LinkClient):
    """What is read of a page is what the browser shows after its scripts ran. `window` is there before a page is."""

    window: Page

    def open(self, path: str) -> None:
        try:
            self.window.goto(path)
        except Error as error:  # the page of a job that ends loads itself anew, and takes the place of what was asked
            if "ERR_ABORTED" not in error.message:
                raise
            self.window.goto(path)
        self._read()

    def follow(self, label: str) -> None:
        self._press("a[href]", label)

    def submit(self, button: str, changes: Mapping[str, Any] | None = None, within: str = "") -> None:
        assert not within, "a browser takes the first form that has the button"
        pressed = self._labelled("form button", button)
        form = self.window.locator("form").nth(pressed.evaluate("(one) => [...document.forms].indexOf(one.form)"))
        for name, value in (changes or {}).items():
            fill_control(form.locator(f'[name="{name}"]'), value)
        self._press("form button", button)

    def _press(self, selector: str, label: str) -> None:
        """Press it, and wait for the page that follows."""
        element = self._labelled(selector, label)
        reveal(element)
        element.evaluate("(one) => { window.pressed = one }")
        element.click()
        self._wait_for_next_page()
        self._read()

    def _labelled(self, selector: str, label: str) -> ElementHandle:
        element = self.window.evaluate_handle(LABELLED, [selector, label]).as_element()
        assert element, f"{self.path} shows no “{label}”"
        return element

    def _wait_for_next_page(self) -> None:
        """A new page, or what a script draws in place of the part that was pressed."""
        for _time in range(600):
            with suppress(Error):  # the page changes at this moment
                if self.window.evaluate(ARRIVED):
                    return
            self.window.wait_for_timeout(25)
        raise AssertionError(f"nothing follows {self.window.url}")

    def _read(self) -> None:
        address = urlsplit(self.window.url)
        self.path = f"{address.path}?{address.query}" if address.query else address.path
        self.page, self.loads = self.window.content(), self.loads + 1


def reveal(element: ElementHandle) -> None:
    """Open the parts of the page that hide it, the outermost first."""
    while outer := element.evaluate_handle(CLOSED).as_element():
        summary = outer.query_selector(":scope > summary")
        assert summary, "a closed part without a summary"
        summary.click()


def fill_control(controls: Locator, value: Any) -> None:
    """Fill in the control, or the boxes, of one name; None leaves a box empty."""
    kind = controls.first.evaluate("(one) => one.type")
    if kind in ("checkbox", "radio"):
        chosen = {str(code) for code in value} if isinstance(value, list) else {value if value is None else str(value)}
        for box in _each(controls):
            is_chosen = (box.get_attribute("value") or "on") in chosen
            if is_chosen or kind == "checkbox":
                set_box(box, is_chosen)
        return
    if kind == "hidden":
        assert controls.first.input_value() == str(value), "nobody can change this"
        return
    reveal(controls.first.element_handle())
    if kind == "file":
        assert isinstance(value, UploadedFile)
        value.seek(0)
        upload = {"name": value.name or "", "mimeType": "application/octet-stream", "buffer": value.read()}
        controls.set_input_files([upload])  # type: ignore[list-item]
    elif kind.startswith("select"):
        controls.select_option([str(code) for code in value] if isinstance(value, list) else str(value))
    else:
        controls.fill(str(value))


def set_box(box: Locator, is_checked: bool) -> None:
    if box.is_checked() != is_checked:
        reveal(box.element_handle())
        box.set_checked(is_checked)


def _each(controls: Locator) -> Iterator[Locator]:
    for number in range(controls.count()):
        yield controls.nth(number)


class BrowserResearcher(BrowserPages, Researcher):
    """The researcher of a chain, in a window where they are signed in."""

    def __init__(self, client: Client, window: Page) -> None:
        self.window = window
        super().__init__(client)


class BrowserVisitor(BrowserPages):
    """Anybody in a window where they are signed in."""

    def __init__(self, client: Client, path: str, window: Page) -> None:
        self.window = window
        super().__init__(client, path)


class BrowserAnnotator(Annotator):
    """Somebody who joined already, and answers in a window."""

    def __init__(self, person: Annotator, window: Page) -> None:
        self.name, self.cohort = person.name, person.cohort
        self.window = window
        self.visitor = BrowserVisitor(person.visitor.client, "/work/", window)

    @property
    def _sheet(self) -> str:
        return str(self.window.locator("main").first.evaluate("(one) => one.outerHTML"))

    def _submit(self, fields: Mapping[str, Any]) -> None:
        for key, value in fields.items():
            fill_control(self.window.locator(f"#main [name='a-{key}']"), value)
        self._send("#main .acts .go")

    def _skip(self, reason: str) -> None:
        self.window.locator(".acts [data-dialog=why]").click()
        self.window.locator(f"#why [value='{reason}']").check()
        self._send("#why .go")

    def _send(self, button: str) -> None:
        """Press it, and wait until the server has the answer and the next sheet is shown."""
        shown = self.window.locator("#bench").get_attribute("data-assignment")
        self.window.locator(button).click()
        wait_until(self.window, "(shown) => document.getElementById('bench')?.dataset.assignment !== shown", shown)
        for _time in range(300):
            if not Assignment.objects.filter(pk=shown, state="reserved").exists():
                return
            self.window.wait_for_timeout(25)
        raise AssertionError(f"{self.name}: the answer never reached the server")


class BrowserSheets:
    """A browser for the first sheets of each stage, whoever gets them; what follows is posted."""

    def __init__(self, open_as: Callable[..., Page], sheets: int = 2) -> None:
        self.open_as, self.sheets = open_as, sheets
        self.shown: Counter[str] = Counter()

    def answer(self, person: Annotator, stage: str, answer: Answer) -> int:
        """As `Annotator.answer`."""
        left = self.sheets - self.shown[stage]
        if left > 0:
            window = self.open_as(User.objects.get(email=person.email))
            self.shown[stage] += (shown := BrowserAnnotator(person, window).answer(stage, answer, left))
            window.close()
        return person.answer(stage, answer) + (shown if left > 0 else 0)
