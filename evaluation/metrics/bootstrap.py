"""The four sums of alpha (see ``deletions.py``) for resamples of units or raters, as products with a matrix of weights.

A resample is a row of weights: how often each unit, or rater, was drawn. A unit drawn twice counts twice. A rater
drawn twice counts twice but is never paired with itself, which would count as perfect agreement.
Memory is bounded: resamples are worked off in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import CountTable, Floats, Ints, Ratings, count_table
from evaluation.metrics.deletions import Sums
from evaluation.metrics.distances import distance_sums
from evaluation.metrics.ordinal_distance import expected_sum, mid_ranks

Level = Literal["nominal", "ordinal", "interval", "ratio"]
_BLOCK_NUMBERS = 4_000_000
_FEW_CODES = 16  # up to here a unit's products of counts are kept: one matrix product gives all ordinal resamples


def bootstrap_sums(
    level: Level,
    ratings: Ratings,
    weights: tuple[npt.ArrayLike | None, npt.ArrayLike | None],
    drawn: Floats,
    side: Literal["units", "raters"],
) -> Sums:
    """Sums of each of the B resamples; ``drawn`` (B, n_units or n_raters) is multiplied by the weights given."""
    table = count_table(ratings, *weights)
    if side == "units":
        blocks = [_units(level, table, part[:, table.units]) for part in _parts(drawn, table.n_units + table.n_codes)]
    else:
        cells = _Cells(table)
        # the table's own weights are replaced by drawn x given
        rater_weights = np.zeros(table.n_raters)
        rater_weights[table.rater] = table.weight
        width = 3 * cells.code.size + 3 * table.n_units + table.n_codes
        blocks = [
            _raters(level, table, cells, (part[:, table.raters] * rater_weights).T) for part in _parts(drawn, width)
        ]
    return Sums(
        np.concatenate([block.observed for block in blocks]),
        np.concatenate([block.expected for block in blocks]),
        np.concatenate([block.total for block in blocks]),
        np.concatenate([block.self_pairs for block in blocks]),
    )


def _parts(drawn: Floats, width: int) -> Iterator[Floats]:
    rows = max(1, _BLOCK_NUMBERS // max(width, 1))
    return (drawn[first : first + rows] for first in range(0, drawn.shape[0], rows))


def _units(level: Level, table: CountTable, drawn: Floats) -> Sums:
    """drawn (B, U)."""
    total = drawn @ (table.unit_weight * table.mass)
    self_pairs = drawn @ (table.unit_weight * table.squares)
    if level == "interval":
        x = _centred(table)[table.code]
        first, second = (table.unit_weight * table.by_unit(table.weight * x**k) for k in (1, 2))
        expected = 2 * (total * (drawn @ second) - (drawn @ first) ** 2)
    else:
        few = table.n_codes <= _FEW_CODES
        counts = table.counts.toarray() if few else table.counts
        marginals = np.asarray((drawn * table.unit_weight) @ counts)  # (B, C)
        expected = _expected_sums(level, table.codes, marginals, total)
    if level == "ordinal" and table.n_codes <= _FEW_CODES:
        ranks, weights = mid_ranks(marginals), drawn * table.factor
        squares = np.einsum("bc,bc->b", weights @ (table.mass[:, None] * counts), ranks**2)
        products = np.einsum("uc,uk->uck", counts, counts).reshape(table.n_units, -1)
        coupled = (weights @ products).reshape(-1, table.n_codes, table.n_codes)
        observed = 2 * (squares - np.einsum("bck,bc,bk->b", coupled, ranks, ranks))
    elif level == "ordinal":
        ranks = mid_ranks(marginals)
        first, second = table.counts @ ranks.T, table.counts @ (ranks**2).T  # (U, B)
        within = 2 * (table.mass[:, None] * second - first**2)
        observed = np.einsum("bu,ub->b", drawn * table.factor, within)
    else:
        near = distance_sums(level, table.codes, table.code, table.unit, table.weight, table.n_units)
        observed = drawn @ (table.factor * table.by_unit(table.weight * near))
    return Sums(np.maximum(observed, 0), expected, total, self_pairs)


def _centred(table: CountTable) -> Floats:
    return np.asarray(table.codes - np.average(table.codes, weights=table.marginals))


def _expected_sums(level: Level, codes: Floats, marginals: Floats, total: Floats) -> Floats:
    """Expected sums for (B, C) marginals; the interval level has its own moments."""
    if level == "nominal":
        return np.asarray(total**2 - np.sum(marginals**2, axis=1))
    if level == "ordinal":
        return expected_sum(marginals)
    every: Ints = np.arange(codes.size)
    one_group = np.zeros_like(every)
    return np.array([row @ distance_sums("ratio", codes, every, one_group, row, 1) for row in marginals])


class _Cells:
    """The distinct (unit, code) pairs that occur, and the matrices that sum over them."""

    def __init__(self, table: CountTable) -> None:
        key, cell = np.unique(table.unit * table.n_codes + table.code, return_inverse=True)
        self.unit, self.code = key // table.n_codes, key % table.n_codes
        count, ones = key.size, np.ones(table.unit.size)
        self.raters = scipy.sparse.csr_matrix((ones, (cell, table.rater)), shape=(count, table.n_raters))
        self.of_unit = scipy.sparse.csr_matrix(
            (np.ones(count), (self.unit, np.arange(count))), shape=(table.n_units, count)
        )
        self.of_code = scipy.sparse.csr_matrix(
            (np.ones(count), (self.code, np.arange(count))), shape=(table.n_codes, count)
        )
        self.rated = scipy.sparse.csr_matrix((ones, (table.unit, table.rater)), shape=(table.n_units, table.n_raters))


def _raters(level: Level, table: CountTable, cells: _Cells, weight: Floats) -> Sums:
    """weight (R, B)."""
    pairable = cells.rated @ (weight > 0).astype(np.float64) >= 2  # (U, B)
    mass = np.where(pairable, np.asarray(cells.rated @ weight), 0)
    squares = np.where(pairable, np.asarray(cells.rated @ weight**2), 0)
    factor = np.where(pairable, table.unit_weight[:, None] * mass / np.where(pairable, mass**2 - squares, 1), 0)
    count = np.asarray(cells.raters @ weight)  # (cells, B)
    marginals = cells.of_code @ (count * (pairable * table.unit_weight[:, None])[cells.unit])  # (C, B)
    total, self_pairs = table.unit_weight @ mass, table.unit_weight @ squares
    if level == "nominal":
        within = mass**2 - cells.of_unit @ count**2
    elif level == "ratio":
        within = _ratio_within(table, cells, count)
    else:
        x = mid_ranks(marginals.T).T[cells.code] if level == "ordinal" else _centred(table)[cells.code, None]
        within = 2 * (mass * (cells.of_unit @ (count * x**2)) - (cells.of_unit @ (count * x)) ** 2)
    if level == "interval":
        codes = _centred(table)
        expected = 2 * (total * (codes**2 @ marginals) - (codes @ marginals) ** 2)
    else:
        expected = _expected_sums(level, table.codes, marginals.T, total)
    return Sums(np.maximum(np.sum(factor * within, axis=0), 0), expected, total, self_pairs)


def _ratio_within(table: CountTable, cells: _Cells, count: Floats) -> Floats:
    columns = [
        cells.of_unit @ (column * distance_sums("ratio", table.codes, cells.code, cells.unit, column, table.n_units))
        for column in count.T
    ]
    return np.stack(columns, axis=1)
