"""Accuracy, and what could not be read."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from evaluation.metrics.classification import MISSING, accuracy, alignment_codes
from evaluation.metrics.proportions import wilson


def test_a_worked_example() -> None:
    # Five answers, one unreadable, one question without a label: 2 right of 3 that could be scored.
    estimate = accuracy([0, 1, 1, MISSING, 0], [0, 1, 0, 0, MISSING])
    assert estimate.value == pytest.approx(2 / 3)
    assert (
        estimate.n_units,
        estimate.extras["count"],
        estimate.extras["n_unreadable"],
        estimate.extras["n_without_gold"],
    ) == (
        3,
        2,
        1,
        1,
    )
    assert (estimate.extras["worst"], estimate.extras["best"]) == (2 / 4, 3 / 4)
    assert (estimate.low, estimate.high) == wilson(2, 3)
    assert accuracy([0, 1, 1, MISSING, 0], [0, 1, 0, 0, MISSING], unreadable="wrong").value == 2 / 4


def test_scikit_learn_says_the_same() -> None:
    rng = np.random.default_rng(1)
    labels, gold = rng.integers(0, 4, 300), rng.integers(0, 4, 300)
    assert accuracy(labels, gold).value == pytest.approx(accuracy_score(gold, labels))


def test_left_out_lies_between_worst_and_best() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        labels, gold = rng.integers(-1, 2, 30), rng.integers(0, 2, 30)
        estimate = accuracy(labels, gold)
        assert estimate.value is not None
        assert estimate.extras["worst"] <= estimate.value <= estimate.extras["best"]
        assert accuracy(labels, gold, unreadable="wrong").value == estimate.extras["worst"]
        order = rng.permutation(30)
        assert accuracy(labels[order], gold[order]).value == estimate.value


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
