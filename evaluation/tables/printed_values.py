"""What the papers print, transcribed cell by cell: to be compared with, never to be computed from.

One file for each table, facts only. A model has one spelling throughout ("BLIP-2", "FLAVA", "XLM-R-B/16plus").
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from evaluation.tables.spec import PrintedValue, Words

FOLDER = Path(__file__).parent / "published"


@cache
def rows(table: str) -> tuple[Mapping[str, str], ...]:
    """The rows of a file, such as "xcm_table_13"."""
    with (FOLDER / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def printed(table: str, column: str, known: Words = "", **where: str) -> PrintedValue | None:
    """What stands in this column of the first row that fits; None where the paper has no such cell."""
    row = next((one for one in rows(table) if all(one.get(name) == value for name, value in where.items())), None)
    text = (row or {}).get(column) or ""
    return PrintedValue(text, known) if text else None
