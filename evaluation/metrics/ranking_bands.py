"""Places of things that people rated or compared, each with the band that resampled raters leave open.

Three scores, the largest of which has place 1:

    mean            the mean of all values of the thing
    win share       wins / comparisons, half a win for a tie
    Bradley-Terry   log strength s, with P(a beats b) = 1 / (1 + exp(s_b - s_a)), by the iteration of Hunter (2004);
                    half a win is added to each pair that was compared, so that a thing that never lost has a strength

Strengths say nothing across groups of things that were never compared with each other, even through others: each such
group has strengths of its own, with mean 0, and places of its own. A draw in which a group falls apart is left out.

The band: raters are drawn with replacement, 1,000 times with a stored seed, with all their answers; the places between
the 2.5th and the 97.5th percentile. Where a draw leaves a thing without an answer it has no place in it. Equal scores
share the middle of their places. The band of a strength is made of the same draws.

Undefined: a thing without an answer. No band: fewer than three raters.
Source: Hunter, D. R. (2004), MM algorithms for generalized Bradley-Terry models. Annals of Statistics 32, 384-406.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.ranks import mid_ranks
from evaluation.metrics.resampling import LEVEL, MIN_CLUSTERS

DRAWS = 1000
ROUNDS = 200
_EPS = 1e-9
_FLAT = 1e-6

Score = Callable[[Floats], Floats]
"""From weights (n,) of the answers to the score (k,) of each thing, NaN where it has none."""


def mean_score(thing: Ints, value: Floats, n: int) -> Score:
    """The weighted mean of each of ``n`` things; ``thing`` and ``value`` (m,) of the answers.

    >>> mean_score(np.array([0, 0, 1]), np.array([1.0, 3.0, 5.0]), 2)(np.ones(3))
    array([2., 5.])
    """

    def score(weights: Floats) -> Floats:
        count = np.bincount(thing, weights, n)
        sums, none = np.bincount(thing, weights * value, n), np.full(n, np.nan)
        means: Floats = np.divide(sums, count, out=none, where=count > 0)
        return means

    return score


def win_score(first: Ints, second: Ints, won: Floats, n: int) -> Score:
    """The share of comparisons that each of ``n`` things won; ``won`` (m,) 1 where ``first`` did, 0, or 0.5.

    >>> win_score(np.array([0, 0]), np.array([1, 2]), np.array([1.0, 0.5]), 3)(np.ones(2))
    array([0.75, 0.  , 0.5 ])
    """
    both = np.concatenate([first, second])
    wins = np.concatenate([won, 1 - won])
    score = mean_score(both, wins, n)
    return lambda weights: score(np.concatenate([weights, weights]))


def compared_groups(first: Ints, second: Ints, n: int) -> Ints:
    """The group of each of ``n`` things (n,): two are in one if they were compared, or both with others of it.

    >>> compared_groups(np.array([0, 2]), np.array([1, 3]), 4)
    array([0, 0, 1, 1])
    """
    pairs = scipy.sparse.csr_matrix((np.ones(first.size), (first, second)), shape=(n, n))
    groups: Ints = scipy.sparse.csgraph.connected_components(pairs, directed=False)[1].astype(np.int64)
    return groups


def strength_score(first: Ints, second: Ints, won: Floats, n: int) -> Score:
    """Log strength of each of ``n`` things, by Bradley and Terry; the mean of those of a group is 0.

    >>> bool(np.all(np.diff(strength_score(np.array([0, 1]), np.array([1, 2]), np.ones(2), 3)(np.ones(2))) < 0))
    True
    """

    groups = compared_groups(first, second, n)

    def centred(strength: Floats, known: Bools) -> Floats:
        """What was not compared has the strength 1, and keeps it."""
        means = np.bincount(groups, np.log(strength)) / np.maximum(np.bincount(groups, known), 1)
        return np.where(known, strength / np.exp(means[groups]), 1.0)

    def score(weights: Floats) -> Floats:
        wins, games = np.zeros((n, n)), np.zeros((n, n))
        np.add.at(wins, (first, second), weights * won)
        np.add.at(wins, (second, first), weights * (1 - won))
        games = wins + wins.T
        played = games > 0
        wins, games = wins + played / 2, games + played
        compared: Bools = np.asarray(played.any(axis=1))
        strength = np.ones(n)
        for _round in range(ROUNDS):
            sums = np.where(played, games / (strength[:, None] + strength[None, :]), 0).sum(axis=1)
            new = np.divide(wins.sum(axis=1), sums, out=np.ones(n), where=compared)
            new = centred(new, compared)
            done = np.abs(np.log(new[compared]) - np.log(strength[compared])).max(initial=0) < _EPS
            strength = new
            if done:
                break
        used = weights > 0
        parts = compared_groups(first[used], second[used], n)
        of_group = np.unique(np.stack([groups[compared], parts[compared]]), axis=1)[0]
        apart = np.bincount(of_group, minlength=n) > 1
        return np.where(compared & ~apart[groups], np.log(strength), np.nan)

    return score


def places(scores: Floats, groups: Ints | None = None) -> Floats:
    """(k,) 1 for the largest, of each of the ``groups`` (k,); NaN where there is no score.

    >>> places(np.array([2.0, 5.0, 2.0, np.nan]))
    array([2.5, 1. , 2.5, nan])
    >>> places(np.array([2.0, 5.0, 2.0, 1.0]), np.array([0, 0, 1, 1]))
    array([2., 1., 1., 2.])
    """
    ranked, known = np.full(scores.shape, np.nan), np.isfinite(scores)
    for chosen in [known] if groups is None else [known & (groups == group) for group in np.unique(groups)]:
        ranked[chosen] = mid_ranks(-np.round(scores[chosen], 9))
    return ranked


@dataclass(frozen=True)
class RankedSizes:
    """What the score of each of k things rests on: ``units`` (k,) that were answered, ``raters`` (k,) who did, and
    ``answers`` (k,)."""

    units: Ints
    raters: Ints
    answers: Ints

    @classmethod
    def of(cls, thing: Ints, unit: npt.ArrayLike, rater: npt.ArrayLike, n: int) -> RankedSizes:
        """``thing``, ``unit`` and ``rater`` (m,) of the answers, of ``n`` things.

        >>> RankedSizes.of(np.array([0, 0, 0, 1]), [7, 7, 8, 9], ["a", "b", "a", "a"], 2)
        RankedSizes(units=array([2, 1]), raters=array([2, 1]), answers=array([3, 1]))
        """
        return cls(_distinct(thing, unit, n), _distinct(thing, rater, n), np.bincount(thing, minlength=n))


def _distinct(thing: Ints, label: npt.ArrayLike, n: int) -> Ints:
    """How many labels each of ``n`` things has (n,)."""
    number = np.unique(np.asarray(label), return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.stack([thing, number]), axis=1)
    return np.bincount(pairs[0], minlength=n)


@dataclass(frozen=True)
class RankedScores:
    """The scores of k things: ``whole`` (k,) of all answers, ``drawn`` (draws, k) of each draw of raters. ``groups``
    (k,): things of different ones have no order."""

    whole: Floats
    drawn: Floats
    sizes: RankedSizes
    seed: int
    level: float
    groups: Ints | None = None

    def places(self) -> list[Estimate]:
        """The place of each thing, with its band."""
        drawn = np.array([places(row, self.groups) for row in self.drawn]).reshape(self.drawn.shape)
        return self._estimates(places(self.whole, self.groups), drawn, "place", may_be_flat=True)

    def scores(self, method: str) -> list[Estimate]:
        """The score of each thing, with the band of the same draws; none where all draws give the same score."""
        return self._estimates(self.whole, self.drawn, method, may_be_flat=False)

    def _estimates(self, whole: Floats, drawn: Floats, method: str, *, may_be_flat: bool) -> list[Estimate]:
        extras = {"seed": self.seed, "draws": len(drawn)}
        common = {"method": method, "level": self.level, "resampled": "raters", "extras": extras}
        sizes = zip(self.sizes.units, self.sizes.raters, self.sizes.answers, strict=True)
        counts = ({"n_units": int(u), "n_raters": int(r), "n_ratings": int(n)} for u, r, n in sizes)
        return [
            _with_band(float(whole[k]), drawn[:, k], common | counted, may_be_flat=may_be_flat)
            for k, counted in enumerate(counts)
        ]


def draw_raters(
    score: Score, rater: npt.ArrayLike, sizes: RankedSizes, *, groups: Ints | None = None, seed: int = 0,
    draws: int = DRAWS, level: float = LEVEL,
) -> RankedScores:  # fmt: skip
    """``rater`` (m,) labels of who answered; ``sizes`` of k things; ``groups`` (k,) as of `compared_groups`."""
    labels, number = np.unique(np.asarray(rater), return_inverse=True)
    n, number = int(labels.size), number.reshape(-1)
    whole = score(np.ones(number.size)) if number.size else np.full(sizes.answers.shape, np.nan)
    rng = np.random.default_rng(seed)
    drawn = np.full((draws if n >= MIN_CLUSTERS else 0, sizes.answers.size), np.nan)
    first_row: dict[bytes, int] = {}  # of few raters the same ones are drawn again and again
    for at, row in enumerate(drawn):
        times = np.bincount(rng.integers(0, n, n), minlength=n).astype(np.float64)
        same = first_row.setdefault(times.tobytes(), at)
        row[:] = score(times[number]) if same == at else drawn[same]
    return RankedScores(whole, drawn, sizes, seed, level, groups)


def _with_band(value: float, drawn: Floats, common: dict[str, object], *, may_be_flat: bool) -> Estimate:
    if not np.isfinite(value):
        nothing = {"n_units": 0, "n_ratings": 0}
        return Estimate.undefined(reason="no_ratings", **common | nothing)  # type: ignore[arg-type]
    known, tail = drawn[np.isfinite(drawn)], 50 * (1 - float(common["level"]))  # type: ignore[arg-type]
    if known.size < 2:
        return Estimate.of(value, interval_reason="too_few_raters_for_interval", **common)  # type: ignore[arg-type]
    low, high = np.percentile(known, [tail, 100 - tail])
    if not may_be_flat and high - low < _FLAT:
        return Estimate.of(value, interval_reason="no_spread", **common)  # type: ignore[arg-type]
    ends = min(float(low), value), max(float(high), value)
    return Estimate.of(value, interval=ends, **common)  # type: ignore[arg-type]
