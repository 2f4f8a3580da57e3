"""Drift of raters: worked by hand, against scipy's Welch test, and where it has no value."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.rater_drift import drift, share_agreeing_with_others, significant_drifts


def ratings_of_two(first: str, second: str) -> tuple[Ratings, np.ndarray]:
    """Two raters' codes, unit by unit in the order in which both answered."""
    rows = [
        (u, r, float(code)) for u, pair in enumerate(zip(first, second, strict=True)) for r, code in enumerate(pair)
    ]
    ratings = Ratings.from_labels(rows)
    return ratings, ratings.unit.copy()


def test_worked_by_hand() -> None:
    # The second rater's deviations: 0 0 1 0 0 | 1 1 2 1 1: means 0.2 and 1.2.
    ratings, order = ratings_of_two("1232112321", "1242123532")
    estimate = drift(ratings, order, 1)
    assert estimate.value == pytest.approx(1.0)
    assert (estimate.extras["first"], estimate.extras["second"]) == (pytest.approx(0.2), pytest.approx(1.2))
    assert (estimate.n_units, estimate.n_raters, estimate.resampled) == (10, 2, "units")
    assert drift(ratings, order, 0).value == pytest.approx(-1.0), "of two, each is the other's mirror"


def test_the_interval_is_welchs() -> None:
    ratings, order = ratings_of_two("1232112321", "1242123532")
    test = stats.ttest_ind([1, 1, 2, 1, 1], [0, 0, 1, 0, 0], equal_var=False).confidence_interval()
    found = drift(ratings, order, 1)
    assert (found.low, found.high) == (pytest.approx(test.low), pytest.approx(test.high))


def test_the_order_is_that_of_the_answers_not_of_the_units() -> None:
    ratings, order = ratings_of_two("1232112321", "1242123532")
    assert drift(ratings, -order, 1).value == pytest.approx(-1.0)
    mixed = np.random.default_rng(3).permutation(10)
    same = Ratings(mixed[ratings.unit], ratings.rater, ratings.value, 10, 2)
    assert drift(same, order, 1).value == pytest.approx(1.0)


def test_codes_without_order_are_only_the_same_or_not() -> None:
    # The same as the other: yes five times, then yes once of five.
    ratings, order = ratings_of_two("1111111111", "1111112345")
    estimate = drift(ratings, order, 1, nominal=True)
    assert estimate.value == pytest.approx(1 / 5 - 1)
    renamed = Ratings(ratings.unit, ratings.rater, 9 - ratings.value, 10, 2)
    assert drift(renamed, order, 1, nominal=True).value == estimate.value
    assert drift(renamed, order, 1).value == pytest.approx(-drift(ratings, order, 1).value)


def test_an_odd_unit_goes_to_the_second_half_and_lonely_ones_to_none() -> None:
    ratings, order = ratings_of_two("12321123211", "12421235321")
    found = drift(ratings, order, 1)
    assert (found.extras["n_first"], found.extras["n_second"]) == (5, 6)
    rows = [*zip(ratings.unit, ratings.rater, ratings.value, strict=True), (99, 1, 5.0)]
    lonely = Ratings.from_labels(rows)
    assert drift(lonely, np.arange(23), 1).n_units == 11


def test_answers_of_one_moment_have_no_earlier_half() -> None:
    """As of a file without times: the order of the units is no order in time."""
    ratings, order = ratings_of_two("1232112321", "1242123532")
    found = drift(ratings, np.zeros(20), 1)
    assert (found.value, found.reason, found.extras.get("p")) == (None, "no_order_in_time", None)
    assert significant_drifts({0: found}) == (set(), 0)
    days = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2]).repeat(2)
    assert drift(ratings, days, 1).reason == "no_order_in_time", "the middle of the answers lies within a day"
    days = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1]).repeat(2)
    assert drift(ratings, days, 1).value == drift(ratings, order, 1).value


