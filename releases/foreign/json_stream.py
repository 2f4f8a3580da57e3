"""JSON files of any size, one element at a time: a damaged element is a problem of its row, and the rest is read."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmarks.imports.problems import RowProblem, SourceProblem

BLOCK = 1024 * 1024
LONGEST_ELEMENT = 16 * 1024 * 1024
DEEPEST = 60
SPACE = re.compile(r"[ \t\r\n]*")
TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)
PLAIN = re.compile(r"[^,\]}\s]*")
FOREIGN = re.compile("[\ud800-\udfff\ufffd]")
NOT_JSON = gettext_lazy("This row is not JSON. Look for a missing brace or quotation mark.")
NumberedValue = tuple[int, Any]
"""The place of an element, from 1, and its value, or the RowProblem that it is."""


def encoding_of(start: bytes) -> str:
    """UTF-8 but for files that begin with another mark: JSON has no other encoding."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"


class _Text:
    """A sliding window over a file. Bytes that are not of the encoding become lone surrogates."""

    def __init__(self, file: BinaryIO) -> None:
        start = file.read(4)
        file.seek(0)
        name = encoding_of(start)
        errors = "replace" if name == "utf-16" else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(name)(errors)
        self._file, self.ended, self.buffer, self.at = file, False, "", 0

    def grow(self, size: int = BLOCK) -> bool:
        """Read more behind what is there; False at the end of the file."""
        if self.ended:
            return False
        block = self._file.read(size)
        self.ended = not block
        self.buffer = self.buffer[self.at :] + self._decoder.decode(block, final=self.ended)
        self.at = 0
        return True

    def peek(self) -> str:
        """The next letter that is no space; empty at the end."""
        while True:
            match = SPACE.match(self.buffer, self.at)
            self.at = match.end() if match else self.at
            if self.at < len(self.buffer):
                return self.buffer[self.at]
            if not self.grow():
                return ""

    def take(self, letter: str) -> bool:
        if self.peek() != letter:
            return False
        self.at += 1
        return True

    def line_start(self) -> str:
        """A line feed, spaces and the next letter, if it is the first of its line; else empty."""
        feed = self.buffer.rfind("\n", 0, self.at)
        start = self.buffer[feed : self.at + 1]
        return start if feed >= 0 and not start[:-1].strip() else ""

    def skip_to(self, mark: str) -> bool:
        """Go to the next letter behind `mark`, its last one; at the end if there is none."""
        while mark:
            place = self.buffer.find(mark, self.at)
            if place >= 0:
                self.at = place + len(mark) - 1
                return True
            self.at = max(self.at, len(self.buffer) - len(mark) + 1)
            if not self.grow():
                break
        self.drop()
        return False

    def drop(self) -> None:
        """Read nothing more."""
        self.at, self.ended, self.buffer = 0, True, ""


