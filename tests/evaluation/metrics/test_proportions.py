"""A share with its interval."""

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from evaluation.metrics.proportions import share, share_of, share_of_sums, wilson


def test_wilsons_own_arithmetic() -> None:
    # p = 0.8, n = 10, z = 1.96: middle (0.8 + 0.19208) / 1.38416 = 0.71674;
    # half 1.96 x sqrt(0.016 + 0.0096040) / 1.38416 = 0.22658; so 0.4902 to 0.9433.
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 40), (40, 40), (3, 7), (573, 2865)])
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_statsmodels_says_the_same(count: int, n: int, level: float) -> None:
    assert wilson(count, n, level) == pytest.approx(proportion_confint(count, n, 1 - level, "wilson"), abs=1e-12)


def test_a_share_says_what_it_was_made_of() -> None:
    found = share([True, True, False, True])
    assert (found.value, found.n_units, found.extras["count"]) == (0.75, 4, 3)
    assert (found.resampled, found.low, found.high) == ("units", *wilson(3, 4))
    clustered = share([True, True, False, True], ["a", "b", "c", "c"])
    assert (clustered.value, clustered.resampled, clustered.extras["n_clusters"]) == (0.75, "clusters of units", 3)


def test_all_wrong_is_the_mirror_of_all_right() -> None:
    rng = np.random.default_rng(1)
    hits = rng.random(60) < 0.3
    one, other = share(hits), share(~hits)
    assert one.value == pytest.approx(1 - (other.value or 0))
    assert one.low == pytest.approx(1 - (other.high or 0))
    assert share(hits, np.arange(60) // 4).low == pytest.approx(1 - (share(~hits, np.arange(60) // 4).high or 0))


def test_clusters_of_one_come_near_to_wilson() -> None:
    hits = np.arange(400) < 120
    plain, clustered = share(hits), share(hits, np.arange(400))
    assert clustered.low == pytest.approx(plain.low, abs=0.01)
    assert clustered.high == pytest.approx(plain.high, abs=0.01)


def test_no_unit_one_unit_and_the_ends() -> None:
    assert share([]).reason == "nothing_counted"
    assert share([], []).reason == "nothing_counted"
    assert share_of(0, 0).reason == "nothing_counted"
    one = share([True])
    assert (one.value, one.high) == (1, 1)
    assert one.low == pytest.approx(1 / (1 + 1.959964**2), abs=1e-6)  # 1 / (1 + z^2)
    alike = share([True] * 9, list("abcabcabc"))  # 1 has no logit: as if there were three units
    assert (alike.low, alike.high) == (pytest.approx(3 / (3 + 1.959964**2), abs=1e-6), 1)
    assert alike.extras["interval"] == "Wilson, by clusters"
    with pytest.raises(ValueError, match="booleans"):
        share([0, 1, 1])
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


def test_a_share_has_one_interval_however_it_is_asked_for() -> None:
    """One unit in each cluster: Wilson's, also with many; by clusters only where units come together."""
    hits = np.arange(40) % 4 > 0
    alone, plain = share(hits, np.arange(40)), share(hits)
    assert (alone.low, alone.high) == (plain.low, plain.high) == wilson(30, 40)
    assert share(hits, np.arange(40) // 4).interval_reason == "no_spread"  # all ten have three of four
    assert share(hits, np.arange(40) // 5).extras["interval"] == "jackknife over clusters"


def test_few_clusters_and_many_have_one_method() -> None:
    """Three clusters, 1/2, 1 and 1/2 of two: t with two degrees of freedom on the logit; two clusters have none."""
    hits = [False, True, True, True, False, True]
    estimate = share(hits, list("aabbcc"))
    without = np.array([3 / 4, 2 / 4, 3 / 4])
    error = (2 / 3 * ((without - without.mean()) ** 2).sum()) ** 0.5
    step = 4.302653 * error / (2 / 3 * 1 / 3)
    assert estimate.low == pytest.approx(1 / (1 + np.exp(-(np.log(2) - step))), rel=1e-6)
    assert estimate.high == pytest.approx(1 / (1 + np.exp(-(np.log(2) + step))), rel=1e-6)
    assert estimate.extras["interval"] == "jackknife over clusters"
    two = share(hits[:4], list("aabb"))
    assert (two.value, two.interval_reason) == (0.75, "too_few_clusters_for_interval")


def test_a_mean_of_shares_at_the_end_has_wilsons_interval_by_clusters() -> None:
    """Of two groups, all right in each of four clusters: there is no logit of 1."""

    def over_groups(sums: np.ndarray) -> np.ndarray:
        return np.asarray((sums[:, 0] / sums[:, 1] + sums[:, 2] / sums[:, 3]) / 2)

    found = share_of_sums(np.ones((4, 4)), over_groups, method="mean of groups", n_units=8)
    assert (found.value, found.low, found.high) == (1, *wilson(4, 4))
    none = share_of_sums(np.ones((2, 4)), over_groups, method="mean of groups", n_units=4)
    assert none.interval_reason == "too_few_clusters_for_interval"
