"""The plain mean of several numbers of a table: over cultures, over cells that exist.

    mean = sum of the k defined values / k,   interval: mean -+ t(k - 1) s / sqrt(k), s their standard deviation

So the cultures (or whatever was averaged) are taken as drawn from more of their kind, each as one value: what makes a
single value uncertain shows in how the values differ. Undefined values are left out and counted
("n_undefined"). Undefined: no value is defined. No interval: fewer than three; all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from evaluation.metrics.estimate import Estimate


def mean_of(estimates: Sequence[Estimate], of: str, *, level: float = 0.95) -> Estimate:
    """``of`` names what was averaged and is taken as drawn: "cohorts", "concepts".

    ``n_units``, ``n_ratings`` are sums over the averaged numbers; ``n_raters`` the most in any, since the same people
    may stand behind several.

    >>> numbers = [Estimate.of(v, method="m", n_units=2, n_raters=1, n_ratings=2) for v in (0.2, 0.4)]
    >>> round(mean_of(numbers, "cohorts").value, 4)
    0.3
    """
    known = [one for one in estimates if one.value is not None]
    values = np.array([one.value for one in known], np.float64)
    common: dict[str, Any] = {
        "method": f"mean over {of}", "level": level, "resampled": of,
        "n_units": sum(one.n_units for one in known), "n_raters": max((one.n_raters for one in known), default=0),
        "n_ratings": sum(one.n_ratings for one in known),
        "extras": {"n_averaged": len(known), "n_undefined": len(estimates) - len(known)},
    }  # fmt: skip
    if not known:
        return Estimate.undefined(reason="nothing_counted", **common)
    mean = float(values.mean())
    if values.size < 3:
        return Estimate.of(mean, interval_reason="too_few_clusters_for_interval", **common)
    step = float(stats.t.ppf((1 + level) / 2, values.size - 1) * values.std(ddof=1) / np.sqrt(values.size))
    if step <= 1e-12:
        return Estimate.of(mean, interval_reason="no_spread", **common)
    return Estimate.of(mean, interval=(mean - step, mean + step), **common)
