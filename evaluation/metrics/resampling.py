"""Intervals by clusters: units that belong together (questions, concepts, countries) are left out together.

A statistic here is a function of sums over clusters (a share, a mean, a ratio, a difference of means), so a replicate
costs one subtraction: f_c = f(total - cluster c), c = 1..C.

    V = (C - 1) / C * sum over c of (f_c - mean f)^2,   interval: t with C - 1 degrees of freedom on a scale

Scales (``intervals.py``): logit for shares and means of numbers from 0 to 1; log for ratios above 0; identity for means
of scores and for differences, cut where the scale of the scores ends ("cut" in extras). It is deterministic, needs no
seed, and is one method from three clusters on. With one unit in each cluster it is the jackknife over units; that of a
mean is the usual t interval.
Undefined: nothing to count; a denominator of 0. No interval: fewer than three clusters; no spread between them; without
one of them there is no value ("unstable"); cut at both ends of the scale ("too_wide").
Sources: Efron & Stein (1981), The jackknife estimate of variance; Bell & McCaffrey (2002), Bias reduction in standard
errors for linear regression with multi-stage samples, on few clusters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Ends, Scale, jackknife_variance

CLUSTERS = "clusters of units"
LEVEL = 0.95
MIN_CLUSTERS = 3
LOGIT, RATIO = Scale("logit"), Scale("log")
SHARES_APART = Scale("identity", limits=(-1.0, 1.0))  # of differences of shares
NOT_NEGATIVE = Scale("identity", limits=(0.0, float("inf")))  # of means of counts, costs and distances
_TOO_WIDE = 1e3  # a ratio whose upper end is this many times its lower end says nothing

Statistic = Callable[[Floats], Floats]  # (B, k) sums to (B,) values, NaN where undefined


def number_clusters(clusters: npt.ArrayLike) -> tuple[int, Ints]:
    """How many distinct labels there are, and the number of each one's (n,)."""
    labels, number = np.unique(np.asarray(clusters), return_inverse=True)
    return int(labels.size), number.astype(np.int64).reshape(-1)


def cluster_sums(clusters: npt.ArrayLike, *columns: npt.ArrayLike) -> Floats:
    """(C, k): the sum of each of the k columns (n,) within each of the C clusters; ``clusters`` (n,) are labels.
    Raises ValueError for a column of another length."""
    count, number = number_clusters(clusters)
    for column in columns:
        if np.shape(column) != number.shape:
            raise ValueError(
                f"columns must have shape {number.shape}, one number for each label, got {np.shape(column)}"
            )
    sums = [np.bincount(number, np.asarray(column, np.float64), count) for column in columns]
    return np.stack(sums, axis=1) if sums else np.zeros((count, 0))


def interval_without_each(value: float, replicates: Floats, scale: Scale, level: float = LEVEL) -> Ends | str:
    """The interval around ``value`` from its C replicates (C,), each without one cluster; or the code of the reason
    there is none. NaN is a replicate without a value."""
    if replicates.size < MIN_CLUSTERS:
        return "too_few_clusters_for_interval"
    if not np.isfinite(replicates).all():
        return "unstable"
    quantile = float(scipy.special.stdtrit(replicates.size - 1, (1 + level) / 2))
    ends = scale.interval(value, jackknife_variance(replicates) ** 0.5, quantile)
    if ends is None:
        return "no_spread"
    says_nothing = scale.is_whole(ends) or (scale.name == "log" and ends[1] > _TOO_WIDE * ends[0])
    return "too_wide" if says_nothing else ends


def cluster_ends(sums: Floats, statistic: Statistic, scale: Scale, level: float = LEVEL) -> Ends | str:
    """The interval of ``statistic`` of the clusters' ``sums`` (C, k), or the code of the reason there is none."""
    whole = sums.sum(axis=0, keepdims=True)
    return interval_without_each(float(statistic(whole)[0]), statistic(whole - sums), scale, level)


def ratio(sums: Floats) -> Floats:
    """First column over the second, NaN where that is 0."""
    values: Floats = np.divide(sums[:, 0], sums[:, 1], out=np.full(sums.shape[0], np.nan), where=sums[:, 1] != 0)
    return values


