"""Silhouette: how much nearer vectors are to their own cluster than to the next one.

    s(i) = (b - a) / max(a, b)

a: mean distance of i to the others of its cluster; b: the least, over other clusters, of its mean distance to one.
-1 to 1; near 0 where clusters overlap. Distance "cosine" is 1 - cos, "euclidean" the straight line; 3XCM prints none.
The s(i) of one cluster share the vectors that they are compared with, so an interval of their mean takes whole concepts
away and computes every silhouette again (``mean_silhouettes``).
Sources: Rousseeuw (1987), Silhouettes: a graphical aid; Efron & Stein (1981) for the jackknife.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Ends, Scale, jackknife_variance

Distance = Literal["cosine", "euclidean"]
_BLOCK_NUMBERS = 4_000_000
MOST = 100_000_000_000  # a few seconds of products
_EACH = 100  # what a distance costs besides its products
MAX_GROUPS, MIN_GROUPS = 300, 30  # of concepts that are deleted together, where there are more concepts
_ZERO = 1e-12  # nearer than this, relative to the vectors' squares, is no distance


class TooLarge(ValueError):
    """So many vectors, of so many numbers or clusters, that nobody should wait for it."""


def silhouettes(vectors: npt.ArrayLike, cluster: npt.ArrayLike, *, distance: Distance = "cosine") -> Floats:
    """(n, d) vectors and (n,) labels to (n,) s.

    NaN: all of them with fewer than two clusters; a vector alone in its cluster (others set it to 0, which would pull
    a mean towards "overlaps"); a = b = 0; for cosine a vector of zeros, which is left out of every cluster.
    Works off blocks of rows, so it takes little more than the vectors. Raises TooLarge beyond MOST products.
    """
    x = np.asarray(vectors, np.float64)
    labels = np.asarray(cluster)
    if x.ndim != 2 or labels.shape != x.shape[:1]:
        raise ValueError(f"vectors (n, d) need a label each, got {x.shape} and {labels.shape}")
    if distance not in ("cosine", "euclidean"):
        raise ValueError(f"distance must be 'cosine' or 'euclidean', got {distance!r}")
    widths = np.full(len(x), np.nan)
    keep = np.linalg.norm(x, axis=1) > 0 if distance == "cosine" else np.ones(len(x), bool)
    names, own = np.unique(labels[keep], return_inverse=True)
    if _cost(len(own), x.shape[1], names.size, distance) > MOST:
        raise TooLarge(f"{len(own)} vectors of {x.shape[1]} numbers in {names.size} clusters are too many")
    if names.size >= 2:
        widths[keep] = _silhouettes_of(x[keep], own.reshape(-1), int(names.size), distance)
    return widths


def _cost(n: int, d: int, clusters: int, distance: Distance) -> int:
    """Products that the silhouettes of n vectors of d numbers take."""
    return n * (clusters if distance == "cosine" else n) * (d + _EACH)


@dataclass(frozen=True)
class MeanSilhouettes:
    """``by_cluster``: the mean s(i) of each cluster, by its label; ``overall``: of all vectors."""

    by_cluster: dict[str, Estimate]
    overall: Estimate


def mean_silhouettes(
    vectors: npt.ArrayLike,
    cluster: npt.ArrayLike,
    concept: npt.ArrayLike,
    *,
    distance: Distance = "cosine",
    level: float = 0.95,
) -> MeanSilhouettes:
    """Mean silhouettes with intervals that speak of other concepts.

    ``vectors`` (n, d), ``cluster`` and ``concept`` (n,) labels. ``n_units`` counts the vectors that have an s.
    Interval: delete-one-concept jackknife; without a concept all silhouettes are computed again. More than MAX_GROUPS
    concepts are deleted in MAX_GROUPS groups (fewer, down to MIN_GROUPS, where the work exceeds MOST products).
    V = (G - 1) / G sum (f_g - mean f)^2; t on Fisher's z, with as many degrees of freedom as the cluster has concepts
    (or groups), less 1. Undefined: no vector has an s. No interval: fewer than three concepts; no mean without one of
    them; too many vectors. Raises TooLarge as ``silhouettes`` does.
    """
    x, labels, concepts = np.asarray(vectors, np.float64), np.asarray(cluster), np.asarray(concept)
    if concepts.shape != labels.shape:
        raise ValueError(f"each vector needs a concept, got {labels.shape} labels and {concepts.shape} concepts")
    names, own = np.unique(labels, return_inverse=True)
    each = silhouettes(x, labels, distance=distance)
    n_concepts, group = _groups(concepts, _cost(len(x), x.shape[1], names.size, distance))
    count = int(group.max()) + 1 if group.size else 0
    replicates = np.full((count, names.size + 1), np.nan)
    for place in range(count):
        keep = group != place
        replicates[place] = _means_by(own[keep], silhouettes(x[keep], labels[keep], distance=distance), names.size)
    means, estimates = _means_by(own, each, names.size), []
    for place in range(names.size + 1):
        mine = own == place if place < names.size else np.ones(own.shape, bool)
        within = np.unique(group[mine]).size if count else 0
        counts = {
            "n_units": int(np.isfinite(each[mine]).sum()), "n_ratings": int(mine.sum()), "level": level,
            "extras": {"n_concepts": n_concepts, "n_groups": count},
        }  # fmt: skip
        estimates.append(_mean_estimate(float(means[place]), replicates[:, place], within, counts))
    return MeanSilhouettes(dict(zip(names.tolist(), estimates, strict=False)), estimates[-1])


def _mean_estimate(value: float, replicates: Floats, within: int, counts: dict[str, Any]) -> Estimate:
    """The Estimate of a mean from its replicates (G,); ``within``: how many groups the cluster has vectors in."""
    common = {"method": "mean silhouette", "n_raters": 0, "resampled": "concepts", **counts}
    if not np.isfinite(value):
        return Estimate.undefined(reason="one_cluster", **common)
    ends = _jackknife_ends(value, replicates, within, counts["level"])
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def _groups(concepts: npt.NDArray[Any], cost: int) -> tuple[int, Ints]:
    """How many concepts there are, and the number of each vector's group of concepts (n,); empty where the vectors are
    too many for MIN_GROUPS."""
    names, number = np.unique(concepts, return_inverse=True)
    affordable = MOST // max(cost, 1) - 1
    count = min(names.size, MAX_GROUPS, max(affordable, 0))
    if count < min(names.size, MIN_GROUPS):
        return int(names.size), np.zeros(0, np.int64)
    return int(names.size), np.asarray(number.reshape(-1) % max(count, 1), np.int64)


def _means_by(own: Ints, values: Floats, clusters: int) -> Floats:
    """(clusters + 1,) means of the finite values (n,) of each cluster and of all, NaN where there is none."""
    finite = np.isfinite(values)
    count = np.bincount(own[finite], minlength=clusters)
    total = np.bincount(own[finite], values[finite], clusters)
    count, total = np.append(count, count.sum()), np.append(total, total.sum())
    return np.asarray(np.divide(total, count, out=np.full(clusters + 1, np.nan), where=count > 0), np.float64)


def _jackknife_ends(value: float, replicates: Floats, within: int, level: float) -> Ends | str:
    if not replicates.size:
        return "too_large_for_interval"
    if within < 3:
        return "too_few_clusters_for_interval"
    if not np.isfinite(replicates).all():
        return "unstable"
    error = float(np.sqrt(jackknife_variance(replicates)))
    if error <= 1e-6:
        return "no_spread"
    return (
        Scale("Fisher z").interval(value, error, float(scipy.special.stdtrit(within - 1, (1 + level) / 2)))
        or "no_spread"
    )


def _silhouettes_of(x: Floats, own: Ints, clusters: int, distance: Distance) -> Floats:
    order: Ints = np.argsort(own, kind="stable")
    starts: Ints = np.searchsorted(own[order], np.arange(clusters))
    size = np.bincount(own, minlength=clusters).astype(np.float64)
    rows_of = _cosine(x, order, starts, size) if distance == "cosine" else _euclidean(x, order, starts)
    blocks = []
    step = max(1, _BLOCK_NUMBERS // max(clusters if distance == "cosine" else len(x), x.shape[1], 1))
    for first in range(0, len(x), step):
        rows: Ints = np.arange(first, min(first + step, len(x)))
        blocks.append(_of_rows(rows_of(rows), own[rows], size))
    return np.concatenate(blocks)


def _of_rows(total: Floats, own: Ints, size: Floats) -> Floats:
    """s of some rows from their sums of distances (m, clusters), and the clusters they are in."""
    rows: Ints = np.arange(len(own))
    a = total[rows, own] / np.maximum(size[own] - 1, 1)
    others = total / size
    others[rows, own] = np.inf
    b = others.min(axis=1)
    wide = np.maximum(a, b)
    defined = (size[own] > 1) & (wide > _ZERO)
    return np.asarray(np.divide(b - a, wide, out=np.full(len(own), np.nan), where=defined))


def _cosine(x: Floats, order: Ints, starts: Ints, size: Floats) -> Callable[[Ints], Floats]:
    """Of rows (m,), the (m, clusters) sums of 1 - cos over each cluster: its size less the product with the sum of its
    unit vectors."""
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    sums = np.add.reduceat(unit[order], starts, axis=0).T
    return lambda rows: np.asarray(np.maximum(size - unit[rows] @ sums, 0))


def _euclidean(x: Floats, order: Ints, starts: Ints) -> Callable[[Ints], Floats]:
    """Of rows (m,), the (m, clusters) sums of distances to each cluster."""
    squares = (x**2).sum(axis=1)

    def sums(rows: Ints) -> Floats:
        both = squares[rows, None] + squares[None, :]
        apart = both - 2 * x[rows] @ x.T
        apart = np.sqrt(np.where(apart > _ZERO * both, apart, 0))
        apart[np.arange(len(rows)), rows] = 0
        return np.asarray(np.add.reduceat(apart[:, order], starts, axis=1))

    return sums
