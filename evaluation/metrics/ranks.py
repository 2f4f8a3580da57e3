"""Ranks with ties, the same numbers as ``scipy.stats.rankdata``.

They stand here because ``scipy.stats`` takes 30 MiB of every process, and ranks are nearly all that is used of it.
"""

import numpy as np

from evaluation.metrics.counts import Floats


def rank_bounds(values: Floats) -> tuple[Floats, Floats]:
    """(..., n) lowest and highest rank, from 1, that each value shares with those equal to it along the last axis.

    NaN for a whole row that contains NaN.

    >>> rank_bounds(np.array([0.0, 2.0, 3.0, 2.0]))
    (array([1., 2., 4., 2.]), array([1., 3., 4., 3.]))
    """
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    begins = np.ones(values.shape, np.bool_)
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=begins[..., 1:])
    start = np.flatnonzero(begins)
    size = np.diff(start, append=values.size)
    lowest, highest = np.empty(values.shape), np.empty(values.shape)
    first = start % max(values.shape[-1], 1) + 1
    for ranks, of_ties in ((lowest, first), (highest, first + size - 1)):
        np.put_along_axis(ranks, order, np.repeat(of_ties, size).reshape(values.shape).astype(np.float64), axis=-1)
        ranks[np.isnan(values).any(axis=-1)] = np.nan
    return lowest, highest


def mid_ranks(values: Floats) -> Floats:
    """(..., n) ranks from 1 along the last axis, ties with the mean of theirs; NaN for a row that contains NaN.

    >>> mid_ranks(np.array([0.0, 2.0, 3.0, 2.0]))
    array([1. , 2.5, 4. , 2.5])
    """
    lowest, highest = rank_bounds(values)
    return np.asarray((lowest + highest) / 2)
