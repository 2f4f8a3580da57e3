"""Overlap of boxes: worked examples, invariances, a second implementation, undefined cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.boxes import iou, match_boxes, overlap

SIDE = st.integers(0, 40)
BOX = st.tuples(SIDE, SIDE, SIDE, SIDE).filter(lambda b: b[0] != b[2] and b[1] != b[3])
BOXES = st.lists(BOX.map(lambda b: (*np.minimum(b[:2], b[2:]), *np.maximum(b[:2], b[2:]))), min_size=1, max_size=4)


def by_counting(a: tuple[int, ...], b: tuple[int, ...]) -> float:
    """Unit squares in both, over unit squares in either."""
    one, two = (set(itertools.product(range(x0, x1), range(y0, y1))) for x0, y0, x1, y1 in (a, b))
    return len(one & two) / len(one | two)


def test_a_worked_example() -> None:
    """2 x 2 and 2 x 2, shifted by (1, 1): they share 1, together they cover 4 + 4 - 1."""
    assert iou([[0, 0, 2, 2]], [[1, 1, 3, 3]]) == pytest.approx(1 / 7)
    assert iou([[0, 0, 1, 1]], [[1, 0, 2, 1]]) == 0  # they touch


@given(BOXES, BOXES)
@settings(max_examples=60, deadline=None)
def test_counting_squares_gives_the_same(ours: list[tuple[int, ...]], theirs: list[tuple[int, ...]]) -> None:
    assert iou(ours, theirs) == pytest.approx(np.array([[by_counting(a, b) for b in theirs] for a in ours]))


@given(BOXES, BOXES)
@settings(max_examples=60, deadline=None)
def test_the_matching_is_the_best_there_is(ours: list[tuple[int, ...]], theirs: list[tuple[int, ...]]) -> None:
    few, many = sorted((ours, theirs), key=len)
    tried = itertools.permutations(range(len(many)), len(few))
    best = max(sum(by_counting(few[i], many[j]) for i, j in enumerate(order)) for order in tried)
    assert overlap(ours, theirs) == pytest.approx(best / len(many))
    assert overlap(theirs, ours) == pytest.approx(overlap(ours, theirs))
    assert overlap(ours, ours) == pytest.approx(1)
    moved = [[3 * x0 + 1, 2 * y0, 3 * x1 + 1, 2 * y1] for x0, y0, x1, y1 in ours]
    there = [[3 * x0 + 1, 2 * y0, 3 * x1 + 1, 2 * y1] for x0, y0, x1, y1 in theirs]
    assert overlap(moved, there) == pytest.approx(overlap(ours, theirs))  # the unit of a side does not matter


def test_boxes_that_share_nothing_are_not_matched() -> None:
    assert match_boxes([[0, 0, 1, 1]], [[5, 5, 6, 6]]) == []
    assert overlap([[0, 0, 1, 1]], [[5, 5, 6, 6]]) == 0


@pytest.mark.parametrize("boxes", [[], [[0, 0, 1]], [[1, 0, 1, 1]], [[2, 0, 1, 1]]])
def test_what_is_no_box_is_refused(boxes: list[list[float]]) -> None:
    with pytest.raises(ValueError, match="box"):
        iou(boxes, [[0, 0, 1, 1]])


@pytest.mark.parametrize(
    "box",
    [
        [0, 0, np.nan, 1],
        [0, 0, np.inf, 1],
        [-np.inf, 0, 0, 1],
        [0, 0, 1e-160, 1e-160],  # an area of 1e-320, which is no normal number
        [0, 0, 1e200, 1e200],  # an area that overflows
    ],
)
def test_a_box_with_absurd_edges_is_refused_and_named(box: list[float]) -> None:
    for ours, theirs in (([box], [[0, 0, 1, 1]]), ([[0, 0, 1, 1]], [box])):
        with pytest.raises(ValueError, match=r"(edges|area) of a box .* got"):
            iou(ours, theirs)


def test_very_small_and_very_large_boxes_keep_their_overlap() -> None:
    for scale in (1e-149, 1e149):
        assert iou([[0, 0, scale, scale]], [[0, 0, scale, scale / 2]])[0, 0] == pytest.approx(0.5)
