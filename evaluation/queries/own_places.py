"""Of all cohorts together, where each is asked about its own culture only: a person's place at a unit of another cohort
is not missing, since nobody asked for it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evaluation.queries.ratings import RatingTables
from evaluation.selections.catalogue import POOLED

Size = tuple[int, int]  # units, raters


def without_other_cultures(read: RatingTables) -> RatingTables:
    """The same tables; of the pooled ones it is known how many places nobody asked for. Cohorts share no unit."""
    hidden = dict(read.hidden)
    for pooled, table in read.cells.items():
        if pooled[0] != POOLED:
            continue
        parts = [part for cell, part in read.cells.items() if cell[0] != POOLED and cell[1] == pooled[1]]
        compared = _compared(table)
        hidden[pooled] = replace(
            hidden[pooled],
            n_others=_others((table.n_units, table.n_raters), [(part.n_units, part.n_raters) for part in parts]),
            n_compared=hidden[pooled].n_compared + _others(compared, [_compared(part) for part in parts]),
            compared=compared,
        )
    return RatingTables(read.cells, read.raters, hidden)


def _compared(table: Any) -> Size:
    """Of the units that two have rated."""
    unit, rater = np.asarray(table.unit, np.int64), np.asarray(table.rater, np.int64)
    used = np.bincount(unit, minlength=1)[unit] > 1
    return int(np.unique(unit[used]).size), int(np.unique(rater[used]).size)


def _others(whole: Size, parts: Sequence[Size]) -> int:
    """Places of the whole that are in none of its parts."""
    places = sum(units * raters for units, raters in parts)
    return max(0, whole[0] * whole[1] - places)
