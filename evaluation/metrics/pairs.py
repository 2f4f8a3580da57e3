"""What a mean over pairs of raters is made of, and how it changes when a unit, a rater or a rating is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.metrics.counts import Bools, Floats, Ints, Ratings, sorting
from evaluation.metrics.estimate import Extra
from evaluation.metrics.intervals import Ends, Interval, Scale, jackknife_interval

FEW_CODES = 16
_BLOCK_NUMBERS = 4_000_000
# for pairs of raters (P,) in units (B, P): the correlation without that unit, NaN where it is then undefined
Without = Callable[[Ints, Ints, Ints], Floats]


@dataclass(frozen=True, eq=False)
class PairSums:
    """Correlations of all pairs of R raters, and what leaving out single ratings does to their sum and number.

    ``r`` (R, R), symmetric, NaN on the diagonal and where the pair is undefined; ``enough`` (R, R): the pair shares
    at least
    ``min_shared`` units. ``unit_*`` (U,), ``rating_*`` (n,): the change of the sum over pairs, and of their number,
    without that unit, or rating.
    """

    r: Floats
    enough: Bools
    unit_sum: Floats
    unit_count: Floats
    rating_sum: Floats
    rating_count: Floats

    @property
    def n_pairs(self) -> int:
        return int(np.isfinite(self.r).sum()) // 2

    @property
    def n_constant(self) -> int:
        return int((self.enough & np.isnan(self.r)).sum()) // 2

    @property
    def n_too_few_shared(self) -> int:
        raters = self.r.shape[0]
        return int(raters * (raters - 1) - self.enough.sum()) // 2

    @property
    def mean(self) -> float:
        return float(np.nansum(self.r) / 2 / self.n_pairs)

    def without_units(self) -> Floats:
        return self._mean(np.nansum(self.r) / 2 + self.unit_sum, self.n_pairs + self.unit_count)

    def without_ratings(self) -> Floats:
        return self._mean(np.nansum(self.r) / 2 + self.rating_sum, self.n_pairs + self.rating_count)

    def without_raters(self) -> Floats:
        defined = np.isfinite(self.r)
        return self._mean(
            np.nansum(self.r) / 2 - np.nansum(self.r, axis=1), self.n_pairs - defined.sum(axis=1).astype(np.float64)
        )

    @staticmethod
    def _mean(total: Floats, count: Floats) -> Floats:
        mean: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return mean


def same_size_units(unit: Ints, n_units: int, room: int = 250_000) -> Iterator[tuple[Ints, Ints]]:
    """Units with the same number k >= 2 of ratings, in blocks of at most ``room`` pairs: unit numbers (B,), and the
    places of their ratings (B, k) in ``unit``."""
    order = sorting(unit, n_units)
    size = np.bincount(unit, minlength=n_units)
    start = np.cumsum(size) - size
    for k in np.unique(size[size >= 2]):
        units = np.flatnonzero(size == k)
        rows = max(1, room // int(k * (k - 1) // 2))
        for first in range(0, units.size, rows):
            block = units[first : first + rows]
            yield block, order[start[block][:, None] + np.arange(k)]


def deletion_changes(
    r: Floats, unit: Ints, rater: Ints, n_units: int, without: Without
) -> tuple[Floats, Floats, Floats, Floats]:
    """unit_sum, unit_count, rating_sum, rating_count of PairSums; ``without(first, second, block)`` gets the places
    of both ratings of each pair (B, P) and the units (B,)."""
    unit_sum, unit_count = np.zeros(n_units), np.zeros(n_units)
    rating_sum, rating_count = np.zeros(unit.size), np.zeros(unit.size)
    for block, places in same_size_units(unit, n_units):
        k = places.shape[1]
        i, j = np.triu_indices(k, 1)
        first, second = places[:, i], places[:, j]
        before = r[rater[first], rater[second]]
        after = without(first, second, block)
        defined = np.isfinite(before)
        gone = defined & ~np.isfinite(after)
        change = np.where(defined, np.where(gone, 0, after) - before, 0)
        unit_sum[block], unit_count[block] = change.sum(axis=1), -gone.sum(axis=1)
        rating_sum[places], rating_count[places] = _by_member(change, k), -_by_member(gone, k)
    return unit_sum, unit_count, rating_sum, rating_count


def tables_pay(ratings: Ratings, n_codes: int) -> bool:
    """Whether ``changes_by_tables`` is cheaper than going through each pair in each unit: with few codes and few gaps.

    Measured: about 0.1 ns for a unit and two cells of (rater, code), against 80 ns for a unit and a pair of raters.
    """
    side, size = ratings.n_raters * n_codes, np.bincount(ratings.unit, minlength=ratings.n_units)
    return n_codes <= FEW_CODES and side <= 8_000 and ratings.n_units * side**2 < 400 * float(size @ size)


def changes_by_tables(
    r: Floats, ratings: Ratings, code: Ints, without: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """What ``deletion_changes`` gives, where a deletion changes a pair's correlation by the two codes given alone.

    ``without`` (R, R, C, C): the correlation of raters i and j without a unit to which they gave codes a and b, NaN
    where it is then undefined. With E (U, R C) marking who gave which code, sums over partners are E @ changes.
    """
    raters, _raters, codes, _codes = without.shape
    defined = np.isfinite(r)[:, :, None, None]
    lost = defined & ~np.isfinite(without)
    change = np.where(defined, np.where(lost, 0, without) - r[:, :, None, None], 0)
    parts = [part.transpose(1, 3, 0, 2).reshape(raters * codes, -1) for part in (change, lost.astype(np.float64))]
    order = sorting(ratings.unit, ratings.n_units)
    begin = np.searchsorted(ratings.unit[order], np.arange(ratings.n_units + 1))
    sums = np.zeros((2, ratings.n_ratings))
    step = max(1, _BLOCK_NUMBERS // max(raters * codes, 1))
    for first in range(0, ratings.n_units, step):
        last = min(first + step, ratings.n_units)
        mine = order[begin[first] : begin[last]]
        row, column = ratings.unit[mine] - first, ratings.rater[mine] * codes + code[mine]
        indicator = np.zeros((last - first, raters * codes))
        indicator[row, column] = 1
        for place, part in enumerate(parts):
            if part.any():
                sums[place, mine] = (indicator @ part)[row, column]
    by_unit = [np.bincount(ratings.unit, one, ratings.n_units) / 2 for one in sums]
    return by_unit[0], -by_unit[1], sums[0], -sums[1]


def _by_member(pairs: Floats | Bools, k: int) -> Floats:
    """(B, k) from (B, P), pairs in the order of ``triu_indices(k, 1)``: for each member the sum over its pairs."""
    sums = np.zeros((pairs.shape[0], k))
    begin = 0
    for i in range(k - 1):
        own = pairs[:, begin : begin + k - 1 - i]
        sums[:, i] += own.sum(axis=1)
        sums[:, i + 1 :] += own
        begin += k - 1 - i
    return sums


def in_pairs(ratings: Ratings, pairs: PairSums) -> Bools:
    """(n,) which ratings a mean over pairs is made from: those of raters in at least one pair of the mean, on units
    that at least two such raters rated."""
    raters: Bools = np.asarray(np.isfinite(pairs.r).any(axis=1))
    of_pair = raters[ratings.rater]
    size = np.bincount(ratings.unit, weights=of_pair, minlength=ratings.n_units)
    return np.asarray(of_pair & (size[ratings.unit] >= 2))


def pair_sizes(ratings: Ratings, pairs: PairSums, extras: dict[str, Extra]) -> dict[str, Any]:
    """The fields of an Estimate that say what a mean over pairs rests on; what is left out goes into ``extras``."""
    size = np.bincount(ratings.unit, minlength=ratings.n_units)
    extras["n_units_not_pairable"] = int(np.count_nonzero(size < 2))
    sizes = ratings.sizes_of(in_pairs(ratings, pairs))
    extras["n_units_not_compared"] = int(np.count_nonzero(size >= 2)) - sizes.n_units
    return sizes.to_fields()


def pair_ends(ratings: Ratings, pairs: PairSums, wanted: Interval, scale: Scale) -> Ends | str:
    """The interval of a mean over pairs: from the raters in at least one pair of the mean, and the units and ratings
    that at least two of them share."""
    if wanted.over == "none":
        return "not_asked"
    used = in_pairs(ratings, pairs)
    return jackknife_interval(
        pairs.mean,
        pairs.without_units()[np.bincount(ratings.unit[used], minlength=ratings.n_units) > 0],
        pairs.without_raters()[np.isfinite(pairs.r).any(axis=1)],
        pairs.without_ratings()[used],
        wanted,
        scale,
    )
