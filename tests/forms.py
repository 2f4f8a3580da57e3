"""What a browser would send of a form as it was drawn."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.area: str | None = None
        self.select: str | None = None
        self.options: list[tuple[str, bool]] = []
        self.multiple = False

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        has = dict(attributes)
        name = has.get("name")
        box = has.get("type") in ("checkbox", "radio")
        if tag == "input" and name and (not box or "checked" in has):
            self.found.append((name, has.get("value") or ("on" if box and "value" not in has else "")))
        elif tag == "textarea" and name:
            self.area = name
            self.found.append((name, ""))
        elif tag == "select" and name:
            self.select, self.options = name, []
        elif tag == "option" and self.select:
            self.options.append((has.get("value") or "", "selected" in has))

    def handle_data(self, data: str) -> None:
        if self.area:
            name, value = self.found.pop()
            first = not value and data.startswith("\n")  # a browser leaves out the line break after the tag
            self.found.append((name, value + data[first:]))

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self.area = None
        elif tag == "select" and self.select:
            chosen = [value for value, is_chosen in self.options if is_chosen] or [self.options[0][0]][:1]
            self.found.append((self.select, chosen[-1]))
            self.select = None


def inputs_of(page: str) -> Iterator[tuple[str, str]]:
    """Names and values, in order; buttons are left out."""
    reader = _Reader()
    reader.feed(page)
    yield from reader.found
