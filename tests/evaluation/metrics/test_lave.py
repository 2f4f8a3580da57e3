"""LAVE's scores and the people's own ceiling."""

import numpy as np
import pytest

from evaluation.metrics.proportions import wilson
from papers.culturalvqa.metrics import human_ceiling, lave_accuracy, scores_of

N = np.nan


def test_codes_become_scores_and_what_cannot_be_read_becomes_none() -> None:
    np.testing.assert_array_equal(scores_of(["1", "2", "3", None, "rating"], "1-2"), [0, 1, N, N, N])
    np.testing.assert_array_equal(scores_of(["1", "2", "3"], "1-3"), [0, 0.5, 1])
    with pytest.raises(ValueError, match="scale must be"):
        scores_of(["1"], "1-5")  # type: ignore[arg-type]


def test_the_unreadable_are_left_out_with_both_ends_shown() -> None:
    """Right, wrong, right, unreadable: 2/3; all four with the last wrong 2/4, right 3/4."""
    found = lave_accuracy([1, 0, 1, N], ["a", "b", "c", "d"])
    assert found.value == pytest.approx(2 / 3) and found.n_units == 3
    assert (found.extras["n_unreadable"], found.extras["worst"], found.extras["best"]) == (1, 0.5, 0.75)


def test_answers_to_one_question_are_left_out_together() -> None:
    """Ten questions, each three times alike: the interval is that of ten, not of thirty."""
    scores, questions = np.repeat([1] * 6 + [0] * 4, 3), np.repeat(np.arange(10), 3)
    together, apart = lave_accuracy(scores, questions), lave_accuracy(scores, np.arange(30))
    assert together.value == apart.value == 0.6
    assert together.high - together.low > 1.4 * (apart.high - apart.low)
    assert together.resampled == "questions"


def test_the_peoples_ceiling_by_hand() -> None:
    """Question a: 1 1 0, b: 1 1 1 1 0, c has two answers. Over answers (2 + 4) / 8; over questions (2/3 + 4/5) / 2."""
    scores, questions = [1, 1, 0, 1, 1, 1, 1, 0, 0, 0], [*"aaa", *"bbbbb", *"cc"]
    found = human_ceiling(scores, questions)
    assert found.value == pytest.approx(6 / 8)
    assert (found.extras["n_questions"], found.extras["n_too_few"], found.n_units, found.n_ratings) == (2, 1, 2, 8)
    assert human_ceiling(scores, questions, average="questions").value == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert human_ceiling(scores, questions, least_answers=2).value == pytest.approx(6 / 10)
    assert human_ceiling(scores, questions, least_answers=9).reason == "too_few_answers", "there are some to count"


def test_an_unreadable_answer_still_makes_a_third() -> None:
    found = human_ceiling([1, 0, N], [*"aaa"])
    assert found.value == 0.5 and found.extras["n_unreadable"] == 1
    assert found.interval_reason == "too_few_clusters_for_interval", "one question is one, whatever was said of it"


@pytest.mark.parametrize("scores", [[], [N], [N, N]])
def test_nothing_readable_has_no_value(scores: list[float]) -> None:
    assert lave_accuracy(scores, ["q"] * len(scores)).reason == "nothing_counted"
    assert human_ceiling(scores, ["q"] * len(scores)).reason == "nothing_counted"
    assert human_ceiling(scores, ["q"] * len(scores), average="questions").reason == "nothing_counted"


def test_all_right_is_one_with_wilsons_interval() -> None:
    found = lave_accuracy(np.ones(4), np.arange(4))
    assert found.value == 1 and (found.low, found.high) == wilson(4, 4) and found.resampled == "questions"
    three = lave_accuracy([1, 1, 1, 0], np.arange(4))
    assert (three.low, three.high) == wilson(3, 4)


def test_the_order_does_not_matter_to_the_value() -> None:
    rng = np.random.default_rng(1)
    scores, questions = rng.integers(0, 2, 60).astype(float), rng.integers(0, 12, 60)
    order = rng.permutation(60)
    for measure in (lave_accuracy, human_ceiling):
        first, second = measure(scores, questions), measure(scores[order], questions[order])
        assert (first.value, first.low, first.high) == (second.value, second.low, second.high)


def test_codes_in_the_place_of_scores_are_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.\.1"):
        lave_accuracy([1, 2, 2], ["a", "b", "c"])
    with pytest.raises(ValueError, match="one length"):
        lave_accuracy([1], ["a", "b"])
