"""The mean over units of the mean over pairs of raters of how alike their answers are, with a two-way interval.

    value = mean over units u with a pair of  (sum of the scores of u's pairs) / (number of u's pairs)

For answers that have no code: boxes, sets, rankings. The score of a pair is anything from 0 to 1, or from -1 to 1.
Replicates are exact, from sums: without a unit its mean goes; without a rater each of the rater's units keeps the pairs
of the others, and goes where none is left; without a rating the same in one unit. Interval: ``intervals.py``, so it
speaks of other units and other raters.
Undefined: no answers; one rater; no unit with two answers; no pair of answers with a score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.metrics.counts import Floats, Ints, divide
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.jackknife import Replicates
from evaluation.metrics.pairs import same_size_units

TWO_WAY = Interval()
LOGIT = Scale("logit")


@dataclass(frozen=True, eq=False)
class Answers:
    """n answers, each by one rater to one unit, at most one for each of both: ``unit`` (n,) in 0..n_units-1, ``rater``
    (n,) in 0..n_raters-1."""

    unit: Ints
    rater: Ints
    n_units: int
    n_raters: int

    def pairs(self) -> tuple[Ints, Ints]:
        """(p,) and (p,): the places in 0..n-1 of both answers of every pair of answers to one unit."""
        parts = []
        for _units, places in same_size_units(self.unit, self.n_units):
            one, other = np.triu_indices(places.shape[1], 1)
            parts.append((places[:, one].ravel(), places[:, other].ravel()))
        if not parts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        return np.concatenate([one for one, _other in parts]), np.concatenate([other for _one, other in parts])


Score = Callable[[Ints, Ints], Floats]  # places of both answers of p pairs to their scores (p,), NaN where undefined


def mean_over_pairs(
    answers: Answers, score: Score, *, method: str, interval: Interval = TWO_WAY, scale: Scale = LOGIT
) -> Estimate:
    """``score`` takes the places (p,) and (p,) of both answers of every pair. A pair without a score (NaN) is left out.

    ``n_units`` are the units with a pair, ``n_raters`` and ``n_ratings`` their raters and answers. Extras: "n_pairs",
    "n_pairs_undefined" and "n_units_not_pairable", the units with an answer but without a pair.
    ``scale``: "logit" for scores from 0 to 1, "Fisher z" for -1 to 1. Raises ValueError for a bootstrap interval.
    """
    if interval.method == "bootstrap":
        raise ValueError("a mean over pairs has a jackknife interval only, got method='bootstrap'")
    first, second = answers.pairs()
    alike = np.asarray(score(first, second), np.float64) if first.size else np.zeros(0)
    defined = np.isfinite(alike)
    sums = _Sums.of(answers, first[defined], second[defined], alike[defined])
    n_units, n_raters, n_ratings = sums.sizes()
    common: dict[str, Any] = {
        "method": method, "n_units": n_units, "n_raters": n_raters, "n_ratings": n_ratings, "level": interval.level,
        "resampled": interval.resampled, "missing_share": 1 - n_ratings / (n_units * n_raters) if n_units else None,
        "extras": {"n_pairs": int(defined.sum()), "n_pairs_undefined": int((~defined).sum()),
                   "n_units_not_pairable": int(np.unique(answers.unit).size) - n_units},
    }  # fmt: skip
    if not n_units:
        return Estimate.undefined(reason=_reason(answers, first.size), **common)
    without = sums.replicates()
    ends = without.ends(interval, scale)
    value = float(without.whole[0])
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def _reason(answers: Answers, n_pairs: int) -> str:
    if not answers.unit.size:
        return "no_ratings"
    if np.unique(answers.rater).size < 2:
        return "too_few_raters"
    return "no_pairs" if n_pairs else "no_pairable_units"


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sum of scores and number of pairs, of each unit (U,) and of each answer in at least one pair (n,)."""

    unit_sum: Floats
    unit_pairs: Floats
    unit: Ints  # (n,) each answer's unit, renumbered
    rater: Ints  # (n,)
    n_raters: int
    own_sum: Floats
    own_pairs: Floats

    @classmethod
    def of(cls, answers: Answers, first: Ints, second: Ints, score: Floats) -> _Sums:
        n = answers.unit.size
        place, both = np.concatenate([first, second]), np.concatenate([score, score])
        own_sum: Floats = np.bincount(place, both, n).astype(np.float64)
        own_pairs: Floats = np.bincount(place, minlength=n).astype(np.float64)
        used = np.flatnonzero(own_pairs)
        units, unit = np.unique(answers.unit[used], return_inverse=True)
        raters, rater = np.unique(answers.rater[used], return_inverse=True)
        unit_sum, unit_pairs = (np.bincount(unit, one[used], units.size) / 2 for one in (own_sum, own_pairs))
        return cls(unit_sum, unit_pairs, unit, rater, int(raters.size), own_sum[used], own_pairs[used])

    def sizes(self) -> tuple[int, int, int]:
        """Units, raters and answers in at least one pair."""
        return int(self.unit_sum.size), self.n_raters, int(self.unit.size)

    def replicates(self) -> Replicates:
        mean: Floats = self.unit_sum / self.unit_pairs
        total, count = float(mean.sum()), float(mean.size)
        left = self.unit_pairs[self.unit] - self.own_pairs
        remains = left > 0
        rest = np.where(remains, (self.unit_sum[self.unit] - self.own_sum) / np.where(remains, left, 1), 0)
        change, lost = rest - mean[self.unit], (~remains).astype(np.float64)
        rater_change, rater_lost = (
            np.bincount(self.rater, part, self.n_raters).astype(np.float64) for part in (change, lost)
        )
        return Replicates(
            np.array([total / count]),
            divide(total - mean, np.full(mean.shape, count - 1.0)),
            divide(total + rater_change, count - rater_lost),
            divide(total + change, count - lost),
        )
