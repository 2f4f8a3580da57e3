"""Cluster bootstrap: clusters (questions, concepts, cohorts) are drawn with replacement, whole.

A statistic here is a function of sums over clusters (a share, a mean, a ratio, a difference of means), so all resamples
are one matrix product: weights (B, C), how often each cluster was drawn, times the sums of each cluster (C, k).
Interval: percentiles of the resamples. With one cluster for each unit it is the plain bootstrap over units.
Undefined: nothing to count; a denominator of 0. No interval: fewer than eight clusters, whose resamples keep between
the least and the largest of them and so miss too often; all resamples the same (the value is at the end of its scale,
or nothing varies between clusters); more than 5 % of the resamples without a value.
Source: Davison & Hinkley (1997), Bootstrap Methods and their Application, section 3.8.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Ends, draw_groups, percentile_interval

CLUSTERS = "clusters of units"
Statistic = Callable[[Floats], Floats]  # (B, k) sums to (B,) values, NaN where undefined
MIN_CLUSTERS = 8
_BLOCK_NUMBERS = 4_000_000


@dataclass(frozen=True)
class Resampling:
    """How often to draw, and from which seed; the seed is stored with the number."""

    seed: int = 0
    resamples: int = 1_000
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.resamples < 2:
            raise ValueError(f"resamples must be at least 2, got {self.resamples}")
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level!r}")


DEFAULT = Resampling()


def number_clusters(clusters: npt.ArrayLike) -> tuple[int, Ints]:
    """How many distinct labels there are, and the number of each one's (n,)."""
    labels, number = np.unique(np.asarray(clusters), return_inverse=True)
    return int(labels.size), number.astype(np.int64).reshape(-1)


def cluster_sums(clusters: npt.ArrayLike, *columns: npt.ArrayLike) -> Floats:
    """(C, k): the sum of each of the k columns (n,) within each of the C clusters; ``clusters`` (n,) are labels."""
    count, number = number_clusters(clusters)
    for column in columns:
        if np.shape(column) != number.shape:
            raise ValueError(
                f"columns must have shape {number.shape}, one number for each label, got {np.shape(column)}"
            )
    sums = [np.bincount(number, np.asarray(column, np.float64), count) for column in columns]
    return np.stack(sums, axis=1) if sums else np.zeros((count, 0))


def bootstrap(sums: Floats, statistic: Statistic, wanted: Resampling = DEFAULT) -> Floats:
    """(B,) values of the statistic over clusters drawn with replacement; ``sums`` (C, k)."""
    rng = np.random.default_rng(wanted.seed)
    step = max(1, _BLOCK_NUMBERS // max(sums.shape[0], 1))
    starts = range(0, wanted.resamples, step)
    drawn = (draw_groups(rng, min(step, wanted.resamples - first), sums.shape[0]) for first in starts)
    return np.concatenate([statistic(weights @ sums) for weights in drawn])


def bootstrap_ends(sums: Floats, statistic: Statistic, wanted: Resampling = DEFAULT) -> Ends | str:
    """The interval, or the code of the reason there is none."""
    if sums.shape[0] < MIN_CLUSTERS:
        return "too_few_clusters_to_draw"
    values = bootstrap(sums, statistic, wanted)
    ends = percentile_interval(values, wanted.level)
    if not isinstance(ends, str) and ends[1] - ends[0] <= 1e-12 * max(1.0, abs(ends[0])):
        return "no_spread"
    return ends


def ratio(sums: Floats) -> Floats:
    """First column over the second, NaN where that is 0."""
    values: Floats = np.divide(sums[:, 0], sums[:, 1], out=np.full(sums.shape[0], np.nan), where=sums[:, 1] != 0)
    return values


def difference(sums: Floats) -> Floats:
    """First over second column, less third over fourth."""
    return np.asarray(ratio(sums[:, :2]) - ratio(sums[:, 2:]))


def bootstrapped(
    sums: Floats,
    statistic: Statistic,
    wanted: Resampling = DEFAULT,
    *,
    method: str,
    n_units: int,
    n_raters: int = 1,
    n_ratings: int | None = None,
    extras: dict[str, Any] | None = None,
) -> Estimate:
    """Any statistic of (C, k) sums as an Estimate; ``n_units`` is what was counted, before it was put into clusters."""
    common: dict[str, Any] = {
        "method": method, "n_units": n_units, "n_raters": n_raters, "level": wanted.level, "resampled": CLUSTERS,
        "n_ratings": n_units if n_ratings is None else n_ratings,
        "extras": {**(extras or {}), "n_clusters": int(sums.shape[0]), "n_resamples": wanted.resamples,
                   "seed": wanted.seed},
    }  # fmt: skip
    value = float(statistic(sums.sum(axis=0, keepdims=True))[0]) if n_units else float("nan")
    if not np.isfinite(value):
        return Estimate.undefined(reason="nothing_counted", **common)
    ends = bootstrap_ends(sums, statistic, wanted)
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def mean(
    values: npt.ArrayLike,
    clusters: npt.ArrayLike,
    wanted: Resampling = DEFAULT,
    *,
    weights: npt.ArrayLike | None = None,
    method: str = "mean",
    n_raters: int = 1,
) -> Estimate:
    """Mean of the values (n,), each cluster counting by its number of values (or by the sum of their ``weights``).

    >>> mean([1, 2, 3, 6], ["q1", "q1", "q2", "q3"]).value
    3.0
    """
    numbers = np.asarray(values, np.float64)
    mass = np.ones(numbers.shape) if weights is None else np.asarray(weights, np.float64)
    sums = cluster_sums(clusters, numbers * mass, mass)
    return bootstrapped(sums, ratio, wanted, method=method, n_units=int(numbers.size), n_raters=n_raters)


def difference_of_means(
    values: npt.ArrayLike,
    first: npt.ArrayLike,
    clusters: npt.ArrayLike,
    wanted: Resampling = DEFAULT,
    *,
    method: str = "difference of means",
    n_raters: int = 1,
) -> Estimate:
    """Mean of the values where ``first`` (n,) less their mean elsewhere. A cluster that has values of both is drawn
    with both, so that what is paired stays paired.

    >>> difference_of_means([1, 1, 0, 1], [True, True, False, False], ["q1", "q2", "q1", "q2"]).value
    0.5
    """
    numbers, one = np.asarray(values, np.float64), np.asarray(first, bool)
    sums = cluster_sums(clusters, numbers * one, one, numbers * ~one, ~one)
    extras = {"n_first": int(one.sum()), "n_second": int((~one).sum())}
    return bootstrapped(
        sums, difference, wanted, method=method, n_units=int(numbers.size), n_raters=n_raters, extras=extras
    )
