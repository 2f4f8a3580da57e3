"""Is one model better than another on the same items? Paired tests, corrections over a table, bands of ranks.

    McNemar      b, c: items only the first, only the second had right. Exact: X ~ Binomial(b + c, 1/2), two-sided;
                 chi-square: (b - c)^2 / (b + c), or (|b - c| - 1)^2 / (b + c) corrected, with 1 degree of freedom
    permutation  the sign of each item's difference, or of each cluster's, is as likely + as -; the statistic is the
                 absolute sum. All 2^C sign patterns where they are few, else drawn ones: p = (1 + hits) / (1 + drawn)
    Holm         p_(i) x (m - i + 1), made monotone: no false claim in the whole table with probability 1 - level
    Benjamini-Hochberg   p_(i) x m / i, made monotone: the expected share of false claims among the claims
    band         a model's best and worst place that no test rules out: 1 + how many are better than it, to
                 k - how many are worse

Each comparison is an Estimate of the difference; the p value stands in its extras ("p", None where there is no test).
Sources: McNemar (1947); Fisher (1935); Phipson & Smyth (2010) for the 1 + in p; Holm (1979); Benjamini & Hochberg
(1995); Bonett & Price (2012), Adjusted Wald confidence interval for a difference of binomial proportions based on
paired data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Bools, Floats
from evaluation.metrics.estimate import Estimate, Extra

McNemar = Literal["exact", "chi-square", "chi-square corrected"]
Correction = Literal["holm", "benjamini-hochberg"]
PERMUTATIONS = 10_000
_BLOCK_NUMBERS = 4_000_000
_SAME = 1e-9  # sums that differ by less than this share of the largest possible count as equal


def mcnemar(first: npt.ArrayLike, second: npt.ArrayLike, *, how: McNemar = "exact", level: float = 0.95) -> Estimate:
    """Accuracy of the first less that of the second, both booleans (n,) over the same items, taken for independent.

    Extras: "p", "only_first" (b), "only_second" (c). No item on which they differ: p = 1, whatever the test. Interval:
    Bonett & Price's, which exists at n = 1 too. Undefined: no item.

    >>> mcnemar([True] * 9 + [False], [True] * 3 + [False] * 6 + [True]).extras["p"]  # 2 (1 + 7) / 2^7
    0.125
    """
    first_right, other = np.asarray(first, bool), np.asarray(second, bool)
    if first_right.shape != other.shape:
        raise ValueError(f"both must say something of the same items, got shapes {first_right.shape} and {other.shape}")
    n, b, c = int(first_right.size), int((first_right & ~other).sum()), int((other & ~first_right).sum())
    common: dict[str, Any] = {
        "method": "difference of paired shares", "n_units": n, "n_raters": 2, "n_ratings": 2 * n, "level": level,
        "resampled": "units",
    }  # fmt: skip
    extras: dict[str, Extra] = {"only_first": b, "only_second": c, "test": f"McNemar, {how}"}
    if not n:
        return Estimate.undefined(reason="nothing_counted", extras={**extras, "p": None}, **common)
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = float(scipy.special.ndtri((1 + level) / 2)) * float(np.sqrt((p + q - (p - q) ** 2) / (n + 2)))
    ends = max(p - q - half, -1.0), min(p - q + half, 1.0)
    return Estimate.of((b - c) / n, interval=ends, extras={**extras, "p": _mcnemar_p(b, c, how)}, **common)


def _mcnemar_p(b: int, c: int, how: McNemar) -> float:
    if b + c == 0:
        return 1.0
    if how == "exact":
        return float(min(1.0, 2 * scipy.special.bdtr(float(min(b, c)), b + c, 0.5)))
    distance = abs(b - c) if how == "chi-square" else max(abs(b - c) - 1, 0)
    return float(scipy.special.chdtrc(1, distance**2 / (b + c)))


def permutation_p(sums: Floats, seed: int = 0, permutations: int = PERMUTATIONS) -> tuple[float, int, bool]:
    """Two-sided p of the absolute total of ``sums`` (C,) when each one's sign is a coin's; how many sign patterns were
    used; whether they were all."""
    moved = sums[sums != 0]  # what does not differ has no sign
    bound = abs(moved.sum()) - _SAME * np.abs(moved).sum()
    if not moved.size:
        return 1.0, 1, True
    if 2**moved.size <= permutations:
        every = np.arange(2**moved.size)[:, None] >> np.arange(moved.size) & 1
        return float(np.mean(np.abs((2.0 * every - 1) @ moved) >= bound)), len(every), True
    rng = np.random.default_rng(seed)
    hits, step = 0, max(1, _BLOCK_NUMBERS // moved.size)
    for start in range(0, permutations, step):
        signs = 2.0 * rng.integers(0, 2, (min(step, permutations - start), moved.size)) - 1
        hits += int((np.abs(signs @ moved) >= bound).sum())
    return (1 + hits) / (1 + permutations), permutations, False


def adjusted(p: Sequence[float | None] | Floats, how: Correction) -> Floats:
    """p values (m,) corrected for being m; a test that could not be made (None, NaN) stays NaN and does not count.

    >>> adjusted([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    p_values = np.array([np.nan if one is None else one for one in p], np.float64)
    if np.nanmin(p_values, initial=0) < 0 or np.nanmax(p_values, initial=0) > 1:
        raise ValueError("p values lie between 0 and 1")
    adjusted_values = np.full(p_values.shape, np.nan)
    tested = np.flatnonzero(np.isfinite(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    place, m = np.arange(1, order.size + 1), order.size
    if how == "holm":
        adjusted_values[order] = np.maximum.accumulate(p_values[order] * (m - place + 1))
    else:
        adjusted_values[order] = np.minimum.accumulate((p_values[order] * m / place)[::-1])[::-1]
    return np.asarray(np.minimum(adjusted_values, 1))


def rank_bands(better: npt.ArrayLike) -> list[tuple[int, int]]:
    """``better[i, j]`` (k, k): i was shown to be better than j. For each the best and the worst place it may have.

    >>> rank_bands([[False, True, True], [False, False, False], [False, False, False]])
    [(1, 1), (2, 3), (2, 3)]
    """
    beats: Bools = np.asarray(better, bool)
    if beats.ndim != 2 or beats.shape[0] != beats.shape[1] or (beats & beats.T).any():
        raise ValueError("better must be a square matrix in which nobody is better than one that is better than it")
    return [(1 + int(beats[:, i].sum()), len(beats) - int(beats[i].sum())) for i in range(len(beats))]
