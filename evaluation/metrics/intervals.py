"""Intervals from delete-one replicates (two-way jackknife) or from resamples (bootstrap)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from evaluation.metrics.counts import Floats, Ratings
from evaluation.metrics.estimate import Estimate, Extra

Over = Literal["units and raters", "units", "raters", "none"]
Ends = tuple[float, float]
_TOLERATED = 0.05  # share of resamples without a value above which a bootstrap interval is refused


@dataclass(frozen=True, eq=False)
class Interval:
    """Which interval is wanted.

    ``over``: the population it speaks of: other units and other raters (default), other units and the same raters,
    the same units and other raters. ``method``: "jackknife" (deterministic) or "bootstrap" (one of "units" or
    "raters"; needs ``rng``). By clusters of units: ``resampling.py``.
    """

    over: Over = "units and raters"
    method: Literal["jackknife", "bootstrap"] = "jackknife"
    level: float = 0.95
    resamples: int = 1_000
    rng: np.random.Generator | None = None

    def __post_init__(self) -> None:
        if self.over not in ("units and raters", "units", "raters", "none"):
            raise ValueError(f"over must be 'units and raters', 'units', 'raters' or 'none', got {self.over!r}")
        if self.method not in ("jackknife", "bootstrap"):
            raise ValueError(f"method must be 'jackknife' or 'bootstrap', got {self.method!r}")
        if not 0 < self.level < 1:
            raise ValueError(f"level must lie between 0 and 1, got {self.level!r}")
        if self.method == "bootstrap":
            if self.over not in ("units", "raters"):
                raise ValueError(f"a bootstrap resamples 'units' or 'raters', got over={self.over!r}")
            if self.rng is None:
                raise ValueError("a bootstrap needs rng, a numpy Generator whose seed is stored with the number")
            if self.resamples < 2:
                raise ValueError(f"resamples must be at least 2, got {self.resamples}")

    @property
    def resampled(self) -> str:
        """What stands beside the number."""
        return "nothing" if self.over == "none" else self.over


WHOLE_SCALE = -1.0
_WIDTHS = {"log(1 - x)": 2.0, "logit": 1.0, "Fisher z": 2.0}  # from the least to the largest value
_SPREAD = 1e-12  # a variance of at most this share of the squared width counts as none


@dataclass(frozen=True)
class Scale:
    """A transform under which the estimate is nearer to normal, by its derivative and inverse.

    "log(1 - x)" for agreement beyond chance, "logit" for shares and means of numbers from 0 to 1, "Fisher z" for
    correlations, "log" for ratios above 0, "identity" for means of scores and for differences. An identity has
    ``limits``, where the interval is cut (-1 and 1 for differences of shares, 0 for costs), or the ``span`` of the
    numbers averaged, or both where a limit is infinite.
    """

    name: Literal["log(1 - x)", "logit", "Fisher z", "log", "identity"]
    limits: Ends | None = None
    span: float = 0.0

    @property
    def endless(self) -> bool:
        """Downwards: as agreement is, of which an interval that goes below WHOLE_SCALE says nothing."""
        return self.name == "log(1 - x)"

    def is_whole(self, ends: Ends) -> bool:
        """Whether an interval says nothing: it was cut at both ends of the scale, or goes below WHOLE_SCALE."""
        return ends == self.limits or (self.endless and ends[0] < WHOLE_SCALE)

    def is_cut(self, ends: Ends) -> bool:
        """Whether an interval ends where the scale does, beyond which it would have gone."""
        return self.limits is not None and any(end == limit for end, limit in zip(ends, self.limits, strict=True))

    def width(self, value: float) -> float:
        """Of the scale: what a variance is compared with. A ratio is compared with itself."""
        if self.name == "log":
            return abs(value)
        if self.limits is not None and np.isfinite(self.limits).all():
            return self.limits[1] - self.limits[0]
        return _WIDTHS.get(self.name, self.span)

    def interval(self, value: float, error: float, quantile: float) -> Ends | None:
        """value -+ quantile standard errors on the transformed scale, back on the value's own; None without spread:
        error^2 of at most 1e-12 of the squared width, or a value at the end of the scale.

        The standard error is carried over by the derivative (delta method), so a replicate at the end of the scale
        does no harm.
        """
        step = quantile * error
        if error**2 <= _SPREAD * self.width(value) ** 2:
            return None
        if self.name == "identity":
            low, high = self.limits or (-np.inf, np.inf)
            return float(max(value - step, low)), float(min(value + step, high))
        if self.name == "log":
            if value <= 0:
                return None
            stretch = np.exp(min(step / value, 300.0))
            return float(value / stretch), float(value * stretch)
        if self.name == "log(1 - x)":
            rest = 1 - value
            if rest <= 1e-12:
                return None
            stretch = np.exp(min(step / rest, 700.0))
            return float(1 - rest * stretch), float(1 - rest / stretch)
        if self.name == "logit":
            if not 1e-12 < value < 1 - 1e-12:
                return None
            centre, step = np.log(value / (1 - value)), step / (value * (1 - value))
            return float(_expit(centre - step)), float(_expit(centre + step))
        if abs(value) >= 1 - 1e-12:
            return None
        centre, step = np.arctanh(value), step / (1 - value**2)
        return float(np.tanh(centre - step)), float(np.tanh(centre + step))


def _expit(x: float) -> float:
    return float(0.5 * (1 + np.tanh(x / 2)))


def jackknife_variance(replicates: Floats) -> float:
    """(k - 1) / k times the squared deviations of k delete-one replicates from their mean (Efron & Stein 1981)."""
    return float((replicates.size - 1) / replicates.size * np.sum((replicates - replicates.mean()) ** 2))


def jackknife_interval(
    value: float, units: Floats, raters: Floats, ratings: Floats, wanted: Interval, scale: Scale
) -> Ends | str:
    """Interval from the replicates without each unit, each rater and each rating; or the code of the reason there is
    none.

    Two-way variance: V = V_units + V_raters - V_ratings, since the spread of single ratings is in both of the first two
    (Cameron, Gelbach & Miller 2011; Owen 2007), floored at max(V_units, V_raters). t quantile with the degrees of
    freedom V^2 / (V_units^2 / (#units - 1) + V_raters^2 / (#raters - 1)) (Satterthwaite 1946), at least those of the
    scarcer side: few raters make it wide where the spread between raters is what the value hangs on. One-way: that
    side's V and count - 1.
    """
    if "raters" in wanted.over and raters.size < 3:
        return "too_few_raters_for_interval"
    if "units" in wanted.over and units.size < 3:
        return "too_few_units_for_interval"
    used = [part for name, part in (("units", units), ("raters", raters)) if name in wanted.over]
    if not all(np.isfinite(part).all() for part in used):
        return "unstable"
    variances = [jackknife_variance(part) for part in used]
    variance = max(variances)
    if len(used) == 2:
        if not np.isfinite(ratings).all():
            return "unstable"
        variance = max(sum(variances) - jackknife_variance(ratings), variance)
    freedom = _freedom(variance, variances, [part.size - 1 for part in used])
    quantile = float(scipy.special.stdtrit(freedom, (1 + wanted.level) / 2))
    ends = scale.interval(value, float(np.sqrt(variance)), quantile)
    if ends is None:
        return "no_spread"
    return "too_wide" if scale.is_whole(ends) else ends


def _freedom(variance: float, parts: list[float], counts: list[int]) -> float:
    """Satterthwaite's degrees of freedom of a variance made of parts that are each known from so many."""
    spread = sum(part**2 / count for part, count in zip(parts, counts, strict=True))
    return max(variance**2 / spread, min(counts)) if spread > 0 else min(counts)


def percentile_interval(replicates: Floats, level: float) -> Ends | str:
    """Percentiles of the resamples that have a value; refused when more than 5 % have none."""
    defined = replicates[np.isfinite(replicates)]
    if defined.size < 2 or 1 - defined.size / replicates.size > _TOLERATED:
        return "unstable"
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resample_weights(wanted: Interval, count: int) -> Floats:
    """(resamples, count) how often each unit or rater is drawn, with replacement."""
    assert wanted.rng is not None
    drawn = np.empty((wanted.resamples, count))
    for row in drawn:
        row[:] = np.bincount(wanted.rng.integers(count, size=count), minlength=count)
    return drawn


def undefined_estimate(
    reason: str, method: str, ratings: Ratings, wanted: Interval, extras: Mapping[str, Extra]
) -> Estimate:
    """Of ratings without a value, with their sizes; ``wanted``: the interval it would have had."""
    return Estimate.undefined(
        reason=reason,
        method=method,
        n_units=ratings.n_units,
        n_raters=ratings.n_raters,
        n_ratings=ratings.n_ratings,
        level=wanted.level,
        resampled=wanted.resampled,
        missing_share=ratings.missing_share,
        extras=extras,
    )
