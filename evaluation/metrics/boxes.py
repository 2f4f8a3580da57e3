"""How far boxes agree: intersection over union, and the best matching of several.

A box is (x0, y0, x1, y1), top-left and bottom-right corner, in any one unit; IoU has none. Where boxes have labels, the
label is a fifth value; a box without it has the label "". Two boxes of different labels are compared as boxes that do
not overlap. Whoever wants labels ignored leaves them out (``corners_of``).

    IoU(a, b) = area(a and b) / area(a or b)

Source: Jaccard (1912); for boxes, Everingham et al. (2010), The PASCAL Visual Object Classes Challenge.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

SMALLEST_AREA, LARGEST_AREA = 1e-300, 1e300  # beyond these the quotient of areas loses its digits

Floats = npt.NDArray[np.float64]
LabelRule = Literal["must_match", "ignore"]
LABEL_RULES: tuple[LabelRule, ...] = ("must_match", "ignore")
Corners = tuple[float, float, float, float]
LabelledCorners = tuple[float, float, float, float, str]
SIDES = 4


def corners_of(
    answer: Iterable[Mapping[str, Any]], label_rule: LabelRule = "must_match"
) -> tuple[Corners | LabelledCorners, ...]:
    """The boxes of a stored answer; each with its label, unless it has none or labels are ignored.

    >>> corners_of([{"x0": 0, "y0": 0, "x1": 1, "y1": 2, "label": "lamp"}])
    ((0, 0, 1, 2, 'lamp'),)
    >>> corners_of([{"x0": 0, "y0": 0, "x1": 1, "y1": 2, "label": "lamp"}], "ignore")
    ((0, 0, 1, 2),)
    """
    boxes: list[Corners | LabelledCorners] = []
    for box in answer:
        corners = (box["x0"], box["y0"], box["x1"], box["y1"])
        label = box.get("label") if label_rule == "must_match" else None
        boxes.append((*corners, str(label)) if label else corners)
    return tuple(boxes)


def label_of(box: Any) -> str:
    """
    >>> label_of((0, 0, 1, 2, "lamp")), label_of((0, 0, 1, 2))
    ('lamp', '')
    """
    return str(box[SIDES]) if len(box) > SIDES else ""


def labelled_iou(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> Floats:
    """As ``iou``, 0 where the labels of the two boxes differ.

    >>> labelled_iou([(0, 0, 1, 1, "lamp")], [(0, 0, 1, 1, "lamp"), (0, 0, 1, 1, "stall"), (0, 0, 1, 1)])
    array([[1., 0., 0.]])
    """
    (a, our_labels), (b, their_labels) = _split(ours), _split(theirs)
    overlaps = iou(a, b)
    if our_labels is None and their_labels is None:
        return overlaps
    mine, other = our_labels or [""] * len(overlaps), their_labels or [""] * overlaps.shape[1]
    return np.where(np.array(mine)[:, None] == np.array(other)[None, :], overlaps, 0.0)


def _split(boxes: Any) -> tuple[Any, list[str] | None]:
    """The corners, and the labels where some box has one."""
    labelled = isinstance(boxes, (list, tuple)) and any(
        isinstance(box, (list, tuple)) and len(box) == SIDES + 1 for box in boxes
    )
    return ([box[:SIDES] for box in boxes], [label_of(box) for box in boxes]) if labelled else (boxes, None)


def iou(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> Floats:
    """(n, 4) and (m, 4) boxes to (n, m) overlaps, 0 (apart, or touching) to 1 (the same box).

    The left half of a unit square and its middle half share 1/4 of 3/4:

    >>> iou([[0, 0, 0.5, 1]], [[0.25, 0, 0.75, 1]])
    array([[0.33333333]])
    """
    return _iou(_boxes(ours)[:, None, :], _boxes(theirs)[None, :, :])


def iou_of_pairs(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> Floats:
    """(n, 4) and (n, 4) boxes to (n,) overlaps of each box with the one at the same place.

    >>> iou_of_pairs([[0, 0, 1, 1], [0, 0, 1, 1]], [[0, 0, 1, 2], [4, 4, 5, 5]])
    array([0.5, 0. ])
    """
    a, b = _boxes(ours), _boxes(theirs)
    if a.shape != b.shape:
        raise ValueError(f"both sides must have as many boxes, got {len(a)} and {len(b)}")
    return _iou(a, b)


def _iou(a: Floats, b: Floats) -> Floats:
    inner = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2])
    both = np.prod(np.clip(inner, 0, None), axis=-1)
    either = np.prod(a[..., 2:] - a[..., :2], axis=-1) + np.prod(b[..., 2:] - b[..., :2], axis=-1) - both
    return np.asarray(both / either, dtype=np.float64)


def match_boxes(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> list[tuple[int, int, float]]:
    """Pairs (index of ours, index of theirs, IoU) that make the sum of IoU largest; each box is in one pair at most.
    Boxes that overlap nothing of the other side, and boxes of different labels, are in none.

    >>> match_boxes([[0, 0, 1, 1], [4, 4, 5, 5]], [[4, 4, 5, 5], [0, 0, 1, 2]])
    [(0, 1, 0.5), (1, 0, 1.0)]
    """
    overlaps = labelled_iou(ours, theirs)
    rows, columns = scipy.optimize.linear_sum_assignment(overlaps, maximize=True)
    return [
        (int(row), int(column), float(overlaps[row, column]))
        for row, column in zip(rows, columns, strict=True)
        if overlaps[row, column] > 0
    ]


def overlap(ours: npt.ArrayLike, theirs: npt.ArrayLike) -> float:
    """How far two sets of boxes agree, 0 to 1: the IoU of the best matching, summed and divided by the larger number of
    boxes, so that a box only one side drew counts as 0. For one box each it is their IoU. Two empty sets, where an
    answer may say that there is nothing to box, agree (1); an empty set and another do not (0). Boxes of different
    labels do not match.

    >>> overlap([[0, 0, 1, 1]], [[0, 0, 1, 2], [4, 4, 5, 5]])  # (1/2 + 0) / 2
    0.25
    >>> overlap([(0, 0, 1, 1, "lamp")], [(0, 0, 1, 1, "stall"), (0, 0, 1, 2, "lamp")])  # (1/2 + 0) / 2
    0.25
    """
    (a, _our_labels), (b, _their_labels) = _split(ours), _split(theirs)
    if not np.size(a) or not np.size(b):
        return float(np.size(a) == np.size(b))
    larger = max(len(_boxes(a)), len(_boxes(b)))
    return sum(share for _ours, _theirs, share in match_boxes(ours, theirs)) / larger


def _boxes(given: npt.ArrayLike) -> Floats:
    boxes = np.asarray(given, dtype=np.float64)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or not len(boxes):
        raise ValueError(f"boxes must have shape (n, 4) with n > 0, got {boxes.shape}")
    if not np.isfinite(boxes).all():
        raise ValueError(f"the edges of a box must be finite numbers, got {boxes[~np.isfinite(boxes)][0]}")
    if not np.all(boxes[:, :2] < boxes[:, 2:]):
        raise ValueError("a box must have x0 < x1 and y0 < y1")
    with np.errstate(over="ignore", under="ignore"):
        area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    if not np.all((area > SMALLEST_AREA) & (area < LARGEST_AREA)):
        wrong = area[~((area > SMALLEST_AREA) & (area < LARGEST_AREA))][0]
        raise ValueError(f"the area of a box must lie between {SMALLEST_AREA} and {LARGEST_AREA}, got {wrong}")
    return boxes