def test_no_value_and_no_interval_say_why() -> None:
    ratings, order = ratings_of_two("123211232", "124212343")
    assert drift(ratings, order, 1).reason == "too_few_for_halves"
    nobody = Ratings(ratings.unit, ratings.rater, ratings.value, 9, 3)
    assert drift(nobody, order, 2).reason == "no_ratings"
    alone = Ratings.from_matrix([[1.0], [2.0]])
    assert drift(alone, np.arange(2), 0).reason == "too_few_for_halves"
    steady, order = ratings_of_two("1234512345", "2345623456")
    found = drift(steady, order, 1)
    assert (found.value, found.interval_reason) == (0.0, "no_spread")
    with pytest.raises(ValueError, match="rater must lie"):
        drift(steady, order, 7)
    with pytest.raises(ValueError, match="order must have"):
        drift(steady, order[:3], 0)


def test_share_of_others_with_the_same_answer() -> None:
    ratings = Ratings.from_matrix([[1, 1, 2], [2, 2, 2], [3, 1, 2], [1, 1, np.nan]])
    estimate = share_agreeing_with_others(ratings, 0)  # 1/2, 1, 0, 1
    assert estimate.value == pytest.approx(0.625)
    step = stats.t.ppf(0.975, 3) * np.std([0.5, 1, 0, 1], ddof=1) / 2
    assert (estimate.low, estimate.high) == (pytest.approx(max(0.625 - step, 0)), 1.0)
    assert (
        share_agreeing_with_others(Ratings.from_matrix([[1, 1], [2, 2]]), 0).interval_reason
        == "too_few_units_for_interval"
    )
    assert share_agreeing_with_others(Ratings.from_matrix([[1, 1], [2, 2], [3, 3]]), 0).interval_reason == "no_spread"
    assert share_agreeing_with_others(Ratings.from_matrix([[1.0], [2.0]]), 0).reason == "no_pairable_units"


def test_p_is_that_of_welch() -> None:
    ratings, order = ratings_of_two("1232112321", "1242123532")  # deviations 0 0 1 0 0, then 1 1 1 2 1
    theirs = stats.ttest_ind([1, 1, 1, 2, 1], [0, 0, 1, 0, 0], equal_var=False)
    assert drift(ratings, order, 1).extras["p"] == pytest.approx(theirs.pvalue)
    steady, order = ratings_of_two("1234512345", "2345623456")
    assert drift(steady, order, 1).extras["p"] is None


def with_p(p: float | None) -> Estimate:
    return Estimate.of(0.1, method="drift", n_units=9, n_raters=2, n_ratings=9, extras={"p": p})


def test_drifts_are_marked_after_a_correction_for_the_raters_of_the_page() -> None:
    """Benjamini and Hochberg: 0.01 x 4 / 1 = 0.04 and 0.02 x 4 / 2 = 0.04 are marked, 0.045 x 4 / 3 = 0.06 is not."""
    page = {"a": with_p(0.045), "b": with_p(0.01), "c": with_p(None), "d": with_p(0.9), "e": with_p(0.02)}
    page["f"] = Estimate.undefined(reason="no_ratings", method="drift", n_units=0, n_raters=2, n_ratings=0)
    assert significant_drifts(page) == ({"b", "e"}, 4)
    assert significant_drifts({"a": with_p(0.045)}) == ({"a"}, 1)
    assert significant_drifts({}) == (set(), 0)


def test_marks_are_rare_among_many_steady_raters() -> None:
    """Fifty raters without drift a page: about one page in twenty has a mark. Uncorrected, nearly all pages would."""
    rng, pages, corrected, uncorrected = np.random.default_rng(7), 60, 0, 0
    for _page in range(pages):
        ratings = Ratings.from_matrix(rng.integers(1, 6, (20, 50)).astype(float))
        order = np.arange(ratings.value.size)
        found = {rater: drift(ratings, order, rater) for rater in range(50)}
        corrected += bool(significant_drifts(found)[0])
        uncorrected += any(float(one.extras["p"]) <= 0.05 for one in found.values())
    assert corrected <= 8 and uncorrected > 50
