"""Jensen-Shannon distance against scipy, and coverage by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from evaluation.metrics.distributions import coverage, jensen_shannon, normalise_scores, pairwise_distance
from evaluation.metrics.intervals import Interval

N = np.nan


def loop(scores: np.ndarray) -> float:
    return float(np.mean([jensenshannon(a, b, base=2) for a, b in combinations(scores, 2)]))


def test_by_hand() -> None:
    """(1, 0) and (1/2, 1/2): m = (3/4, 1/4); KL = log2(4/3) and (log2(2/3) + log2(2)) / 2; half their sum is .3113."""
    expected = np.sqrt((np.log2(4 / 3) + (np.log2(2 / 3) + 1) / 2) / 2)
    assert jensen_shannon([[1, 0]], [[0.5, 0.5]])[0] == pytest.approx(expected)
    assert pairwise_distance([[5, 0], [2, 2]]).value == pytest.approx(expected), "scores are divided by their sum"


def test_is_scipys_over_all_pairs() -> None:
    scores = np.random.default_rng(0).integers(1, 6, (12, 7)).astype(float)
    found = pairwise_distance(scores)
    assert found.value == pytest.approx(loop(scores)) and found.extras["n_pairs"] == 66
    shares = normalise_scores(scores)[0]
    for base in (2.0, np.e, 10.0):
        mine = jensen_shannon(shares[:6], shares[6:], base)
        theirs = [jensenshannon(a, b, base=base) for a, b in zip(scores[:6], scores[6:], strict=True)]
        np.testing.assert_allclose(mine, theirs)


def test_the_jackknife_is_the_brute_force_one(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(2).integers(1, 6, (9, 4)).astype(float)
    replicates_by_kind = {}

    def spy(value: float, units: np.ndarray, *rest: object) -> str:
        replicates_by_kind["units"] = units
        return "unstable"

    monkeypatch.setattr("evaluation.metrics.distributions.jackknife_interval", spy)
    pairwise_distance(scores)
    np.testing.assert_allclose(replicates_by_kind["units"], [loop(np.delete(scores, k, 0)) for k in range(9)])


def test_it_knows_no_order_and_no_scale() -> None:
    scores = np.random.default_rng(4).integers(1, 6, (8, 5)).astype(float)
    before = pairwise_distance(scores).value
    assert pairwise_distance(3 * scores[::-1, ::-1]).value == pytest.approx(before)
    assert pairwise_distance(scores[[0, 0, 0]]).value == 0


@pytest.mark.parametrize(
    ("scores", "reason", "left_out"),
    [
        (np.zeros((0, 3)), "nothing_counted", 0),
        ([[1, 2]], "no_pairs", 0),
        ([[1, 2], [0, 0], [N, 1]], "no_pairs", 2),
        ([[N, N], [N, N]], "nothing_counted", 2),
    ],
)
def test_a_distance_needs_two_images(scores: list, reason: str, left_out: int) -> None:
    found = pairwise_distance(scores)
    assert (found.value, found.reason, found.extras["n_left_out"]) == (None, reason, left_out)


def test_two_images_have_a_value_and_no_interval() -> None:
    assert pairwise_distance([[1, 2], [2, 1]]).interval_reason == "too_few_units_for_interval"
    assert pairwise_distance([[1, 2], [2, 1]], interval=Interval("none")).interval_reason == "not_asked"


def test_coverage_counts_the_labels_that_some_image_reaches() -> None:
    scores = [[5, 3, 1, N], [2, 4, 1, N]]
    found = coverage(scores)
    assert found.value == 2 / 4 and found.extras["n_reached"] == 2
    assert found.interval_reason == "one_image_suffices", "a label is reached by a single picture, not by a few raters"
    assert coverage(scores, threshold=5).value == 1 / 4
    assert coverage([[N, N]]).reason == coverage(np.zeros((0, 2))).reason == "nothing_counted"
    assert coverage([[1, 1]]).value == 0


def test_what_is_no_share_is_refused() -> None:
    with pytest.raises(ValueError, match="negative"):
        pairwise_distance([[-1, 2], [1, 1]])
    with pytest.raises(ValueError, match="images x labels"):
        coverage([1, 2])
    with pytest.raises(ValueError, match="only images"):
        pairwise_distance([[1, 2], [2, 1]], interval=Interval())
