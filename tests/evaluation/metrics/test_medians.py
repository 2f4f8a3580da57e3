"""The median of raters' medians: by hand, its interval against simulation, and its gaps."""

import numpy as np
import pytest

from evaluation.metrics.medians import median_of_raters


def test_each_rater_counts_once_by_their_own_median() -> None:
    """Raters: 1 (of 1, 1, 9), 4 (of 3, 5) and 10: the middle one is 4."""
    estimate = median_of_raters([1, 1, 9, 3, 5, 10], [7, 7, 7, 8, 8, 9])
    assert (estimate.value, estimate.n_units, estimate.n_raters) == (4, 6, 3)
    assert estimate.low is None and estimate.interval_reason == "not_smooth"


@pytest.mark.parametrize(("n", "place"), [(6, 1), (8, 1), (9, 2), (12, 3), (15, 4), (20, 6)])
def test_the_interval_is_that_of_conovers_table(n: int, place: int) -> None:
    """Conover (1999), Table A3: the place of the lower end for 95 %."""
    estimate = median_of_raters(np.arange(1, n + 1), np.arange(n))
    assert (estimate.low, estimate.high) == (place, n + 1 - place)
    assert median_of_raters(np.arange(5), np.arange(5)).low is None


def test_the_interval_covers_the_median_of_the_population() -> None:
    rng = np.random.default_rng(7)
    hits = 0
    for _round in range(600):
        estimate = median_of_raters(rng.lognormal(size=12), np.arange(12))
        assert estimate.low is not None and estimate.high is not None
        hits += estimate.low <= 1 <= estimate.high
    assert hits / 600 > 0.93


def test_order_changes_nothing_and_missing_values_are_left_out() -> None:
    rng = np.random.default_rng(3)
    values, raters = rng.normal(size=40), rng.integers(0, 9, 40)
    order = rng.permutation(40)
    assert median_of_raters(values[order], raters[order]) == median_of_raters(values, raters)
    estimate = median_of_raters([np.nan, 2.0], [1, 2])
    assert (estimate.value, estimate.n_units, estimate.n_raters) == (2, 1, 1)
    assert median_of_raters([], []).reason == "nothing_counted"
    with pytest.raises(ValueError, match="one shape"):
        median_of_raters([1.0], [1, 2])
