"""One rater against the rest: Spearman's rho between a rater's codes and the mean of the others' codes.

    rho_j = Spearman(x_uj, (S_u - x_uj) / (n_u - 1))   over the units u that j and at least one other have rated

S_u and n_u are sum and number of the ratings of unit u, so the means come from one pass. Mid-ranks for ties. The mean
treats the codes as numbers, which an ordinal scale does not promise; the ranks only look at its order.
Interval: t interval on Fisher's z around the jackknife over units: it speaks of other units and the same people.
Undefined: no ratings by this rater; no unit shared with anybody, or fewer than ``MIN_SHARED``; either side constant.
Source: the leave-one-annotator-out ceiling of ValueGround's Table 4, for one annotator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evaluation.metrics.correlation import mean_pairwise_spearman
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate, Extra
from evaluation.metrics.intervals import Interval

OTHER_UNITS = Interval(over="units")
METHOD = "Spearman with the mean of the others"


def rater_against_others(ratings: Ratings, rater: int, *, interval: Interval = OTHER_UNITS) -> Estimate:
    """How one rater, numbered as in ``ratings``, agrees with the mean of the others. ``n_units`` are shared ones.

    >>> ratings = Ratings.from_matrix([[1, 1, 2], [2, 2, 2], [3, 4, 4], [4, 5, 5]])
    >>> round(rater_against_others(ratings, 0).value, 3)
    1.0
    """
    if not 0 <= rater < ratings.n_raters:
        raise ValueError(f"rater must lie in 0..{ratings.n_raters - 1}, got {rater}")
    if interval.over not in ("units", "none"):
        raise ValueError(f"only units are resampled here, got over={interval.over!r}")
    places = ratings.places_of(rater)
    mine = places[ratings.unit_counts[ratings.unit[places]] > 1]
    own, unit = ratings.value[mine], ratings.unit[mine]
    rest = (ratings.unit_sums[unit] - own) / (ratings.unit_counts[unit] - 1)
    place = np.arange(own.size)
    side = np.repeat([0, 1], own.size)
    pair = Ratings(np.tile(place, 2), side, np.concatenate([own, rest]), int(own.size), 2)
    estimate = mean_pairwise_spearman(pair, interval=interval)
    return replace(estimate, method=METHOD, n_raters=ratings.n_raters, n_ratings=int(own.size), missing_share=None)


def mean_rater_against_others(ratings: Ratings) -> Estimate:
    """The mean over raters of ``rater_against_others``. ``extras``: "least", "median", "most" and "sd" of the raters'
    own, and "n_annotators" that could be compared. Without an interval: `human_ceiling.py` has one, and takes its time.

    >>> ratings = Ratings.from_matrix([[1, 1, 2], [2, 2, 2], [3, 4, 4], [4, 5, 5]])
    >>> round(mean_rater_against_others(ratings).value, 3)  # 1, 1 and 0.949
    0.983
    """
    each = [rater_against_others(ratings, rater, interval=Interval(over="none")) for rater in range(ratings.n_raters)]
    values = np.array([estimate.value for estimate in each if estimate.value is not None])
    counted: dict[str, Any] = {
        "method": METHOD + ", averaged over raters", "n_units": ratings.n_units, "n_raters": ratings.n_raters,
        "n_ratings": ratings.n_ratings, "missing_share": ratings.missing_share,
    }  # fmt: skip
    if not values.size:
        reasons = [estimate.reason for estimate in each if estimate.reason]
        few = "too_few_raters" if ratings.n_ratings else "no_ratings"
        return Estimate.undefined(reason=few if ratings.n_raters < 2 else reasons[0], **counted)
    spread = float(values.std(ddof=1)) if values.size > 1 else None
    extras: dict[str, Extra] = {
        "least": float(values.min()), "median": float(np.median(values)), "most": float(values.max()), "sd": spread,
        "n_annotators": int(values.size),
        "n_units_not_pairable": int(np.count_nonzero(np.bincount(ratings.unit, minlength=ratings.n_units) < 2)),
    }  # fmt: skip
    compared = np.array([estimate.value is not None for estimate in each])
    shared = np.bincount(ratings.unit, minlength=ratings.n_units)[ratings.unit] > 1
    counted |= ratings.sizes_of(shared & compared[ratings.rater]).to_fields()
    return Estimate.of(float(values.mean()), interval_reason="not_asked", extras=extras, **counted)
