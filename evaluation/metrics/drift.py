"""Similarity drift: what naming a culture in the query does to the similarity of one and the same picture.

    drift(I) = S(query with descriptor, I) - S(plain query, I)        3XCM, equation 5

In units of the similarity. Reports print its mean by candidate type, language or concept (``resampling.mean``).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Floats


def similarity_drift(described: npt.ArrayLike, plain: npt.ArrayLike) -> Floats:
    """(n, c) similarities of the same candidates under both queries, joined by id, to their (n, c) drift.

    NaN where either is missing.

    >>> similarity_drift([[0.5, 0.25]], [[0.25, 0.5]])
    array([[ 0.25, -0.25]])
    """
    with_it, without = np.asarray(described, np.float64), np.asarray(plain, np.float64)
    if with_it.shape != without.shape:
        raise ValueError(f"both must have the same candidates, got {with_it.shape} and {without.shape}")
    return np.asarray(with_it - without)
