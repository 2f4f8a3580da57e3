"""Names of rows, columns and panels: wrapped into the lines there is room for, then cut in the middle, and always so
that two different names of one drawing stay different."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evaluation.figures.drawing.scene import Text
from evaluation.figures.drawing.text import clean, shorten, width_of

LEADING = 1.15  # from line to line, in units of the size


@dataclass(frozen=True)
class Name:
    """`full` is the whole name where `lines` had to be cut, else empty."""

    lines: tuple[str, ...]
    full: str = ""


def distinct_names(names: Sequence[str], size: float, room: float, *, most: int = 2, bold: bool = False) -> list[Name]:
    """Each in at most `most` lines, none wider than `room`. Cut names keep both ends; where that makes two of them
    alike, more of the end is kept, then more of the beginning; then what all begin with is left out, and at last they
    are numbered."""
    whole = [clean(name) for name in names]
    for tail in (0.5, 0.7, 0.85, 0.3, 0.15):
        labels = [_fit_name(name, size, room, most, bold, tail) for name in whole]
        if len({name.lines for name in labels}) == len(set(whole)):
            return labels
    shared = _shared_start(whole)
    labels = [_fit_name("…" + name[shared:] if shared else name, size, room, most, bold, 0.5) for name in whole]
    if len({name.lines for name in labels}) < len(set(whole)):
        labels = [_fit_name(f"{n}: {name}", size, room, most, bold, 0.5) for n, name in enumerate(whole, start=1)]
    return [Name(name.lines, full) for name, full in zip(labels, whole, strict=True)]


def _fit_name(whole: str, size: float, room: float, most: int, bold: bool, tail: float) -> Name:
    wrapped = _wrap_words(whole, size, room, bold)
    if len(wrapped) <= most and all(width_of(line, size, bold=bold) <= room for line in wrapped):
        return Name(tuple(wrapped))
    # Lines break at words, which leaves room empty: the more is cut, until what is left fits.
    for share in (1.0, 0.92, 0.84, 0.76, 0.68):
        shown, _full = shorten(whole, size, room * most * share, bold=bold, tail=tail)
        lines = _wrap_words(shown, size, room, bold)
        if len(lines) <= most and all(width_of(line, size, bold=bold) <= room for line in lines):
            return Name(tuple(lines), whole if shown != whole else "")
    return Name((shorten(whole, size, room, bold=bold, tail=tail)[0],), whole)


def _shared_start(names: Sequence[str]) -> int:
    """How many characters all begin with, up to the beginning of a word."""
    if len(set(names)) < 2:
        return 0
    first, last = min(names), max(names)  # what these two share, all between them share too
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return max(first[:same].rfind(sign) + 1 for sign in " -/_")


def _wrap_words(words: str, size: float, room: float, bold: bool) -> list[str]:
    """Broken between words, and after hyphens, slashes and underscores."""
    lines: list[str] = []
    for part in re.findall(r"[^\s\-/_]*(?:[\-/_]+|\s+|$)", words):
        if lines and part and width_of((lines[-1] + part).rstrip(), size, bold=bold) <= room:
            lines[-1] += part
        elif part.strip():
            lines.append(part)
    return [line.rstrip() for line in lines] or [""]


def widest_line(names: Sequence[Name], size: float, *, bold: bool = False) -> float:
    return max((width_of(line, size, bold=bold) for name in names for line in name.lines), default=0.0)


def name_texts(
    name: Name, x: float, y: float, *, anchor: str = "start", size: float = 13, bold: bool = False
) -> list[Text]:
    """Its lines with `y` as the middle of all of them."""
    step = size * LEADING
    first = y + size * 0.35 - step * (len(name.lines) - 1) / 2
    shown = size if size != 13 else 0
    return [
        Text(round(x, 1), round(first + place * step, 1), line, anchor, name.full, "", 0, shown, bold)
        for place, line in enumerate(name.lines)
    ]
