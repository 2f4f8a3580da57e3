"""Other numbers of how far boxes agree, beside the mean pairwise overlap (``box_agreement.py``).

    alpha   Krippendorff's alpha with D = 1 - overlap (``distance_alpha.py``)
    F1      mean over units of the mean over pairs of people of 2 m / (|A| + |B|), m boxes matched at IoU >= threshold

Alpha corrects for chance by pairing boxes of different pictures. In a common frame these overlap little, so D_e is near
1 and alpha is nearly the overlap itself: it is no stricter measure.
F1: two empty answers 1, one empty 0. In both, boxes of different labels do not match.
Interval: two-way jackknife; alpha on log(1 - x), F1 on the logit.
Source: Krippendorff (2019), chapter 12; Everingham et al. (2010) for the threshold.
"""

from __future__ import annotations

import numpy as np
import scipy

from evaluation.metrics.box_agreement import Boxes, overlap_of_pairs
from evaluation.metrics.boxes import labelled_iou
from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.distance_alpha import MOST_DISTINCT, PAIRS, AnswerTable, distance_alpha
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.pair_means import mean_over_pairs

TWO_WAY = Interval()
THRESHOLD = 0.5
_DIGITS = 1e-9  # an IoU of exactly the threshold is reached, whatever its last digits
MOST_MATCHED = 400  # distinct answers, where some have several boxes: each pair is then an assignment of its own
MATCHED_PAIRS = 100_000


def box_alpha(table: AnswerTable, *, interval: Interval = TWO_WAY) -> Estimate:
    """Alpha with the distance 1 - overlap; the answers of the table are tuples of boxes (x0, y0, x1, y1).

    Where some answers have several boxes and more than ``MOST_MATCHED`` are distinct, D_e comes from ``MATCHED_PAIRS``
    random pairs (see ``distance_alpha``).
    """
    single = all(len(one) == 1 for one in table.distinct)
    most, pairs = (MOST_DISTINCT, PAIRS) if single else (MOST_MATCHED, MATCHED_PAIRS)

    def distance(first: Ints, second: Ints) -> Floats:
        return np.asarray(1 - np.minimum(overlap_of_pairs(table.distinct, first, second), 1))

    method = "Krippendorff's alpha (1 - overlap)"
    return distance_alpha(table, distance, method=method, interval=interval, most_distinct=most, pairs=pairs)


def box_f1(table: AnswerTable, *, interval: Interval = TWO_WAY) -> Estimate:
    """How often two people find the same boxes, 0 to 1: mean pairwise F1 at IoU of at least 0.5."""

    def score(first: Ints, second: Ints) -> Floats:
        pairs = zip(table.answer[first], table.answer[second], strict=True)
        return np.array([found_f1(table.distinct[one], table.distinct[other]) for one, other in pairs], np.float64)

    return mean_over_pairs(table.answers, score, method="mean pairwise F1 of boxes at IoU 0.5", interval=interval)


def found_f1(ours: Boxes, theirs: Boxes, threshold: float = THRESHOLD) -> float:
    """2 m / (|A| + |B|): m is the largest number of disjoint pairs of boxes with an IoU of at least the threshold and,
    where they have labels, the same label.

    >>> found_f1([[0, 0, 1, 1]], [[0, 0, 1, 2], [4, 4, 5, 5]])
    0.6666666666666666
    >>> found_f1([(0, 0, 1, 1, "lamp")], [(0, 0, 1, 1, "stall")])
    0.0
    """
    if not len(ours) or not len(theirs):
        return float(len(ours) == len(theirs))
    near = (labelled_iou(ours, theirs) >= threshold - _DIGITS).astype(np.float64)
    rows, columns = scipy.optimize.linear_sum_assignment(near, maximize=True)
    return float(2 * near[rows, columns].sum() / (len(ours) + len(theirs)))
