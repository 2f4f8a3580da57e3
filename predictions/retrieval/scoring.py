"""Scores out of vectors, and lists out of scores. numpy only: no Django.

Vectors are stored in 16 bits. All scores are made from what is stored: read as 32 bits, brought back to unit length,
multiplied in 64 bits, rounded to DIGITS. So whoever has the files has the scores, and equal pictures score equally.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

DIGITS = 9
Floats = npt.NDArray[np.float64]


def normalise_rows(vectors: npt.ArrayLike) -> Floats:
    """(n, d) of length one in 64 bits; a row of zeros stays one."""
    rows = np.asarray(vectors, np.float64)
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(length > 0, length, 1))


def cosines(queries: npt.ArrayLike, entries: npt.ArrayLike) -> Floats:
    """(m, n), of vectors of unit length (see `normalise_rows`), rounded to DIGITS."""
    return np.asarray(np.round(np.asarray(queries, np.float64) @ np.asarray(entries, np.float64).T, DIGITS))


def top_k(scores: npt.ArrayLike, keys: Sequence[str], most: int) -> tuple[list[str], list[float]]:
    """The `most` highest of n scores with their keys, the best first; ties in the order of their keys."""
    row = np.asarray(scores, np.float64)
    most = min(most, row.size)
    if not most:
        return [], []
    edge = np.partition(row, row.size - most)[row.size - most]
    near = [int(at) for at in np.flatnonzero(row >= edge)]  # those that tie with the last one too
    near.sort(key=lambda at: (-row[at], keys[at]))
    return [keys[at] for at in near[:most]], [float(row[at]) for at in near[:most]]