def read_json_lines(file: BinaryIO) -> Iterator[NumberedValue]:
    """One value a line."""
    start = file.read(4)
    file.seek(0)
    name = encoding_of(start)
    if name == "utf-16":
        lines: Iterator[bytes] = (line.encode() for line in codecs.getreader("utf-16")(file, "replace"))
    else:
        lines = iter(lambda: file.readline(LONGEST_ELEMENT), b"")
    for number, line in enumerate(lines, start=1):
        if line.strip(b" \t\r\n\xef\xbb\xbf"):
            yield number, parse_element(line.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape"))


def read_json_array(file: BinaryIO) -> Iterator[NumberedValue]:
    """The elements of a file that is one array. Raises SourceProblem if it is none."""
    text = _Text(file)
    if not text.take("["):
        raise SourceProblem(_("The file is not a list in JSON."))
    yield from _elements(text)


def read_json_members(file: BinaryIO, entries_of: str = "") -> Iterator[tuple[str, int, Any]]:
    """The members of a file that is one object: each element of a list, and other values whole with number 0.

    The member called `entries_of` is an object that is given by its own members: name and value, or a RowProblem.
    """
    text = _Text(file)
    if not text.take("{"):
        raise SourceProblem(_("The file is not an object in JSON."))
    while text.peek() == '"':
        name = _element(text)
        if isinstance(name, RowProblem) or not text.take(":"):
            raise SourceProblem(_("The JSON is damaged. Export the file again."))
        if text.take("["):
            rows = _elements(text)
        elif name == entries_of and text.take("{"):
            rows = _entries(text)
        else:
            rows = iter([(0, _element(text))])
        for number, value in rows:
            yield name, number, value
        if not text.take(","):
            break


def _entries(text: _Text) -> Iterator[NumberedValue]:
    """The members of an object, whose brace is taken, up to its closing one. Damage is as in a list."""
    number = 0
    text.peek()
    mark = text.line_start()
    while text.peek() == '"':
        number += 1
        name = _element(text, mark)
        value = name if isinstance(name, RowProblem) else _element(text, mark) if text.take(":") else _cut_problem()
        yield number, value if isinstance(value, RowProblem) else (name, value)
        if text.take(",") or isinstance(value, _SkippedElement):
            continue
        if text.peek() in ("}", ""):
            break
        if not text.skip_to(mark):
            return
    if not text.take("}") and not (number and isinstance(value, RowProblem)):
        yield number + 1, _cut_problem()


def _elements(text: _Text) -> Iterator[NumberedValue]:
    """Up to the closing bracket, which is taken. A file that ends before it has a last element that is a problem.

    Where each element begins a line, as its first one does, a damaged one ends where the next begins.
    """
    number = 0
    text.peek()
    mark = text.line_start()
    while text.peek() not in ("]", ""):
        number += 1
        value = _element(text, mark)
        yield number, value
        if text.take(",") or text.peek() == "]" or isinstance(value, _SkippedElement):
            continue
        if not text.peek():
            if isinstance(value, RowProblem):
                return  # it says that the file ends
            break
        if not text.skip_to(mark):
            yield number + 1, RowProblem("unreadable", _("The list is damaged from here on. Export the file again."))
            return
        yield number, RowProblem("unreadable", _("What follows this row is not JSON. Look for a stray brace."))
    if not text.take("]"):
        yield number + 1, _cut_problem()


class _SkippedElement(RowProblem):
    """It has no end of its own; the window stands at the next element."""


def _element(text: _Text, mark: str = "") -> Any:
    """The next value, or the RowProblem that it is; the window stands behind it."""
    first, size = text.peek(), BLOCK
    while True:
        end = _end_of_element(text.buffer, text.at, first)
        if end is not None and (end < len(text.buffer) or text.ended):
            break
        too_long = len(text.buffer) - text.at > LONGEST_ELEMENT
        if too_long or not text.grow(size):
            if mark and text.buffer.find(mark, text.at + 1) >= 0:
                text.skip_to(mark)
                return _SkippedElement("unreadable", str(NOT_JSON))
            text.drop()
            text_ = _("This entry is longer than 16 MB, so the rest is not read.")
            return RowProblem("too_long", text_) if too_long else _cut_problem()
        size *= 2
    value = parse_element(text.buffer[text.at : end])
    if mark and isinstance(value, RowProblem) and 0 <= text.buffer.find(mark, text.at + 1) < end:
        text.skip_to(mark)  # a brace is missing, and those of later elements closed this one
        return _SkippedElement(value.code, value.message)
    text.at = end
    return value


def _end_of_element(buffer: str, at: int, first: str) -> int | None:
    if first not in '{["':
        match = PLAIN.match(buffer, at)
        return match.end() if match else None
    depth = 0
    for token in TOKEN.finditer(buffer, at):
        letter = token.group()[0]
        if letter == '"':
            if token.end() - token.start() < 2:
                return None  # the text goes on behind the window
            if depth == 0:
                return token.end()
        elif letter in "{[":
            depth += 1
        elif letter in "}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def parse_element(raw: str) -> Any:
    """A value, or the RowProblem that it is."""
    if FOREIGN.search(raw):
        return RowProblem("encoding", _("This row has bytes that are not UTF-8. Export the file again as UTF-8."))
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return RowProblem("unreadable", str(NOT_JSON))
    return RowProblem("too_deep", _("This row is nested too deeply.")) if _depth(value) > DEEPEST else value


def _depth(value: Any) -> int:
    """Without recursion: levels of lists and objects."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        depth += 1
        inner = [one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)]
        level = [child for children in inner for child in children if isinstance(child, dict | list)]
    return depth


def _cut_problem() -> RowProblem:
    return RowProblem("cut", _("The file ends within this row. Export it again; what comes before is imported."))
