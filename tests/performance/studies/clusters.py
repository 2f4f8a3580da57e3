"""Units in clusters: a share, the win rate of a candidate's type, and a correlation.

share         cluster c has a size from 30 to 50 and a chance of its own, logit p_c = 0.4 + 0.9 z; truth: mean p
win rate      trials of three candidates; a cluster's chances are a softmax of (0.8, 0.3, 0) + 0.7 z; the first type's
SP            wins of the second type over wins of the first, of the same trials
correlation   12 points of a cluster: x = a_c + e, y = b_c + f, r = 0.6 between a and b and 0.3 between e and f
"""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluation.metrics.association import correlation_of
from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share
from papers.xcm.metrics import self_preference, win_rates
from tests.performance.studies.rows import Design

MIDDLE, SPREAD = 0.4, 0.9
LIKINGS, TURN = np.array([0.8, 0.3, 0.0]), 0.7
BETWEEN, WITHIN, POINTS = 0.6, 0.3, 12
SHARES = (5, 7, 8, 10, 13, 20, 50)
WINS = (3, 5, 8, 13)
CORRELATIONS = {5: (0.90, 1.0), 8: (0.93, 1.0), 16: (0.93, 1.0)}
DRAWS = 4_000_000


def labels(clusters: int, rng: np.random.Generator) -> np.ndarray:
    return np.repeat(np.arange(clusters), rng.integers(30, 51, clusters))


def chances(n: int, rng: np.random.Generator) -> Floats:
    return np.asarray(1 / (1 + np.exp(-(MIDDLE + SPREAD * rng.normal(size=n)))))


def likings(n: int, rng: np.random.Generator) -> Floats:
    """(n, 3) chances of each type to win."""
    weights = np.exp(LIKINGS + TURN * rng.normal(size=(n, 3)))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def a_share(clusters: int, rng: np.random.Generator) -> Estimate:
    label, chance = labels(clusters, rng), chances(clusters, rng)
    return share(rng.random(label.size) < chance[label], label)


def trials(clusters: int, rng: np.random.Generator) -> tuple[Floats, np.ndarray]:
    """(n, 3) credits, and the cluster of each."""
    label, chance = labels(clusters, rng), likings(clusters, rng)
    winner = (rng.random((label.size, 1)) > chance[label].cumsum(axis=1)).sum(axis=1).clip(max=2)
    return np.asarray(np.eye(3)[winner]), label


def a_win_rate(clusters: int, rng: np.random.Generator) -> Estimate:
    return win_rates(*trials(clusters, rng))[0]


def a_preference(clusters: int, rng: np.random.Generator) -> Estimate:
    return self_preference(*trials(clusters, rng))


def a_correlation(kind: str, clusters: int, rng: np.random.Generator) -> Estimate:
    label = np.repeat(np.arange(clusters), POINTS)
    a, e = rng.normal(size=(2, clusters)), rng.normal(size=(2, label.size))
    b, f = (r * one[0] + np.sqrt(1 - r**2) * one[1] for r, one in ((BETWEEN, a), (WITHIN, e)))
    return correlation_of(a[0][label] + e[0], b[label] + f, kind, clusters=label)  # type: ignore[arg-type]


def designs(rng: np.random.Generator) -> dict[str, list[Design]]:
    """By the kind of number."""
    share_true, wins_true = float(chances(DRAWS, rng).mean()), likings(DRAWS, rng).mean(axis=0)
    win_true, sp_true = float(wins_true[0]), float(wins_true[1] / wins_true[0])
    r = (BETWEEN + WITHIN) / 2
    rho = 6 / np.pi * float(np.arcsin(r / 2))  # of two normals
    return {
        "share": [Design(f"share, {n} clusters", partial(a_share, n), share_true, (0.92, 0.98)) for n in SHARES],
        "win rate": [Design(f"win rate, {n} clusters", partial(a_win_rate, n), win_true, (0.92, 0.98)) for n in WINS],
        "SP": [Design(f"SP, {n} clusters", partial(a_preference, n), sp_true, (0.92, 0.98)) for n in WINS],
        "correlation": [
            Design(f"{name}, {n} clusters of {POINTS}", partial(a_correlation, kind, n), true, band)
            for kind, name, true in (("pearson", "Pearson's r", r), ("spearman", "Spearman's rho", rho))
            for n, band in CORRELATIONS.items()
        ],
    }
