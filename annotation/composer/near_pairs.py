"""The pairs that a stage of pairs is bound to: rows of a form, or lines where they are many."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from annotation.fields.settings import Setting

MOST_ROWS = 50
"""More pairs than these are written as lines: a form of several hundred rows is of no use to anybody."""


def near_setting(near: Any, items: Sequence[tuple[str, str]]) -> Setting:
    """`items`: keys of the items that may be paired, in words; empty where they are too many to choose from."""
    title = _("Only these pairs")
    if isinstance(near, list) and len(near) > MOST_ROWS:
        note = _("One in each line: the keys of two items, and a similarity if known, separated by | or a tab.")
        return Setting("near", "lines", title, note, optional=True)
    row = (
        _side("a", _("First item"), items),
        _side("b", _("Second item"), items),
        Setting("similarity", "number", _("Similarity, if known"), optional=True),
    )
    return Setting("near", "rows", title, _("None: all pairs that fit."), row=row, add=_("Add a pair"))


def _side(key: str, label: str, items: Sequence[tuple[str, str]]) -> Setting:
    if not items:
        return Setting(key, "line", label, _("The key of an item."), short=True)
    return Setting(key, "select", label, choices=[("", _("Choose an item")), *items], start="")


def near_for_form(near: Any) -> list[Any]:
    """As the form shows them. What cannot be read as a pair is shown as it was typed."""
    rows = near if isinstance(near, list) else []
    return [_line(row) for row in rows] if len(rows) > MOST_ROWS else [_form_row(row) for row in rows]


def _line(row: Any) -> str:
    if isinstance(row, Mapping):
        row = [row.get("a", ""), row.get("b", "")]
    return " | ".join(map(str, row)) if isinstance(row, list) else str(row)


def _form_row(row: Any) -> dict[str, Any]:
    if isinstance(row, Mapping):
        return dict(row)
    parts = row if isinstance(row, list) else [row]
    return dict(zip(("a", "b", "similarity"), parts, strict=False))


def near_rows(rows: Iterable[Any]) -> list[Any]:
    """The pairs of the form's rows or lines. What names no pair stays as it is, for the check."""
    return [_typed_line(row) if isinstance(row, str) else _pair(row) for row in rows]


def _pair(row: Any) -> Any:
    if not isinstance(row, Mapping):
        return row
    keys = [str(row.get("a") or ""), str(row.get("b") or "")]
    return keys if row.get("similarity") in (None, "") else [*keys, row["similarity"]]


def _typed_line(line: str) -> Any:
    parts = [part.strip() for part in line.split("\t" if "\t" in line else "|")]
    if len(parts) not in (2, 3) or not all(parts):
        return line
    if len(parts) == 2:
        return parts
    try:
        similarity = float(parts[2].replace(",", "."))
    except ValueError:
        return line
    return [parts[0], parts[1], similarity] if math.isfinite(similarity) else line
