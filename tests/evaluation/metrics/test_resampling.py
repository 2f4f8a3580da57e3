"""Intervals by clusters: the delete-one-cluster jackknife from sums, on the scale of the statistic."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.intervals import Scale
from evaluation.metrics.resampling import (
    LOGIT,
    NOT_NEGATIVE,
    RATIO,
    SHARES_APART,
    cluster_ends,
    cluster_sums,
    difference_of_means,
    estimate_by_clusters,
    mean,
    ratio,
)

ROOT = Path(__file__).resolve().parents[3]


def test_a_worked_example() -> None:
    """Clusters 1 + 3, 5, 7: mean 4. Without each: 12 / 2, 11 / 3, 9 / 3. V is two thirds of their squared deviations,
    and t with two degrees of freedom is 4.3027."""
    estimate = mean([1, 3, 5, 7], ["q1", "q1", "q2", "q3"])
    without = np.array([12 / 2, 11 / 3, 9 / 3])
    step = 4.302653 * (2 / 3 * ((without - without.mean()) ** 2).sum()) ** 0.5
    assert estimate.value == 4
    assert (estimate.low, estimate.high) == pytest.approx((4 - step, 4 + step))
    assert (estimate.n_units, estimate.extras["n_clusters"], estimate.resampled) == (4, 3, "clusters of units")
    assert estimate.extras["interval"] == "jackknife over clusters" and "seed" not in estimate.extras
    assert mean([1 / 4, 2 / 8], [0, 1], weights=[4, 8]).value == pytest.approx(3 / 12)


def share_without(hits: np.ndarray, clusters: np.ndarray, cluster: int) -> float:
    return float(hits[clusters != cluster].mean())


def test_deleting_each_cluster_and_recomputing_gives_the_same() -> None:
    rng = np.random.default_rng(3)
    clusters = rng.integers(0, 17, 200)
    hits = rng.random(200) < 0.3 + 0.02 * clusters
    without = np.array([share_without(hits, clusters, c) for c in range(17)])
    error = (16 / 17 * ((without - without.mean()) ** 2).sum()) ** 0.5
    p, t = hits.mean(), stats.t.ppf(0.975, 16)
    ends = cluster_ends(cluster_sums(clusters, hits, np.ones(200)), ratio, LOGIT)
    logits = np.log(p / (1 - p)) + np.array([-1, 1]) * t * error / (p * (1 - p))
    assert ends == pytest.approx(tuple(1 / (1 + np.exp(-logits))))


def test_the_difference_is_the_statistic_so_what_is_paired_stays_paired() -> None:
    rng = np.random.default_rng(8)
    question = np.repeat(rng.normal(size=12), 2)  # as hard for both
    first, clusters = np.tile([True, False], 12), np.repeat(np.arange(12), 2)
    values = question + 0.5 * first + 0.1 * rng.normal(size=24)
    estimate = difference_of_means(values, first, clusters)
    gaps = values[first] - values[~first]
    low, high = stats.t.interval(0.95, 11, gaps.mean(), stats.sem(gaps))
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((gaps.mean(), low, high))
    assert (estimate.extras["n_first"], estimate.extras["n_second"]) == (12, 12)


def test_with_one_unit_in_each_cluster_a_mean_has_the_usual_t_interval() -> None:
    values = np.random.default_rng(9).normal(size=30)
    found = mean(values, np.arange(30), level=0.9)
    assert (found.low, found.high) == pytest.approx(stats.t.interval(0.9, 29, values.mean(), stats.sem(values)))


def test_there_is_one_method_from_three_clusters_on_and_no_cliff() -> None:
    """The same data, a cluster more at a time: seven and eight clusters differ as six and seven do."""
    widths = []
    for count in range(3, 12):
        values = np.tile([0.0, 1.0, 1.0, 2.0], count) + np.repeat(np.arange(count) % 3, 4)
        found = mean(values, np.repeat(np.arange(count), 4))
        assert found.low is not None and found.high is not None and found.extras["interval"]
        widths.append(found.high - found.low)
    assert abs(widths[5] / widths[4] - 1) < 0.25


def test_it_does_not_matter_in_what_order_the_rows_come_or_how_clusters_are_called() -> None:
    rng = np.random.default_rng(4)
    values, clusters = rng.integers(0, 9, 60), rng.integers(0, 9, 60)
    order = rng.permutation(60)
    first, other = mean(values, clusters), mean(values[order], clusters[order])
    assert (first.value, first.low, first.high) == pytest.approx((other.value, other.low, other.high))
    named = mean(values, [f"c{label}" for label in clusters])
    assert (named.low, named.high) == pytest.approx((first.low, first.high))


def test_values_that_hang_together_in_clusters_make_the_interval_wider() -> None:
    rng = np.random.default_rng(5)
    by_cluster = np.repeat(rng.normal(size=30), 20)
    together, apart = mean(by_cluster, np.repeat(np.arange(30), 20)), mean(by_cluster, np.arange(600))
    assert together.low is not None and together.high is not None and apart.low is not None and apart.high is not None
    # The variance of a mean of 30 clusters against one of 600 units: sqrt(20) = 4.5 times as wide, and t for z.
    assert (together.high - together.low) / (apart.high - apart.low) == pytest.approx(20**0.5, rel=0.1)


def test_an_interval_stays_where_such_a_number_can_be() -> None:
    shares = mean([0.9, 1.0, 0.99], range(3), scale=LOGIT)
    assert shares.low is not None and shares.high is not None and 0 < shares.low < shares.high < 1
    gaps = mean([1.0, 1.0, 0.2], range(3), scale=SHARES_APART)
    assert gaps.high == 1
    sums = cluster_sums(range(4), [1, 9, 2, 8], [4, 5, 6, 5])
    times = estimate_by_clusters(sums, ratio, RATIO, method="ratio", n_units=20)
    turned = estimate_by_clusters(sums[:, ::-1], ratio, RATIO, method="ratio", n_units=20)
    assert times.low is not None and 0 < times.low < 1 < (times.high or 0)
    assert times.value == pytest.approx(1 / (turned.value or 0))


def test_what_has_no_value_or_no_interval_says_why() -> None:
    assert mean([], []).reason == "nothing_counted"
    assert mean([1, 2], ["a", "b"], weights=[0, 0]).reason == "nothing_counted"
    assert mean([1, 2], ["a", "b"]).interval_reason == "too_few_clusters_for_interval"
    assert mean([1, 2, 4], ["a", "b", "c"]).low is not None
    assert mean([5.0] * 8, list("abcdefgh")).interval_reason == "no_spread"
    assert mean([1, 0] * 8, np.repeat(range(8), 2), scale=LOGIT).interval_reason == "no_spread"  # all alike at a half
    one = [1] + 7 * [0]  # one of eight clusters has everything that counts
    assert mean([1] * 8, list("abcdefgh"), weights=one).interval_reason == "unstable"
    only_first = difference_of_means([1, 2], [True, True], ["a", "b"])
    assert only_first.reason == "nothing_counted"
    barely = cluster_sums(range(3), [1e-3, 0, 0], [1, 1, 1])
    assert cluster_ends(barely, ratio, RATIO) == "too_wide"
    assert cluster_ends(cluster_sums(range(4), [0] * 4, [1] * 4), ratio, Scale("log")) == "no_spread"
    with pytest.raises(ValueError, match="one number for each label"):
        cluster_sums(["a", "b"], [1])


ZERO_TO_TWO = Scale("identity", limits=(0.0, 2.0))


def test_mean_of_few_scores_has_no_interval_that_holds_the_whole_scale() -> None:
    """Four questions with 0, 0, 2 and 2 of 0 to 2: t would give 1 -+ 1.84."""
    estimate = mean([0, 0, 2, 2], np.arange(4), scale=ZERO_TO_TWO)
    assert (estimate.value, estimate.low, estimate.interval_reason) == (1, None, "too_wide")
    assert "cut" not in estimate.extras


def test_interval_of_a_mean_ends_where_its_scale_ends_and_says_so() -> None:
    values = [1.5, 2, 2, 2]
    estimate, free = mean(values, np.arange(4), scale=ZERO_TO_TWO), mean(values, np.arange(4))
    assert (free.high or 0) > 2 and (estimate.low, estimate.high) == (free.low, 2) and estimate.extras["cut"] is True
    inside = mean([1, 1.1, 1, 1.1], np.arange(4), scale=ZERO_TO_TWO)
    assert inside.high is not None and "cut" not in inside.extras


@pytest.mark.parametrize("scale", [ZERO_TO_TWO, NOT_NEGATIVE, SHARES_APART, LOGIT])
def test_no_interval_leaves_the_scale_of_its_mean(scale: Scale) -> None:
    rng = np.random.default_rng(5)
    low, high = scale.limits or (0, 1)
    for _round in range(200):
        values = low + rng.random(rng.integers(3, 9)) ** 3 * (min(high, 40) - low)
        estimate = mean(values, np.arange(values.size), scale=scale)
        assert estimate.value is not None
        if estimate.low is None or estimate.high is None:
            assert estimate.interval_reason in ("too_wide", "no_spread")
        else:
            assert low <= estimate.low <= estimate.value <= estimate.high <= high
            assert (estimate.low, estimate.high) != (low, high)


def test_mean_of_costs_has_an_interval_that_never_goes_below_nothing() -> None:
    estimate = mean([0, 0, 0, 9], np.arange(4), scale=NOT_NEGATIVE)
    assert estimate.low == 0 and (estimate.high or 0) > 9 and estimate.extras["cut"] is True
    assert mean([3, 3, 3], np.arange(3), scale=NOT_NEGATIVE).interval_reason == "no_spread"


def test_every_mean_of_a_table_says_on_which_scale_it_is() -> None:
    """A mean without a scale may get an interval beyond what the number can be."""
    without = []
    for path in (p for folder in ("evaluation", "papers") for p in (ROOT / folder).rglob("*.py")):
        if path.is_relative_to(ROOT / "evaluation/metrics"):
            continue
        calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
        for call in calls:
            name = ast.unparse(call.func)
            is_mean = name.removeprefix("resampling.") in ("mean", "difference_of_means")
            if is_mean and not any(keyword.arg == "scale" for keyword in call.keywords):
                without.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert not without, without
