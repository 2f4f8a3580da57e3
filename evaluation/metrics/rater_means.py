"""One score for each unit (a model's, a judge's) against the mean of what people gave it: Pearson's r, Spearman's rho.

Interval: t interval on Fisher's z around the two-way delete-one jackknife over units and people (``intervals.py``):
the means rest on these people, and others would have given others. All replicates are exact except rho without each
unit where a side has more than 256 distinct values (``spearman.py``). Without a rating only one mean moves, so only the
ranks between its old and its new place do; their sums come from running sums over the sorted means.
Undefined: nobody rated a scored unit; fewer than three such units; a constant side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.metrics.association import MIN_POINTS, NAMES, Kind, centred, columns, correlation_of_columns, value_of
from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.jackknife import Means, Replicates, leave_out
from evaluation.metrics.ranks import mid_ranks, rank_bounds
from evaluation.metrics.spearman import rho_of_sums, rho_without_each

TWO_WAY = Interval()
_BLOCK_NUMBERS = 2_000_000


def with_rater_means(scores: npt.ArrayLike, ratings: Ratings, kind: Kind, *, interval: Interval = TWO_WAY) -> Estimate:
    """``scores`` (n_units,), NaN where a unit has none, against the means of ``ratings``. ``n_units`` have both,
    ``n_raters`` are the people behind the means.

    >>> people = Ratings.from_matrix([[1, 1], [2, 4], [3, 3], [5, 4]])
    >>> round(with_rater_means([1, 2, 3, 4], people, "spearman").value, 4)  # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4
    0.9487
    """
    score = np.asarray(scores, np.float64)
    if score.shape != (ratings.n_units,):
        raise ValueError(f"scores must have shape ({ratings.n_units},), one for each unit, got {score.shape}")
    if interval.method == "bootstrap":
        raise ValueError("a correlation with rater means has a jackknife interval only, got method='bootstrap'")
    keep = np.isfinite(score[ratings.unit])
    used = Ratings(ratings.unit[keep], ratings.rater[keep], ratings.value[keep], ratings.n_units, ratings.n_raters)
    n_units, n_raters = int(np.unique(used.unit).size), int(np.unique(used.rater).size)
    common: dict[str, Any] = {
        "method": f"{NAMES[kind]} with the mean of the raters", "n_units": n_units, "n_raters": n_raters,
        "n_ratings": used.n_ratings, "level": interval.level, "resampled": interval.resampled,
        "missing_share": 1 - used.n_ratings / (n_units * n_raters) if n_units else None,
    }  # fmt: skip
    if n_units < MIN_POINTS:
        return Estimate.undefined(reason="too_few_points" if n_units else "no_ratings", **common)
    copies = _correlation_of_all(score, used, kind) if interval.over == "none" else replicates(score, used, kind)
    value = float(copies.whole[0])
    if not np.isfinite(value):
        return Estimate.undefined(reason="constant_side", **common)
    ends = copies.ends(interval, Scale("Fisher z"))
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def _correlation_of_all(score: Floats, ratings: Ratings, kind: Kind) -> Replicates:
    """The correlation alone, where no interval is asked for."""
    units, unit = np.unique(ratings.unit, return_inverse=True)
    mean = np.bincount(unit, ratings.value) / np.bincount(unit)
    none = np.zeros(0)
    return Replicates(np.array([value_of(score[units], mean, kind)]), none, none, none)


def replicates(score: Floats, ratings: Ratings, kind: Kind) -> Replicates:
    """The correlation, and without each unit, rater and rating; every rated unit has a score."""
    if kind == "spearman":
        return _spearman(score, ratings)
    rated = np.unique(ratings.unit)
    x = np.zeros(score.shape)
    x[rated] = centred(score[rated])
    middle = ratings.value.mean() if np.ptp(ratings.value) else ratings.value[0]
    return leave_out(ratings, lambda unit, mean: columns(x[unit], mean - middle)).map(correlation_of_columns)


def _spearman(score: Floats, ratings: Ratings) -> Replicates:
    means = Means.of(ratings)
    x, y = score[means.units], means.mean
    rho, units = rho_without_each(x, y, MIN_POINTS)
    ratings_out = np.where(means.only, units[means.unit], _rho_with_one_moved(x, y, means))
    return Replicates(np.array([rho]), units, _without_each_rater(x, means), ratings_out)


def _without_each_rater(x: Floats, means: Means) -> Floats:
    """(R,) Raters without whom every unit still has a mean are ranked together, a block of them at a time."""
    values = np.empty(means.raters.size)
    alone = np.unique(means.rater[means.only])
    for rater in alone:
        values[rater] = _without_rater(x, means, int(rater))
    others = np.setdiff1d(np.arange(values.size), alone)
    ranks, n = mid_ranks(x) - 0.5, np.asarray(float(x.size))
    for some in np.array_split(others, max(1, -(-others.size * x.size // _BLOCK_NUMBERS))):
        row = np.full(values.size, -1)
        row[some] = np.arange(some.size)
        mine = row[means.rater] >= 0
        y = np.tile(means.mean, (some.size, 1))
        y[row[means.rater[mine]], means.unit[mine]] = means.without[mine]
        first, last = rank_bounds(y)
        cubes = ((last - first + 1.0) ** 2).sum(axis=1)  # each of a tie of t gives t squared
        products = ((first + last - 1) / 2) @ ranks
        sizes = np.broadcast_to(n, products.shape), np.broadcast_to(_cubes(x), products.shape)
        values[some] = rho_of_sums(sizes[0], products, sizes[1], cubes, MIN_POINTS)
    return values


def _without_rater(x: Floats, means: Means, rater: int) -> float:
    theirs = np.flatnonzero(means.rater == rater)
    y = means.mean.copy()
    y[means.unit[theirs]] = np.where(means.only[theirs], np.nan, means.without[theirs])
    left = np.isfinite(y)
    return float(_rho(x[left], y[left]))


def _rho(x: Floats, y: Floats) -> Floats:
    """rho with mid-ranks in whole numbers; ranks as in ``spearman.py``: those below, and half of those level."""
    a, b = mid_ranks(x) - 0.5, mid_ranks(y) - 0.5
    return rho_of_sums(np.asarray(float(x.size)), np.asarray(a @ b), _cubes(x), _cubes(y), MIN_POINTS)


def _cubes(values: Floats) -> Floats:
    """Sum of cubed tie sizes."""
    return np.asarray(np.sum(np.unique(values, return_counts=True)[1].astype(np.float64) ** 3))


def _rho_with_one_moved(x: Floats, y: Floats, means: Means) -> Floats:
    """(n,) rho where the unit u of each rating has the mean of the others, b, in place of its own, a.

    Moving u from a to b takes [a < y_v] + [a = y_v] / 2 from the rank of each other unit v and adds [b < y_v] +
    [b = y_v] / 2. With G(t) = sum over all v of x_v ([t < y_v] + [t = y_v] / 2), x now the ranks of the scores:
        sum x y' = sum x y - x_u y_u - (G(a) - x_u / 2) + (G(b) - x_u ([b < a] + [b = a] / 2)) + x_u y'_u
    """
    ranks, own = mid_ranks(x) - 0.5, mid_ranks(y) - 0.5
    order = np.argsort(y, kind="stable")
    ordered, running = y[order], np.concatenate([[0], np.cumsum(ranks[order])])
    a, x_u, y_u = (part[means.unit] for part in (y, ranks, own))
    b = means.without
    from_a, to_a = (np.searchsorted(ordered, a, side) for side in ("left", "right"))
    from_b, to_b = (np.searchsorted(ordered, b, side) for side in ("left", "right"))

    def above(start: Ints, stop: Ints) -> Floats:
        return np.asarray(running[-1] - (running[start] + running[stop]) / 2)

    moved = (b < a) + (b == a) / 2
    new_rank = (from_b - (a < b)) + (to_b - from_b - (a == b) + 1) / 2
    sums = ranks @ own - x_u * y_u - (above(from_a, to_a) - x_u / 2) + (above(from_b, to_b) - x_u * moved)
    size_a, size_b = to_a - from_a, to_b - from_b
    change = (size_a - 1.0) ** 3 - size_a**3.0 + (size_b + 1.0) ** 3 - size_b**3.0
    cubes = _cubes(y) + np.where(a == b, 0, change)
    n = np.full(a.shape, float(x.size))
    return rho_of_sums(n, sums + x_u * new_rank, np.broadcast_to(_cubes(x), a.shape), cubes, MIN_POINTS)
