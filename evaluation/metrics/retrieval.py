"""Ranked lists: are they right (precision, accuracy, NDCG), and whose are they (diversity, LBKL, DLBKL).

Everything takes the first k places of q queries as arrays (q, k), the best first, and gives one number for each query
(q,), NaN where it is undefined; what a report prints is their mean (``resampling.mean``). ``first_places`` cuts lists
to k and refuses a shorter one. Cultures, countries and languages are numbers from 0; -1 is "not known", and makes the
query's number undefined, since its share cannot be told.
Sources: Jarvelin & Kekalainen (2002) for NDCG; Bhatia et al. (2024), GlobalRG, equation 1 for diversity; Laosaengpha et
al. (2025) for LBKL; 3XCM, equations 1, 2 and 6-13 for DLBKL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Bools, Floats, Ints

EPSILON = 1e-9  # 3XCM, E.4, says "a small smoothing value"; with this one its Figure 8 comes out
Normaliser = Literal["ln_k", "ln_m"]
T = TypeVar("T")


def rank_order(scores: npt.ArrayLike, keys: Sequence[str]) -> Ints:
    """(n,) places in the order of their scores, the largest first; ties by key, so that nothing hangs on the file.

    >>> rank_order([0.2, 0.9, 0.2], ["b", "c", "a"])
    array([1, 2, 0])
    """
    ordered_scores = np.asarray(scores, np.float64)
    if ordered_scores.shape != (len(keys),):
        raise ValueError(f"scores must have shape ({len(keys)},), one for each key, got {ordered_scores.shape}")
    if np.isnan(ordered_scores).any():
        raise ValueError("a score must be a number, got NaN")
    return np.asarray(np.lexsort((np.asarray(keys, dtype=np.str_), -ordered_scores)), np.int64)


def first_places(lists: Sequence[Sequence[T]], k: int) -> list[Sequence[T]]:
    """The first k of every list. Raises ValueError for k < 1 and for a list shorter than k."""
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    for place, items in enumerate(lists):
        if len(items) < k:
            raise ValueError(f"list {place} has {len(items)} places, and k is {k}")
    return [ts[:k] for ts in lists]


def precision(hits: Bools) -> Floats:
    """Share of the k places (q, k) that are right. 0 to 1.

    >>> precision(np.array([[True, False, True, True, False]]))
    array([0.6])
    """
    return np.asarray(_places(hits).mean(axis=1), np.float64)


def accuracy(hits: Bools) -> Floats:
    """1 where any of the k places (q, k) is right, else 0.

    >>> accuracy(np.array([[False, True], [False, False]]))
    array([1., 0.])
    """
    return np.asarray(_places(hits).any(axis=1), np.float64)


def discounts(k: int) -> Floats:
    """(k,) 1 / log2(rank + 1): 1, 0.63, 0.5, ..."""
    return np.asarray(1 / np.log2(np.arange(2, k + 2)), np.float64)


def ndcg(gains: npt.ArrayLike, available: npt.ArrayLike | None = None) -> Floats:
    """DCG over that of the ideal list, DCG = sum over ranks of gain / log2(rank + 1). 0 to 1.

    ``gains`` (q, k); ``available`` (q, m): the gains of everything right for the query in any order, padded with zeros.
    The ideal list is the best k of them. Without ``available`` it is the list's own gains in the best order (what the
    authors of 3XCM compute: 1 as soon as what is right stands on top, however much was missed).
    Undefined (NaN): nothing right is known, or nothing right was found in the variant without ``available``.
    Raises ValueError for a negative gain, and where a list has a gain more often than ``available`` has it.

    Found at rank 2 of 2 right ones, k = 2: (1 / log2 3) / (1 + 1 / log2 3) = 0.6309 / 1.6309:

    >>> ndcg([[0, 1]], [[1, 1, 0]]).round(4)
    array([0.3869])
    """
    gains_found = _places(gains).astype(np.float64)
    pool = gains_found if available is None else _places(available).astype(np.float64)
    if pool.shape[0] != gains_found.shape[0]:
        raise ValueError(f"available must have {gains_found.shape[0]} rows, one for each query, got {pool.shape[0]}")
    if (gains_found < 0).any() or (pool < 0).any():
        raise ValueError("a gain must not be negative")
    if available is not None:
        _check_included(gains_found, pool)
    k = gains_found.shape[1]
    best = -np.sort(-pool, axis=1)[:, :k]
    ideal = best @ discounts(best.shape[1])
    return _divide(gains_found @ discounts(k), ideal)


def _check_included(gains: Floats, available: Floats) -> None:
    """Raise ValueError unless the gains above 0 of each row of (q, k) are in the row of (q, m), each as often.

    One comparison per distinct gain: relevance has few.
    """
    for gain in np.unique(gains[gains > 0]):
        surplus = (gains == gain).sum(axis=1) > (available == gain).sum(axis=1)
        if surplus.any():
            query = int(np.argmax(surplus))
            listed, known = (int((side[query] == gain).sum()) for side in (gains, available))
            raise ValueError(f"gains of query {query} have {gain:g} {listed} times, and available has it {known} times")


def shares(labels: npt.ArrayLike, n: int, *, discounted: bool = False) -> Floats:
    """(q, n): the share of each of n labels among the k places (q, k); rows sum to 1.

    Discounted: each place counts 1 / log2(rank + 1), divided by the sum of these (3XCM, equations 2 and 12).
    NaN throughout a query's row where one of its labels is -1.
    """
    places = _places(labels).astype(np.int64)
    if places.size and (places.max() >= n or places.min() < -1):
        raise ValueError(f"labels must lie in -1..{n - 1}, got {places.min()}..{places.max()}")
    q, k = places.shape
    weight = np.broadcast_to(discounts(k) if discounted else np.ones(k), places.shape)
    cell = np.arange(q)[:, None] * n + np.maximum(places, 0)
    mass = np.bincount(cell.reshape(-1), weight.reshape(-1), q * n).reshape(q, n) / weight[:1].sum()
    mass[(places < 0).any(axis=1)] = np.nan
    return np.asarray(mass, np.float64)


def diversity(cultures: npt.ArrayLike, *, normaliser: Normaliser = "ln_k") -> Floats:
    """Entropy of the cultures of the top k (q, k), - sum p ln p, divided by ln k, or by ln m for the m cultures there.

    The paper's equation 1 has - 1 / log(1 / m), which turns the sign, and calls m the cultures in the top k; all its
    tables are ln k. 0 (one culture) to 1 (as many as places; with ln_m: all alike).
    Undefined (NaN): k = 1, where the list could not be diverse; with ln_m also a list of one culture.

    Two, two and one of five: -(2 x 0.4 ln 0.4 + 0.2 ln 0.2) / ln 5 = 1.0549 / 1.6094:

    >>> diversity([[0, 0, 1, 1, 2]]).round(4)
    array([0.6555])
    """
    cultures_found = _places(cultures).astype(np.int64)
    if normaliser not in ("ln_k", "ln_m"):
        raise ValueError(f"normaliser must be 'ln_k' or 'ln_m', got {normaliser!r}")
    p = shares(cultures_found, int(cultures_found.max(initial=0)) + 1)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    entropy = np.abs(-np.sum(p * logs, axis=1))
    parts = np.full(len(cultures_found), cultures_found.shape[1]) if normaliser == "ln_k" else (p > 0).sum(axis=1)
    most = np.log(np.maximum(parts, 1))
    return _divide(entropy, most)


def divergence(observed: Floats, expected: npt.ArrayLike | None = None, *, epsilon: float = EPSILON) -> Floats:
    """LBKL of shares (q, n), or DLBKL of discounted ones: sum over the n labels of P ln(P / Q). In nats.

    P is ``expected`` (n,), uniform without it; Q the query's row of ``observed``, ``epsilon`` in place of a zero. With
    n = 2 and the languages' shares of the pool as P it is equation 1 of 3XCM. A label with P = 0 adds nothing.
    0 where Q is P; the largest value is bounded by epsilon, so that it means nothing without it.
    """
    q = np.asarray(observed, np.float64)
    n = q.shape[1]
    p = np.full(n, 1 / n) if expected is None else np.asarray(expected, np.float64)
    if p.shape != (n,) or (p < 0).any() or not np.isclose(p.sum(), 1):
        raise ValueError(f"expected must be {n} shares that sum to 1, got {p}")
    if not epsilon > 0:
        raise ValueError(f"epsilon must be positive, got {epsilon}")
    there = p > 0
    return np.asarray((p[there] * np.log(p[there] / np.where(q == 0, epsilon, q)[:, there])).sum(axis=1))


def divergence_floor(k: int, n: int, *, discounted: bool = False, epsilon: float = EPSILON) -> float:
    """The least LBKL (or DLBKL) that k places can have over n labels with a uniform P.

    k places hold k labels at most: the floor is that of k different ones, or, with k > n, of counts as even as can be.
    Five of 36: 5/36 ln(5/36) + 31/36 ln(1 / 36e-9) = -0.274 + 14.759:

    >>> round(divergence_floor(5, 36), 3)
    14.485

    NaN for the discounted form with k > n: which places to put together is a partition problem without a formula.
    """
    if k < 1 or n < 1:
        raise ValueError(f"k and n must be at least 1, got {k} and {n}")
    if discounted and k > n:
        return float("nan")
    return float(divergence(shares(np.arange(k)[None, :] % n, n, discounted=discounted), epsilon=epsilon)[0])


def _places(given: npt.ArrayLike) -> npt.NDArray[Any]:
    places = np.asarray(given)
    if places.ndim != 2 or places.shape[1] < 1:
        raise ValueError(f"the places of the lists must have shape (q, k) with k > 0, got {places.shape}")
    return places


def _divide(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0), np.float64)
