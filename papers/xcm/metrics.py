"""Forced choice: which of a trial's candidates a model finds most similar, and whose culture decides.

A trial has c candidates of named types, such as correct, language-biased, irrelevant. Its winner is the most similar
one (``winners``); M of a type is the share of trials it wins (3XCM, equation 3), SP = M_lb / M_cr (equation 4) on
pooled counts. SP says nothing about how often the model is right, so it is never shown without M_cr.
Trials of one concept and country repeat one query: intervals leave out these clusters (``resampling.py``).
Source: "Evaluating Perspectival Biases in Cross-Modal Retrieval" (3XCM), 3.2.2, 3.2.3, P.1, R.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Bools, Floats
from evaluation.metrics.estimate import Estimate, Extra
from evaluation.metrics.paired_tests import permutation_p
from evaluation.metrics.proportions import share_of_sums
from evaluation.metrics.resampling import LEVEL, RATIO, SHARES_APART, cluster_sums, estimate_by_clusters, ratio

Test = Literal["by clusters", "by trials"]
Ties = Literal["first", "every"]


def winners(similarity: npt.ArrayLike, *, ties: Ties = "first") -> Floats:
    """(n, c) similarities to (n, c) credits, 1 for a type that wins the trial and else 0.

    Exact ties: "first" credits the first of the tied types, so with the correct type in front the correct one (what the
    authors' code does); "every" credits all of them (their equation 3), so that shares may sum to more than 1.
    A trial with a candidate that has no similarity (NaN) is NaN throughout: nobody knows who would have won.

    >>> winners([[0.3, 0.3, 0.1], [0.1, 0.2, 0.1]])
    array([[1., 0., 0.],
           [0., 1., 0.]])
    >>> winners([[0.3, 0.3, 0.1]], ties="every")
    array([[1., 1., 0.]])
    """
    similarities = np.asarray(similarity, np.float64)
    if similarities.ndim != 2 or similarities.shape[1] < 2:
        raise ValueError(f"similarity must have shape (n, c) with two candidates or more, got {similarities.shape}")
    if ties not in ("first", "every"):
        raise ValueError(f"ties must be 'first' or 'every', got {ties!r}")
    known: Bools = np.asarray(~np.isnan(similarities).any(axis=1))
    filled = np.where(known[:, None], similarities, 0)
    best: Bools = np.asarray(filled == filled.max(axis=1, keepdims=True, initial=-np.inf))
    if ties == "first":
        best = np.asarray(best & (np.cumsum(best, axis=1) == 1))
    return np.where(known[:, None], best.astype(np.float64), np.nan)


def random_winners(trials: int, candidates: int, rng: np.random.Generator) -> Floats:
    """(n, c) credits of a model that picks one candidate of each trial at random (3XCM, appendix R)."""
    return np.asarray(np.eye(candidates)[rng.integers(candidates, size=trials)], np.float64)


def win_rates(credit: Floats, clusters: npt.ArrayLike, *, level: float = LEVEL) -> list[Estimate]:
    """M of each of the c types, from ``winners`` (n, c): credits over trials that have a winner. Shares, 0 to 1.

    ``clusters`` (n,) labels, such as concept and country. "unknown" in extras: trials without all similarities.
    Undefined: no trial. Interval: by clusters, as of every share (``proportions.py``).
    """
    known, labels = _drop_undefined(credit, clusters)
    n, unknown = len(known), len(credit) - len(known)
    sums = cluster_sums(labels, *known.T, np.ones(n))
    counts = known.sum(axis=0).tolist()
    return [
        share_of_sums(
            sums[:, [place, -1]], method="win rate", n_units=n, level=level, extras={"unknown": unknown, "count": count}
        )
        for place, count in enumerate(counts)
    ]


def self_preference(
    credit: Floats, clusters: npt.ArrayLike, *, biased: int = 1, correct: int = 0, level: float = LEVEL
) -> Estimate:
    """SP = M_lb / M_cr of pooled trials, from ``winners`` (n, c); ``biased`` and ``correct`` are the columns. 0 and up.

    A mean of the countries' SP is another number, ruled by the countries where the model is hardly ever right.
    Undefined, not infinite, where no trial was won by the correct candidate; "m_cr" and "m_lb" in extras.
    Interval: by clusters, on the log.
    """
    known, labels = _drop_undefined(credit, clusters)
    extras = {"m_cr": float(known[:, correct].mean()), "m_lb": float(known[:, biased].mean())} if len(known) else {}
    if len(known) and not known[:, correct].any():
        return Estimate.undefined(
            reason="never_correct", method="SP", n_units=len(known), n_raters=1, n_ratings=len(known), extras=extras
        )
    sums = cluster_sums(labels, known[:, biased], known[:, correct])
    return estimate_by_clusters(sums, ratio, RATIO, method="SP", n_units=len(known), level=level, extras=dict(extras))


def difference_of_wins(
    credit: Floats,
    first: int,
    second: int,
    clusters: npt.ArrayLike,
    *,
    test: Test = "by clusters",
    level: float = LEVEL,
    seed: int = 0,
) -> Estimate:
    """Win rate of the ``first`` type less that of the ``second``, from ``winners`` (n, c): Diff of
    Tables 15-17. -1 to 1.

    Extras: "first" and "second" (wins), "test", "p" (None without a win of either), and what the test adds:

    "by clusters"   the sign of each cluster's difference of wins is as likely + as -: ``permutation_p`` of the sums of
                    the clusters, all 2^C patterns for C <= 13, else 10,000 drawn ones; "n_permutations", "exact"
    "by trials"     ``goodness_of_fit``, as printed in the paper, which takes trials for independent; "chi_square"
    """
    known, labels = _drop_undefined(credit, clusters)
    wins, losses = known[:, first], known[:, second]
    sums = cluster_sums(labels, wins - losses, np.ones(len(known)))
    extras: dict[str, Extra] = {"first": float(wins.sum()), "second": float(losses.sum()), "test": test}
    extras |= _test_of_wins(float(wins.sum()), float(losses.sum()), sums[:, 0], test, seed)
    return estimate_by_clusters(
        sums, ratio, SHARES_APART, method="difference of win rates", n_units=len(known), level=level, extras=extras
    )


def _test_of_wins(first: float, second: float, sums: Floats, test: Test, seed: int) -> dict[str, Extra]:
    """The p value of the wins of two types and what its test adds; ``sums`` (C,) are differences by cluster."""
    if test not in ("by clusters", "by trials"):
        raise ValueError(f"test must be 'by clusters' or 'by trials', got {test!r}")
    if first + second == 0:
        return {"p": None}
    if test == "by trials":
        square, p = goodness_of_fit(first, second)
        return {"p": p, "chi_square": square}
    p, used, exact = permutation_p(sums, seed)
    return {"p": p, "n_permutations": used, "exact": exact}


def goodness_of_fit(a: float, b: float) -> tuple[float, float]:
    """Chi-square of two counts against equal ones, (a - b)^2 / (a + b) with one degree of freedom, and its p.

    It takes trials for independent; those of one concept and country are not, so the test "by clusters" of
    ``difference_of_wins`` is the one to trust. Both NaN for a + b = 0. Source: 3XCM, P.1.

    60 and 40: 20^2 / 100 = 4:

    >>> square, p = goodness_of_fit(60, 40)
    >>> square, round(p, 4)
    (4.0, 0.0455)
    """
    if a < 0 or b < 0:
        raise ValueError(f"counts must not be negative, got {a} and {b}")
    if a + b == 0:
        return float("nan"), float("nan")
    square = (a - b) ** 2 / (a + b)
    return square, float(scipy.special.chdtrc(1, square))


def _drop_undefined(credit: Floats, clusters: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.int64]]:
    credit_values = np.asarray(credit, np.float64)
    labels = np.asarray(clusters)
    if credit_values.ndim != 2 or labels.shape != credit_values.shape[:1]:
        raise ValueError(
            f"clusters must name one label for each of the {len(credit_values)} trials, got {labels.shape}"
        )
    keep = ~np.isnan(credit_values).any(axis=1)
    return credit_values[keep], labels[keep]
