"""Multi-label F1 against scikit-learn, and differences in which an image's pairs stay together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from evaluation.metrics.multilabel import AVERAGES, Pairs, f1, f1_difference, f1_ratio
from evaluation.metrics.resampling import LOGIT

N = np.nan


def grid(gold: np.ndarray, score: np.ndarray) -> Pairs:
    """Every pair of (images, labels) tables."""
    image, label = np.indices(gold.shape)
    return Pairs(image.ravel(), label.ravel(), gold.ravel().astype(bool), score.ravel().astype(float))


GOLD = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 0]])
SCORE = np.array([[5, 3, 4], [1, 4, 1], [2, 1, 3]])


def test_the_three_averages_by_hand() -> None:
    """Said (at least 4): image 0 labels 0 and 2, image 1 label 1. TP 2, FP 1, FN 1: micro 4/6. Labels: 2/2, 2/3, 0/1,
    macro 5/9. Images: 2/4 and 2/2, the third has nothing positive and is left out: 3/4."""
    pairs = grid(GOLD, SCORE)
    assert f1(pairs, "micro").value == pytest.approx(4 / 6)
    assert f1(pairs, "macro").value == pytest.approx(5 / 9)
    found = f1(pairs, "samples")
    assert found.value == pytest.approx(3 / 4) and found.extras["n_left_out"] == 1
    assert (found.n_units, found.n_ratings, found.resampled) == (3, 9, "images")


def test_four_is_relevant_and_the_threshold_is_an_option() -> None:
    """CAIRE's words say "greater than 4"; a 4 is called relevant there."""
    pairs = grid(np.array([[1, 0]]), np.array([[4, 3]]))
    assert f1(pairs, "micro").value == 1
    assert f1(pairs, "micro", threshold=5).value == 0
    assert f1(pairs, "micro", threshold=3).value == pytest.approx(2 / 3)


