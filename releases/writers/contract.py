"""What a writer of another tool's files is given, and what it gives. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.utils.functional import Promise

from annotation.fields.contract import Option
from annotation.sheets.sheet import Field, Sheet

File = tuple[str, Iterable[bytes]]
Task = tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]
"""A row of an item, and the rows of its answers."""
Row = Mapping[str, Any]


class TaskSource(Protocol):
    """Items with their answers, as often as they are asked for, and who answered, in a fixed order. `emails`: the
    accounts that raters have in the tool, as far as somebody said so."""

    sheet: Sheet
    raters: Sequence[str]
    emails: Mapping[str, str]

    def tasks(self) -> Iterator[Task]: ...


@dataclass(frozen=True)
class ToolWriter:
    """`tried`: whether these files were imported into the tool itself. `losses`: what does not go along. `takes`:
    whether the files have a place for the answers to a question."""

    key: str
    name: str
    losses: Promise | str
    tried: bool
    write: Any
    note: Promise | str = ""
    takes: Callable[[Field], bool] = lambda _field: True


def options_of(field: Field) -> Sequence[Option]:
    """The options or points that a field has for every item; empty for words and boxes."""
    config = field.config
    return tuple(getattr(config, "options", ())) or tuple(getattr(config, "points", ()))


def takes_boxes(field: Field) -> bool:
    return field.spec.level(field.config) == "box"


def takes_text(field: Field) -> bool:
    return field.spec.level(field.config) == "text"


def boxes_of(answer: Any) -> list[Mapping[str, Any]]:
    """The boxes of an answer; none of one to an older version of the question, which asked for something else."""
    boxes = answer if isinstance(answer, list) else []
    return [box for box in boxes if isinstance(box, Mapping) and "x0" in box]


def whole_number(answer: Any) -> int | None:
    """A code as a number; None of a code of an older version of the question that is none."""
    text = str(answer)
    return int(text) if text.isascii() and text.isdecimal() else None


def file_names(raters: Sequence[str]) -> dict[str, str]:
    """A name for a file of each rater, the same in each export of the same raters. No two are one on any system."""
    names: dict[str, str] = {}
    used: set[str] = set()
    for rater in raters:
        plain = name = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in rater)[:100]
        number = 1
        while name.casefold() in used:
            number += 1
            name = f"{plain}-{number}"
        used.add(name.casefold())
        names[rater] = name
    return names


def picture_of(item: Row) -> Mapping[str, Any] | None:
    """The first picture of an item."""
    pictures = item["pictures"]
    return pictures[0] if pictures else None


def picture_path(item: Row) -> str:
    """The path of its picture as it was imported; else a name that its checksum makes."""
    picture = picture_of(item)
    if picture is None:
        return ""
    return str(picture["file"] or f"{picture['sha256']}.{picture['format']}")


def size_of(item: Row) -> tuple[int, int] | None:
    picture = picture_of(item)
    return (int(picture["width"]), int(picture["height"])) if picture else None
