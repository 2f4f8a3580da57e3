"""JSON files of any size, one element at a time: a damaged element is a problem of its row, and the rest is read."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem, SourceProblem

BLOCK = 1024 * 1024
LONGEST_ELEMENT = 16 * 1024 * 1024
DEEPEST = 60
SPACE = re.compile(r"[ \t\r\n]*")
TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|["{}\[\]]', re.DOTALL)
PLAIN = re.compile(r"[^,\]}\s]*")
FOREIGN = re.compile("[\ud800-\udfff\ufffd]")
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


def read_json_members(file: BinaryIO) -> Iterator[tuple[str, int, Any]]:
    """The members of a file that is one object: each element of a list, and other values whole with number 0."""
    text = _Text(file)
    if not text.take("{"):
        raise SourceProblem(_("The file is not an object in JSON."))
    while text.peek() == '"':
        name = _element(text)
        if isinstance(name, RowProblem) or not text.take(":"):
            raise SourceProblem(_("The JSON is damaged. Export the file again."))
        if text.take("["):
            for number, value in _elements(text):
                yield name, number, value
        else:
            yield name, 0, _element(text)
        if not text.take(","):
            break


def _elements(text: _Text) -> Iterator[NumberedValue]:
    """Up to the closing bracket, which is taken. A file that ends before it has a last element that is a problem."""
    number = 0
    while text.peek() not in ("]", ""):
        number += 1
        value = _element(text)
        yield number, value
        if not text.take(",") and text.peek() not in ("]", ""):
            yield number + 1, RowProblem("unreadable", _("The list is damaged from here on. Export the file again."))
            text.at, text.ended, text.buffer = 0, True, ""
            return
    if not text.take("]"):
        yield number + 1, _cut_problem()


def _element(text: _Text) -> Any:
    """The next value, or the RowProblem that it is; the window stands behind it."""
    first, size = text.peek(), BLOCK
    while True:
        end = _end_of_element(text.buffer, text.at, first)
        if end is not None and (end < len(text.buffer) or text.ended):
            break
        if len(text.buffer) - text.at > LONGEST_ELEMENT:
            text.at, text.ended, text.buffer = 0, True, ""
            return RowProblem("too_long", _("This entry is longer than 16 MB, so the rest is not read."))
        if not text.grow(size):
            text.at = len(text.buffer)
            return _cut_problem()
        size *= 2
    raw, text.at = text.buffer[text.at : end], end
    return parse_element(raw)


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
        return RowProblem("unreadable", _("This row is not JSON. Look for a missing brace or quotation mark."))
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
