"""The ordinal level: Krippendorff's rank-sum distance, which depends on how often each code was used.

    delta2(c, k) = (sum of n_g for g from c to k  -  (n_c + n_k) / 2)^2

With x_c = (ratings below c) + n_c / 2, the mid-rank of code c, this is exactly (x_c - x_k)^2. So ordinal alpha is
interval alpha on mid-ranks, and moments serve it however many codes there are. The expected sum has a closed form: n
(n^3 - sum n_c^3) / 6.

Leaving something out changes the marginals and with them all ranks: each replicate is computed with its own ranks,
exactly.
Above EXACT_CODES distinct codes (a continuous score) the ranks of the replicates without one unit or one rating
change by at most the deleted share, and the second-order term of that change is dropped (relative error of order 1 /
n).
Source: Krippendorff, K. (2011), Computing Krippendorff's Alpha-Reliability.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy

from evaluation.metrics.counts import CountTable, Floats, Ints, sorting
from evaluation.metrics.deletions import Deletions, Removal, Sums

EXACT_CODES = 2_048
_BLOCK_NUMBERS = 2_000_000


def mid_ranks(marginals: Floats) -> Floats:
    """Mid-ranks along the last axis of (..., C) code frequencies, centred on the mean rank."""
    below = np.cumsum(marginals, axis=-1) - marginals
    return np.asarray(below + marginals / 2 - marginals.sum(axis=-1, keepdims=True) / 2)


def expected_sum(marginals: Floats) -> Floats:
    """Sum over code pairs of n_c n_k (x_c - x_k)^2 = n (n^3 - sum n_c^3) / 6, along the last axis.

    As sum over codes of n_c (n^2 - n_c^2): no cancellation when one code takes nearly all.
    """
    total = marginals.sum(axis=-1, keepdims=True)
    spread = (marginals * (total - marginals) * (total + marginals)).sum(axis=-1)
    return np.asarray(total[..., 0] * spread / 6)


def ordinal_sums(table: CountTable) -> Sums:
    """The sums of the whole table, in O(ratings)."""
    within = _sums_within(table, mid_ranks(table.marginals))
    return Sums(
        np.array([table.factor @ within]),
        np.atleast_1d(expected_sum(table.marginals)),
        np.array([table.total]),
        np.array([table.self_pairs]),
    )


def _sums_within(table: CountTable, ranks: Floats) -> Floats:
    """(U,) T_u: 2 (m sum v x^2 - (sum v x)^2)."""
    if table.cells is not None:
        first, second = table.cells @ ranks, table.cells @ ranks**2
        return np.maximum(2 * (table.mass * second - first**2), 0)
    x = ranks[table.code]
    first, second = table.by_unit(table.weight * x), table.by_unit(table.weight * x**2)
    return np.maximum(2 * (table.mass * second - first**2), 0)


def ordinal_deletions(table: CountTable) -> Deletions:
    """Delete-one sums with the ranks of each replicate."""
    gone = Removal.of(table)
    whole = ordinal_sums(table)
    raters = _without_raters(table, gone)
    if table.n_codes <= EXACT_CODES:
        units = _without_units(table)
        ratings = _without_ratings(table, gone)
    else:
        units, ratings = _first_order(table, gone, whole)
    return Deletions(whole, units, raters, units.take(table.unit).where(gone.lonely, ratings))


def _blocks(count: int, width: int) -> Iterator[slice]:
    rows = max(1, _BLOCK_NUMBERS // max(width, 1))
    return (slice(first, min(first + rows, count)) for first in range(0, count, rows))


def _without_units(table: CountTable) -> Sums:
    """Unit u removes its own row of counts from the marginals; the other units keep their pairs."""
    counts = table.counts
    linear = counts.T @ (table.factor * table.mass)
    coupling = (counts.T @ scipy.sparse.diags_array(table.factor) @ counts).toarray()
    observed, expected = np.empty(table.n_units), np.empty(table.n_units)
    for block in _blocks(table.n_units, table.n_codes):
        own = counts[block].toarray()
        left = table.marginals - table.unit_weight[block, None] * own
        x = mid_ranks(left)
        expected[block] = expected_sum(left)
        every = 2 * (x**2 @ linear - np.einsum("uc,uc->u", x @ coupling, x))
        first, second = np.einsum("uc,uc->u", own, x), np.einsum("uc,uc->u", own, x**2)
        observed[block] = every - table.factor[block] * 2 * (table.mass[block] * second - first**2)
    return Sums(
        np.maximum(observed, 0),
        expected,
        table.total - table.unit_weight * table.mass,
        table.self_pairs - table.unit_weight * table.squares,
    )


def _without_raters(table: CountTable, gone: Removal) -> Sums:
    count = table.n_raters
    removed = scipy.sparse.csr_matrix((gone.weight, (gone.rater, gone.code)), shape=(count, table.n_codes))
    order = sorting(table.rater, count)
    begin = np.searchsorted(table.rater[order], np.arange(count + 1))
    observed, expected = np.empty(count), np.empty(count)
    for block in _blocks(count, table.n_codes + table.n_units):
        x = mid_ranks(table.marginals - removed[block].toarray())
        expected[block] = expected_sum(table.marginals - removed[block].toarray())
        mine = order[begin[block.start] : begin[block.stop]]
        every, change = _under_ranks(table, gone, x, mine, table.rater[mine] - block.start)
        observed[block] = every - np.bincount(table.rater[mine] - block.start, change, x.shape[0])
    return Sums(
        np.maximum(observed, 0),
        expected,
        np.asarray(table.total - np.bincount(table.rater, gone.mass, count), np.float64),
        np.asarray(table.self_pairs - np.bincount(table.rater, gone.squares, count), np.float64),
    )


def _without_ratings(table: CountTable, gone: Removal) -> Sums:
    """Ratings with the same code and weight leave the same marginals behind: one set of ranks for all of them."""
    n = table.unit.size
    masses, which = np.unique(table.rating_mass, return_inverse=True)
    kinds, kind = np.unique(which * table.n_codes + table.code, return_inverse=True)
    order = sorting(kind, kinds.size)
    begin = np.searchsorted(kind[order], np.arange(kinds.size + 1))
    observed, expected = np.empty(n), np.empty(n)
    for block in _blocks(kinds.size, table.n_codes + table.n_units):
        weight, code = masses[kinds[block] // table.n_codes], kinds[block] % table.n_codes
        left = np.tile(table.marginals, (code.size, 1))
        left[np.arange(code.size), code] -= weight
        mine = order[begin[block.start] : begin[block.stop]]
        place = kind[mine] - block.start
        every, change = _under_ranks(table, gone, mid_ranks(left), mine, place)
        observed[mine] = every[place] - change
        expected[mine] = expected_sum(left)[place]
    return Sums(np.maximum(observed, 0), expected, table.total - gone.mass, table.self_pairs - gone.squares)


def _under_ranks(table: CountTable, gone: Removal, x: Floats, rating: Ints, row: Ints) -> tuple[Floats, Floats]:
    """Under each row of ranks x (G, C): the observed sum of all units (G,); and for each given rating, measured with
    the ranks of its row, by how much the sum falls when that rating leaves its unit."""
    counts, unit, v = table.counts, table.unit[rating], table.weight[rating]
    first, second = counts @ x.T, counts @ (x**2).T  # (U, G)
    every = 2 * ((table.factor * table.mass) @ second - table.factor @ first**2)
    mine = x[row, table.code[rating]]
    s1, s2, m = first[unit, row], second[unit, row], table.mass[unit]
    before = 2 * (m * s2 - s1**2)
    after = 2 * ((m - v) * (s2 - v * mine**2) - (s1 - v * mine) ** 2)
    return every, table.factor[unit] * before - gone.factor[rating] * after


def _first_order(table: CountTable, gone: Removal, whole: Sums) -> tuple[Sums, Sums]:
    """Without one unit, and without one rating: ranks x - y with y small, so x'Ax - 2 y'Ax for the observed sum."""
    u, v = table.unit, table.weight
    x = mid_ranks(table.marginals)
    within, mine = _sums_within(table, x), x[table.code]
    linear = table.counts.T @ (table.factor * table.mass)
    pull = 2 * (linear * x - table.counts.T @ (table.factor * (table.counts @ x)))  # A x, (C,)
    # a rating of code a lowers all ranks above a by its mass and that of a by half of it
    shift = 2 * table.rating_mass * (pull.sum() - np.cumsum(pull) + pull / 2)[table.code]
    s1, s2 = table.by_unit(v * mine)[u], table.by_unit(v * mine**2)[u]
    after = 2 * ((table.mass[u] - v) * (s2 - v * mine**2) - (s1 - v * mine) ** 2)
    cubes = table.marginals**3
    left = table.total - gone.mass
    without = cubes.sum() - cubes[table.code] + (table.marginals[table.code] - table.rating_mass) ** 3
    ratings = Sums(
        np.maximum(whole.observed - shift - table.factor[u] * within[u] + gone.factor * after, 0),
        left * (left**3 - without) / 6,
        left,
        table.self_pairs - gone.squares,
    )
    own = table.counts.tocoo()
    row, code, mass = own.row, own.col, own.data * table.unit_weight[own.row]
    cube_change = np.bincount(row, (table.marginals[code] - mass) ** 3 - cubes[code], table.n_units)
    remaining = table.total - table.unit_weight * table.mass
    units = Sums(
        np.maximum(whole.observed - table.by_unit(shift) - table.factor * within, 0),
        remaining * (remaining**3 - cubes.sum() - cube_change) / 6,
        remaining,
        table.self_pairs - table.unit_weight * table.squares,
    )
    return units, ratings
