"""Disagreement by unit: by hand, and that its average is alpha's own."""

from typing import get_args

import numpy as np
import pytest

from evaluation.metrics.alpha import Level, alpha
from evaluation.metrics.counts import Ratings
from evaluation.metrics.disagreement import between_boxes, between_groupings, between_texts, disagreement
from evaluation.metrics.partitions import Partition

LEVELS = get_args(Level)


def random_ratings(seed: int) -> Ratings:
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 6, (30, 7)).astype(float)
    table[rng.random(table.shape) < 0.4] = np.nan
    return Ratings.from_matrix(table)


def test_worked_by_hand() -> None:
    # Codes 1, 1, 1, 2: D_e = 2 x 3 x 1 / (4 x 3) = 1/2. The second unit's one pair differs: 1 / (1/2).
    assert disagreement(Ratings.from_matrix([[1, 1], [1, 2]]), "nominal").value.tolist() == [0, 2]
    # Interval: 1, 3 differ by 4; all ordered pairs of 1, 1, 1, 3: 2 x 3 x 4 / 12 = 2.
    assert disagreement(Ratings.from_matrix([[1, 1], [1, 3]]), "interval").value.tolist() == [0, 2]


@pytest.mark.parametrize("level", LEVELS)
def test_its_average_over_units_is_one_minus_alpha(level: Level) -> None:
    for seed in range(5):
        result = disagreement(random_ratings(seed), level)
        known = result.raters >= 2
        mean = np.average(result.value[known], weights=result.raters[known])
        assert mean == pytest.approx(1 - (alpha(random_ratings(seed), level).value or 0))
        assert np.isnan(result.value[~known]).all()


@pytest.mark.parametrize("level", LEVELS)
def test_who_rated_first_makes_no_difference(level: Level) -> None:
    ratings = random_ratings(9)
    order = np.random.default_rng(1).permutation(ratings.value.size)
    mixed = Ratings(ratings.unit[order], ratings.rater[order], ratings.value[order], 30, 7)
    np.testing.assert_allclose(disagreement(mixed, level).value, disagreement(ratings, level).value)


@pytest.mark.parametrize("level", LEVELS)
def test_alone_is_undefined_and_all_the_same_is_none(level: Level) -> None:
    found = disagreement(Ratings.from_matrix([[3, 3, 3], [3, 3, np.nan], [3, np.nan, np.nan]]), level)
    assert found.value[:2].tolist() == [0, 0] and np.isnan(found.value[2])
    assert found.raters.tolist() == [3, 2, 1]
    assert disagreement(Ratings.from_labels([]), level).value.size == 0
    assert np.isnan(disagreement(Ratings.from_matrix([[1.0], [2.0]]), level).value).all()


def test_boxes_texts_and_groupings() -> None:
    square, half = [[0, 0, 1, 1]], [[0, 0, 0.5, 1]]
    assert between_boxes([square, square, half]) == pytest.approx((0 + 0.5 + 0.5) / 3)
    assert between_boxes([square]) is None
    assert between_texts(["Tea", " tea", "chai"]) == pytest.approx(2 / 3)
    assert between_texts([]) is None
    a = Partition({"1": 0, "2": 0, "3": 0, "4": 1}, {})
    b = Partition({"1": 0, "2": 0, "3": 1, "4": 1}, {})
    assert between_groupings([a, b]) == pytest.approx(1.0)  # adjusted Rand 0: as in partitions.pairwise_f1
    assert between_groupings([a, a]) == 0
    alone = Partition({"1": 0, "2": 1}, {})
    assert between_groupings([alone, alone]) is None, "all single: chance gives the same"
