"""How far several judges err together, and how many independent judges they are worth.

The error of judge j on unit u is its score less the mean of the m_u people who rated u: e_uj = y_uj - M_u. That mean
has noise of its own, which every judge's error shares. It is estimated from the people and taken off:

    s^2  = sum over u, i of (x_ui - M_u)^2 / sum over u of (m_u - 1)      within units with m_u >= 2
    v    = s^2 x mean over the judged units of 1 / m_u                    the variance of M_u
    r    = (mean covariance of two judges' errors - v) / (mean variance of a judge's errors - v)
    panel = k / (1 + (k - 1) r)

Covariances are over the units that both judges rated (pairwise complete). Judged units are those that a person and a
judge rated; only these count. Interval: two-way jackknife over units and people, s^2 computed anew without each, on
Fisher's z; the judges are these. The panel's interval is that of r, carried over.
Undefined: no unit that a judge and a person rated ("no_ratings"); no unit with two people ("no_pairable_units"); fewer
than two judges that share ``MIN_SHARED`` units ("no_pairs"); errors that vary no more than the people's noise
("judges_as_good_as_people"); for the panel r <= -1 / (k - 1) ("errors_cancel").
No interval, besides the usual reasons: r outside -1 to 1, where noise took off too much ("out_of_range").

Codes without an order have no mean: an error is then a code that differs from the people's commonest one, and the noise
cannot be taken off. ``mistake_correlation`` is an upper bound of r and ``least_panel`` a lower bound of the panel.
Sources: Kish (1965), Survey Sampling, the design effect 1 + (k - 1) r; Fuller (1987), Measurement Error Models.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluation.metrics.correlation import MIN_SHARED, mean_pairwise_pearson
from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate, Extra
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.jackknife import Replicates

TWO_WAY = Interval()
FISHER = Scale("Fisher z")
_ZERO = 1e-12  # a corrected variance of at most this share of the uncorrected one counts as none


def error_correlation(people: Ratings, judges: Ratings, *, interval: Interval = TWO_WAY) -> Estimate:
    """r, the mean correlation of two judges' errors without the people's noise; 1: they err alike, 0: independently.

    ``people`` and ``judges`` are of the same units, numbered alike; values are numbers of one scale. ``n_units`` are
    the judged units, ``n_raters`` and ``n_ratings`` the people behind their means and their ratings. Extras: "k"
    judges, "r_uncorrected", "noise_variance" (v), "n_judge_pairs". r may lie outside -1 to 1 by chance: it is kept.
    Raises ValueError for tables of different units and for a bootstrap interval.
    """
    if people.n_units != judges.n_units:
        raise ValueError(f"people and judges must be of the same units, got {people.n_units} and {judges.n_units}")
    if interval.method == "bootstrap":
        raise ValueError("the correlation of judges' errors has a jackknife interval only, got method='bootstrap'")
    errors = _Errors.of(people, judges)
    pairs = errors.pairs()
    common = errors.counted(interval, len(pairs))
    if (reason := errors.reason(len(pairs))) is not None:
        return Estimate.undefined(reason=reason, **common)
    together, own = (_mean_covariance(errors, some) for some in (pairs, errors.alone()))
    noise = errors.noise()
    shared, spread = together.whole[0] - noise.whole[0], own.whole[0] - noise.whole[0]
    common["extras"] |= {"noise_variance": float(noise.whole[0])}
    if own.whole[0] > 0:
        common["extras"]["r_uncorrected"] = float(together.whole[0] / own.whole[0])
    if spread <= _ZERO * own.whole[0]:
        return Estimate.undefined(reason="judges_as_good_as_people", **common)
    value = float(shared / spread)
    if abs(value) >= 1 - 1e-12 and interval.over != "none":
        return Estimate.of(value, interval_reason="out_of_range", **common)
    ends = _ratio(together, own, noise).ends(interval, FISHER)
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def effective_panel(people: Ratings, judges: Ratings, *, interval: Interval = TWO_WAY) -> Estimate:
    """How many judges with independent errors the k judges are worth: k / (1 + (k - 1) r), from ``error_correlation``.

    With r = 1 the panel is worth one judge, with r = 0 all k; errors that cancel each other (r < 0) make it worth more.
    """
    return _panel(error_correlation(people, judges, interval=interval), "effective number of judges")


def mistake_correlation(mistakes: Ratings, *, interval: Interval = TWO_WAY) -> Estimate:
    """Mean Pearson correlation of two judges' mistakes: an upper bound of how far they err together, since where the
    people's commonest code is wrong all judges seem to err.

    ``mistakes``: raters are judges, the value is 1 where a judge's code differs from the people's commonest one and 0
    where not. The interval is for other units and these judges. Extras: "k". Undefined: fewer than two judges; a judge
    that is always or never mistaken, in every pair.
    """
    wanted = interval if interval.over == "none" else replace(interval, over="units")
    estimate = mean_pairwise_pearson(mistakes, interval=wanted)
    k = int(np.unique(mistakes.rater).size)
    return replace(
        estimate, method="upper bound of the correlation of judges' errors", extras={**estimate.extras, "k": k}
    )


def least_panel(mistakes: Ratings, *, interval: Interval = TWO_WAY) -> Estimate:
    """The panel that ``mistake_correlation`` comes to: a lower bound of the effective number of judges."""
    return _panel(mistake_correlation(mistakes, interval=interval), "lower bound of the effective number of judges")


def _panel(r: Estimate, method: str) -> Estimate:
    if r.value is None:
        return replace(r, method=method)
    k = int(r.extras["k"] or 0)
    floor = -1 / (k - 1) + 1e-9
    extras: dict[str, Extra] = {**r.extras, "error_correlation": r.value}

    def worth(correlation: float) -> float:
        return k / (1 + (k - 1) * correlation)

    if r.value <= floor:
        empty = replace(r, value=None, low=None, high=None, reason="errors_cancel", interval_reason="no_value")
        return replace(empty, method=method, extras=extras)
    if r.low is None or r.high is None or r.low <= floor:
        why = r.interval_reason or "errors_may_cancel"
        return replace(r, value=worth(r.value), low=None, high=None, interval_reason=why, method=method, extras=extras)
    return replace(r, value=worth(r.value), low=worth(r.high), high=worth(r.low), method=method, extras=extras)


@dataclass(frozen=True, eq=False)
class _Errors:
    """The J judged units, k judges, R people and their n ratings; all numbered without gaps.

    Without a rating the people's mean moves by ``shift`` (n,), so that every judge's error there moves by -shift; where
    it was the ``only`` one (n,), the unit is gone.
    """

    score: Floats  # (J, k) the judges', NaN where there is none
    error: Floats  # (J, k)
    unit: Ints  # (n,)
    rater: Ints  # (n,)
    n_raters: int
    size: Floats  # (J,) people of each unit
    squares: Floats  # (J,) squared deviations of its ratings
    shift: Floats
    only: Bools
    lost_squares: Floats  # (n,) what leaves ``squares`` with the rating

    @classmethod
    def of(cls, people: Ratings, judges: Ratings) -> _Errors:
        numbers, judge = np.unique(judges.rater, return_inverse=True)
        score = np.full((judges.n_units, numbers.size), np.nan)
        score[judges.unit, judge] = judges.value
        rated = np.isfinite(score).any(axis=1) & (np.bincount(people.unit, minlength=people.n_units) > 0)
        keep = rated[people.unit]
        _units, unit = np.unique(people.unit[keep], return_inverse=True)
        raters, rater = np.unique(people.rater[keep], return_inverse=True)
        value = people.value[keep]
        size = np.bincount(unit, minlength=int(rated.sum())).astype(np.float64)
        mean: Floats = np.bincount(unit, value, size.size) / size
        away = value - mean[unit]
        m, only = size[unit], np.asarray(size[unit] == 1)
        rest = np.where(only, 1, m - 1)
        squares: Floats = np.bincount(unit, away**2, size.size).astype(np.float64)
        lost = np.where(only, 0, away**2 * m / rest)
        return cls(
            score[rated], score[rated] - mean[:, None], unit, rater, int(raters.size), size, squares,
            np.where(only, 0, -away / rest), only, lost,
        )  # fmt: skip

    @property
    def k(self) -> int:
        return int(self.error.shape[1])

    def shared(self, first: int, second: int) -> Bools:
        """(J,) both judges rated it."""
        return np.asarray(np.isfinite(self.error[:, first]) & np.isfinite(self.error[:, second]))

    def pairs(self) -> list[tuple[int, int]]:
        every = ((a, b) for a in range(self.k) for b in range(a + 1, self.k))
        return [pair for pair in every if self.shared(*pair).sum() >= MIN_SHARED]

    def alone(self) -> list[tuple[int, int]]:
        """Each judge that is in a pair, with itself."""
        return [(judge, judge) for judge in sorted({judge for pair in self.pairs() for judge in pair})]

    def counted(self, wanted: Interval, n_pairs: int) -> dict[str, Any]:
        n_units, n = int(self.size.size), int(self.unit.size)
        return {
            "method": "mean correlation of judges' errors", "n_units": n_units, "n_raters": self.n_raters,
            "n_ratings": n, "level": wanted.level, "resampled": wanted.resampled,
            "missing_share": 1 - n / (n_units * self.n_raters) if n else None,
            "extras": {"k": len(self.alone()), "n_judge_pairs": n_pairs},
        }  # fmt: skip

    def reason(self, n_pairs: int) -> str | None:
        if not self.size.size:
            return "no_ratings"
        if not n_pairs:
            return "no_pairs"
        return None if (self.size > 1).any() else "no_pairable_units"

    def noise(self) -> Replicates:
        """v: of everything, and without each unit, person and rating; NaN where it cannot be known."""
        m = self.size[self.unit]
        columns = np.stack([self.squares, self.size - 1, 1 / self.size, np.ones(self.size.size)], axis=1)
        gone: Floats = np.where(self.only, 1.0, 0.0)
        inverse = np.where(self.only, -1.0, 1 / np.where(self.only, 1, m - 1) - 1 / m)
        change = np.stack([-self.lost_squares, gone - 1, inverse, -gone], axis=1)
        return self.replicates(columns, change).map(_noise_of)

    def replicates(self, columns: Floats, change: Floats) -> Replicates:
        """Sums of (J, c) ``columns``, and without each unit, person, rating, where without a rating they change by
        ``change`` (n, c)."""
        whole = columns.sum(axis=0, keepdims=True)
        people = np.stack([np.bincount(self.rater, part, self.n_raters) for part in change.T], axis=1)
        return Replicates(whole, whole - columns, whole + people, whole + change)


def _noise_of(sums: Floats) -> Floats:
    """(B, 4) sums of squares, degrees of freedom, 1 / m and units to (B,) v."""
    squares, freedom, inverse, units = sums.T
    known = (freedom > 0.5) & (units > 0.5)
    v = squares / np.where(known, freedom, 1) * inverse / np.where(known, units, 1)
    return np.asarray(np.where(known, v, np.nan))


def _mean_covariance(errors: _Errors, pairs: list[tuple[int, int]]) -> Replicates:
    """The mean over pairs of judges (of a judge with itself: its variance), all replicates."""
    all_replicates = [errors.replicates(*sums).map(_covariance_of) for sums in _sums_of_pairs(errors, pairs)]
    return Replicates(
        *(
            _mean([getattr(replicates, part) for replicates in all_replicates])
            for part in ("whole", "units", "raters", "ratings")
        )
    )


def _mean(parts: list[Floats]) -> Floats:
    return np.asarray(sum(parts) / len(parts))


def _sums_of_pairs(errors: _Errors, pairs: list[tuple[int, int]]) -> Iterator[tuple[Floats, Floats]]:
    """For each pair, of each unit (J, 4): 1, x, y, xy where both judged it; and how they change without each rating.

    With both errors moved by -d: x y - d (x + y) + d^2.
    """
    for first, second in pairs:
        both = errors.shared(first, second)
        x, y = (np.where(both, errors.error[:, judge], 0) for judge in (first, second))
        columns = np.stack([both.astype(np.float64), x, y, x * y], axis=1)
        here, d = both[errors.unit], errors.shift
        a, b = x[errors.unit], y[errors.unit]
        moved = np.stack([np.zeros(d.size), -d, -d, d**2 - d * (a + b)], axis=1) * here[:, None]
        yield columns, np.where(errors.only[:, None], -columns[errors.unit], moved)


def _covariance_of(sums: Floats) -> Floats:
    """(B, 4) sums of 1, x, y, xy to (B,) covariances, NaN with fewer than two units."""
    n, x, y, xy = sums.T
    known = n > 1.5
    safe = np.where(known, n, 2)
    return np.asarray(np.where(known, (xy - x * y / safe) / (safe - 1), np.nan))


def _ratio(together: Replicates, own: Replicates, noise: Replicates) -> Replicates:
    def of(part: str) -> Floats:
        shared, spread, v = (getattr(replicates, part) for replicates in (together, own, noise))
        known = spread - v > _ZERO * spread
        return np.asarray(np.where(known, (shared - v) / np.where(known, spread - v, 1), np.nan))

    return Replicates(*(of(part) for part in ("whole", "units", "raters", "ratings")))
