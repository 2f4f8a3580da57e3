"""Which of many models may be better than which, over the same things: paired permutation tests of every two of them,
with the same signs for all, so that thirty models cost one matrix product.

``contributions`` (n, k) are what each of n things adds to each of k models' value: 1 or 0 for right or wrong, so that
the mean is the accuracy; minus half the squared distance of standard scores, so that the mean is r - 1 (``closeness``).
For right and wrong, one thing a cluster, the test is McNemar's exact one, drawn instead of counted out.
More than MOST models are not tested: of that many pairs the least p that the draws can give is above 0.05 once Holm
has corrected it, whatever the models did. Nor are more than MOST_SUMS numbers, clusters times pairs, drawn for.
Undefined: a pair of models that have no thing in common is not tested; neither was shown to be better.
Source: ``paired_tests.py``, whose p values, Holm correction and bands these are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Floats
from evaluation.metrics.paired_tests import PERMUTATIONS, adjusted, rank_bands
from evaluation.metrics.ranks import mid_ranks
from evaluation.metrics.resampling import number_clusters

MOST = 32  # 32 x 31 / 2 / 10,001 = 0.0496
MOST_SUMS = 6_000_000
_BLOCK_NUMBERS = 4_000_000
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class ModelRanking:
    """``bands``: each model's best and worst place; ``p`` (k, k) corrected by Holm's method, NaN where not tested;
    ``n_permutations`` is 0 where too many were given, and all places are open."""

    bands: list[tuple[int, int]]
    p: Floats
    n_tests: int
    n_permutations: int


def closeness(scores: npt.ArrayLike, means: npt.ArrayLike, *, ranks: bool) -> Floats:
    """(n,) -(z_score - z_mean)^2 / 2, whose mean is r - 1 (rho - 1 with ``ranks``); NaN where there is no score. The
    scales are those of all things scored, and stay as they are when signs flip: the test is approximate in that.

    >>> 1 + closeness([1, 2, 3, 4], [1, 3, 2, 4], ranks=False).mean()
    np.float64(0.8)
    """
    score, mean = np.asarray(scores, np.float64), np.asarray(means, np.float64)
    closest: Floats = np.full(score.shape, np.nan)
    both = np.isfinite(score) & np.isfinite(mean)
    sides = [mid_ranks(one[both]) if ranks else one[both] for one in (score, mean)]
    spreads = [side.std() if side.size else 0.0 for side in sides]
    if min(spreads) > 0:
        first, second = ((side - side.mean()) / spread for side, spread in zip(sides, spreads, strict=True))
        closest[both] = -((first - second) ** 2) / 2
    return closest


def rank_models(
    contributions: npt.ArrayLike, clusters: npt.ArrayLike, *, seed: int = 0, permutations: int = PERMUTATIONS,
    level: float = 0.95,
) -> ModelRanking:  # fmt: skip
    """``clusters`` (n,) labels: signs flip for whole clusters. NaN where a model said nothing of a thing.

    >>> rank_models(np.column_stack([np.ones(40), np.zeros(40)]), np.arange(40)).bands
    [(1, 1), (2, 2)]
    """
    table = np.asarray(contributions, np.float64)
    k = table.shape[1]
    count, number = number_clusters(clusters)
    if k > MOST or count * k * (k - 1) // 2 > MOST_SUMS:
        return ModelRanking([(1, k)] * k, np.full((k, k), np.nan), 0, 0)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    sums, compared = np.zeros((count, len(pairs))), np.zeros(len(pairs), np.int64)
    for place, (i, j) in enumerate(pairs):
        change = table[:, i] - table[:, j]
        both = np.isfinite(change)
        compared[place] = both.sum()
        sums[:, place] = np.bincount(number[both], change[both], count)
    p = np.where(compared > 0, _p_values(sums, seed, permutations), np.nan)
    corrected, matrix = adjusted(p, "holm"), np.full((k, k), np.nan)
    better = np.zeros((k, k), bool)
    for place, (i, j) in enumerate(pairs):
        matrix[i, j] = matrix[j, i] = corrected[place]
        if corrected[place] <= 1 - level:
            better[(i, j) if sums[:, place].sum() > 0 else (j, i)] = True
    return ModelRanking(rank_bands(better), matrix, int(np.isfinite(p).sum()), permutations)


def _p_values(sums: Floats, seed: int, permutations: int) -> Floats:
    """(pairs,) share of sign patterns, the given one among them, whose absolute total is as large; ``sums`` (C, P)."""
    bound = np.abs(sums.sum(axis=0)) - _SAME * np.abs(sums).sum(axis=0)
    rng, hits = np.random.default_rng(seed), np.zeros(sums.shape[1], np.int64)
    step = max(1, _BLOCK_NUMBERS // max(*sums.shape, 1))
    for start in range(0, permutations, step):
        signs = 2.0 * rng.integers(0, 2, (min(step, permutations - start), sums.shape[0])) - 1
        hits += (np.abs(signs @ sums) >= bound).sum(axis=0)
    return np.asarray((1 + hits) / (1 + permutations))
