"""Vectors in the plane: the first two principal components, for a figure.

By singular values of the centred vectors; the sign of a component, which is anybody's choice, is fixed so that its
largest loading is positive: the same vectors always give the same picture. Source: Pearson (1901); Jolliffe (2002).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from evaluation.metrics.counts import Floats

_DENSE = 64  # up to this size all components are worked out; beyond, the first two by Lanczos' method


@dataclass(frozen=True, eq=False)
class PrincipalPlane:
    """``points`` (n, 2) in the vectors' own units; ``explained`` (2,) shares of the whole variance. Both are zeros
    where there is no variance to show: no vector, one vector, all alike."""

    points: Floats
    explained: Floats


def principal_plane(vectors: npt.ArrayLike) -> PrincipalPlane:
    """(n, d) vectors to their places on the first two principal components.

    Along a line of direction (1, 1), one component holds everything:

    >>> principal_plane([[0, 0], [1, 1], [2, 2]]).points.round(3)
    array([[-1.414,  0.   ],
           [ 0.   ,  0.   ],
           [ 1.414,  0.   ]])
    """
    x = np.asarray(vectors, np.float64)
    if x.ndim != 2:
        raise ValueError(f"vectors must have shape (n, d), got {x.shape}")
    points, explained = np.zeros((len(x), 2)), np.zeros(2)
    if len(x) < 2 or not x.shape[1]:
        return PrincipalPlane(points, explained)
    centred = x - x.mean(axis=0)
    whole = float(np.sum(centred**2))
    if whole <= 1e-24 * max(1.0, float(np.sum(x**2))):
        return PrincipalPlane(points, explained)
    left, size, loads = _first_two(centred)
    for place in range(min(2, size.size)):
        if size[place] > 1e-12 * size[0]:
            load = loads[place]
            sign = np.sign(load[np.argmax(np.abs(load).round(12))])
            points[:, place] = left[:, place] * size[place] * sign + 0.0
            explained[place] = min(size[place] ** 2 / whole, 1.0)
    return PrincipalPlane(points, explained)


def _first_two(centred: Floats) -> tuple[Floats, Floats, Floats]:
    """The two largest singular values with their vectors, the largest first. Thousands of vectors of thousands of
    numbers take seconds so, and minutes with all components."""
    if min(centred.shape) <= _DENSE:
        left, size, loads = np.linalg.svd(centred, full_matrices=False)
    else:
        start = np.random.default_rng(0).normal(size=min(centred.shape))  # where it begins; not where it ends
        left, size, loads = scipy.sparse.linalg.svds(centred, k=2, v0=start)
        order = np.argsort(size)[::-1]
        left, size, loads = left[:, order], size[order], loads[order]
    return left, size, loads
