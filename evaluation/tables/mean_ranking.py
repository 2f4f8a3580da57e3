"""Things that people rated, by the mean of their ratings: each with its place and what resampled raters leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale
from evaluation.metrics.ranking_bands import RankedSizes, draw_raters, mean_score
from evaluation.metrics.resampling import mean
from evaluation.queries.observations import Observations


@dataclass(frozen=True)
class RankedMean:
    """`place` 1 is the highest mean. The n of both are the items and the raters of the thing."""

    name: str
    place: Estimate
    mean: Estimate


def rank_by_mean(observed: Observations, names: Sequence[str], group: Ints, scale: Scale | None) -> list[RankedMean]:
    """In the order of `names` (k,). `group` (items,): which of these each item is of. Ratings without a number are left
    out; `scale`: that of the ratings."""
    observed = observed.where(np.isfinite(observed.value))
    rated = group[observed.item] if observed.n else np.zeros(0, np.int64)
    sizes = RankedSizes.of(rated, observed.item, observed.rater, len(names))
    ranked = draw_raters(mean_score(rated, observed.value, len(names)), observed.rater, sizes)
    means = (
        mean_of_thing(sizes, k, observed.value[rated == k], observed.rater[rated == k], scale, "mean")
        for k in range(len(names))
    )
    return [RankedMean(*row) for row in zip(names, ranked.places(), means, strict=True)]


def mean_of_thing(
    sizes: RankedSizes, k: int, values: Floats, raters: Ints, scale: Scale | None, method: str
) -> Estimate:
    """The mean of the k-th thing, whose raters are left out in turn. Its n are items and raters, not answers."""
    n_units, n_raters = int(sizes.units[k]), int(sizes.raters[k])
    estimate = mean(values, raters, scale=scale, method=method, n_units=n_units, n_raters=n_raters)
    few = estimate.interval_reason == "too_few_clusters_for_interval"
    reason = "too_few_raters_for_interval" if few else estimate.interval_reason
    return replace(estimate, resampled="raters", interval_reason=reason)
