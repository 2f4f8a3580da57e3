"""How well people agree with people, as a ceiling for a judge: each annotator against the mean of the others, Pearson
or Spearman, put into one number.

    "averaging"  the mean over annotators of each one's correlation with the mean of the others
    "pooling"    one correlation over all (annotator, unit) points, rating against the mean of the others

Which of the two a paper means is often not said; they differ where annotators differ in level or spread.
Interval: t interval on Fisher's z around the two-way jackknife over units and annotators, one method at all sizes.
Replicates are computed anew. Ratings are left out one at a time up to ``GROUPS`` of them; above that in as many groups
of nearly equal size, whose members are spread over units and annotators by a fixed shuffle (delete-a-group jackknife).
Undefined: no ratings; one annotator; nobody shares ``MIN_POINTS`` units with the others; a constant side throughout.
Sources: the human agreement of ValueGround's Table 4; Kott (2001), The delete-a-group jackknife.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from evaluation.metrics.association import MIN_POINTS, NAMES, Kind, value_of
from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.jackknife import Replicates

TWO_WAY = Interval()
How = Literal["averaging", "pooling"]
GROUPS = 1_000


def leave_one_annotator_out(
    ratings: Ratings, kind: Kind, how: How = "averaging", *, interval: Interval = TWO_WAY
) -> Estimate:
    """-1 to 1. Extras: "n_annotators" that could be compared, "how".

    >>> people = Ratings.from_matrix([[1, 1, 2], [2, 2, 2], [3, 4, 4], [4, 5, 5]])
    >>> round(leave_one_annotator_out(people, "spearman").value, 3)  # 1, 0.949 and 1
    0.983
    """
    if interval.method == "bootstrap":
        raise ValueError("this ceiling has a jackknife interval only, got method='bootstrap'")
    common: dict[str, Any] = {
        "method": f"{NAMES[kind]} with the mean of the others", "n_units": ratings.n_units,
        "n_raters": ratings.n_raters, "n_ratings": ratings.n_ratings, "level": interval.level,
        "resampled": interval.resampled, "missing_share": ratings.missing_share,
    }  # fmt: skip
    table = ratings.to_matrix()
    value, annotators = _value(table, kind, how)
    common["extras"] = {"how": how, "n_annotators": annotators}
    if not np.isfinite(value):
        return Estimate.undefined(reason=_reason(ratings, table), **common)
    size = np.bincount(ratings.unit, minlength=ratings.n_units)
    common["extras"]["n_units_not_pairable"] = int(np.count_nonzero(size < 2))
    common |= ratings.sizes_of(size[ratings.unit] > 1).to_fields()
    ends = _replicates(table, value, kind, how, ratings).ends(interval, Scale("Fisher z"))
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def _reason(ratings: Ratings, table: Floats) -> str:
    if not ratings.n_ratings:
        return "no_ratings"
    if np.unique(ratings.rater).size < 2:
        return "too_few_raters"
    there = (~np.isnan(table)).astype(np.int64)
    shared = (there.sum(axis=1) > 1).astype(np.int64) @ there
    return "constant_ratings" if shared.max() >= MIN_POINTS else "no_pairs"


def _value(table: Floats, kind: Kind, how: How) -> tuple[float, int]:
    """The number, NaN where undefined, and how many annotators are in it; ``table`` units x raters."""
    there: Bools = np.asarray(~np.isnan(table))
    count, total = there.sum(axis=1, keepdims=True), np.nansum(table, axis=1, keepdims=True)
    usable = there & (count > 1)
    rest = (total - table) / np.where(count > 1, count - 1, 1)
    if how == "pooling":
        points = int(usable.sum())
        value = value_of(table[usable], rest[usable], kind) if points >= MIN_POINTS else float("nan")
        return value, int(usable.any(axis=0).sum())
    columns = [column for column in range(table.shape[1]) if usable[:, column].sum() >= MIN_POINTS]
    each = [value_of(table[usable[:, c], c], rest[usable[:, c], c], kind) for c in columns]
    defined = [one for one in each if np.isfinite(one)]
    return (float(np.mean(defined)) if defined else float("nan")), len(defined)


def _replicates(table: Floats, value: float, kind: Kind, how: How, ratings: Ratings) -> Replicates:
    rated = np.unique(ratings.unit)
    raters = np.unique(ratings.rater)
    units = [_value(np.delete(table, unit, axis=0), kind, how)[0] for unit in rated]
    people = [_value(np.delete(table, rater, axis=1), kind, how)[0] for rater in raters]
    single = []
    for some in _groups(ratings.n_ratings):
        less = table.copy()
        less[ratings.unit[some], ratings.rater[some]] = np.nan
        single.append(_value(less, kind, how)[0])
    return Replicates(np.array([value]), np.array(units), np.array(people), np.array(single))


def _groups(n: int) -> list[Ints]:
    """The places 0..n-1 in at most GROUPS groups: each its own, or shuffled, always alike."""
    places: Ints = np.arange(n)
    if n > GROUPS:
        places = np.random.default_rng(0).permutation(n)
    return [np.asarray(some) for some in np.array_split(places, min(n, GROUPS))]
