"""The cluster bootstrap as one matrix product."""

import numpy as np
import pytest

from evaluation.metrics.resampling import (
    Resampling,
    bootstrap,
    cluster_sums,
    difference,
    difference_of_means,
    mean,
    ratio,
)


def test_a_worked_example() -> None:
    # Clusters: q1 has 1 and 3, q2 has 5, q3 has 7, and so on in fours. Mean (1 + 3 + 5 + 7) / 4 = 4.
    found = mean([1, 3, 5, 7] * 3, [f"q{k}{n}" for n in "abc" for k in (1, 1, 2, 3)])
    assert found.value == 4
    assert (found.n_units, found.extras["n_clusters"], found.extras["seed"]) == (12, 9, 0)
    # All draws give means between that of a q1 alone (2) and of a q3 alone (7).
    assert found.low is not None
    assert found.high is not None
    assert 2 <= found.low < 4 < found.high <= 7
    assert mean([1 / 4, 2 / 8], [0, 1], weights=[4, 8]).value == pytest.approx(3 / 12)


def test_a_loop_that_copies_the_drawn_clusters_gives_the_same_resamples() -> None:
    rng = np.random.default_rng(3)
    values, clusters = rng.normal(size=200), rng.integers(0, 17, 200)
    first = rng.random(200) < 0.4
    sums = cluster_sums(clusters, values * first, first, values * ~first, ~first)
    got = bootstrap(sums, difference, Resampling(seed=11, resamples=50))
    again = np.random.default_rng(11)
    for one in got:
        drawn = again.integers(17, size=17)
        rows = np.concatenate([np.flatnonzero(clusters == label) for label in drawn])
        assert one == pytest.approx(values[rows][first[rows]].mean() - values[rows][~first[rows]].mean())


def test_it_does_not_matter_in_what_order_the_rows_come_or_how_clusters_are_called() -> None:
    rng = np.random.default_rng(4)
    values, clusters = rng.integers(0, 9, 60), rng.integers(0, 9, 60)
    order = rng.permutation(60)
    one, other = mean(values, clusters), mean(values[order], clusters[order])
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    named = mean(values, [f"c{label}" for label in clusters])
    assert (named.low, named.high) == pytest.approx((one.low, one.high))


def test_values_that_hang_together_in_clusters_make_the_interval_wider() -> None:
    rng = np.random.default_rng(5)
    by_cluster = np.repeat(rng.normal(size=30), 20)
    clusters = np.repeat(np.arange(30), 20)
    together, apart = mean(by_cluster, clusters), mean(by_cluster, np.arange(600))
    assert together.low is not None
    assert together.high is not None
    assert apart.low is not None
    assert apart.high is not None
    # The variance of a mean of 30 clusters against one of 600 units: sqrt(20) = 4.5 times as wide.
    assert (together.high - together.low) / (apart.high - apart.low) == pytest.approx(20**0.5, rel=0.2)


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    rng = np.random.default_rng(6)
    covered = 0
    for study in range(200):
        values = np.repeat(rng.normal(size=40), 5) + rng.normal(size=200)
        found = mean(values, np.repeat(np.arange(40), 5), Resampling(seed=study, resamples=300))
        assert found.low is not None
        assert found.high is not None
        covered += found.low < 0 < found.high
    assert 0.88 <= covered / 200 <= 0.99


def test_memory_is_bounded_and_the_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sums = cluster_sums(np.arange(50), np.arange(50.0), np.ones(50))
    whole = bootstrap(sums, ratio)
    monkeypatch.setattr("evaluation.metrics.resampling._BLOCK_NUMBERS", 500)
    np.testing.assert_array_equal(bootstrap(sums, ratio), whole)


def test_what_has_no_value_or_no_interval_says_why() -> None:
    assert mean([], []).reason == "nothing_counted"
    assert mean([1, 2], ["a", "b"], weights=[0, 0]).reason == "nothing_counted"
    assert mean(range(7), list("abcdefg")).interval_reason == "too_few_clusters_to_draw"
    assert mean(range(8), list("abcdefgh")).low is not None
    assert mean([5.0] * 8, list("abcdefgh")).interval_reason == "no_spread"
    # One of eight clusters has everything that counts: a third of the resamples miss it.
    one = [1] + 7 * [0]
    assert mean([1] * 8, list("abcdefgh"), weights=one).interval_reason == "unstable"
    only_first = difference_of_means([1, 2], [True, True], ["a", "b"])
    assert only_first.reason == "nothing_counted"
    with pytest.raises(ValueError, match="one number for each label"):
        cluster_sums(["a", "b"], [1])
    with pytest.raises(ValueError, match="at least 2, got 1"):
        Resampling(resamples=1)
