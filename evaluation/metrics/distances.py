"""Squared distances that do not depend on the marginals (nominal, interval, ratio), summed over groups of ratings.

Everything rests on one sum per rating: d_i = sum over the ratings j of i's group of weight_j * delta2(x_i, x_j).

    nominal   delta2 = 0 if x = y else 1                 from group x code counts
    interval  delta2 = (x - y)^2                         from three moments per group; no codes x codes matrix
    ratio     delta2 = ((x - y) / (x + y))^2, 0 at 0, 0  from group x code counts where codes are few, pair by pair
    where pairs
              are few, else from exponential moments (``_ratio_by_moments``): linear in the ratings, bounded in memory

Source: Krippendorff, K. (2019), Content Analysis, 4th ed., chapter 12; ordinal is in ``ordinal_distance.py``.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evaluation.metrics.counts import Floats, Ints

FixedLevel = Literal["nominal", "interval", "ratio"]

_DENSE_CELLS = 8_000_000  # largest group x code table held densely (64 MB)
_DENSE_CODES = 512
_PAIRS = 2_000_000  # pairs held at once; more are summed through moments


def distance_sums(level: FixedLevel, codes: Floats, code: Ints, group: Ints, weight: Floats, n_groups: int) -> Floats:
    """(n,) d_i for ratings with value ``codes[code]``, in ``group`` 0..n_groups-1, each with its weight."""
    if level == "nominal":
        return _nominal(codes.size, code, group, weight, n_groups)
    if level == "interval":
        return _interval(codes[code], group, weight, n_groups)
    _refuse_negative(codes)
    return _ratio(codes, code, group, weight, n_groups)


def distance_matrix(level: FixedLevel, codes: Floats) -> Floats:
    """(C, C) delta2 of every two of a few codes."""
    if level == "nominal":
        return 1 - np.eye(codes.size)
    if level == "interval":
        return np.asarray((codes[:, None] - codes) ** 2)
    _refuse_negative(codes)
    return ratio_distances(codes[:, None], codes[None, :])


def _refuse_negative(codes: Floats) -> None:
    if codes.size and codes[0] < 0:
        raise ValueError(f"the ratio level needs codes of at least 0, got {codes[0]}")


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
    length = np.bincount(group, minlength=n_groups)
    if int(length @ length) <= _PAIRS:
        return _ratio_by_pairs(codes[code], group, weight, length)
    return _ratio_by_moments(codes[code], group, weight, n_groups)


def _ratio_by_pairs(value: Floats, group: Ints, weight: Floats, length: Ints) -> Floats:
    """Each rating against its whole group of ``length[group]`` ratings."""
    order = np.argsort(group, kind="stable")
    x, w, rows = value[order], weight[order], length[group[order]]
    start = (np.cumsum(length) - length)[group[order]]
    row_start = np.cumsum(rows) - rows
    each = np.repeat(np.arange(x.size), rows)
    partner = np.arange(rows.sum()) - np.repeat(row_start - start, rows)
    sums = np.empty(x.size)
    sums[order] = np.add.reduceat(ratio_distances(x[each], x[partner]) * w[partner], row_start)
    return sums


def _ratio_by_moments(value: Floats, group: Ints, weight: Floats, n_groups: int) -> Floats:
    """delta2 = 1 - 4 x y / (x + y)^2, and 1 / (x + y)^2 is the integral of t exp(-(x + y) t) over t > 0: a sum over
    nodes t of products f_t(x) f_t(y) with f_t(x) = t x exp(-x t). So d_i needs one moment per group and node.

    With t = exp(s) the trapezoid rule of step 0.25 is exact to about 1e-15, whatever x and y; the ends are cut
    where the terms fall below 1e-16. About 90 nodes, and 4 for each factor e between the largest and the smallest
    value.
    """
    step = 0.25
    positive = value > 0
    mass = np.bincount(group, weights=weight, minlength=n_groups)
    zeros = np.bincount(group, weights=weight * ~positive, minlength=n_groups)
    sums: Floats = np.where(positive, mass[group], (mass - zeros)[group])
    if positive.any():
        first = np.log(1e-8 / value.max())
        last = np.log(40 / value[positive].min())
        for s in np.arange(first, last + step, step):
            scaled = value * np.exp(s)
            term = scaled * np.exp(-scaled)
            sums -= 4 * step * term * np.bincount(group, weights=weight * term, minlength=n_groups)[group]
    return np.maximum(sums, 0)