def difference(sums: Floats) -> Floats:
    """First over second column, less third over fourth."""
    return np.asarray(ratio(sums[:, :2]) - ratio(sums[:, 2:]))


def estimate_by_clusters(
    sums: Floats,
    statistic: Statistic,
    scale: Scale,
    *,
    method: str,
    n_units: int,
    n_raters: int = 1,
    n_ratings: int | None = None,
    level: float = LEVEL,
    extras: dict[str, Any] | None = None,
) -> Estimate:
    """Any statistic of (C, k) sums as an Estimate; ``n_units`` is what was counted, before it was put into clusters.
    Extras: "n_clusters", and "interval", the method, where there is one; "cut" where it ends with the scale."""
    common: dict[str, Any] = {
        "method": method, "n_units": n_units, "n_raters": n_raters, "level": level, "resampled": CLUSTERS,
        "n_ratings": n_units if n_ratings is None else n_ratings,
        "extras": {**(extras or {}), "n_clusters": int(sums.shape[0])},
    }  # fmt: skip
    value = float(statistic(sums.sum(axis=0, keepdims=True))[0]) if n_units else float("nan")
    if not np.isfinite(value):
        return Estimate.undefined(reason="nothing_counted", **common)
    ends = cluster_ends(sums, statistic, scale, level)
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    common["extras"]["interval"] = "jackknife over clusters"
    if scale.is_cut(ends):
        common["extras"]["cut"] = True
    return Estimate.of(value, interval=ends, **common)


def mean(
    values: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    scale: Scale | None = None,
    level: float = LEVEL,
    method: str = "mean",
    n_raters: int = 1,
    n_units: int | None = None,
) -> Estimate:
    """Mean of the values (n,), each cluster counting by its number of values (or by the sum of their ``weights``).

    ``scale``: LOGIT for values from 0 to 1, SHARES_APART for differences of such, NOT_NEGATIVE for counts and costs, an
    identity with ``limits`` for points of a rating scale; None only for values without an end. ``n_units``: how many
    units the values are of, where one has several.

    >>> mean([1, 2, 3, 6], ["q1", "q1", "q2", "q3"]).value
    3.0
    """
    numbers = np.asarray(values, np.float64)
    mass = np.ones(numbers.shape) if weights is None else np.asarray(weights, np.float64)
    sums = cluster_sums(clusters, numbers * mass, mass)
    return estimate_by_clusters(
        sums, ratio, _with_span(scale, numbers), method=method, n_units=_units(n_units, numbers), n_raters=n_raters,
        n_ratings=int(numbers.size), level=level,
    )  # fmt: skip


def difference_of_means(
    values: npt.ArrayLike,
    first: npt.ArrayLike,
    clusters: npt.ArrayLike,
    *,
    scale: Scale | None = None,
    level: float = LEVEL,
    method: str = "difference of means",
    n_raters: int = 1,
) -> Estimate:
    """Mean of the values where ``first`` (n,) less their mean elsewhere. A cluster that has values of both is left out
    with both, so that what is paired stays paired: the difference is the statistic. ``scale`` as of ``mean``.

    >>> difference_of_means([1, 1, 0, 1], [True, True, False, False], ["q1", "q2", "q1", "q2"]).value
    0.5
    """
    numbers, one = np.asarray(values, np.float64), np.asarray(first, bool)
    sums = cluster_sums(clusters, numbers * one, one, numbers * ~one, ~one)
    extras = {"n_first": int(one.sum()), "n_second": int((~one).sum())}
    own = _with_span(scale, numbers)
    return estimate_by_clusters(
        sums, difference, own, method=method, n_units=int(numbers.size), n_raters=n_raters, level=level, extras=extras
    )


def _units(n_units: int | None, numbers: Floats) -> int:
    return int(numbers.size) if n_units is None else n_units


def _with_span(scale: Scale | None, numbers: Floats) -> Scale:
    """With the span of the numbers where the scale itself has no width."""
    own = scale or Scale("identity")
    if own.name != "identity" or own.width(0.0):
        return own
    return replace(own, span=float(np.abs(numbers).max()) if numbers.size else 0.0)
