"""Forced choice: worked examples, scipy beside it, invariances, what is undefined."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.metrics.proportions import share, wilson
from papers.xcm import metrics as f

NAN = float("nan")
# ten trials of five concepts: seven won by the correct one, two by the language-biased one, one by the irrelevant one
TEN = np.eye(3)[[0, 0, 0, 0, 0, 0, 0, 1, 1, 2]]
CLUSTERS = np.repeat(np.arange(5), 2)


def test_the_most_similar_wins_and_a_tie_goes_where_the_option_says() -> None:
    similarity = [[0.3, 0.1, 0.2], [0.1, 0.4, 0.4], [0.5, 0.5, 0.5], [-1, -2, -3]]
    assert f.winners(similarity).tolist() == [[1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]]
    assert f.winners(similarity, ties="every").tolist() == [[1, 0, 0], [0, 1, 1], [1, 1, 1], [1, 0, 0]]
    with pytest.raises(ValueError, match="ties"):
        f.winners(similarity, ties="none")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="two candidates"):
        f.winners([[1.0]])
    assert f.winners(np.zeros((0, 3))).shape == (0, 3)


def test_a_trial_without_all_similarities_has_no_winner() -> None:
    credit = f.winners([[0.3, NAN, 0.2], [0.1, 0.4, 0.2]])
    assert np.isnan(credit[0]).all()
    rates = f.win_rates(credit, ["a", "b"])
    assert [rate.value for rate in rates] == [0, 1, 0]  # of one trial
    assert rates[0].n_units == 1 and rates[0].extras["unknown"] == 1


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 9), st.floats(-3, 3))
@settings(max_examples=40, deadline=None)
def test_winners_do_not_hang_on_the_scale_of_the_similarity(seed: int, factor: float, shift: float) -> None:
    similarity = np.random.default_rng(seed).integers(0, 5, (30, 3)) / 4
    for ties in ("first", "every"):
        assert (f.winners(similarity, ties=ties) == f.winners(similarity * 4 + 1, ties=ties)).all()
    assert f.winners(similarity).sum() == 30
    order = np.random.default_rng(seed).permutation(3)
    assert (f.winners(similarity[:, order], ties="every") == f.winners(similarity, ties="every")[:, order]).all()


def test_win_rates_and_self_preference_by_hand() -> None:
    rates = f.win_rates(TEN, CLUSTERS)
    assert [rate.value for rate in rates] == pytest.approx([0.7, 0.2, 0.1])
    assert rates[0].resampled == "clusters of units" and rates[0].extras["n_clusters"] == 5 and rates[0].n_units == 10
    sp = f.self_preference(TEN, CLUSTERS)
    assert sp.value == pytest.approx(2 / 7)
    assert (sp.extras["m_cr"], sp.extras["m_lb"]) == pytest.approx((0.7, 0.2))


def test_self_preference_is_of_pooled_counts_not_a_mean_of_ratios() -> None:
    """One country 1 of 9 biased, another 8 of 1: pooled 9/10; the mean of 1/9 and 8 would be 4.06."""
    credit = np.eye(3)[[0] * 9 + [1] + [0] + [1] * 8]
    assert f.self_preference(credit, np.arange(19)).value == pytest.approx(9 / 10)


def test_self_preference_without_a_correct_trial_is_undefined_not_infinite() -> None:
    never = f.self_preference(np.eye(3)[[1, 1, 2]], [1, 2, 3])
    assert never.value is None and never.reason == "never_correct"
    assert never.extras["m_cr"] == 0 and never.extras["m_lb"] == pytest.approx(2 / 3)
    none = f.self_preference(np.zeros((0, 3)), [])
    assert none.value is None and none.reason == "nothing_counted"
    assert [rate.reason for rate in f.win_rates(np.zeros((0, 3)), [])] == ["nothing_counted"] * 3
    one = f.win_rates(np.eye(3)[[0, 0]], ["a", "a"])[0]
    assert one.value == 1 and one.interval_reason == "too_few_clusters_for_interval"


def test_intervals_leave_out_whole_clusters() -> None:
    """Twenty trials that are four repeated five times know less than twenty different ones."""
    credit = np.eye(3)[np.repeat([0, 1, 0, 0], 5)]
    repeated, apart = (f.win_rates(credit, c)[0] for c in (np.repeat(range(4), 5), range(20)))
    assert repeated.value == apart.value == 0.75
    assert repeated.low is not None and repeated.high is not None and apart.low is not None and apart.high is not None
    assert repeated.high - repeated.low > 1.5 * (apart.high - apart.low)
    with pytest.raises(ValueError, match="one label"):
        f.win_rates(credit, [1, 2])


def test_win_rates_are_shares_by_clusters_from_three_on() -> None:
    """The same number as a share of the same clusters; 0 of all is Wilson's with the clusters for n."""
    credit, clusters = np.eye(3)[[0, 0, 1, 0, 1, 1, 0]], np.array([1, 1, 1, 2, 2, 3, 3])
    first, _second, third = f.win_rates(credit, clusters)
    theirs = share(credit[:, 0] > 0, clusters)
    assert (first.low, first.high) == (theirs.low, theirs.high) and first.low is not None
    assert first.extras["interval"] == "jackknife over clusters"
    assert (third.low, third.high) == wilson(0, 3) and third.extras["interval"] == "Wilson, by clusters"
    assert f.win_rates(credit[:5], clusters[:5])[0].interval_reason == "too_few_clusters_for_interval"


