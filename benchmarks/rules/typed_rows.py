"""Rows that somebody types: one item a line, its columns separated by a tab or |. Pure."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from benchmarks.rules.crossing import key_part


class TypedLine(NamedTuple):
    number: int
    parts: tuple[str, ...]


def typed_lines(text: str, several: bool) -> list[TypedLine]:
    """The lines that say something, by their number. A line of one column is taken as it is.

    >>> typed_lines("hope | Brazil\\n\\nluck | Egypt", several=True)
    [TypedLine(number=1, parts=('hope', 'Brazil')), TypedLine(number=3, parts=('luck', 'Egypt'))]
    """
    lines = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            parts = line.split("\t" if "\t" in line else "|") if several else [line]
            lines.append(TypedLine(number, tuple(" ".join(part.split()) for part in parts)))
    return lines


def key_of(row: Mapping[str, str], named_by: Sequence[str]) -> str:
    """Made of the texts that name the item, so that typing them again adds nothing.

    >>> key_of({"text": "A new broom", "country": "Brazil"}, ["text"])
    'a-new-broom'
    """
    return "/".join(key_part(row[name]) for name in named_by if row[name])
