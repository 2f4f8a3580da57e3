"""A judge among people: with and without it, and its place among them."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Ratings
from evaluation.metrics.intervals import Interval
from evaluation.metrics.judges import (
    against_majority,
    alpha_with_judge,
    judge_position,
    majority,
)
from tests.evaluation.metrics.tables import N

UNITS = Interval(over="units")


def panel(judge: str = "faithful") -> np.ndarray:
    """30 units, five people near a truth, and a judge in the last column; it did not see the last ten units."""
    rng = np.random.default_rng(3)
    truth = rng.integers(1, 6, 30).astype(float)
    people = np.clip(truth[:, None] + rng.integers(-1, 2, (30, 5)), 1, 5)
    scores = {"faithful": truth, "backwards": 6 - truth, "constant": np.full(30, 3.0)}[judge].copy()
    scores[20:] = N
    return np.column_stack([people, scores])


def test_both_alphas_speak_of_the_units_the_judge_saw() -> None:
    table = panel()
    result = alpha_with_judge(Ratings.from_matrix(table), 5, "ordinal")
    assert result.people.value == alpha(Ratings.from_matrix(table[:20, :5]), "ordinal").value
    assert result.everybody.value == alpha(Ratings.from_matrix(table[:20]), "ordinal").value
    assert (result.people.n_units, result.people.n_raters, result.everybody.n_raters) == (20, 5, 6)
    assert result.people.missing_share == 0
    assert result.everybody.value > result.people.value, "it knows the truth, so it raises agreement"


def test_a_judge_that_turns_the_scale_round_lowers_it() -> None:
    found = alpha_with_judge(Ratings.from_matrix(panel("backwards")), 5, "ordinal")
    assert found.everybody.value < found.people.value - 0.2


def test_a_judge_that_saw_nothing_leaves_nothing_to_compare() -> None:
    table = panel()
    table[:, 5] = N
    found = alpha_with_judge(Ratings.from_matrix(table), 5, "ordinal")
    assert found.people.reason == found.everybody.reason == "no_ratings"
    place = judge_position(Ratings.from_matrix(table), 5)
    assert place.judge.value is None and place.at_least_as_good.reason == "too_few_raters"


def test_its_place_is_counted_person_by_person() -> None:
    """Against each person's own yardstick: scipy's rho of person j with the mean of the others, and of the judge with
    the same mean."""
    table = panel()
    position = judge_position(Ratings.from_matrix(table), 5)
    judged_rows, wins = table[:20], 0
    for j, own in position.people:
        rest = np.delete(judged_rows[:, :5], j, axis=1).mean(axis=1)
        assert own.value == pytest.approx(stats.spearmanr(judged_rows[:, j], rest)[0])
        wins += stats.spearmanr(judged_rows[:, 5], rest)[0] >= own.value - 1e-12
    assert position.judge.value == pytest.approx(stats.spearmanr(judged_rows[:, 5], judged_rows[:, :5].mean(axis=1))[0])
    assert position.at_least_as_good.value == wins / 5 and wins >= 3
    assert position.at_least_as_good.resampled == "raters" and position.at_least_as_good.n_raters == 5


def test_a_constant_judge_has_no_place() -> None:
    found = judge_position(Ratings.from_matrix(panel("constant")), 5)
    assert found.judge.reason == "constant_ratings"
    assert found.at_least_as_good.reason == "no_pairs" and found.at_least_as_good.extras["n_left_out"] == 5


def test_majority_is_nobodys_where_the_first_place_is_shared() -> None:
    winner, raters = majority(Ratings.from_matrix([[1, 1, 2], [1, 2, N], [N, N, N], [3, 3, 3]]))
    np.testing.assert_array_equal(winner, [1, N, N, 3])
    np.testing.assert_array_equal(raters, [3, 2, 0, 3])


def test_base_rate_is_reported_with_agreement() -> None:
    """People say 1 1 1 1 2 and once disagree; the judge always says 1: it agrees on 4 of 5, which is the base rate, and
    its kappa is 0: D = 1, E = 4 x 0 + 1 x 5, 1 - 5 x 1 / 5."""
    table = np.array([[1, 1, 1]] * 4 + [[2, 2, 1], [1, 2, 1]], float)
    comparison = against_majority(Ratings.from_matrix(table), 2)
    assert comparison.agreement.value == comparison.base_rate.value == 4 / 5
    assert comparison.kappa.value == 0 and comparison.base_code == 1 and comparison.n_tied == 1
    assert comparison.agreement.n_units == 5 and comparison.agreement.n_raters == 2
    only = against_majority(Ratings.from_matrix(table), 2, codes=[2])
    assert only.agreement.value == 0 and only.agreement.n_units == 1


def test_without_a_majority_there_is_nothing_to_agree_with() -> None:
    found = against_majority(Ratings.from_matrix([[1, 2, 1]]), 2)
    assert found.agreement.reason == found.base_rate.reason == "nothing_counted"
    assert found.base_code is None and found.n_tied == 1


def test_a_judge_nobody_knows_is_refused() -> None:
    with pytest.raises(ValueError, match="judge must lie in"):
        judge_position(Ratings.from_matrix([[1, 2]]), 2)
