"""The plain mean of several numbers of a table: over cultures, over cells that exist.

    mean = sum of the k defined values / k,   interval: mean -+ t(k - 1) s / sqrt(k), s their standard deviation

With a ``scale`` (``intervals.py``) the step is carried over to it by its derivative and back, so that an interval of
correlations, shares or alphas keeps inside what such a number can be.

So the cultures (or whatever was averaged) are taken as drawn from more of their kind, each as one value: what makes a
single value uncertain shows in how the values differ. Undefined values are left out and counted ("n_undefined").
"n_unreadable" is the sum of the single values' own, "worst" and "best" the means of theirs (``lave.py``).
Undefined: fewer than two are defined. No interval: fewer than three; no spread, all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale

SHARES, DIFFERENCES = Scale("logit"), Scale("identity", limits=(-1.0, 1.0))  # of shares, and differences of shares


def mean_over_countries(estimates: Sequence[Estimate], scale: Scale, *, level: float = 0.95) -> Estimate:
    """The plain mean of the countries' numbers, with the countries taken as drawn: ``mean_of``, under one name.

    ``scale`` is that of the numbers: ``SHARES``, ``DIFFERENCES``, or of their measure.
    """
    return mean_of(estimates, "countries", scale=scale, level=level)


def mean_of(estimates: Sequence[Estimate], of: str, *, scale: Scale | None = None, level: float = 0.95) -> Estimate:
    """``of`` names what was averaged and is taken as drawn: "countries", "concepts".

    ``n_units``, ``n_ratings`` are sums over the averaged numbers; ``n_raters`` the most in any, since the same people
    may stand behind several.

    >>> numbers = [Estimate.of(v, method="m", n_units=2, n_raters=1, n_ratings=2) for v in (0.2, 0.4)]
    >>> round(mean_of(numbers, "countries").value, 4)
    0.3
    """
    known = [estimate for estimate in estimates if estimate.value is not None]
    values = np.array([estimate.value for estimate in known], np.float64)
    common: dict[str, Any] = {
        "method": f"mean over {of}", "level": level, "resampled": of,
        "n_units": sum(estimate.n_units for estimate in known),
        "n_raters": max((estimate.n_raters for estimate in known), default=0),
        "n_ratings": sum(estimate.n_ratings for estimate in known),
        "extras": {"n_averaged": len(known), "n_undefined": len(estimates) - len(known),
                   "n_left_out": len(estimates) - len(known), "n_all": len(estimates)},
    }  # fmt: skip
    common["extras"] |= _unread(estimates)
    if len(known) < 2:
        return Estimate.undefined(reason="one_of_many" if estimates else "nothing_counted", **common)
    mean = float(values.mean())
    if values.size < 3:
        return Estimate.of(mean, interval_reason="too_few_clusters_for_interval", **common)
    quantile, error = (
        float(scipy.special.stdtrit(values.size - 1, (1 + level) / 2)),
        float(values.std(ddof=1)) / values.size**0.5,
    )
    scale = scale or Scale("identity", span=float(np.abs(values).max()))
    ends = scale.interval(mean, error, quantile)
    if ends is None:
        return Estimate.of(mean, interval_reason="no_spread", **common)
    if scale.is_whole(ends):
        return Estimate.of(mean, interval_reason="too_wide", **common)
    return Estimate.of(mean, interval=ends, **common)


def _unread(estimates: Sequence[Estimate]) -> dict[str, Any]:
    """The extras of values that know what they would be were all that is unreadable wrong, or right."""
    known = [estimate.extras for estimate in estimates if estimate.n_units or estimate.extras.get("best")]
    worst, best = ([x for each in known if isinstance(x := each.get(name), float)] for name in ("worst", "best"))
    if not known or len(worst) < len(known) or len(best) < len(known):
        return {}
    return {
        "n_unreadable": sum(int(estimate.extras.get("n_unreadable") or 0) for estimate in estimates),
        "worst": float(np.mean(worst)), "best": float(np.mean(best)),
    }  # fmt: skip
