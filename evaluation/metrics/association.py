"""Pearson's r and Spearman's rho of two lists of numbers: accuracies of countries in two settings, two scores of each
picture.

Interval: Fisher's z, with standard error 1 / sqrt(n - 3) for r and sqrt((1 + rho^2 / 2) / (n - 3)) for rho; these take
the points for independent. Where they come in clusters (each model gives thirteen countries), the jackknife over
clusters (``resampling.py``) on Fisher's z. Where one side is a mean over raters, use ``rater_means.py``, which knows
that raters vary too.
A point that lacks one of its numbers (NaN) is left out and counted ("n_left_out").
Undefined: fewer than three points; a constant side. No interval: three points; |r| = 1; fewer than
three clusters; no correlation without one of them.
Sources: Fisher, R. A. (1921); Bonett & Wright (2000), Sample size requirements for estimating Pearson, Kendall and
Spearman correlations.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Ends, Scale
from evaluation.metrics.pearson import correlation_of_sums
from evaluation.metrics.ranks import mid_ranks
from evaluation.metrics.resampling import CLUSTERS, LEVEL, interval_without_each, number_clusters

Kind = Literal["pearson", "spearman"]
KINDS: tuple[Kind, ...] = ("pearson", "spearman")
NAMES: dict[Kind, str] = {"pearson": "Pearson's r", "spearman": "Spearman's rho"}
MIN_POINTS = 3
FISHER = Scale("Fisher z")


def correlation_of(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    kind: Kind,
    *,
    clusters: npt.ArrayLike | None = None,
    level: float = LEVEL,
) -> Estimate:
    """r or rho of ``first`` and ``second`` (n,), -1 to 1; ``n_units`` are the points that have both.

    >>> round(correlation_of([1, 2, 3, 4], [1, 3, 2, 4], "spearman").value, 12)  # 1 - 6 x 2 / (4 x 15)
    0.8
    """
    x, y = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"both sides must have the same length, got shapes {x.shape} and {y.shape}")
    both = np.isfinite(x) & np.isfinite(y)
    n = int(both.sum())
    common: dict[str, Any] = {
        "method": NAMES[kind], "n_units": n, "n_raters": 2, "n_ratings": 2 * n, "level": level,
        "resampled": "units" if clusters is None else CLUSTERS, "extras": {"n_left_out": int(x.size) - n},
    }  # fmt: skip
    if n < MIN_POINTS:
        return Estimate.undefined(reason="too_few_points" if n else "nothing_counted", **common)
    value = value_of(x[both], y[both], kind)
    if not np.isfinite(value):
        return Estimate.undefined(reason="constant_side", **common)
    if clusters is None:
        ends = fisher_ends(value, n, kind, level)
    else:
        count, number = number_clusters(np.asarray(clusters)[both])
        common["extras"]["n_clusters"] = count
        without = _without_each(x[both], y[both], kind, count, number)
        ends = interval_without_each(value, without, FISHER, level)
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def pearson_of(first: npt.ArrayLike, second: npt.ArrayLike, **given: Any) -> Estimate:
    return correlation_of(first, second, "pearson", **given)


def fisher_ends(value: float, n: int, kind: Kind, level: float) -> Ends | str:
    """Fisher's z interval for a correlation over n independent points."""
    if n <= MIN_POINTS:
        return "too_few_points_for_interval"
    spread = np.sqrt((1 + (value**2 / 2 if kind == "spearman" else 0)) / (n - 3))
    error = float((1 - value**2) * spread)  # the scale divides it by 1 - r^2 again
    ends = FISHER.interval(value, error, float(scipy.special.ndtri((1 + level) / 2)))
    return "no_spread" if ends is None else ends


def value_of(x: Floats, y: Floats, kind: Kind) -> float:
    """r or rho of two sides of three or more numbers, NaN where one is constant."""
    if kind == "spearman":
        x, y = 2 * mid_ranks(x), 2 * mid_ranks(y)  # whole numbers: exact sums
        return _pearson(x - x.size - 1, y - y.size - 1)
    return _pearson(centred(x), centred(y))


def _pearson(x: Floats, y: Floats) -> float:
    return float(correlation_of_columns(columns(x, y).sum(axis=0)[None])[0])


def centred(values: Floats) -> Floats:
    """Less their mean; zeros where they differ by rounding only."""
    spread = np.ptp(values) > 1e-12 * np.abs(values).max()
    return np.asarray(values - values.mean() if spread else np.zeros(values.shape))


def columns(x: Floats, y: Floats) -> Floats:
    """(n, 6): 1, x, y, x^2, y^2, xy."""
    return np.stack([np.ones(x.size), x, y, x * x, y * y, x * y], axis=1)


def correlation_of_columns(sums: Floats) -> Floats:
    """(B, 6) sums of 1, x, y, x^2, y^2, xy to (B,) Pearson's r, NaN where undefined."""
    n, x, y, xx, yy, xy = sums.T
    return correlation_of_sums(n, (x, y), (xx, yy), xy, (xx, yy), MIN_POINTS)


def _without_each(x: Floats, y: Floats, kind: Kind, count: int, number: Ints) -> Floats:
    """(count,) r or rho without the points of each cluster; ``number`` (n,) is each point's cluster. NaN where fewer
    than three points are left, or a constant side."""
    if kind == "pearson":
        parts = np.zeros((count, 6))
        np.add.at(parts, number, columns(centred(x), centred(y)))
        return correlation_of_columns(parts.sum(axis=0) - parts)
    kept = (number != cluster for cluster in range(count))
    return np.array([value_of(x[keep], y[keep], kind) if keep.sum() >= MIN_POINTS else np.nan for keep in kept])
