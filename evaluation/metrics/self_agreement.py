"""Whether a rater says the same when asked again. Each repeat is a column of its own, as if another rater gave it.

    same in all = units whose repeats all have one code / units with at least two repeats

Beside it stands Krippendorff's alpha over the repeats, which takes away what the same would come to by chance: a model
that always says "4" is the same every time, and its alpha is not defined.
Interval: Wilson's of the share, over units; alpha's by the jackknife over units, since the repeats are all there are.
Undefined: no unit was answered twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluation.metrics.agreement import Level, alpha
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.proportions import share_of


@dataclass(frozen=True)
class SelfAgreement:
    """`repeats`: how often it was asked at most."""

    same: Estimate
    alpha: Estimate
    repeats: int


def self_agreement(ratings: Ratings, level: Level) -> SelfAgreement:
    """Units against repeats.

    >>> said = [[1, 1, 1], [2, 2, 3], [4, np.nan, 4], [5, np.nan, np.nan]]
    >>> found = self_agreement(Ratings.from_matrix(said), "ordinal")
    >>> found.same.value, found.same.n_units, found.repeats
    (0.6666666666666666, 3, 3)
    """
    least = np.full(ratings.n_units, np.inf)
    most = np.full(ratings.n_units, -np.inf)
    np.minimum.at(least, ratings.unit, ratings.value)
    np.maximum.at(most, ratings.unit, ratings.value)
    twice = np.bincount(ratings.unit, minlength=ratings.n_units) >= 2
    same = int((twice & (least == most)).sum())
    repeats = int(np.unique(ratings.rater).size)
    share = share_of(same, int(twice.sum()), method="share of units with the same answer every time", n_raters=repeats)
    return SelfAgreement(share, alpha(ratings, level, interval=Interval(over="units")), repeats)
