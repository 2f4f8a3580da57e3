"""Correlation of two lists, and of scores with the means of raters."""

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from evaluation.metrics.association import correlation_of, pearson_of
from evaluation.metrics.counts import Ratings
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.jackknife import leave_out
from evaluation.metrics.rater_means import replicates, with_rater_means
from tests.evaluation.metrics.tables import table_with_gaps, tables

ORACLE = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}
KINDS = ("pearson", "spearman")


def test_a_worked_example() -> None:
    # x 1 2 3 4, y 1 3 2 4: means 2.5; products 2.25 - 0.25 - 0.25 + 2.25 = 4; squares 5 and 5; r = 4 / 5.
    estimate = pearson_of([1, 2, 3, 4], [1, 3, 2, 4])
    assert estimate.value == pytest.approx(0.8)
    # z = atanh(0.8) = 1.0986; standard error 1 / sqrt(4 - 3) = 1; tanh(1.0986 -+ 1.96).
    assert (estimate.low, estimate.high) == pytest.approx((np.tanh(1.0986 - 1.96), np.tanh(1.0986 + 1.96)), abs=1e-4)


def test_the_interval_of_rho_is_wider_by_half_its_square() -> None:
    """Bonett and Wright (2000): the variance of z is (1 + rho^2 / 2) / (n - 3), and 1 / (n - 3) for r."""
    x, y = np.arange(1, 11), [2, 1, 4, 3, 6, 5, 8, 7, 10, 9]  # rho = 1 - 6 x 10 / 990 = 31 / 33 = r of the ranks
    rho, r = correlation_of(x, y, "spearman"), correlation_of(x, y, "pearson")
    assert rho.value == pytest.approx(31 / 33)
    step = 1.959964 * np.sqrt((1 + (31 / 33) ** 2 / 2) / 7)
    z = np.arctanh(31 / 33)
    assert (rho.low, rho.high) == pytest.approx((np.tanh(z - step), np.tanh(z + step)), abs=1e-6)
    narrow = 1.959964 / np.sqrt(7)
    assert (r.low, r.high) == pytest.approx((np.tanh(z - narrow), np.tanh(z + narrow)), abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_scipy_says_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 8, 40).astype(float)
    y = x + rng.normal(size=40) * 3
    for kind in KINDS:
        found = correlation_of(x, y, kind)
        assert found.value == pytest.approx(ORACLE[kind](x, y).statistic, abs=1e-12)
    interval = stats.pearsonr(x, y).confidence_interval(0.95)
    assert (pearson_of(x, y).low, pearson_of(x, y).high) == pytest.approx(tuple(interval), abs=1e-9)


def test_r_knows_no_units_and_rho_only_the_order() -> None:
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=30), rng.normal(size=30)
    assert pearson_of(x, y).value == pytest.approx(pearson_of(3 * x - 7, y * 100).value)
    assert pearson_of(x, y).value == pytest.approx(-(pearson_of(-x, y).value or 0))
    assert correlation_of(x, y, "spearman").value == pytest.approx(correlation_of(np.exp(x), y**3, "spearman").value)
    assert pearson_of(x, y).value == pytest.approx(pearson_of(y, x).value)


def test_points_that_lack_a_number_are_left_out_and_counted() -> None:
    found = pearson_of([1, 2, np.nan, 4, 5], [1, 3, 9, 2, np.nan])
    assert (found.n_units, found.extras["n_left_out"]) == (3, 2)
    assert found.interval_reason == "too_few_points_for_interval"


def test_points_in_clusters_are_left_out_in_clusters() -> None:
    rng = np.random.default_rng(2)
    shift = np.repeat(rng.normal(size=12), 13)
    x, y = shift + 0.1 * rng.normal(size=156), shift + 0.1 * rng.normal(size=156)
    alone, together = pearson_of(x, y), pearson_of(x, y, clusters=np.repeat(np.arange(12), 13))
    assert alone.value == together.value
    assert together.resampled == "clusters of units"
    assert (together.high or 0) - (together.low or 0) > 2 * ((alone.high or 0) - (alone.low or 0))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [3, 6])
def test_cluster_replicates_equal_recomputation(kind: str, count: int) -> None:
    """scipy without each cluster, on Fisher's z, t with one degree of freedom less than there are clusters."""
    rng = np.random.default_rng(count)
    clusters = rng.permutation(np.repeat(np.arange(count), 7))
    x = rng.normal(size=count)[clusters] + rng.integers(0, 4, clusters.size)
    y = x + rng.normal(size=clusters.size)
    estimate = correlation_of(x, y, kind, clusters=clusters)
    without = np.array([ORACLE[kind](x[clusters != c], y[clusters != c]).statistic for c in range(count)])
    error = ((count - 1) / count * ((without - without.mean()) ** 2).sum()) ** 0.5
    expected = Scale("Fisher z").interval(estimate.value, error, stats.t.ppf(0.975, count - 1))
    assert (estimate.low, estimate.high) == pytest.approx(expected)
    assert estimate.extras["n_clusters"] == count and "seed" not in estimate.extras


def test_too_few_clusters_and_no_correlation_without_one_of_them() -> None:
    x, y = np.array([1.0, 2, 3, 4, 5, 7]), np.array([2.0, 1, 4, 3, 5, 9])
    two = pearson_of(x, y, clusters=[0, 0, 0, 1, 1, 1])
    assert two.value is not None and two.interval_reason == "too_few_clusters_for_interval"
    assert pearson_of(x, y, clusters=[0, 0, 0, 0, 1, 2]).interval_reason == "unstable"  # two points are left


