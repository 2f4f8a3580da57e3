"""Silhouette: how much nearer vectors are to their own cluster than to the next one.

    s(i) = (b - a) / max(a, b)

a: mean distance of i to the others of its cluster; b: the least, over other clusters, of its mean distance to one.
-1 to 1; near 0 where clusters overlap. Distance "cosine" is 1 - cos, "euclidean" the straight line; 3XCM prints none.
Source: Rousseeuw (1987), Silhouettes: a graphical aid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Floats, Ints

Distance = Literal["cosine", "euclidean"]
_BLOCK_NUMBERS = 4_000_000
MOST = 100_000_000_000  # a few seconds of products
_EACH = 100  # what a distance costs besides its products
_ZERO = 1e-12  # nearer than this, relative to the vectors' squares, is no distance


class TooMuch(ValueError):
    """So many vectors, of so many numbers or clusters, that nobody should wait for it."""


def silhouettes(vectors: npt.ArrayLike, cluster: npt.ArrayLike, *, distance: Distance = "cosine") -> Floats:
    """(n, d) vectors and (n,) labels to (n,) s.

    NaN: all of them with fewer than two clusters; a vector alone in its cluster (others set it to 0, which would pull
    a mean towards "overlaps"); a = b = 0; for cosine a vector of zeros, which is left out of every cluster.
    Works off blocks of rows, so it takes little more than the vectors. Raises TooMuch beyond MOST products.
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
    sides = names.size if distance == "cosine" else len(own)
    if len(own) * sides * (x.shape[1] + _EACH) > MOST:
        raise TooMuch(f"{len(own)} vectors of {x.shape[1]} numbers in {names.size} clusters are too many")
    if names.size >= 2:
        made[keep] = _of(x[keep], own.reshape(-1), int(names.size), distance)
    return made


def _of(x: Floats, own: Ints, clusters: int, distance: Distance) -> Floats:
    order: Ints = np.argsort(own, kind="stable")
    starts: Ints = np.searchsorted(own[order], np.arange(clusters))
    size = np.bincount(own, minlength=clusters).astype(np.float64)
    rows_of = _cosine(x, order, starts, size) if distance == "cosine" else _euclidean(x, order, starts)
    made = []
    step = max(1, _BLOCK_NUMBERS // max(clusters if distance == "cosine" else len(x), x.shape[1], 1))
    for first in range(0, len(x), step):
        rows: Ints = np.arange(first, min(first + step, len(x)))
        made.append(_of_rows(rows_of(rows), own[rows], size))
    return np.concatenate(made)


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
