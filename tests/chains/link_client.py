"""A person who knows no address: follows links and sends forms by what stands on them, and counts the pages."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urljoin

from django.test import Client

from tests.forms import inputs_of

LINK = re.compile(r'<a\b[^>]*?\bhref="([^"]*)"[^>]*>(.*?)</a>', re.DOTALL)
FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.DOTALL)
BUTTON = re.compile(r"<button\b([^>]*)>(.*?)</button>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")


def text_of(markup: str) -> str:
    return " ".join(html.unescape(TAG.sub(" ", markup)).split())


def attribute(name: str, attributes: str) -> str:
    match = re.search(rf'\b{name}="([^"]*)"', attributes)
    return html.unescape(match[1]) if match else ""


class LinkClient:
    """`page` is the text of the page that is open, `path` its address, `loads` how many pages were shown so far."""

    def __init__(self, client: Client, path: str) -> None:
        self.client, self.path, self.page, self.loads = client, path, "", 0
        self.open(path)

    def _show(self, reply: Any) -> None:
        assert reply.status_code == 200, f"{self.path}: {reply.status_code} {text_of(reply.content.decode())[:2000]}"
        self.page, self.loads = reply.content.decode(), self.loads + 1
        self.path = reply.redirect_chain[-1][0] if reply.redirect_chain else self.path

    def open(self, path: str) -> None:
        """Go to an address, as by a bookmark."""
        self.path = path
        self._show(self.client.get(path, follow=True))

    def has(self, label: str) -> bool:
        """Whether there is a link with this text."""
        return any(text_of(inside) == label for _address, inside in LINK.findall(self.page))

    def address_of(self, label: str) -> str:
        """Where the first link with this text leads."""
        addresses = [address for address, inside in LINK.findall(self.page) if text_of(inside) == label]
        assert addresses, f"{self.path} has no link “{label}”"
        return urljoin(self.path, html.unescape(addresses[0]))

    def has_button(self, label: str) -> bool:
        return any(text_of(inside) == label for _attributes, inside in BUTTON.findall(self.page))

    def follow(self, label: str) -> None:
        """Press the first link with this text."""
        self.path = self.address_of(label)
        self._show(self.client.get(self.path, follow=True))

    def button(self, start: str) -> str:
        """The whole label of the first button that begins so."""
        labels = [text_of(label) for _attributes, label in BUTTON.findall(self.page)]
        assert any(label.startswith(start) for label in labels), f"{self.path} has no button “{start}”: {labels}"
        return next(label for label in labels if label.startswith(start))

    def submit(self, button: str, changes: Mapping[str, Any] | None = None, within: str = "") -> None:
        """Send the first form that has this button, as it is drawn but for `changes`; None leaves a field out.

        `within`: the part of the page that the form stands in.
        """
        for attributes, inside in FORM.findall(within or self.page):
            pressed = [start for start, label in BUTTON.findall(inside) if text_of(label) == button]
            if pressed:
                self._send(attributes, inside, pressed[0], changes or {})
                return
        raise AssertionError(f"{self.path} has no form with a button “{button}”")

    def _send(self, attributes: str, inside: str, pressed: str, changes: Mapping[str, Any]) -> None:
        data: dict[str, Any] = {}
        for name, value in inputs_of(inside):
            data.setdefault(name, []).append(value)
        if attribute("name", pressed):
            data[attribute("name", pressed)] = [attribute("value", pressed)]
        data.update(changes)
        data = {name: value for name, value in data.items() if value is not None}
        self.path = urljoin(self.path, attribute("action", attributes) or self.path)
        if attribute("method", attributes) == "post":
            self._show(self.client.post(self.path, data, follow=True))
        else:
            self.open(f"{self.path.split('?')[0]}?{urlencode(data, doseq=True)}")

    def values(self, name: str) -> Sequence[str]:
        """What a control of this name would send."""
        return [value for key, value in inputs_of(self.page) if key == name]
