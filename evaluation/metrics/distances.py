"""Squared distances between codes that do not depend on the marginals (nominal, interval, ratio), summed over groups of ratings.

Everything rests on one sum per rating: d_i = sum over the ratings j of i's group of weight_j * delta2(x_i, x_j).

    nominal   delta2 = 0 if x = y else 1                 from group x code counts
    interval  delta2 = (x - y)^2                         from three moments per group; no codes x codes matrix
    ratio     delta2 = ((x - y) / (x + y))^2, 0 at 0, 0  from group x code counts where these are few; otherwise pair by
              pair within each group, in blocks of bounded memory: time grows with the pairs, memory does not

Source: Krippendorff, K. (2019), Content Analysis, 4th ed., chapter 12; ordinal is in ``ordinal.py``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evaluation.metrics.counts import Floats, Ints

FixedLevel = Literal["nominal", "interval", "ratio"]

_DENSE_CELLS = 8_000_000  # largest group x code table held densely (64 MB)
_DENSE_CODES = 512
_BLOCK_PAIRS = 1_000_000  # pairs held at once


def distance_sums(
    level: FixedLevel, codes: Floats, code: Ints, group: Ints, weight: Floats, n_groups: int
) -> Floats:
    """(n,) d_i for ratings with value ``codes[code]``, in ``group`` 0..n_groups-1, each with its weight."""
    if level == "nominal":
        return _nominal(codes.size, code, group, weight, n_groups)
    if level == "interval":
        return _interval(codes[code], group, weight, n_groups)
    if codes.size and codes[0] < 0:
        raise ValueError(f"the ratio level needs codes of at least 0, got {codes[0]}")
    return _ratio(codes, code, group, weight, n_groups)


def _nominal(n_codes: int, code: Ints, group: Ints, weight: Floats, n_groups: int) -> Floats:
    mass = np.bincount(group, weights=weight, minlength=n_groups)
    cell = group * n_codes + code
    if n_groups * n_codes > _DENSE_CELLS:
        _, cell = np.unique(cell, return_inverse=True)
    same = np.bincount(cell, weights=weight)
    return np.asarray(mass[group] - same[cell])


def _interval(value: Floats, group: Ints, weight: Floats, n_groups: int) -> Floats:
    value = value - (np.average(value, weights=weight) if value.size else 0)  # centred: less cancellation
    mass, first, second = (
        np.bincount(group, weights=w, minlength=n_groups) for w in (weight, weight * value, weight * value**2)
    )
    sums = (mass[group] * value - 2 * first[group]) * value + second[group]
    return np.maximum(sums, 0)


def ratio_distances(x: Floats, y: Floats) -> Floats:
    """((x - y) / (x + y))^2, broadcast; 0 where both are 0."""
    total = x + y
    share = np.divide(x - y, total, out=np.zeros_like(total), where=total > 0)
    return share * share


def _ratio(codes: Floats, code: Ints, group: Ints, weight: Floats, n_groups: int) -> Floats:
    if codes.size <= _DENSE_CODES and n_groups * codes.size <= _DENSE_CELLS:
        counts = np.bincount(group * codes.size + code, weights=weight, minlength=n_groups * codes.size)
        distances = ratio_distances(codes[:, None], codes[None, :])
        sums: Floats = (counts.reshape(n_groups, codes.size) @ distances)[group, code]
        return sums
    return _ratio_by_pairs(codes[code], group, weight, n_groups)


def _ratio_by_pairs(value: Floats, group: Ints, weight: Floats, n_groups: int) -> Floats:
    """Ratings sorted by group; blocks of rows, each row against its whole group."""
    order = np.argsort(group, kind="stable")
    x, w, g = value[order], weight[order], group[order]
    length = np.bincount(group, minlength=n_groups)
    start = np.cumsum(length) - length
    sums = np.empty(x.size)
    large = length > 64
    for k in np.flatnonzero(large):
        member = slice(start[k], start[k] + length[k])
        rows = max(1, _BLOCK_PAIRS // int(length[k]))
        for first in range(start[k], start[k] + length[k], rows):
            block = slice(first, min(first + rows, start[k] + length[k]))
            sums[block] = ratio_distances(x[block, None], x[None, member]) @ w[member]
    small = np.flatnonzero(~large[g])
    for block_of in np.array_split(small, max(1, 64 * small.size // _BLOCK_PAIRS)):
        if block_of.size:
            partner, row_start = _partners(length[g[block_of]], start[g[block_of]])
            each = np.repeat(block_of, length[g[block_of]])
            sums[block_of] = np.add.reduceat(ratio_distances(x[each], x[partner]) * w[partner], row_start)
    unsorted = np.empty_like(sums)
    unsorted[order] = sums
    return unsorted


def _partners(length: Ints, start: Ints) -> tuple[Ints, Ints]:
    """For rows that each meet ``length`` partners from ``start`` on: all partners in a row, and where each row begins."""
    row_start = np.cumsum(length) - length
    return np.arange(length.sum()) - np.repeat(row_start - start, length), row_start
