"""How well people agree with people, as a ceiling for a judge: each annotator against the mean of the others, Pearson
or Spearman, put into one number.

    "averaging"  the mean over annotators of each one's correlation with the mean of the others
    "pooling"    one correlation over all (annotator, unit) points, rating against the mean of the others

Which of the two a paper means is often not said; they differ where annotators differ in level or spread.
Interval: t interval on Fisher's z around the two-way jackknife over units and annotators. Replicates are computed anew;
with more than ``MOST_RATINGS`` ratings those of single ratings are left out, which makes the variance too large rather
than too small (that of ratings is what is taken off).
Undefined: no ratings; one annotator; nobody shares ``MIN_POINTS`` units with the others; a constant side throughout.
Source: the human agreement of ValueGround's Table 4.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from evaluation.metrics.association import MIN_POINTS, NAMES, Kind, value_of
from evaluation.metrics.counts import Bools, Floats, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.jackknife import Replicates

TWO_WAY = Interval()
How = Literal["averaging", "pooling"]
MOST_RATINGS = 1_000


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
    single = np.full(ratings.n_ratings, value)
    if ratings.n_ratings <= MOST_RATINGS:
        for place, (unit, rater) in enumerate(zip(ratings.unit, ratings.rater, strict=True)):
            less = table.copy()
            less[unit, rater] = np.nan
            single[place] = _value(less, kind, how)[0]
    return Replicates(np.array([value]), np.array(units), np.array(people), single)
