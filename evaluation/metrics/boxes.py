"""How far boxes agree: intersection over union, and the best matching of several.

A box is (x0, y0, x1, y1), top-left and bottom-right corner, in any one unit; IoU has none.

    IoU(a, b) = area(a and b) / area(a or b)

Source: Jaccard (1912); for boxes, Everingham et al. (2010), The PASCAL Visual Object Classes Challenge.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share
from evaluation.metrics.resampling import DEFAULT, Resampling

Strictness = Literal["at least", "more than"]

Floats = npt.NDArray[np.float64]


def iou(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> Floats:
    """(n, 4) and (m, 4) boxes to (n, m) overlaps, 0 (apart, or touching) to 1 (the same box).

    The left half of a unit square and its middle half share 1/4 of 3/4:

    >>> iou([[0, 0, 0.5, 1]], [[0.25, 0, 0.75, 1]])
    array([[0.33333333]])
    """
    a, b = _boxes(ours)[:, None, :], _boxes(theirs)[None, :, :]
    inner = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    both = np.prod(np.clip(inner, 0, None), axis=-1)
    either = np.prod(a[..., 2:] - a[..., :2], axis=-1) + np.prod(b[..., 2:] - b[..., :2], axis=-1) - both
    return np.asarray(both / either, dtype=np.float64)


def matched(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> list[tuple[int, int, float]]:
    """Pairs (index of ours, index of theirs, IoU) that make the sum of IoU largest; each box is in one pair at most.
    Boxes that overlap nothing of the other side are in none.

    >>> matched([[0, 0, 1, 1], [4, 4, 5, 5]], [[4, 4, 5, 5], [0, 0, 1, 2]])
    [(0, 1, 0.5), (1, 0, 1.0)]
    """
    overlaps = iou(ours, theirs)
    rows, columns = linear_sum_assignment(overlaps, maximize=True)
    return [
        (int(row), int(column), float(overlaps[row, column]))
        for row, column in zip(rows, columns, strict=True)
        if overlaps[row, column] > 0
    ]


def overlap(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> float:
    """How far two sets of boxes agree, 0 to 1: the IoU of the best matching, summed and divided by the larger number of
    boxes, so that a box only one side drew counts as 0. For one box each it is their IoU.

    >>> overlap([[0, 0, 1, 1]], [[0, 0, 1, 2], [4, 4, 5, 5]])  # (1/2 + 0) / 2
    0.25
    """
    larger = max(len(_boxes(ours)), len(_boxes(theirs)))
    return sum(share for _ours, _theirs, share in matched(ours, theirs)) / larger


def accuracy_at(
    overlaps: npt.ArrayLike,
    threshold: float,
    clusters: npt.ArrayLike | None = None,
    *,
    strictness: Strictness = "at least",
    wanted: Resampling = DEFAULT,
) -> Estimate:
    """Share of overlaps (n,), one for each picture, that reach the threshold, or exceed it; 0 to 1.

    Whether a box that overlaps by exactly 1/2 is right at 0.5 is an option, since papers differ. No box predicted is an
    overlap of 0 and counts. Undefined: no picture. Interval: Wilson's, or the cluster bootstrap (``proportions.py``).

    >>> accuracy_at([0.5, 0.7, 0.2], 0.5).value, accuracy_at([0.5, 0.7, 0.2], 0.5, strictness="more than").value
    (0.6666666666666666, 0.3333333333333333)
    """
    found = np.asarray(overlaps, dtype=np.float64)
    if not np.all((found >= 0) & (found <= 1)) or not 0 <= threshold <= 1:
        raise ValueError("overlaps and threshold lie between 0 and 1")
    hits = found > threshold if strictness == "more than" else found >= threshold
    extras = {"threshold": threshold, "strictness": strictness}
    return share(np.asarray(hits), clusters, wanted=wanted, method="accuracy at IoU", extras=extras)


def _boxes(given: npt.ArrayLike) -> Floats:
    boxes = np.asarray(given, dtype=np.float64)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or not len(boxes):
        raise ValueError(f"boxes must have shape (n, 4) with n > 0, got {boxes.shape}")
    if not np.all(boxes[:, :2] < boxes[:, 2:]):
        raise ValueError("a box must have x0 < x1 and y0 < y1")
    return boxes
