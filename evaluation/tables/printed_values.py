"""What a paper prints, transcribed cell by cell: to be compared with, never to be computed from.

A folder has one file for each table, facts only, and `sources.csv`, which says of each file where the paper prints it.
Values outside the tables of a paper stand in `values_in_text.csv`, each with its source. A model has one spelling
throughout ("BLIP-2", "FLAVA", "XLM-R-B/16plus").
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.rendering.report import PrintedValue, Words


@dataclass(frozen=True)
class PrintedFolder:
    """The printed values of one paper."""

    folder: Path

    def rows(self, table: str) -> tuple[Mapping[str, str], ...]:
        """The rows of a file, such as "table_13"."""
        return _rows(self.folder / f"{table}.csv")

    def value(self, table: str, column: str, known: Words = "", **where: str) -> PrintedValue | None:
        """What stands in this column of the first row that fits; None where the paper has no such cell.

        `known`: why another number is right, where that is known.
        """
        fitting = (one for one in self.rows(table) if all(one.get(name) == value for name, value in where.items()))
        text = next(fitting, {}).get(column) or ""
        return PrintedValue(text, known) if text else None

    def in_text(self, quantity: str, of: str = "", known: Words = "") -> PrintedValue | None:
        """A value that the paper prints in its text: of a country, a facet, a model; empty: of all."""
        return self.value("values_in_text", "value", known, quantity=quantity, of=of)


@cache
def _rows(file: Path) -> tuple[Mapping[str, str], ...]:
    with file.open(encoding="utf-8", newline="") as opened:
        return tuple(csv.DictReader(opened))
