"""How wide a text will be, cut to its room, and cleaned of what must not reach a drawing.

No font is asked: the drawing is read with the reader's own. Widths are those of a wide one (DejaVu Sans), so that
with any other a label takes less room, never more.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

ELLIPSIS = "…"
# Marks that turn the direction of what follows, and characters that XML does not have.
_UNWANTED = re.compile(
    "[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\ufeff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
)
_NARROW, _SLIM, _BROAD = frozenset("ijlI.,:;'|!` "), frozenset('ftr()[]{}-"/\\·'), frozenset("mwMWOQ@%&—…+=<>#~")


def clean(words: str) -> str:
    """One line without control characters and without marks of direction."""
    return " ".join(_UNWANTED.sub("", str(words)).split())


def isolate_direction(words: str) -> str:
    """For a name inside a sentence: whatever its direction, the sentence keeps its own."""
    return f"\u2068{clean(words)}\u2069"


@lru_cache(maxsize=4096)
def _em(letter: str) -> float:
    """Width of one character in units of the font's size."""
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.3 if letter >= "\U0001f000" else 1.02
    if letter in _NARROW:
        return 0.34
    if letter in _SLIM:
        return 0.46
    if letter in _BROAD:
        return 1.0
    if letter.isupper():
        return 0.76
    if "\u1200" <= letter <= "\u139f":  # Ethiopic
        return 0.9
    if "\u0600" <= letter <= "\u08ff" or "\u0900" <= letter <= "\u0dff":
        return 0.72
    return 0.64


def width_of(words: str, size: float, *, bold: bool = False) -> float:
    """At most this many pixels wide."""
    return sum(map(_em, words)) * size * (1.1 if bold else 1.0)


def shorten(words: str, size: float, room: float, *, bold: bool = False, tail: float = 0.5) -> tuple[str, str]:
    """(what is shown, the whole text or "" where nothing was cut). What is left out is in the middle: names differ at
    their ends as often as at their beginnings. `tail` is the end's share of the room; letters keep their marks.

    >>> shorten("Egypt", 10, 100)
    ('Egypt', '')
    >>> shorten("a very long name of a model", 10, 90)
    ('a very l…model', 'a very long name of a model')
    """
    whole = clean(words)
    if width_of(whole, size, bold=bold) <= room:
        return whole, ""
    left = room - width_of(ELLIPSIS, size, bold=bold)
    end = _fitting_letters(_clusters(whole)[::-1], size, left * tail, bold)[::-1]
    rest = left - width_of("".join(end), size, bold=bold)
    start = _fitting_letters(_clusters(whole), size, rest, bold)
    shown = "".join(start).rstrip() + ELLIPSIS + "".join(end).lstrip()
    # After a right-to-left letter dots at the end must follow it leftwards.
    mark = "\u200f" if not end and start and unicodedata.bidirectional(start[-1][0]) in ("R", "AL") else ""
    return shown + mark, whole


def _clusters(words: str) -> list[str]:
    """Letters with the marks that belong to them."""
    letters: list[str] = []
    for letter in words:
        if letters and unicodedata.category(letter) in ("Mn", "Mc", "Me", "Cf"):
            letters[-1] += letter
        else:
            letters.append(letter)
    return letters


def _fitting_letters(letters: list[str], size: float, room: float, bold: bool) -> list[str]:
    """The first of them that fit."""
    for place, letter in enumerate(letters):
        room -= width_of(letter, size, bold=bold)
        if room < 0:
            return letters[:place]
    return letters


def fitted_width(words: list[str], size: float, least: float, most: float, *, bold: bool = False) -> float:
    """Room for the widest of these texts, between `least` and `most`."""
    return min(max([least, *(width_of(clean(word), size, bold=bold) + 1 for word in words)]), most)