def test_self_preference_stays_above_zero() -> None:
    sp = f.self_preference(np.eye(3)[[0, 1, 0, 0, 0, 1, 0, 0, 0]], np.repeat(range(3), 3))
    assert sp.value == pytest.approx(2 / 7) and sp.low is not None and sp.high is not None
    assert 0 < sp.low < sp.value < 1 < sp.high
    assert f.self_preference(np.eye(3)[[0] * 9], np.repeat(range(3), 3)).interval_reason == "no_spread"


def test_chi_square_by_hand_and_by_scipy() -> None:
    """45 and 30: 15^2 / 75 = 3."""
    square, p = f.goodness_of_fit(45, 30)
    assert square == 3
    theirs = stats.chisquare([45, 30])
    assert (square, p) == pytest.approx((theirs.statistic, theirs.pvalue))
    assert f.goodness_of_fit(30, 45) == (square, p)
    assert f.goodness_of_fit(7, 7) == (0, 1)
    assert np.isnan(f.goodness_of_fit(0, 0)).all()
    with pytest.raises(ValueError, match="negative"):
        f.goodness_of_fit(-1, 2)


def test_the_difference_has_the_sign_of_the_order_asked_for() -> None:
    diff = f.difference_of_wins(TEN, 1, 2, CLUSTERS, test="by trials")
    assert diff.value == pytest.approx(0.1)
    assert diff.extras["chi_square"] == pytest.approx(1 / 3)
    back = f.difference_of_wins(TEN, 2, 1, CLUSTERS, test="by trials")
    assert back.value == pytest.approx(-0.1) and back.extras["p"] == diff.extras["p"]
    with pytest.raises(ValueError, match="test must be"):
        f.difference_of_wins(TEN, 1, 2, CLUSTERS, test="by day")  # type: ignore[arg-type]
    neither = f.difference_of_wins(np.eye(3)[[0, 0, 0]], 1, 2, [1, 2, 3])
    assert neither.value == 0 and neither.extras["p"] is None


def test_p_by_clusters_counts_clusters_and_not_trials() -> None:
    """Four clusters of ten trials, three for the first type and one for the second: of the 16 sign patterns of
    10, 10, 10, -10 ten have an absolute sum of at least 20 (8 with 20, 2 with 40). By trials 30 and 10: p 0.002."""
    credit, clusters = np.eye(2)[[0] * 30 + [1] * 10], np.repeat(np.arange(4), 10)
    diff = f.difference_of_wins(credit, 0, 1, clusters)
    assert (diff.value, diff.extras["p"], diff.extras["exact"]) == (0.5, 10 / 16, True)
    assert diff.extras["test"] == "by clusters" and "chi_square" not in diff.extras
    trials = f.difference_of_wins(credit, 0, 1, clusters, test="by trials")
    assert trials.extras["p"] == pytest.approx(0.00157, abs=1e-5)
    assert (trials.value, trials.low, trials.high) == (diff.value, diff.low, diff.high)


@pytest.mark.parametrize("count", [13, 14])
def test_p_by_clusters_is_exact_up_to_13_clusters(count: int) -> None:
    rng = np.random.default_rng(count)
    credit = np.eye(2)[(rng.random(count * 9) < 0.45).astype(int)]
    extras = f.difference_of_wins(credit, 0, 1, np.repeat(np.arange(count), 9)).extras
    assert extras["exact"] == (count <= 13)
    assert extras["n_permutations"] == 10_000 or count == 13


def test_a_random_model_shows_no_preference() -> None:
    """Ten rounds over 11,723 trials, as in Figure 19: SP within 0.98 and 1.02 there; the standard error is 0.023."""
    rounds = [f.random_winners(11_723, 3, np.random.default_rng(seed)) for seed in range(10)]
    scores = [f.self_preference(one, np.arange(11_723)).value for one in rounds]
    assert all(score is not None and 0.93 < score < 1.07 for score in scores)
    assert np.mean([score for score in scores if score is not None]) == pytest.approx(1, abs=0.02)
    again = f.random_winners(11_723, 3, np.random.default_rng(0))
    assert (again == rounds[0]).all() and (again.sum(axis=1) == 1).all()
