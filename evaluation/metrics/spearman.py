"""Spearman's rho of every pair of raters: Pearson's r of the mid-ranks among the units both rated (ranked anew for
each pair).

A pair's rho depends only on its table F of counts (codes of one x codes of the other), and so does rho without one
unit, which lowers one cell by 1. With few codes the tables of all pairs come from one matrix product; with many, pair
by pair.

With x_a = (units below a) + (units at a) / 2 and n units:
    rho = (sum F x y - n^3 / 4) / sqrt(Vx Vy),   V = (n^3 - sum of cubed tie sizes) / 12
Without a unit of cell (a, b) the ranks x fall by s_a, 1 above a and 1/2 at a (likewise y by t_b), so that
    sum F' x' y' = sum F x y - sum s_a F y - sum t_b F x + sum F s_a t_b - (x_a - 1/2) (y_b - 1/2).
All of this is exact in whole numbers and halves. In a pair with more than EXACT_CODES distinct codes the fourth term,
of order 1 / n of the change, is taken as (sum s_a) (sum t_b) / n.
Undefined (NaN): fewer than ``min_shared`` shared units; a side without variation on them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy

from evaluation.metrics.counts import Floats, Ints, Ratings, number_codes
from evaluation.metrics.pairs import FEW_CODES, PairSums, changes_by_tables, deletion_changes, tables_pay
from evaluation.metrics.pearson import pearson_pairs
from evaluation.metrics.ranks import mid_ranks

EXACT_CODES = 256
_BLOCK_NUMBERS = 4_000_000


def spearman_pairs(ratings: Ratings, min_shared: int, deletions: bool) -> PairSums:
    """All pairs; the changes by deletion are zeros when ``deletions`` is False."""
    codes, code = number_codes(ratings.value)
    if not deletions and codes.size > FEW_CODES and ratings.n_ratings == ratings.n_units * ratings.n_raters:
        doubled = 2 * mid_ranks(ratings.to_matrix().T).T  # whole numbers: exact sums
        return pearson_pairs(Ratings.from_matrix(doubled), min_shared, False)
    if codes.size <= FEW_CODES:
        return _from_tables(ratings, code, max(codes.size, 1), min_shared, deletions)
    return _pair_by_pair(ratings, min_shared, deletions)


def _half_above(numbers: Floats, axis: int) -> Floats:
    """For each place the sum of all above it and half of its own."""
    return np.asarray(numbers.sum(axis=axis, keepdims=True) - np.cumsum(numbers, axis=axis) + numbers / 2)


def _ranks(sizes: Floats) -> Floats:
    return np.asarray(np.cumsum(sizes, axis=-1) - sizes / 2)


def table_rho(tables: Floats, min_shared: int) -> tuple[Floats, Floats]:
    """(P,) rho of P tables (P, A, B), and (P, A, B) rho without one unit of each cell (meaningless for empty cells)."""
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    n = rows.sum(axis=1)
    x, y = _ranks(rows), _ranks(columns)
    fy, fx = np.einsum("pab,pb->pa", tables, y), np.einsum("pab,pa->pb", tables, x)
    products = np.einsum("pa,pa->p", x, fy)
    rho = rho_of_sums(n, products, (rows**3).sum(axis=1), (columns**3).sum(axis=1), min_shared)
    both = _half_above(_half_above(tables, 1), 2)
    left = products[:, None, None] - _half_above(fy, 1)[:, :, None] - _half_above(fx, 1)[:, None, :] + both
    left -= (x - 0.5)[:, :, None] * (y - 0.5)[:, None, :]
    without = rho_of_sums(
        np.broadcast_to((n - 1)[:, None, None], left.shape),
        left,
        _cubes_without(rows)[:, :, None],
        _cubes_without(columns)[:, None, :],
        min_shared,
    )
    return rho, without


def _cubes_without(sizes: Floats) -> Floats:
    """Sum of cubed tie sizes with each one lowered by 1."""
    return np.asarray((sizes**3).sum(axis=-1, keepdims=True) - sizes**3 + (sizes - 1) ** 3)


def rho_of_sums(n: Floats, products: Floats, cubes_x: Floats, cubes_y: Floats, min_shared: int) -> Floats:
    """rho from n, the sum of products of ranks as above, both sides' sums of cubed tie sizes; NaN where undefined."""
    vx, vy = (n**3 - cubes_x) / 12, (n**3 - cubes_y) / 12
    defined = (n >= max(min_shared, 1)) & (vx > 0) & (vy > 0)
    spread = np.sqrt(np.where(defined, vx, 1)) * np.sqrt(np.where(defined, vy, 1))
    rho = np.divide(products - n**3 / 4, spread, out=np.full(spread.shape, np.nan), where=defined)
    return np.asarray(np.clip(rho, -1, 1))


