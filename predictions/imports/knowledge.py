"""One row of a knowledge base's file: an entry with its names, its texts and the files of its pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.archive import check_path, normalise_path
from benchmarks.imports.problems import RowProblem

LONGEST = {"key": 200, "lemma": 300, "title": 300, "language": 12, "image": 300}
MOST_LEMMAS, MOST_IMAGES = 100, 1000


@dataclass(frozen=True)
class KnowledgeRow:
    """An entry as the file has it. `images`: paths inside the folder or the zip, each once."""

    key: str
    lemmas: tuple[str, ...]
    gloss: str
    title: str
    text: str
    language: str
    images: tuple[str, ...]


def read(row: Mapping[str, Any]) -> KnowledgeRow:
    """Raises RowProblem. `lemmas` and `images`: lists, or texts with | between; without a lemma, the title."""
    key = _text(row, "id") or _text(row, "key")
    if not key:
        raise RowProblem("no_key", _("The entry has no id. Give each one its own."))
    title = _text(row, "title")
    lemmas = _list(row, "lemmas") or _list(row, "lemma") or ([title] if title else [])
    if not lemmas:
        raise RowProblem("no_lemma", _("The entry has no name. Give it a lemma or a title."))
    images = [_path(name) for name in _list(row, "images")]
    if len(lemmas) > MOST_LEMMAS or len(images) > MOST_IMAGES:
        text = _("At most %(lemmas)s names and %(images)s pictures belong to an entry. Split it.")
        raise RowProblem("too_many", text % {"lemmas": MOST_LEMMAS, "images": MOST_IMAGES})
    thing = KnowledgeRow(
        key, tuple(dict.fromkeys(lemmas)), _text(row, "gloss"), title, _text(row, "text"), _text(row, "language"),
        tuple(dict.fromkeys(images)),
    )  # fmt: skip
    _check_lengths(thing)
    return thing


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value).strip().replace("\x00", "")
    raise RowProblem("not_text", _("“%(name)s” is not a text.") % {"name": name})


def _list(row: Mapping[str, Any], name: str) -> list[str]:
    value = row.get(name)
    if value is None:
        return []
    parts = value.split("|") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise RowProblem("not_list", _("“%(name)s” is not a list of texts.") % {"name": name})
    return [part.strip().replace("\x00", "") for part in parts if part.strip()]


def _path(name: str) -> str:
    path = normalise_path(name)
    check_path(path)
    return path


def _check_lengths(thing: KnowledgeRow) -> None:
    parts = [("key", thing.key), ("title", thing.title), ("language", thing.language)]
    parts += [("lemma", lemma) for lemma in thing.lemmas] + [("image", image) for image in thing.images]
    for name, value in parts:
        if len(value) > LONGEST[name]:
            text = _("“%(start)s…” has %(n)s characters; at most %(most)s fit as %(name)s.")
            raise RowProblem(
                "too_long", text % {"start": value[:30], "n": len(value), "most": LONGEST[name], "name": name}
            )
