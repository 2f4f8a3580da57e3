"""Whether a rater changes on the way: the second half of their answers against the first, each measured by the rest.

For each unit u that rater j and somebody else have rated, in the order in which j answered:

    ordered codes   y_u = x_uj - (S_u - x_uj) / (n_u - 1)          how far above the mean of the others, in scale points
    nominal codes   y_u = (others who gave x_uj) / (n_u - 1)       the share of the others who said the same

    drift_j = mean of y over the second half - mean of y over the first half

With an odd number of units the second half has one more. A drift of ordered codes says that the scale is used
differently later than earlier (up or down); one of nominal codes that agreement rose or fell. The mean treats codes as
numbers, which an ordinal scale does not promise.
Interval and p: Welch's t for the difference of two means, so they speak of other units and the same people. A page
shows many raters, so a rater is marked only by ``significant_drifts``, which corrects for their number.
Undefined: no ratings by this rater; fewer than ``MIN_HALF`` shared units in a half; the last of the first half and the
first of the second have the same time, as in a file without times. No interval and no p: all y of each half equal.
Sources: Welch (1947), The generalization of "Student's" problem; Benjamini & Hochberg (1995).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, TypeVar

import numpy as np
import scipy

from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale
from evaluation.metrics.paired_tests import adjusted

Key = TypeVar("Key", bound=Hashable)

MIN_HALF = 5
SHARES = Scale("identity", limits=(0.0, 1.0))
DEVIATION, SHARE = "drift of the deviation from the others' mean", "drift of the share who said the same"


def drift(ratings: Ratings, order: Ints, rater: int, *, nominal: bool = False, level: float = 0.95) -> Estimate:
    """Of one rater, numbered as in ``ratings``. ``order`` (n,): sorts the ratings in time.

    ``extras``: the mean of each half, how many units it has, and the two-sided ``p`` of no drift (None without one).

    >>> rows = [(u, 0, 3.0) for u in range(10)] + [(u, 1, 3.0 if u < 5 else 4.0) for u in range(10)]
    >>> drift(Ratings.from_labels(rows), np.arange(20), 1).value  # 0 above the other, then 1
    1.0
    """
    if order.shape != ratings.value.shape:
        raise ValueError(f"order must have one number for each rating, got {order.shape} for {ratings.value.shape}")
    measured, mine = _measured(ratings, rater, nominal)
    in_order = np.argsort(order[mine], kind="stable")
    y, times = measured[in_order], order[mine][in_order]
    half = y.size // 2
    first, second = y[:half], y[half:]
    method = SHARE if nominal else DEVIATION
    counted: dict[str, Any] = {
        "method": method,
        "n_units": int(y.size),
        "n_raters": ratings.n_raters,
        "n_ratings": int(y.size),
    }
    if not ratings.places_of(rater).size:
        return Estimate.undefined(reason="no_ratings", **counted)
    if half < MIN_HALF:
        return Estimate.undefined(reason="too_few_for_halves", **counted)
    if times[half - 1] == times[half]:
        return Estimate.undefined(reason="no_order_in_time", **counted)
    ends, p = _welch(first, second, level)
    return Estimate.of(
        float(second.mean() - first.mean()),
        interval=ends,
        interval_reason=None if ends else "no_spread",
        level=level,
        resampled="units" if ends else "nothing",
        extras={
            "first": float(first.mean()), "second": float(second.mean()), "n_first": half, "n_second": second.size,
            "p": p,
        },
        **counted,
    )  # fmt: skip


def significant_drifts(estimates: Mapping[Key, Estimate], q: float = 0.05) -> tuple[set[Key], int]:
    """The raters whose drift is significant after the correction of Benjamini and Hochberg, and how many were tested.

    ``estimates``: the drift of each rater of a page. A rater whose drift has no p is not tested. Among the marked, the
    expected share of raters without a drift is at most ``q``; if nobody drifts, anybody is marked with probability q.
    """
    tested = {key: estimate for key, estimate in estimates.items() if isinstance(estimate.extras.get("p"), float)}
    corrected = adjusted([float(estimate.extras["p"] or 0) for estimate in tested.values()], "benjamini-hochberg")
    return {key for key, value in zip(tested, corrected, strict=True) if value <= q}, len(tested)


def share_agreeing_with_others(ratings: Ratings, rater: int, *, level: float = 0.95) -> Estimate:
    """The share of the others who gave the same code, averaged over the units that somebody else rated too: what a
    correlation is for codes that have no order. t interval over units, cut at 0 and 1.

    >>> share_agreeing_with_others(Ratings.from_matrix([[1, 1, 2], [2, 2, 2]]), 0).value  # (1/2 + 2/2) / 2
    0.75
    """
    y, _mine = _measured(ratings, rater, nominal=True)
    method = "mean share of the others who gave the same code"
    counted: dict[str, Any] = {
        "method": method,
        "n_units": int(y.size),
        "n_raters": ratings.n_raters,
        "n_ratings": int(y.size),
    }
    if not y.size:
        reason = "no_pairable_units" if ratings.places_of(rater).size else "no_ratings"
        return Estimate.undefined(reason=reason, **counted)
    if y.size < 3:
        return Estimate.of(float(y.mean()), interval_reason="too_few_units_for_interval", **counted)
    error = float(y.std(ddof=1)) / np.sqrt(y.size)
    quantile = float(scipy.special.stdtrit(y.size - 1, (1 + level) / 2))
    ends = SHARES.interval(float(y.mean()), float(error), quantile)
    if ends is None:
        return Estimate.of(float(y.mean()), interval_reason="no_spread", **counted)
    return Estimate.of(float(y.mean()), interval=ends, level=level, resampled="units", **counted)


def _measured(ratings: Ratings, rater: int, nominal: bool) -> tuple[Floats, Ints]:
    """y of this rater's shared units, and the places of their ratings, in the order of the ratings."""
    if not 0 <= rater < ratings.n_raters:
        raise ValueError(f"rater must lie in 0..{ratings.n_raters - 1}, got {rater}")
    places, counts = ratings.places_of(rater), ratings.unit_counts
    mine = places[counts[ratings.unit[places]] > 1]
    own, unit = ratings.value[mine], ratings.unit[mine]
    if not nominal:
        return own - (ratings.unit_sums[unit] - own) / (counts[unit] - 1), mine
    return (ratings.same_counts[mine] - 1) / (counts[unit] - 1), mine


def _welch(first: Floats, second: Floats, level: float) -> tuple[tuple[float, float] | None, float | None]:
    """The interval of the second mean less the first, and the two-sided p of no difference."""
    parts = [(float(half.var(ddof=1)) / half.size, half.size) for half in (first, second)]
    variance = sum(v for v, _n in parts)
    if variance <= 1e-24:
        return None, None
    freedom = variance**2 / sum(v**2 / (n - 1) for v, n in parts)
    step = float(scipy.special.stdtrit(freedom, (1 + level) / 2)) * variance**0.5
    middle = float(second.mean() - first.mean())
    return (middle - step, middle + step), float(2 * scipy.special.stdtr(freedom, -abs(middle) / variance**0.5))