@pytest.mark.parametrize("average", AVERAGES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_is_scikit_learns(average: str, data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    shape = data.draw(st.tuples(st.integers(1, 7), st.integers(2, 5)))
    gold, score = rng.random(shape) < 0.4, rng.integers(1, 6, shape)
    expected = f1_score(gold, score >= 4, average=average, zero_division=np.nan)
    estimate = f1(grid(gold, score), average)
    if not gold.any():
        assert estimate.value is None and estimate.reason == "no_gold_asked"
    else:
        assert estimate.value == pytest.approx(expected, abs=1e-12)


def test_a_pair_without_a_score_is_no_negative() -> None:
    score = SCORE.astype(float)
    score[0, 1] = N  # a gold label nobody scored: without it TP 2, FP 1, FN 0
    found = f1(grid(GOLD, score), "micro")
    assert found.value == pytest.approx(4 / 5) and found.extras["n_unscored"] == 1


def test_a_difference_and_a_ratio_run_over_what_both_scored() -> None:
    """With retrieval 4/6 as above; without, all 1 but (1, 1): TP 1, FN 2: 2/4. Difference 1/6, ratio 4/3."""
    with_it, without = grid(GOLD, SCORE), grid(GOLD, np.where(np.eye(3)[[1, 1, 0]] * [[0], [1], [0]], 5, 1))
    assert f1(without, "micro").value == pytest.approx(2 / 4)
    assert f1_difference(with_it, without, "micro").value == pytest.approx(1 / 6)
    assert f1_ratio(with_it, without, "micro").value == pytest.approx(4 / 3)
    fewer = without.where(without.image != 0)
    found = f1_difference(with_it, fewer, "micro")
    assert found.value == 0 and found.n_units == 2 and found.extras["n_not_shared"] == 3


@pytest.mark.parametrize("average", AVERAGES)
def test_a_model_does_not_differ_from_itself_without_any_image(average: str) -> None:
    rng = np.random.default_rng(0)
    pairs = grid(rng.random((30, 6)) < 0.3, rng.integers(1, 6, (30, 6)))
    shuffled = pairs.where(rng.permutation(180))
    found = f1_difference(pairs, shuffled, average)
    assert found.value == pytest.approx(0, abs=1e-12) and found.interval_reason == "no_spread"
    assert f1_ratio(pairs, shuffled, average).value == pytest.approx(1)


@pytest.mark.parametrize("average", AVERAGES)
def test_the_interval_is_the_jackknife_over_images(average: str) -> None:
    """scikit-learn's F1 without each image, on the logit, t with 39 degrees of freedom."""
    rng = np.random.default_rng(0)
    gold, score = rng.random((40, 5)) < 0.4, rng.integers(1, 6, (40, 5))
    gold[:, 0] |= ~gold.any(axis=1)  # every image has a positive, so that samples are those of scikit-learn
    estimate = f1(grid(gold, score), average)
    without = np.array(
        [f1_score(np.delete(gold, k, 0), np.delete(score, k, 0) >= 4, average=average) for k in range(40)]
    )
    error = (39 / 40 * ((without - without.mean()) ** 2).sum()) ** 0.5
    expected = LOGIT.interval(f1_score(gold, score >= 4, average=average), error, stats.t.ppf(0.975, 39))
    assert (estimate.low, estimate.high) == pytest.approx(expected)
    assert estimate.resampled == "images"


@pytest.mark.parametrize("average", AVERAGES)
def test_undefined_has_a_reason(average: str) -> None:
    none = Pairs(np.zeros(0, int), np.zeros(0, int), np.zeros(0, bool), np.zeros(0))
    assert f1(none, average).reason == "nothing_counted"
    assert f1(grid(GOLD, np.full(GOLD.shape, N)), average).reason == "nothing_counted"
    empty = grid(np.zeros((2, 2)), np.ones((2, 2)))
    assert f1(empty, average).reason == "no_gold_asked"
    wrong = grid(np.array([[1, 0]]), np.array([[1, 5]]))
    assert f1(wrong, average).value == 0, "wrong is not undefined"
    assert f1_ratio(grid(np.array([[1, 0]]), np.array([[5, 1]])), wrong, average).reason == "zero_below"


@pytest.mark.parametrize("average", AVERAGES)
def test_no_value_where_no_gold_label_was_asked(average: str) -> None:
    """Two images: the model says yes to a wrong label of each, and was asked for no gold label."""
    gold, score = np.array([[1, 0], [1, 0]]), np.array([[N, 5], [N, 4]])
    found = f1(grid(gold, score), average)
    assert (found.value, found.reason, found.n_units, found.n_ratings) == (None, "no_gold_asked", 2, 2)
    whole = grid(gold, np.array([[5, 1], [5, 1]]))
    for compared in (f1_difference(grid(gold, score), whole, average), f1_ratio(grid(gold, score), whole, average)):
        assert (compared.value, compared.reason) == (None, "no_gold_asked")


def test_an_image_or_label_whose_gold_was_not_asked_is_left_out_of_the_mean() -> None:
    """Image 0: gold label 0 found, 1. Image 1: gold label 0 not asked, wrong label 1 said: no 0 in the mean. By label:
    label 0 has 1; label 1 is nobody's gold and was said once: 0."""
    pairs = grid(np.array([[1, 0], [1, 0]]), np.array([[5, 1], [N, 5]]))
    found = f1(pairs, "samples")
    assert (found.value, found.n_units, found.extras["n_not_asked"]) == (1, 1, 1)
    assert f1(pairs, "macro").value == pytest.approx((1 + 0) / 2)
    assert f1(pairs, "micro").value == pytest.approx(2 / 3)


def test_two_sets_of_gold_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="same gold"):
        f1_difference(grid(GOLD, SCORE), grid(1 - GOLD, SCORE), "micro")
    with pytest.raises(ValueError, match="average must be"):
        f1(grid(GOLD, SCORE), "weighted")  # type: ignore[arg-type]
