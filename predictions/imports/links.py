"""What a row of a file of links says: the entries that an item was linked to elsewhere, the best first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from benchmarks.imports.problems import RowProblem
from predictions.imports.collections import LONGEST_KEY, from_json, parse_required_text
from predictions.imports.results import number, sort_by_score

MOST_ENTRIES = 200


@dataclass(frozen=True)
class ImportedLink:
    """`keys` is empty where nothing was found for the item."""

    item: str
    keys: tuple[str, ...]
    scores: tuple[float, ...]


def read(row: Mapping[str, Any]) -> ImportedLink:
    """Of a clean row. Without scores the entries keep the order of the file. Raises RowProblem."""
    item = parse_required_text(row, "item", LONGEST_KEY)
    entries = from_json(row, "entries", list) or []
    keys = [parse_required_text({"entries": key}, "entries", LONGEST_KEY) for key in entries]
    if len(keys) > MOST_ENTRIES:
        raise RowProblem("too_many", _("At most %(most)s entries are kept. Keep the best.") % {"most": MOST_ENTRIES})
    if row.get("scores") in (None, "", []):
        return ImportedLink(item, tuple(_without_repeats(keys)), (1.0,) * len(keys))
    scores = [number(value) for value in from_json(row, "scores", list) or []]
    if len(scores) != len(keys):
        text = _("“entries” (%(entries)s) and “scores” (%(scores)s) must be lists of one length.")
        raise RowProblem("lengths", text % {"entries": len(keys), "scores": len(scores)})
    sorted_keys, sorted_scores = sort_by_score(keys, scores)
    return ImportedLink(item, tuple(sorted_keys), tuple(sorted_scores))


def _without_repeats(keys: list[str]) -> list[str]:
    """Raises RowProblem."""
    for place, key in enumerate(keys):
        if key in keys[:place]:
            raise RowProblem("twice", _("“%(key)s” is there twice.") % {"key": key})
    return keys
