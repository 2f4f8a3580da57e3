"""One rater against the mean of the others."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.counts import Ratings
from evaluation.metrics.intervals import Interval
from evaluation.metrics.leave_one_out import rater_against_others


def test_it_is_the_rank_correlation_with_the_mean_of_the_others() -> None:
    # Rater 0: 1 2 3 4. Means of the others: 2, 1, 3, 4. Ranks differ by 1, 1, 0, 0: rho = 1 - 6 x 2 / (4 x 15) = 0.8.
    ratings = Ratings.from_matrix([[1, 2, 2], [2, 1, 1], [3, 2, 4], [4, 4, 4]])
    found = rater_against_others(ratings, 0)
    assert found.value == pytest.approx(0.8)
    assert (found.n_units, found.n_raters, found.resampled) == (4, 3, "units")


@pytest.mark.parametrize("seed", range(5))
def test_scipy_says_the_same_where_cells_are_missing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 6, (60, 7)).astype(float) + 0.0
    matrix[rng.random(matrix.shape) < 0.4] = np.nan
    ratings = Ratings.from_matrix(matrix)
    for rater in range(7):
        others = np.delete(matrix, rater, axis=1)
        shared = ~np.isnan(matrix[:, rater]) & ~np.isnan(others).all(axis=1)
        expected = stats.spearmanr(matrix[shared, rater], np.nanmean(others[shared], axis=1)).statistic
        estimate = rater_against_others(ratings, rater)
        assert estimate.value == pytest.approx(expected, abs=1e-10)
        assert estimate.n_units == shared.sum()
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < estimate.value < estimate.high


def test_why_there_is_no_value() -> None:
    one = Ratings.from_matrix([[1, np.nan], [2, np.nan], [3, np.nan]])
    assert rater_against_others(one, 0).reason == "no_ratings"
    constant = Ratings.from_matrix([[3, 1], [3, 2], [3, 4]])
    assert rater_against_others(constant, 0).reason == "constant_ratings"
    two = Ratings.from_matrix([[1, 1], [2, 2], [3, np.nan]])
    assert rater_against_others(two, 0).reason == "no_pairs"


def test_what_cannot_be_asked_is_refused() -> None:
    ratings = Ratings.from_matrix([[1, 2], [2, 1], [3, 3]])
    with pytest.raises(ValueError, match=r"0\.\.1, got 2"):
        rater_against_others(ratings, 2)
    with pytest.raises(ValueError, match="only units"):
        rater_against_others(ratings, 0, interval=Interval())
