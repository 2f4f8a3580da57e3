"""Two-way delete-one replicates of any statistic that is a function of sums over units, where what a unit contributes
depends on the mean of the ratings it was given.

    value = statistic(sum over rated units u of contribution(u, mean of u's ratings))

Without a unit its contribution goes; without a rating the unit contributes with the mean of the others (or not at all,
when it was the only one); without a rater this happens in each of the units the rater rated. So all replicates are
exact and cost as much as the ratings are many; nothing is computed anew.
Source of the variance: ``intervals.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.metrics.intervals import Ends, Interval, Scale, jackknife_interval

Contribution = Callable[[Ints, Floats], Floats]  # unit numbers (m,) and their means (m,) to (m, k)
Statistic = Callable[[Floats], Floats]  # (B, k) sums to (B,) values, NaN where undefined


@dataclass(frozen=True, eq=False)
class Means:
    """The mean rating of each rated unit, and of each unit without each of its ratings."""

    units: Ints  # (U,) the rated units' numbers
    mean: Floats  # (U,)
    raters: Ints  # (R,) the numbers of the raters that rated
    unit: Ints  # (n,) each rating's place in ``units``
    rater: Ints  # (n,) and in ``raters``
    without: Floats  # (n,) mean of its unit without it; meaningless where ``only``
    only: Bools  # (n,) it is its unit's only rating

    @classmethod
    def of(cls, ratings: Ratings) -> Means:
        units, unit = np.unique(ratings.unit, return_inverse=True)
        raters, rater = np.unique(ratings.rater, return_inverse=True)
        total, count = np.bincount(unit, ratings.value), np.bincount(unit)
        only = count[unit] == 1
        without = (total[unit] - ratings.value) / np.where(only, 1, count[unit] - 1)
        return cls(units, np.asarray(total / np.maximum(count, 1)), raters, unit, rater, without, only)


@dataclass(frozen=True, eq=False)
class Replicates:
    """Sums (1, k), (U, k), (R, k), (n, k), or values (1,), (U,), (R,), (n,): of everything, and without each unit,
    rater, rating."""

    whole: Floats
    units: Floats
    raters: Floats
    ratings: Floats

    def map(self, statistic: Statistic) -> Replicates:
        return Replicates(*(statistic(one) for one in (self.whole, self.units, self.raters, self.ratings)))

    def ends(self, wanted: Interval, scale: Scale) -> Ends | str:
        """The interval around values; or the code of the reason there is none."""
        if wanted.over == "none":
            return "not_asked"
        return jackknife_interval(float(self.whole[0]), self.units, self.raters, self.ratings, wanted, scale)


def leave_out(ratings: Ratings, contribution: Contribution) -> Replicates:
    """Sums of all k columns with each unit, rater and rating left out once."""
    means = Means.of(ratings)
    own = contribution(means.units, means.mean)
    rest = contribution(means.units[means.unit], means.without)
    change = np.where(means.only[:, None], 0, rest) - own[means.unit]
    whole = own.sum(axis=0, keepdims=True)
    columns = [np.bincount(means.rater, one, means.raters.size) for one in change.T]
    return Replicates(whole, whole - own, whole + np.stack(columns, axis=1), whole + change)
