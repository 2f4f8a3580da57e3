"""Pearson's r of every pair of raters over the units both rated, by masked matrix products.

    r = (n Sxy - Sx Sy) / sqrt((n Sxx - Sx^2) (n Syy - Sy^2)), all sums over the pair's shared units only

Undefined (NaN): fewer than ``min_shared`` shared units; a side without variation on them. Scores are centred per
rater first, by a whole number where all are whole, so that for such codes every sum is exact; else a variance below
1e-12 of the mean square counts as none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.counts import Bools, Floats, Ints, Ratings, number_codes
from evaluation.metrics.pairs import PairSums, changes_by_tables, deletion_changes, tables_pay

_ZERO = 1e-12


@dataclass(frozen=True, eq=False)
class _Moments:
    """(R, R) sums over shared units; ``sx[i, j]``: of rater i's scores, those shared with j."""

    n: Floats
    sx: Floats
    sxx: Floats
    sxy: Floats


def pearson_pairs(ratings: Ratings, min_shared: int, deletions: bool) -> PairSums:
    """All pairs; the changes by deletion are zeros when ``deletions`` is False."""
    centre = _centre(ratings)
    x = np.asarray(ratings.value - centre[ratings.rater])
    shape = (ratings.n_units, ratings.n_raters)
    given, score = np.zeros(shape), np.zeros(shape)
    given[ratings.unit, ratings.rater], score[ratings.unit, ratings.rater] = 1, x
    sums = _Moments(given.T @ given, score.T @ given, (score**2).T @ given, score.T @ score)
    squares = (sums.sxx, sums.sxx.T)
    r = correlation_of_sums(sums.n, (sums.sx, sums.sx.T), squares, sums.sxy, squares, min_shared)
    np.fill_diagonal(r, np.nan)
    enough = sums.n >= min_shared
    np.fill_diagonal(enough, False)
    if not deletions:
        none = np.zeros(0)
        return PairSums(r, enough, none, none, none, none)

    codes, code = number_codes(ratings.value)
    if tables_pay(ratings, codes.size):
        tables = _without_tables(sums, codes - centre[:, None], min_shared)
        return PairSums(r, enough, *changes_by_tables(r, ratings, code, tables))

    def without(first: Ints, second: Ints, block: Ints) -> Floats:
        a, b = ratings.rater[first], ratings.rater[second]
        p, q = x[first], x[second]
        sxx, syy = sums.sxx[a, b], sums.sxx[b, a]
        return correlation_of_sums(
            sums.n[a, b] - 1,
            (sums.sx[a, b] - p, sums.sx[b, a] - q),
            (sxx - p**2, syy - q**2),
            sums.sxy[a, b] - p * q,
            (sxx, syy),
            min_shared,
        )

    return PairSums(r, enough, *deletion_changes(r, ratings.unit, ratings.rater, ratings.n_units, without))


def _without_tables(sums: _Moments, scores: Floats, min_shared: int) -> Floats:
    """(R, R, C, C) without a unit that i and j gave codes a and b; ``scores`` (R, C): each rater's centred codes."""
    p, q = scores[:, None, :, None], scores[None, :, None, :]
    n, sx, sxx, sxy = (of[:, :, None, None] for of in (sums.n, sums.sx, sums.sxx, sums.sxy))
    sy, syy = (of.T[:, :, None, None] for of in (sums.sx, sums.sxx))
    shape = np.broadcast_shapes(n.shape, p.shape, q.shape)
    less = (n - 1, (sx - p, sy - q), (sxx - p**2, syy - q**2), sxy - p * q)
    return correlation_of_sums(np.broadcast_to(less[0], shape), *less[1:], (sxx, syy), min_shared)


def _centre(ratings: Ratings) -> Floats:
    """(R,) what is taken off each rater's scores."""
    count = np.maximum(np.bincount(ratings.rater, minlength=ratings.n_raters), 1)
    mean = np.bincount(ratings.rater, ratings.value, ratings.n_raters) / count
    if (ratings.value == np.rint(ratings.value)).all():
        mean = np.rint(mean)
    return np.asarray(mean)


def correlation_of_sums(
    n: Floats,
    s: tuple[Floats, Floats],
    ss: tuple[Floats, Floats],
    sxy: Floats,
    scale: tuple[Floats, Floats],
    min_shared: int,
) -> Floats:
    """r from n, sums of both sides, of their squares and products, all of one shape; NaN where undefined. ``scale``:
    the sums of squares against which a variance counts as zero."""
    vx, vy = n * ss[0] - s[0] ** 2, n * ss[1] - s[1] ** 2
    defined: Bools = (n >= min_shared) & (vx > _ZERO * n * scale[0]) & (vy > _ZERO * n * scale[1])
    r = np.full(n.shape, np.nan)
    spread = np.sqrt(np.where(defined, vx, 1)) * np.sqrt(np.where(defined, vy, 1))
    np.divide(n * sxy - s[0] * s[1], spread, out=r, where=defined)
    return np.asarray(np.clip(r, -1, 1))
