"""Silhouette: how much nearer vectors are to their own cluster than to the next one.

    s(i) = (b - a) / max(a, b)

a: mean distance of i to the others of its cluster; b: the least, over other clusters, of its mean distance to one.
-1 to 1; near 0 where clusters overlap. Distance "cosine" is 1 - cos, "euclidean" the straight line; 3XCM prints none.
Source: Rousseeuw (1987), Silhouettes: a graphical aid.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Floats, Ints

Distance = Literal["cosine", "euclidean"]
_BLOCK_NUMBERS = 4_000_000
_ZERO = 1e-12  # nearer than this, relative to the vectors' squares, is no distance


def silhouettes(vectors: npt.ArrayLike, cluster: npt.ArrayLike, *, distance: Distance = "cosine") -> Floats:
    """(n, d) vectors and (n,) labels to (n,) s.

    NaN: all of them with fewer than two clusters; a vector alone in its cluster (others set it to 0, which would pull
    a mean towards "overlaps"); a = b = 0; for cosine a vector of zeros, which is left out of every cluster.
    Cosine takes n x clusters numbers, euclidean works off blocks of rows.
    """
    x = np.asarray(vectors, np.float64)
    labels = np.asarray(cluster)
    if x.ndim != 2 or labels.shape != x.shape[:1]:
        raise ValueError(f"vectors (n, d) need a label each, got {x.shape} and {labels.shape}")
    if distance not in ("cosine", "euclidean"):
        raise ValueError(f"distance must be 'cosine' or 'euclidean', got {distance!r}")
    made = np.full(len(x), np.nan)
    keep = np.linalg.norm(x, axis=1) > 0 if distance == "cosine" else np.ones(len(x), bool)
    names, own = np.unique(labels[keep], return_inverse=True)
    if names.size >= 2:
        made[keep] = _of(x[keep], own.reshape(-1), int(names.size), distance)
    return made


def _of(x: Floats, own: Ints, clusters: int, distance: Distance) -> Floats:
    rows: Ints = np.arange(len(x))
    member = np.zeros((len(x), clusters))
    member[rows, own] = 1
    size = member.sum(axis=0)
    total = _cosine(x, member) if distance == "cosine" else _euclidean(x, member)
    a = total[rows, own] / np.maximum(size[own] - 1, 1)
    others = total / size
    others[rows, own] = np.inf
    b = others.min(axis=1)
    wide = np.maximum(a, b)
    defined = (size[own] > 1) & (wide > _ZERO)
    return np.asarray(np.divide(b - a, wide, out=np.full(len(x), np.nan), where=defined))


def _cosine(x: Floats, member: Floats) -> Floats:
    """(n, clusters) sums of 1 - cos over each cluster: its size less the product with the sum of its unit vectors."""
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return np.asarray(np.maximum(member.sum(axis=0) - unit @ (member.T @ unit).T, 0))


def _euclidean(x: Floats, member: Floats) -> Floats:
    """(n, clusters) sums of distances to each cluster."""
    squares = (x**2).sum(axis=1)
    step = max(1, _BLOCK_NUMBERS // max(len(x), 1))
    parts = []
    for first in range(0, len(x), step):
        rows = slice(first, first + step)
        both = squares[rows, None] + squares[None, :]
        apart = both - 2 * x[rows] @ x.T
        apart = np.sqrt(np.where(apart > _ZERO * both, apart, 0))
        apart[np.arange(len(apart)), np.arange(first, first + len(apart))] = 0
        parts.append(apart @ member)
    return np.concatenate(parts)
