"""A share (accuracy, rate): how many of n units, as an Estimate.

Interval: Wilson's score interval, which keeps inside 0 to 1 and exists at both ends; where the units come in clusters
(the same question asked for thirteen countries, one concept in many pictures), the jackknife over clusters of
``resampling.py``, on the logit, since Wilson's would take them for independent. A share of 0 or 1 has no logit: then
Wilson's with the number of clusters for n. With one unit in each cluster a share has Wilson's interval, however it is
asked for.

    (p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

Undefined: no unit. No interval by clusters: fewer than three; all with the same share.
Source: Wilson, E. B. (1927), Probable inference, the law of succession, and statistical inference.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Ends
from evaluation.metrics.resampling import (
    LEVEL,
    LOGIT,
    MIN_CLUSTERS,
    Statistic,
    cluster_sums,
    estimate_by_clusters,
    ratio,
)


def wilson(count: float, n: int, level: float = 0.95) -> Ends:
    """Wilson's interval for ``count`` of ``n`` > 0.

    >>> [round(end, 4) for end in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if not 0 <= count <= n * (1 + 1e-12) or n < 1:
        raise ValueError(f"count must lie in 0..n and n be at least 1, got {count} of {n}")
    z = float(scipy.special.ndtri((1 + level) / 2))
    p, square = min(count / n, 1.0), z**2 / n
    middle = (p + square / 2) / (1 + square)
    half = z * float(np.sqrt(p * (1 - p) / n + square / (4 * n))) / (1 + square)
    return (0.0 if count <= 0 else middle - half), (1.0 if count >= n else middle + half)


def share_of(
    count: int,
    n: int,
    *,
    level: float = 0.95,
    method: str = "share",
    n_raters: int = 1,
    extras: dict[str, Any] | None = None,
) -> Estimate:
    """``count`` of ``n`` independent units; extras have "count"."""
    common: dict[str, Any] = {
        "method": method, "n_units": n, "n_raters": n_raters, "n_ratings": n, "level": level,
        "resampled": "units", "extras": {**(extras or {}), "count": count, "interval": "Wilson"},
    }  # fmt: skip
    if n == 0:
        return Estimate.undefined(reason="nothing_counted", **common)
    return Estimate.of(count / n, interval=wilson(count, n, level), **common)


def share(
    true: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    level: float = LEVEL,
    method: str = "share",
    n_raters: int = 1,
    n_units: int | None = None,
    extras: dict[str, Any] | None = None,
) -> Estimate:
    """The share of answers that are ``true`` (n,), 0 to 1. With ``clusters`` (n,) labels: by clusters. ``n_units``: how
    many units these are of, where one has several."""
    hits = np.asarray(true)
    if hits.dtype != np.bool_:
        if hits.size:
            raise ValueError(f"true must be an array of booleans, got {hits.dtype}")
        hits = np.zeros(0, bool)
    count, n = int(hits.sum()), int(hits.size)
    units = n if n_units is None else n_units
    if clusters is None:
        of_all = share_of(count, n, level=level, method=method, n_raters=n_raters, extras=extras)
        return replace(of_all, n_units=units)
    sums = cluster_sums(clusters, hits, np.ones(n))
    return share_of_sums(
        sums, level=level, method=method, n_units=units, n_raters=n_raters, n_ratings=n,
        extras={**(extras or {}), "count": count},
    )  # fmt: skip


def share_of_sums(sums: Floats, statistic: Statistic = ratio, **common: Any) -> Estimate:
    """A share, or a mean of shares, of the clusters' ``sums`` (C, k): first over second column, or another
    ``statistic`` between 0 and 1. ``common`` as of ``estimate_by_clusters``. "interval" in extras: how it was made."""
    estimate = estimate_by_clusters(sums, statistic, LOGIT, **common)
    if estimate.value is None:
        return estimate
    count = sums.shape[0]
    alone = statistic is ratio and bool((sums[:, 1] == 1).all())
    at_end = not 1e-12 < estimate.value < 1 - 1e-12
    if not alone and not (at_end and count >= MIN_CLUSTERS):
        return estimate
    low, high = wilson(round(estimate.value) * count if at_end else estimate.value * count, count, estimate.level)
    extras = {**estimate.extras, "interval": "Wilson" if alone else "Wilson, by clusters"}
    return replace(estimate, low=low, high=high, interval_reason=None, extras=extras)
