"""How a model's scores go together with people's, as CAIRE's Tables 2, 15, 16 and 17 have it.

One construction serves all of them. A table has rows and columns; in a cell stand the model's score and the people's
mean of the things in that cell; a row's Pearson r runs over its cells; a block's value is the mean r of its rows.

    reading              row                      columns    cell                             block
    image-wise           an image                 cohorts    one score, one mean of raters    prompt country, concept
    concept-averaged     a concept                cohorts    means over the concept's images  all concepts
    global-averaged      everything               cohorts    means over all images            everything
    per cohort           a cohort                 images     one score, one mean of raters    that cohort
    per annotator        one annotator            images     one score, one rating            a cohort

A thing's people's mean is over its raters first, so that no image counts more for having more raters. Only cells with
both sides count; a row with fewer than three such cells, or with a constant side, has no r: it is left out of the mean
and counted ("n_rows_few", "n_rows_constant"; "n_rows" is what the mean is over; "n_left_out" of "n_all" rows). Units,
raters and ratings of an estimate are those of the rows that are in the mean.
Interval: t interval on Fisher's z of the mean around the two-way delete-one jackknife (``intervals.py``) over units
(images; concepts where concepts are averaged) and raters, both only of the rows that are in the mean: what is left out
says nothing of the spread. Cohorts are never resampled: it speaks of these cohorts only.
Units: scores as they are, r from -1 to 1. Undefined: no rating with a score; no row with an r.
Source: Yayavaram et al. (2025), CAIRE, sections 4.2, D.1, D.3, D.4 (its formula is not printed; these are our
readings); METRICS.md for the intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Ends, Interval, Scale, jackknife_interval

TWO_WAY = Interval()
MIN_CELLS = 3
_ZERO = 1e-12


@dataclass(frozen=True, eq=False)
class RatedScores:
    """n ratings by people of things a model scored too: ``thing``, ``image``, ``cohort``, ``rater`` (n,) are numbers
    from 0; a thing is one image for one cohort. ``value`` (n,) is the rating, ``score`` (n,) the model's of that thing.
    """

    image: Ints
    cohort: Ints
    rater: Ints
    value: Floats
    score: Floats

    def __post_init__(self) -> None:
        sizes = {np.shape(getattr(self, name)) for name in ("image", "cohort", "rater", "value", "score")}
        if len(sizes) > 1 or len(next(iter(sizes))) != 1:
            raise ValueError(f"all arrays must be one-dimensional and of one length, got shapes {sorted(sizes)}")
        if not (np.isfinite(self.value).all() and np.isfinite(self.score).all()):
            raise ValueError("value and score must be finite; leave out what was not rated or not scored")

    def where(self, keep: Bools) -> RatedScores:
        names = ("image", "cohort", "rater", "value", "score")
        return RatedScores(**{name: getattr(self, name)[keep] for name in names})


@dataclass(frozen=True, eq=False)
class RatingLayout:
    """Which row and column each rating belongs to, which of the row's and column's things it speaks of, what a unit is
    and which block each row is in. All (n,) but ``block`` (rows,)."""

    row: Ints
    column: Ints
    thing: Ints
    unit: Ints
    block: Ints
    too_few: str = "too_few_points"  # why a row of fewer than three columns has no r


def image_wise(
    scored: RatedScores, block: npt.ArrayLike | None = None, *, interval: Interval = TWO_WAY
) -> list[Estimate]:
    """Mean over images of the r over the cohorts; one estimate for each block.

    ``block`` (n,): the rating's image's group, from 0 (its prompt country, its concept); none: all images together.
    """
    row = _number_labels(scored.image)
    return _estimates("image-wise Pearson", scored, _over_cohorts(scored, row, row, block), interval)


def concept_averaged(scored: RatedScores, concept: npt.ArrayLike, *, interval: Interval = TWO_WAY) -> Estimate:
    """Mean over concepts of the r, over the cohorts, of means over a concept's images; ``concept`` (n,) from 0.

    Resampled are concepts and raters: other concepts, other people.
    """
    row = _number_labels(np.asarray(concept, np.int64))
    [estimate] = _estimates("concept-averaged Pearson", scored, _over_cohorts(scored, row, row), interval)
    words = estimate.resampled.replace("units", "concepts")
    return replace(estimate, resampled=words)


def global_averaged(scored: RatedScores, *, interval: Interval = TWO_WAY) -> Estimate:
    """The r, over the cohorts, of means over all images: one correlation over as many points as there are cohorts."""
    row: Ints = np.zeros(scored.image.size, np.int64)
    [estimate] = _estimates("global-averaged Pearson", scored, _over_cohorts(scored, row, scored.image), interval)
    return estimate


def per_cohort(scored: RatedScores, *, interval: Interval = TWO_WAY) -> dict[int, Estimate]:
    """By cohort: the r over images of the model's scores with the people's means (Table 17's "With Average")."""
    if not scored.cohort.size:
        return {}
    cohorts, row = np.unique(scored.cohort, return_inverse=True)
    estimates = _estimates(
        "Pearson with the mean of the raters, over images",
        scored,
        _layout(scored, row.astype(np.int64), scored.image, scored.image, row),
        interval,
    )
    return dict(zip(cohorts.tolist(), estimates, strict=True))


@dataclass(frozen=True)
class RaterCorrelations:
    """How the r of a model with each single rater is spread; over the raters that have one."""

    mean: Estimate
    most: Estimate
    least: Estimate
    median: Estimate
    deviation: Estimate  # with n - 1, undefined for one rater


def per_annotator(scored: RatedScores, *, interval: Interval = TWO_WAY) -> dict[int, RaterCorrelations]:
    """By cohort: mean, largest, smallest, median and standard deviation of the model's r with each rater, over images.

    The mean has the interval above. The others have none: they hang on one or two raters ("not_smooth").
    """
    if not scored.cohort.size:
        return {}
    row = _number_labels(_combine_labels(scored.cohort, scored.rater))
    first = np.unique(row, return_index=True)[1]
    cohorts, of_row = np.unique(scored.cohort[first], return_inverse=True)
    table = _Table(scored, _layout(scored, row, scored.image, scored.image, of_row[row]))
    means, r = _of_blocks("mean Pearson with each rater", table, interval), table.r
    return {
        int(cohort): _rater_correlations(means[place], r[of_row == place])
        for place, cohort in enumerate(cohorts.tolist())
    }


def _rater_correlations(mean: Estimate, r: Floats) -> RaterCorrelations:
    known = r[np.isfinite(r)]

    def of(name: str, value: float | None) -> Estimate:
        method = f"{name} of the Pearson with each rater"
        if mean.value is None:
            return replace(mean, method=method)
        if value is None:
            gone = replace(mean, value=None, low=None, high=None, reason="too_few_raters", interval_reason="no_value")
            return replace(gone, method=method, n_raters=1)
        return replace(
            mean, value=value, low=None, high=None, interval_reason="not_smooth", method=method, resampled="nothing"
        )

    some = known.size > 0
    return RaterCorrelations(
        mean,
        of("largest", float(known.max()) if some else None),
        of("smallest", float(known.min()) if some else None),
        of("median", float(np.median(known)) if some else None),
        of("standard deviation", float(known.std(ddof=1)) if known.size > 1 else None),
    )


def _number_labels(labels: Ints) -> Ints:
    """(n,) each label's place among the distinct ones."""
    return _distinct(labels)[1]


def _distinct(labels: Ints) -> tuple[Ints, Ints]:
    """The distinct labels, and (n,) each one's place among them; by a lookup where they are small, by sorting else."""
    if labels.size and labels.min() >= 0 and labels.max() < 40 * labels.size:
        there = np.bincount(labels) > 0
        return np.flatnonzero(there), (np.cumsum(there, dtype=np.int64) - 1)[labels]
    found, place = np.unique(labels, return_inverse=True)
    return found, place.astype(np.int64)


def _over_cohorts(scored: RatedScores, row: Ints, unit: Ints, block: npt.ArrayLike | None = None) -> RatingLayout:
    return replace(_layout(scored, row, scored.cohort, unit, block), too_few="too_few_cohorts")


def _layout(
    scored: RatedScores, row: Ints, column: Ints, unit: Ints, block: npt.ArrayLike | None = None
) -> RatingLayout:
    """``block`` is given for each rating and kept for each row."""
    rows = int(row.max()) + 1 if row.size else 0
    of_row: Ints = np.zeros(rows, np.int64)
    if block is not None:
        of_row[row] = np.asarray(block, np.int64)
    width = int(scored.cohort.max()) + 1 if scored.cohort.size else 1
    return RatingLayout(row, column, scored.image * width + scored.cohort, unit, of_row)


def _estimates(method: str, scored: RatedScores, layout: RatingLayout, wanted: Interval) -> list[Estimate]:
    if not scored.image.size:
        return [Estimate.undefined(reason="no_ratings", method=method, level=wanted.level, resampled=wanted.resampled)]
    return _of_blocks(method, _Table(scored, layout), wanted)


def _of_blocks(method: str, table: _Table, wanted: Interval) -> list[Estimate]:
    if wanted.method == "bootstrap":
        raise ValueError("the correlation of a model with people has a jackknife interval only, got method='bootstrap'")
    asked = wanted.over != "none" and bool(np.isfinite(table.r).any())
    without = [table.without(part) for part in table.parts()] if asked else []
    blocks = int(table.layout.block.max()) + 1
    return [_estimate(method, table, without, block, wanted) for block in range(blocks)]


def _estimate(method: str, table: _Table, without: list[Changes], block: int, wanted: Interval) -> Estimate:
    mine = table.layout.block == block
    pairable = mine[table.layout.row]
    r = table.r[mine]
    known = np.isfinite(r)
    few = table.size[mine] < MIN_CELLS
    if known.any():  # what is left out is not counted
        pairable &= np.isfinite(table.r)[table.layout.row]
    common: dict[str, Any] = {
        "method": method, "level": wanted.level, "resampled": wanted.resampled,
        "n_units": int(np.unique(table.layout.unit[pairable]).size),
        "n_raters": int(np.unique(table.scored.rater[pairable]).size),
        "n_ratings": int(pairable.sum()),
        "extras": {"n_rows": int(known.sum()), "n_rows_constant": int((~known & ~few).sum()),
                   "n_rows_few": int(few.sum()), "n_left_out": int((~known).sum()), "n_all": int(known.size)},
    }  # fmt: skip
    if not known.any():
        reason = "no_ratings" if not pairable.any() else "constant_side" if not few.all() else table.layout.too_few
        return Estimate.undefined(reason=reason, **common)
    total, count = float(r[known].sum()), int(known.sum())
    ends: Ends | str = "not_asked"
    if without:
        parts = [part.of_block(block, total, count) for part in without]
        ends = jackknife_interval(total / count, parts[0], parts[1], parts[2], wanted, Scale("Fisher z"))
    if isinstance(ends, str):
        return Estimate.of(total / count, interval_reason=ends, **common)
    return Estimate.of(total / count, interval=ends, **common)


@dataclass(frozen=True, eq=False)
class Changes:
    """What leaving out one unit, rater or both does to a block's sum of r and to the number of rows that have one."""

    block: Ints
    total: Floats
    count: Floats

    def of_block(self, block: int, total: float, count: int) -> Floats:
        """(k,) the block's mean without each that has part in it; NaN where nothing would be left."""
        mine = self.block == block
        left = count + self.count[mine]
        return np.asarray(np.divide(total + self.total[mine], left, out=np.full(left.shape, np.nan), where=left > 0))


class _Table:
    """Cells and rows of a layout, and what they become without some of the ratings.

    A row's r is of moments over its cells, so leaving ratings out means taking the cells they are in out of the moments
    and putting them back changed: O(ratings) for all units, all raters and all pairs of them together.
    """

    def __init__(self, scored: RatedScores, layout: RatingLayout) -> None:
        self.scored, self.layout = scored, layout
        self.thing = _number_labels(_combine_labels(layout.row, layout.column, layout.thing))
        self.count = _sums(self.thing)
        self.sum = _sums(self.thing, scored.value)
        first = np.unique(self.thing, return_index=True)[1]
        self.score = scored.score[first]
        self.cell = _number_labels(_combine_labels(layout.row, layout.column)[first])  # of each thing
        self.row = layout.row[first][np.unique(self.cell, return_index=True)[1]]  # of each cell
        self.things = _sums(self.cell)  # in each cell
        self.x = _sums(self.cell, self.score)
        self.y = _sums(self.cell, self.sum / self.count)
        rows = layout.block.size
        self.size = _sums(self.row, size=rows)
        # moments are taken around the row's mean, which keeps their digits
        mid = np.maximum(self.size, 1)
        self.middle = (
            _sums(self.row, self.x / self.things, rows) / mid,
            _sums(self.row, self.y / self.things, rows) / mid,
        )
        self.part = self._cells(self.row, self.things, self.x, self.y)
        self.moments = np.stack([_sums(self.row, one, rows) for one in self.part])
        self.scale = self._scale()
        self.r = self._correlation(self.moments, np.arange(rows))

    def _scale(self) -> tuple[Floats, Floats]:
        """Mean squares of each row, against which a variance counts as none."""
        count = np.maximum(self.size, 1)
        return tuple(self.moments[k] / count + middle**2 for k, middle in ((3, self.middle[0]), (4, self.middle[1])))

    def _cells(self, row: Ints, things: Floats, x: Floats, y: Floats) -> Floats:
        """(6, k): 1, x, y, xx, yy, xy of cells given by their sums; zeros for a cell without things."""
        some = (things > 0.5).astype(np.float64)
        count = np.maximum(things, 1)
        a, b = some * (x / count - self.middle[0][row]), some * (y / count - self.middle[1][row])
        return np.stack([some, a, b, a * a, b * b, a * b])

    def _correlation(self, moments: Floats, row: Ints) -> Floats:
        n, a, b, aa, bb, ab = moments
        va, vb = n * aa - a * a, n * bb - b * b
        flat = [v <= _ZERO * n * n * scale[row] for v, scale in ((va, self.scale[0]), (vb, self.scale[1]))]
        defined = (n > MIN_CELLS - 0.5) & ~flat[0] & ~flat[1]
        spread = np.sqrt(np.where(defined, va, 1)) * np.sqrt(np.where(defined, vb, 1))
        r = np.divide(n * ab - a * b, spread, out=np.full(n.shape, np.nan), where=defined)
        return np.asarray(np.clip(r, -1, 1))

    def parts(self) -> list[Ints]:
        """(n,) numbers of units, raters, and pairs of both: what is left out once."""
        unit, rater = _number_labels(self.layout.unit), _number_labels(self.scored.rater)
        return [unit, rater, _number_labels(_combine_labels(unit, rater))]

    def without(self, part: Ints) -> Changes:
        """Every block's change when all ratings of one number of ``part`` (n,) are left out, for each number that has
        some in a row with an r."""
        width, finite = self.things.size, np.isfinite(self.r)[self.layout.row]
        keys, place = _distinct((part * max(self.count.size, 1) + self.thing)[finite])
        thing = keys % max(self.count.size, 1)
        gone, value = _sums(place), _sums(place, self.scored.value[finite])
        left = self.count[thing] - gone
        some = left > 0.5
        mean = self.sum[thing] / self.count[thing]
        after = np.divide(self.sum[thing] - value, left, out=np.zeros(left.shape), where=some)
        number = keys // max(self.count.size, 1)
        cells, at = _distinct(number * width + self.cell[thing])
        cell = cells % width
        things = self.things[cell] - _sums(at, ~some)
        x = self.x[cell] - _sums(at, np.where(some, 0, self.score[thing]))
        y = self.y[cell] - _sums(at, np.where(some, mean - after, mean))
        row = self.row[cell]
        change = self._cells(row, things, x, y) - self.part[:, cell]
        rows = self.layout.block.size
        touched, into = _distinct(cells // width * rows + row)
        moments = np.stack([_sums(into, one) for one in change])
        row = touched % rows
        before, now = self.r[row], self._correlation(self.moments[:, row] + moments, row)
        return self._by_block(touched // rows, row, before, now)

    def _by_block(self, number: Ints, row: Ints, before: Floats, now: Floats) -> Changes:
        blocks = int(self.layout.block.max()) + 1
        pairs, place = _distinct(number * blocks + self.layout.block[row])
        total = _sums(place, np.nan_to_num(now) - np.nan_to_num(before))
        count = _sums(place, np.isfinite(now).astype(float) - np.isfinite(before))
        return Changes(pairs % blocks, total, count)


def _sums(place: Ints, numbers: npt.ArrayLike | None = None, size: int = 0) -> Floats:
    """(size,) the sum of the numbers (1 each, without any) at each place."""
    return np.bincount(place, None if numbers is None else np.asarray(numbers, np.float64), size).astype(np.float64)


def _combine_labels(*parts: Ints) -> Ints:
    """(n,) one number for each combination."""
    codes: Ints = np.zeros(parts[0].size, np.int64)
    for part in parts:
        codes = codes * (int(part.max()) + 1 if part.size else 1) + part
    return codes
