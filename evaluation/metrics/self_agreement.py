"""Whether a rater says the same when asked again. Each repeat is a column of its own, as if another rater gave it.

    same in all = units whose repeats all have one code / units with at least two repeats

Beside it stands Krippendorff's alpha over the repeats, which takes away what the same would come to by chance: a model
that always says "4" is the same every time, and its alpha is not defined.
A repeat without a value (refused, not readable) is neither the same nor another answer: it is left out and counted
("n_unreadable"), and beside the share stand what it would be were each of them another answer ("worst") or the same one
("best"); both are over the units that were asked about twice, answered or not.
Interval: Wilson's of the share, over units; alpha's by the jackknife over units, since the repeats are all there are.
Undefined: no unit was answered twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.alpha import Level, alpha
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


def self_agreement(ratings: Ratings, level: Level, lost: npt.ArrayLike | None = None) -> SelfAgreement:
    """Units against repeats. `lost` (n_units,): how often each was asked about without a value.

    >>> said = [[1, 1, 1], [2, 2, 3], [4, np.nan, 4], [5, np.nan, np.nan]]
    >>> found = self_agreement(Ratings.from_matrix(said), "ordinal", [0, 0, 1, 2])
    >>> found.same.value, found.same.n_units, found.repeats
    (0.6666666666666666, 3, 3)
    >>> [found.same.extras[name] for name in ("n_unreadable", "worst", "best")]
    [3, 0.25, 0.75]
    """
    gone = np.zeros(ratings.n_units, np.int64) if lost is None else np.asarray(lost, np.int64)
    if gone.shape != (ratings.n_units,):
        raise ValueError(f"lost must have shape ({ratings.n_units},), one number for each unit, got {gone.shape}")
    least = np.full(ratings.n_units, np.inf)
    most = np.full(ratings.n_units, -np.inf)
    np.minimum.at(least, ratings.unit, ratings.value)
    np.maximum.at(most, ratings.unit, ratings.value)
    count = np.bincount(ratings.unit, minlength=ratings.n_units)
    twice, asked = count >= 2, count + gone >= 2
    same = int((twice & (least == most)).sum())
    repeats = ratings.n_raters
    n = int(asked.sum())
    extras = {
        "n_unreadable": int(gone.sum()),
        "worst": int((twice & (least == most) & (gone == 0)).sum()) / n if n else None,
        "best": int((asked & (least >= most)).sum()) / n if n else None,  # one answer, or none, is not two
    }
    share = share_of(
        same, int(twice.sum()), method="share of units with the same answer every time", n_raters=repeats, extras=extras
    )
    return SelfAgreement(share, alpha(ratings, level, interval=Interval(over="units")), repeats)
