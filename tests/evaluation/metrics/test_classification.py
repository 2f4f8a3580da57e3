"""Accuracy, and what could not be read."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from evaluation.metrics.classification import MISSING, accuracy, alignment_codes
from evaluation.metrics.proportions import wilson


def test_a_worked_example() -> None:
    # Five answers, one unreadable, one question without a label: 2 right of 3 that could be scored.
    found = accuracy([0, 1, 1, MISSING, 0], [0, 1, 0, 0, MISSING])
    assert found.value == pytest.approx(2 / 3)
    assert (found.n_units, found.extras["count"], found.extras["n_unreadable"], found.extras["n_without_gold"]) == (
        3,
        2,
        1,
        1,
    )
    assert (found.extras["worst"], found.extras["best"]) == (2 / 4, 3 / 4)
    assert (found.low, found.high) == wilson(2, 3)
    assert accuracy([0, 1, 1, MISSING, 0], [0, 1, 0, 0, MISSING], unreadable="wrong").value == 2 / 4


def test_scikit_learn_says_the_same() -> None:
    rng = np.random.default_rng(1)
    said, gold = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    assert accuracy(said, gold).value == pytest.approx(accuracy_score(gold, said))


def test_left_out_lies_between_worst_and_best() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        said, gold = rng.integers(-1, 2, 30), rng.integers(0, 2, 30)
        found = accuracy(said, gold)
        assert found.value is not None
        assert found.extras["worst"] <= found.value <= found.extras["best"]
        assert accuracy(said, gold, unreadable="wrong").value == found.extras["worst"]
        order = rng.permutation(30)
        assert accuracy(said[order], gold[order]).value == found.value


def test_nothing_to_score_has_no_accuracy() -> None:
    assert accuracy([], []).reason == "nothing_counted"
    none = accuracy([MISSING], [1])
    assert (none.reason, none.extras["worst"], none.extras["best"]) == ("nothing_counted", 0, 1)
    unlabelled = accuracy([1], [MISSING])
    assert (unlabelled.reason, unlabelled.extras["worst"]) == ("nothing_counted", None)
    with pytest.raises(ValueError, match="one length"):
        accuracy([1], [1, 0])


def test_an_alignment_is_right_only_with_both_pictures() -> None:
    matched = ["aligned", "swapped", "both_a", "both_b", "gibberish"]
    assert alignment_codes(matched).tolist() == [1, 0, MISSING, MISSING, MISSING]
    assert alignment_codes(matched, both="wrong").tolist() == [1, 0, 0, 0, MISSING]