def test_why_there_is_no_value() -> None:
    assert pearson_of([], []).reason == "nothing_counted"
    assert pearson_of([np.nan], [1]).reason == "nothing_counted"
    assert correlation_of([1, 2], [2, 1], "spearman").reason == "too_few_points"
    assert pearson_of([1, 2, 3, 4], [0.1, 0.1, 0.1, 0.1]).reason == "constant_side"
    assert correlation_of([0.3, 0.3, 0.3, 0.3], [1, 2, 3, 4], "spearman").reason == "constant_side"
    assert pearson_of([1, 2, 3, 4], [2, 4, 6, 8]).interval_reason == "no_spread"
    with pytest.raises(ValueError, match="the same length"):
        pearson_of([1, 2], [1])


def _brute(score: np.ndarray, matrix: np.ndarray, kind: str) -> float:
    rated = ~np.isnan(matrix).all(axis=1)
    x, y = score[rated], np.nanmean(matrix[rated], axis=1)
    if rated.sum() < 3 or np.ptp(x) == 0 or np.ptp(y) < 1e-12:
        return np.nan
    return float(ORACLE[kind](x, y).statistic)


def _check(score: np.ndarray, matrix: np.ndarray, kind: str) -> None:
    """Every replicate against computing it anew."""
    ratings = Ratings.from_matrix(matrix)
    result = replicates(score, ratings, kind)
    close = {"rtol": 0, "atol": 1e-9, "equal_nan": True}
    np.testing.assert_allclose(result.whole, [_brute(score, matrix, kind)], **close)
    units, raters, ones = [], [], []
    for unit in np.unique(ratings.unit):
        left = matrix.copy()
        left[unit] = np.nan
        units.append(_brute(score, left, kind))
    for rater in np.unique(ratings.rater):
        left = matrix.copy()
        left[:, rater] = np.nan
        raters.append(_brute(score, left, kind))
    for unit, rater in zip(ratings.unit, ratings.rater, strict=True):
        left = matrix.copy()
        left[unit, rater] = np.nan
        ones.append(_brute(score, left, kind))
    np.testing.assert_allclose(result.units, units, **close)
    np.testing.assert_allclose(result.raters, raters, **close)
    np.testing.assert_allclose(result.ratings, ones, **close)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@given(table=tables())
def test_each_replicate_equals_recomputation(kind: str, table: np.ndarray) -> None:
    if np.isnan(table).all():
        return
    score = np.arange(table.shape[0]) % 4 * 1.0
    _check(score, table, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_so_it_is_with_scores_that_are_no_codes(kind: str) -> None:
    rng = np.random.default_rng(7)
    _check(rng.normal(size=25), table_with_gaps(rng, 25, 6, codes=None, missing=0.4), kind)


def test_a_correlation_with_means_has_the_width_of_units_and_people() -> None:
    rng = np.random.default_rng(1)
    truth = rng.normal(size=60)
    table = truth[:, None] + rng.normal(size=8) + rng.normal(size=(60, 8))
    table[rng.random(table.shape) < 0.3] = np.nan
    score = truth + rng.normal(size=60)
    ratings = Ratings.from_matrix(table)
    for kind in KINDS:
        both = with_rater_means(score, ratings, kind)
        units = with_rater_means(score, ratings, kind, interval=Interval(over="units"))
        assert both.value == units.value == pytest.approx(_brute(score, table, kind))
        assert (both.resampled, both.n_raters) == ("units and raters", 8)
        assert (both.high or 0) - (both.low or 0) >= (units.high or 0) - (units.low or 0)


def test_units_without_a_score_and_people_who_saw_none_of_the_rest_do_not_count() -> None:
    table = np.array([[1, 2, np.nan], [2, 2, np.nan], [3, 5, np.nan], [4, 4, np.nan], [np.nan, np.nan, 1]])
    score = np.array([1, 2, 3, 4, np.nan])
    found = with_rater_means(score, Ratings.from_matrix(table), "pearson")
    assert (found.n_units, found.n_raters, found.n_ratings, found.missing_share) == (4, 2, 8, 0)
    assert found.interval_reason == "too_few_raters_for_interval"


def test_why_there_is_no_correlation_with_means() -> None:
    ratings = Ratings.from_matrix([[1, 2], [2, 3], [3, 3]])
    assert with_rater_means([np.nan] * 3, ratings, "pearson").reason == "no_ratings"
    assert with_rater_means([1, 2, np.nan], ratings, "spearman").reason == "too_few_points"
    assert with_rater_means([1, 1, 1], ratings, "pearson").reason == "constant_side"
    same = Ratings.from_matrix([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]])
    assert with_rater_means([1, 2, 3], same, "pearson").reason == "constant_side"
    assert with_rater_means([1, 2, 3], same, "spearman").reason == "constant_side"
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        with_rater_means([1, 2], ratings, "pearson")
    with pytest.raises(ValueError, match="jackknife interval only"):
        bootstrap = Interval(over="units", method="bootstrap", rng=np.random.default_rng(1))
        with_rater_means([1, 2, 3], ratings, "pearson", interval=bootstrap)


def test_the_jackknife_takes_any_function_of_sums() -> None:
    # Units' means 2 and 5 (ratings 1, 3 and 5): their mean 3.5; without unit 0: 5; without rater 1: (1 + 5) / 2 = 3.
    ratings = Ratings.from_matrix([[1, 3], [5, np.nan]])

    def mean_of_means(sums: np.ndarray) -> np.ndarray:
        return sums[:, 1] / sums[:, 0]

    result = leave_out(ratings, lambda unit, mean: np.stack([np.ones(unit.size), mean], axis=1)).map(mean_of_means)
    assert result.whole.tolist() == [3.5]
    assert result.units.tolist() == [5, 2]
    assert result.raters.tolist() == [3, 3]  # without rater 0 only unit 0 is left, with mean 3
    assert result.ratings.tolist() == [4, 3, 2]
