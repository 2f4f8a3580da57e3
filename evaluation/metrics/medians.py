"""The median of raters' medians, with an interval from order statistics.

Answers of one rater hang together, so each rater counts once, by the median of their own values. The interval runs from
the j-th smallest to the j-th largest of the n raters' medians, with the largest j for which

    1 - 2 B(j - 1; n, 1/2) >= level

B is the binomial distribution function. It assumes nothing of the distribution. Fewer than six raters have no such
interval at 95 %. Undefined: no values.
Source: Conover (1999), Practical nonparametric statistics, 3.2.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.estimate import Estimate

LEVEL = 0.95


def median_of_raters(values: npt.ArrayLike, raters: npt.ArrayLike, *, level: float = LEVEL) -> Estimate:
    """(n,) values and (n,) raters to the median over raters of their own medians, in the unit of the values.

    NaN is left out. n_units and n_ratings are the number of values.
    """
    value, rater = np.asarray(values, np.float64), np.asarray(raters)
    if value.shape != rater.shape or value.ndim != 1:
        raise ValueError(f"values and raters must have one shape (n,), got {value.shape} and {rater.shape}")
    known = np.isfinite(value)
    value, rater = value[known], rater[known]
    each = np.sort([np.median(value[rater == one]) for one in np.unique(rater)])
    n = int(each.size)
    if not n:
        return Estimate.undefined(reason="nothing_counted", method="median", level=level)
    cut = _binomial_quantile((1 - level) / 2, n)
    ends = (float(each[cut - 1]), float(each[n - cut])) if cut else None
    return Estimate.of(
        float(np.median(each)),
        interval=ends,
        interval_reason=None if ends else "not_smooth",
        method="median",
        n_units=int(value.size),
        n_raters=n,
        n_ratings=int(value.size),
        level=level,
        resampled="raters",
    )


def _binomial_quantile(probability: float, n: int) -> int:
    """The least j with B(j) >= ``probability``, for n throws of a coin."""
    return int(np.searchsorted(scipy.special.bdtr(np.arange(n + 1.0), n, 0.5), probability))
