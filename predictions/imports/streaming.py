"""Large JSON, a value at a time: the elements of an array at the top, or of arrays under names of an object there."""

import codecs
import json
from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

from django.utils.translation import gettext as _

from benchmarks.imports.problems import SourceProblem

CHUNK = 256 * 1024
LONGEST_VALUE = 16 * 1024**2
BLANK = " \t\r\n"
_DECODER = json.JSONDecoder()


class RepeatedKey(Exception):
    """An object has a key twice, so that one of its values would be lost."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in pairs:
        if key in values:
            raise RepeatedKey(key)
        values[key] = value
    return values


_STRICT = json.JSONDecoder(object_pairs_hook=_refuse_repeats)


class _Text:
    """Text that is read as far as it is needed."""

    def __init__(self, file: BinaryIO, json_decoder: json.JSONDecoder) -> None:
        self._file, self._json = file, json_decoder
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._held, self._at, self._ended = "", 0, False

    def _more(self, size: int = CHUNK) -> bool:
        if self._ended:
            return False
        data = self._file.read(size)
        self._ended = not data
        try:
            text = self._decoder.decode(data, final=self._ended)
        except UnicodeDecodeError as error:
            raise SourceProblem(_("This file is not in UTF-8. Save it as UTF-8.")) from error
        self._held, self._at = self._held[self._at :] + text, 0
        return not self._ended or bool(text)

    def peek(self) -> str:
        """The next letter that is not blank; empty at the end."""
        while True:
            while self._at < len(self._held):
                if self._held[self._at] not in BLANK:
                    return self._held[self._at]
                self._at += 1
            if not self._more():
                return ""

    def take(self, wanted: str) -> bool:
        if self.peek() != wanted:
            return False
        self._at += 1
        return True

    def value(self) -> Any:
        """The next whole value."""
        self.peek()
        size = CHUNK
        while True:
            try:
                value, end = self._json.raw_decode(self._held, self._at)
            except (ValueError, RecursionError):
                end = len(self._held)
            if end < len(self._held):  # a value is always followed by something, so a number is whole
                self._at = end
                return value
            if len(self._held) - self._at > LONGEST_VALUE or not self._more(size):
                raise _not_json()
            size *= 2  # so that a long value is not read again and again


def elements(file: BinaryIO, names: Collection[str] = (), *, strict: bool = False) -> Iterator[tuple[str, Any]]:
    """Each element of the array at the top, under ""; or, of an object, each element of the arrays called so, under
    their name, and every other value whole, under its own. Raises SourceProblem for what is no JSON, and with `strict`
    RepeatedKey for a value in which an object has a key twice."""
    text = _Text(file, _STRICT if strict else _DECODER)
    if text.take("["):
        yield from (("", one) for one in _array(text))
        return
    if not text.take("{"):
        raise _not_json()
    while not text.take("}"):
        name = text.value()
        if not isinstance(name, str) or not text.take(":"):
            raise _not_json()
        if name in names and text.take("["):
            yield from ((name, one) for one in _array(text))
        else:
            yield name, text.value()
        if text.peek() != "}" and not text.take(","):
            raise _not_json()


def _array(text: _Text) -> Iterator[Any]:
    while not text.take("]"):
        yield text.value()
        if text.peek() != "]" and not text.take(","):
            raise _not_json()


def _not_json() -> SourceProblem:
    return SourceProblem(_("This file is not whole JSON. Look whether it was cut off, and send it again."))
