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

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from evaluation.metrics.association import MIN_POINTS, NAMES, Kind
from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.jackknife import Replicates
from evaluation.metrics.ranks import mid_ranks

TWO_WAY = Interval()
How = Literal["averaging", "pooling"]
GROUPS = 1_000
_BLOCK_NUMBERS = 500_000


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
    value, annotators = _values(table[None], kind, how)
    return float(value[0]), int(annotators[0])


def _values(tables: Floats, kind: Kind, how: How) -> tuple[Floats, Ints]:
    """(B,) numbers of B tables (B, units, raters), and how many annotators are in each."""
    there: Bools = np.asarray(~np.isnan(tables))
    count, total = there.sum(axis=2, keepdims=True), np.nansum(tables, axis=2, keepdims=True)
    usable = there & (count > 1)
    rest = (total - tables) / np.where(count > 1, count - 1, 1)
    if how == "pooling":
        flat = (len(tables), -1)
        values = _correlations(tables.reshape(flat), rest.reshape(flat), usable.reshape(flat), kind)
        return values, np.asarray(usable.any(axis=1).sum(axis=1), np.int64)
    columns = range(tables.shape[2])
    each = np.array([_correlations(tables[:, :, c], rest[:, :, c], usable[:, :, c], kind) for c in columns])
    defined = np.isfinite(each)
    compared = defined.sum(axis=0)
    means = np.where(defined, each, 0).sum(axis=0) / np.maximum(compared, 1)
    return np.where(compared > 0, means, np.nan), np.asarray(compared, np.int64)


def _correlations(x: Floats, y: Floats, usable: Bools, kind: Kind) -> Floats:
    """(B,) r or rho of the ``usable`` points of each row (B, n), NaN with fewer than three or with a constant side."""
    n = usable.sum(axis=1)
    sides = [_ranked(one, usable, n) if kind == "spearman" else _centred(one, usable, n) for one in (x, y)]
    (sxx, syy), sxy = ((side**2).sum(axis=1) for side in sides), (sides[0] * sides[1]).sum(axis=1)
    defined = (n >= MIN_POINTS) & (sxx > 0) & (syy > 0)
    r = sxy / np.where(defined, np.sqrt(sxx) * np.sqrt(syy), 1)
    return np.asarray(np.where(defined, np.clip(r, -1, 1), np.nan))


def _ranked(values: Floats, usable: Bools, n: Ints) -> Floats:
    """Twice the mid-ranks among the usable values of each row, less their mean: whole numbers, so sums are exact."""
    ranks = 2 * mid_ranks(np.where(usable, values, np.inf))
    return np.asarray(np.where(usable, ranks - n[:, None] - 1, 0))


def _centred(values: Floats, usable: Bools, n: Ints) -> Floats:
    """Less the mean of each row's usable values; zeros where they differ by rounding only."""
    known = np.where(usable, values, 0)
    away = np.where(usable, known - known.sum(axis=1, keepdims=True) / np.maximum(n, 1)[:, None], 0)
    largest = np.abs(known).max(axis=1, initial=0)
    return np.asarray(away * (np.abs(away).max(axis=1, initial=0) > 1e-12 * largest)[:, None])


def _replicates(table: Floats, value: float, kind: Kind, how: How, ratings: Ratings) -> Replicates:
    rated, raters = np.unique(ratings.unit), np.unique(ratings.rater)
    groups = _groups(ratings.n_ratings)

    def of(count: int, leave_out: Callable[[Floats, int], None]) -> Floats:
        """(count,) the number of ``count`` copies of the table, each without something; in blocks."""
        step, blocks = max(1, _BLOCK_NUMBERS // max(table.size, 1)), []
        for first in range(0, count, step):
            copies = np.repeat(table[None], min(step, count - first), axis=0)
            for place, copy in enumerate(copies, start=first):
                leave_out(copy, place)
            blocks.append(_values(copies, kind, how)[0])
        return np.concatenate(blocks)

    def without_unit(copy: Floats, place: int) -> None:
        copy[rated[place]] = np.nan

    def without_rater(copy: Floats, place: int) -> None:
        copy[:, raters[place]] = np.nan

    def without_group(copy: Floats, place: int) -> None:
        copy[ratings.unit[groups[place]], ratings.rater[groups[place]]] = np.nan

    return Replicates(
        np.array([value]), of(rated.size, without_unit), of(raters.size, without_rater), of(len(groups), without_group)
    )


def _groups(n: int) -> list[Ints]:
    """The places 0..n-1 in at most GROUPS groups: each its own, or shuffled, always alike."""
    places: Ints = np.arange(n)
    if n > GROUPS:
        places = np.random.default_rng(0).permutation(n)
    return [np.asarray(some) for some in np.array_split(places, min(n, GROUPS))]
