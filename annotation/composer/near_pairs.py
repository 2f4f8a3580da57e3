"""The pairs that a stage of pairs is bound to, as lines of a form: `key | key | similarity`."""

import math
from collections.abc import Iterable
from typing import Any


def near_lines(near: Any) -> list[str]:
    """One line for each pair. What cannot be read as one is shown as it was typed."""
    rows = near if isinstance(near, list) else []
    return [" | ".join(map(str, row)) if isinstance(row, list) else str(row) for row in rows]


def near_rows(lines: Iterable[Any]) -> list[Any]:
    """The pairs of the lines, separated by a tab or by |. A line that names no pair stays as it is, for the check."""
    return [_row(line) if isinstance(line, str) else line for line in lines]


def _row(line: str) -> Any:
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
