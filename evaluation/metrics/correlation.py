"""Mean correlation between raters: the mean of Pearson's r, or Spearman's rho, over all pairs of raters.

Pairwise-complete: each pair is correlated over the units both rated. Left out, and counted in ``extras``: pairs that
share fewer than
``min_shared`` units ("n_pairs_too_few_shared") and pairs in which one side is constant there ("n_pairs_undefined").
"n_pairs" is what the mean is over. The mean is plain (no weights by shared units, not on Fisher's scale).
Interval: t interval on Fisher's z of the mean around the two-way jackknife (``intervals.py``).
Undefined: no ratings; one rater; no pair sharing enough units; a constant side in every pair.
Source: the inter-annotator columns of CAIRE's Table 14; Fisher, R. A. (1921) for z.
"""

from __future__ import annotations

from typing import Literal

from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate, Extra
from evaluation.metrics.intervals import Interval, Scale, undefined_estimate
from evaluation.metrics.pairs import pair_ends, pair_sizes
from evaluation.metrics.pearson import pearson_pairs
from evaluation.metrics.spearman import spearman_pairs

TWO_WAY = Interval()
MIN_SHARED = 3


def mean_pairwise_pearson(ratings: Ratings, *, min_shared: int = MIN_SHARED, interval: Interval = TWO_WAY) -> Estimate:
    """Mean Pearson's r over pairs of raters; needs interval-level scores. -1 to 1."""
    return _estimate("mean pairwise Pearson", "pearson", ratings, min_shared, interval)


def mean_pairwise_spearman(ratings: Ratings, *, min_shared: int = MIN_SHARED, interval: Interval = TWO_WAY) -> Estimate:
    """Mean Spearman's rho (mid-ranks for ties) over pairs of raters; needs ordinal codes. -1 to 1."""
    return _estimate("mean pairwise Spearman", "spearman", ratings, min_shared, interval)


def _estimate(
    method: str, kind: Literal["pearson", "spearman"], ratings: Ratings, min_shared: int, wanted: Interval
) -> Estimate:
    if min_shared < 2:
        raise ValueError(f"min_shared must be at least 2, got {min_shared}")
    if wanted.method == "bootstrap":
        raise ValueError("the mean pairwise correlation has a jackknife interval only, got method='bootstrap'")
    extras: dict[str, Extra] = {"min_shared": min_shared}
    if not ratings.n_ratings or ratings.n_raters_present < 2:
        reason = "too_few_raters" if ratings.n_ratings else "no_ratings"
        return undefined_estimate(reason, method, ratings, wanted, extras)
    of = pearson_pairs if kind == "pearson" else spearman_pairs
    pairs = of(ratings, min_shared, wanted.over != "none")
    extras["n_pairs"] = pairs.n_pairs
    extras["n_pairs_undefined"] = pairs.n_constant
    extras["n_pairs_too_few_shared"] = pairs.n_too_few_shared
    if not pairs.n_pairs:
        return undefined_estimate(
            "constant_ratings" if pairs.n_constant else "no_pairs", method, ratings, wanted, extras
        )
    sizes = pair_sizes(ratings, pairs, extras)
    ends = pair_ends(ratings, pairs, wanted, Scale("Fisher z"))
    return Estimate.of(
        pairs.mean,
        interval=None if isinstance(ends, str) else ends,
        interval_reason=ends if isinstance(ends, str) else None,
        method=method,
        **sizes,
        level=wanted.level,
        resampled=wanted.resampled,
        extras=extras,
    )