def _from_tables(ratings: Ratings, code: Ints, n_codes: int, min_shared: int, deletions: bool) -> PairSums:
    raters = ratings.n_raters
    flat = (np.ones(ratings.n_ratings), (ratings.unit, ratings.rater * n_codes + code))
    indicator = scipy.sparse.csr_matrix(flat, shape=(ratings.n_units, raters * n_codes))
    sizes = np.bincount(ratings.unit, minlength=ratings.n_units)
    crowded = int(sizes @ sizes) > 20_000_000
    columns: Any = indicator.toarray().astype(np.float32) if crowded else indicator.tocsc()  # float32: whole up to 2^24
    r, shared = np.full((raters, raters), np.nan), np.zeros((raters, raters))
    without = np.empty((raters, raters, n_codes, n_codes), np.float32 if raters > 400 else np.float64)
    step = max(1, _BLOCK_NUMBERS // (max(raters, 1) * n_codes * n_codes))
    for first in range(0, raters, step):
        some = slice(first, min(first + step, raters))
        product = columns[:, first * n_codes : some.stop * n_codes].T @ columns
        dense: Floats = product if crowded else product.toarray()
        tables = dense.astype(np.float64).reshape(-1, n_codes, raters, n_codes).swapaxes(1, 2)
        flat_tables = tables.reshape(-1, n_codes, n_codes)
        rho, left = table_rho(flat_tables, min_shared)
        r[some], shared[some] = rho.reshape(-1, raters), flat_tables.sum(axis=(1, 2)).reshape(-1, raters)
        if deletions:
            without[some] = left.reshape(-1, raters, n_codes, n_codes)
    np.fill_diagonal(r, np.nan)
    enough = shared >= min_shared
    np.fill_diagonal(enough, False)
    if not deletions:
        none = np.zeros(0)
        return PairSums(r, enough, none, none, none, none)

    if tables_pay(ratings, n_codes):
        return PairSums(r, enough, *changes_by_tables(r, ratings, code, without))

    def look_up(one: Ints, other: Ints, block: Ints) -> Floats:
        found: Floats = without[ratings.rater[one], ratings.rater[other], code[one], code[other]]
        return found

    return PairSums(r, enough, *deletion_changes(r, ratings.unit, ratings.rater, ratings.n_units, look_up))


def _pair_by_pair(ratings: Ratings, min_shared: int, deletions: bool) -> PairSums:
    raters, n = ratings.n_raters, ratings.n_ratings
    place = np.full((ratings.n_units, raters), -1)
    place[ratings.unit, ratings.rater] = np.arange(n)
    r, enough = np.full((raters, raters), np.nan), np.zeros((raters, raters), bool)
    rating_sum, rating_count = np.zeros(n), np.zeros(n)
    unit_sum, unit_count = np.zeros(ratings.n_units), np.zeros(ratings.n_units)
    for i in range(raters):
        for j in range(i + 1, raters):
            both = np.flatnonzero((place[:, i] >= 0) & (place[:, j] >= 0))
            if both.size < max(min_shared, 2):
                enough[i, j] = enough[j, i] = both.size >= min_shared
                continue
            enough[i, j] = enough[j, i] = True
            first_rater, other = place[both, i], place[both, j]
            rho, without = rho_without_each(ratings.value[first_rater], ratings.value[other], min_shared)
            r[i, j] = r[j, i] = rho
            if deletions and np.isfinite(rho):
                gone = ~np.isfinite(without)
                change = np.where(gone, 0, without) - rho
                for which in (first_rater, other):
                    rating_sum[which] += change
                    rating_count[which] -= gone
                unit_sum[both] += change
                unit_count[both] -= gone
    return PairSums(r, enough, unit_sum, unit_count, rating_sum, rating_count)


def rho_without_each(first: Floats, second: Floats, min_shared: int) -> tuple[float, Floats]:
    """rho of two sides (n,), and (n,) without each of their units."""
    (codes_a, a), (codes_b, b) = number_codes(first), number_codes(second)
    rows, columns = np.bincount(a).astype(np.float64), np.bincount(b).astype(np.float64)
    n = np.array(float(first.size))
    x, y = _ranks(rows), _ranks(columns)
    fy, fx = np.bincount(a, y[b]).astype(np.float64), np.bincount(b, x[a]).astype(np.float64)
    products = np.asarray(x @ fy)
    if max(codes_a.size, codes_b.size) <= EXACT_CODES:
        table = np.bincount(a * codes_b.size + b, minlength=codes_a.size * codes_b.size).astype(np.float64)
        above = _half_above(_half_above(table.reshape(codes_a.size, codes_b.size), 0), 1)[a, b]
    else:
        above = (n - x)[a] * (n - y)[b] / n
    left = products - _half_above(fy, 0)[a] - _half_above(fx, 0)[b] + above - (x - 0.5)[a] * (y - 0.5)[b]
    rho = rho_of_sums(n, products, np.asarray(np.sum(rows**3)), np.asarray(np.sum(columns**3)), min_shared)
    fewer = np.full(left.shape, n - 1)
    return float(rho), rho_of_sums(fewer, left, _cubes_without(rows)[a], _cubes_without(columns)[b], min_shared)
