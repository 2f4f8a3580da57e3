"""Pearson's r and Spearman's rho of two lists of numbers: accuracies of countries in two settings, two scores of each
picture.

Interval: Fisher's z, with standard error 1 / sqrt(n - 3) for r and sqrt((1 + rho^2 / 2) / (n - 3)) for rho; these take
the points for independent. Where they come in clusters (each model gives thirteen countries), whole clusters are drawn
(percentiles). Where one side is a mean over raters, use ``rater_means.py``, which knows that raters vary too.
A point that lacks one of its numbers (NaN) is left out and counted ("n_left_out").
Undefined: fewer than three points; a constant side. No interval: three points; |r| = 1.
Sources: Fisher, R. A. (1921); Bonett & Wright (2000), Sample size requirements for estimating Pearson, Kendall and
Spearman correlations.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Ends, Scale, draw_groups, percentile_interval
from evaluation.metrics.pearson import correlation_of_sums
from evaluation.metrics.resampling import CLUSTERS, DEFAULT, Resampling, number_clusters

Kind = Literal["pearson", "spearman"]
KINDS: tuple[Kind, ...] = ("pearson", "spearman")
NAMES: dict[Kind, str] = {"pearson": "Pearson's r", "spearman": "Spearman's rho"}
MIN_POINTS = 3


def correlation_of(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    kind: Kind,
    *,
    clusters: npt.ArrayLike | None = None,
    wanted: Resampling = DEFAULT,
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
        "method": NAMES[kind], "n_units": n, "n_raters": 2, "n_ratings": 2 * n, "level": wanted.level,
        "resampled": "units" if clusters is None else CLUSTERS, "extras": {"n_left_out": int(x.size) - n},
    }  # fmt: skip
    if n < MIN_POINTS:
        return Estimate.undefined(reason="too_few_points" if n else "nothing_counted", **common)
    value = value_of(x[both], y[both], kind)
    if not np.isfinite(value):
        return Estimate.undefined(reason="constant_side", **common)
    if clusters is None:
        ends = fisher_ends(value, n, kind, wanted.level)
    else:
        common["extras"] |= {"n_resamples": wanted.resamples, "seed": wanted.seed}
        ends = _drawn(x[both], y[both], kind, np.asarray(clusters)[both], wanted)
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
    ends = Scale("Fisher z").interval(value, error, float(stats.norm.ppf((1 + level) / 2)))
    return "no_spread" if ends is None else ends


def value_of(x: Floats, y: Floats, kind: Kind) -> float:
    """r or rho of two sides of three or more numbers, NaN where one is constant."""
    if kind == "spearman":
        x, y = 2 * stats.rankdata(x), 2 * stats.rankdata(y)  # whole numbers: exact sums
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


def _drawn(x: Floats, y: Floats, kind: Kind, clusters: npt.ArrayLike, wanted: Resampling) -> Ends | str:
    count, number = number_clusters(clusters)
    if count < 3:
        return "too_few_clusters_for_interval"
    drawn = draw_groups(np.random.default_rng(wanted.seed), wanted.resamples, count)[:, number].astype(np.int64)
    values = [value_of(np.repeat(x, row), np.repeat(y, row), kind) if row.sum() else np.nan for row in drawn]
    return percentile_interval(np.array(values), wanted.level)
