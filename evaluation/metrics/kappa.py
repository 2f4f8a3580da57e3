"""Cohen's kappa of two raters, or its mean over all pairs of raters, by matrix products.

    kappa = 1 - n D / E,   D = sum over shared units of w(x, y),   E = sum over codes a, b of w(a, b) r_a c_b

n units both rated, r_a and c_b how often each of the two gave code a, b on them. The disagreement w(a, b) is 0 for the
same code, else 1 (none), |a - b| (linear) or (a - b)^2 (quadratic): the weighted ones take the codes as numbers.
Pairwise-complete; pairs that share fewer than ``min_shared`` units are left out and counted ("n_pairs_too_few_shared"),
and so are pairs without a value ("n_pairs_undefined"): both raters gave one and the same code throughout, so that
there is nothing to disagree about (0 / 0). Two raters that are constant at different codes have kappa 0.
Interval: t interval on log(1 - kappa) around the two-way jackknife (``intervals.py``). Exactly two raters have no
spread between raters: the interval then speaks of other units and these two, and says so.
Source: Cohen, J. (1960), A coefficient of agreement for nominal scales; Cohen (1968) for the weights.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import scipy

from evaluation.metrics.counts import Bools, Floats, Ints, Ratings, number_codes
from evaluation.metrics.estimate import Estimate, Extra
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.pairs import PairSums, deletion_changes, pair_ends, pair_sizes

Weights = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = ("none", "linear", "quadratic")
TWO_WAY = Interval()
_ZERO = 1e-9


def cohen_kappa(
    ratings: Ratings, *, weights: Weights = "none", min_shared: int = 1, interval: Interval = TWO_WAY
) -> Estimate:
    """Cohen's kappa, -1 to 1; over more than two raters the plain mean over pairs.

    >>> cohen_kappa(Ratings.from_matrix([[1, 1], [1, 2], [2, 2], [2, 2]])).value  # 1 - 4 x 1 / (2 x 3 + 2 x 1)
    0.5
    """
    if weights not in WEIGHTS:
        raise ValueError(f"weights must be one of {', '.join(WEIGHTS)}, got {weights!r}")
    if min_shared < 1:
        raise ValueError(f"min_shared must be at least 1, got {min_shared}")
    if interval.method == "bootstrap":
        raise ValueError("kappa has a jackknife interval only, got method='bootstrap'")
    raters = int(np.unique(ratings.rater).size)
    wanted = replace(interval, over="units") if raters == 2 and interval.over == "units and raters" else interval
    extras: dict[str, Extra] = {"weights": weights, "min_shared": min_shared}
    common: dict[str, Any] = {
        "method": "Cohen's kappa" if weights == "none" else f"Cohen's kappa ({weights} weights)",
        "n_units": ratings.n_units, "n_raters": ratings.n_raters, "n_ratings": ratings.n_ratings,
        "level": wanted.level, "resampled": wanted.resampled, "missing_share": ratings.missing_share,
    }  # fmt: skip
    if raters < 2:
        reason = "too_few_raters" if ratings.n_ratings else "no_ratings"
        return Estimate.undefined(reason=reason, extras=extras, **common)
    pairs = kappa_pairs(ratings, weights, min_shared, wanted.over != "none")
    extras |= {
        "n_pairs": pairs.n_pairs, "n_pairs_undefined": pairs.n_constant,
        "n_pairs_too_few_shared": pairs.n_too_few_shared,
    }  # fmt: skip
    if not pairs.n_pairs:
        return Estimate.undefined(reason="no_variation" if pairs.n_constant else "no_pairs", extras=extras, **common)
    common |= pair_sizes(ratings, pairs, extras)
    ends = pair_ends(ratings, pairs, wanted, Scale("log(1 - x)"))
    if isinstance(ends, str):
        return Estimate.of(pairs.mean, interval_reason=ends, extras=extras, **common)
    return Estimate.of(pairs.mean, interval=ends, extras=extras, **common)


def kappa_pairs(ratings: Ratings, weights: Weights, min_shared: int, deletions: bool) -> PairSums:
    """Kappa of every pair; O(codes) sparse products of raters x units x raters, (R, R, codes) numbers in memory."""
    codes, code = number_codes(ratings.value)
    distance = _distance(codes, weights)
    count, shape = codes.size, (ratings.n_units, ratings.n_raters)
    rated = _sparse(np.ones(ratings.n_ratings), ratings.unit, ratings.rater, shape)
    shared = _dense(rated.T @ rated)
    observed = np.zeros(shared.shape)
    other: Floats = np.zeros((*shared.shape, count))  # [i, j, a]: how often j gave a on the units shared with i
    for place in range(count):
        there = code == place
        gave = _sparse(np.ones(int(there.sum())), ratings.unit[there], ratings.rater[there], shape)
        away = _sparse(distance[place, code], ratings.unit, ratings.rater, shape)
        other[:, :, place] = _dense(rated.T @ gave)
        observed += _dense(gave.T @ away)
    reach = other @ distance  # [i, j, a]: distance of code a to all of j's codes there
    expected = np.einsum("jia,ija->ij", other, reach)
    enough: Bools = shared >= min_shared
    np.fill_diagonal(enough, False)
    kappa = _kappa(shared, observed, expected, enough)
    if not deletions:
        none = np.zeros(0)
        return PairSums(kappa, enough, none, none, none, none)

    def without(first: Ints, second: Ints, block: Ints) -> Floats:
        i, j, a, b = ratings.rater[first], ratings.rater[second], code[first], code[second]
        near = distance[a, b]
        left = expected[i, j] - reach[i, j, a] - reach[j, i, b] + near
        return _kappa(shared[i, j] - 1, observed[i, j] - near, left, shared[i, j] - 1 >= min_shared)

    return PairSums(kappa, enough, *deletion_changes(kappa, ratings.unit, ratings.rater, ratings.n_units, without))


def _distance(codes: Floats, weights: Weights) -> Floats:
    apart = np.abs(codes[:, None] - codes[None, :])
    if weights == "none":
        return np.asarray(apart > 0, np.float64)
    return np.asarray(apart if weights == "linear" else apart**2)


def _sparse(numbers: Floats, unit: Ints, rater: Ints, shape: tuple[int, int]) -> Any:
    return scipy.sparse.csr_matrix((numbers, (unit, rater)), shape=shape)


def _dense(product: Any) -> Floats:
    dense: Floats = np.asarray(product.toarray(), np.float64)
    return dense


def _kappa(n: Floats, observed: Floats, expected: Floats, enough: Bools) -> Floats:
    some = enough & (expected > _ZERO)
    return np.asarray(1 - np.divide(n * observed, expected, out=np.full(n.shape, np.nan), where=some))
