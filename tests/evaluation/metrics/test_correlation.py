"""Mean pairwise correlations against a plain loop over scipy, pair by pair."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from evaluation.metrics import pearson, spearman
from evaluation.metrics.alpha import Interval
from evaluation.metrics.correlation import mean_pairwise_pearson, mean_pairwise_spearman
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import jackknife_variance
from evaluation.metrics.pearson import pearson_pairs
from evaluation.metrics.spearman import spearman_pairs
from tests.evaluation.metrics.tables import N, delete_one, freedom, table_with_gaps, tables

NONE = Interval("none")
KINDS = [
    (mean_pairwise_pearson, pearson_pairs, stats.pearsonr),
    (mean_pairwise_spearman, spearman_pairs, stats.spearmanr),
]


def loop(ratings: Ratings, of: Callable[..., tuple[float, float]]) -> float:
    """Mean over the pairs with at least 3 shared units and no constant side; NaN without one."""
    table, correlations = ratings.to_matrix(), []
    for i in range(table.shape[1]):
        for j in range(i + 1, table.shape[1]):
            x, y = table[~np.isnan(table[:, i] + table[:, j])][:, [i, j]].T
            if x.size >= 3 and np.ptp(x) and np.ptp(y):
                correlations.append(of(x, y)[0])
    return float(np.mean(correlations)) if correlations else N


@pytest.mark.parametrize(("measure", "pairs", "oracle"), KINDS)
@settings(max_examples=40, deadline=None)
@given(tables(codes=4))
def test_is_the_mean_over_pairs(
    measure: Callable[..., Estimate], pairs: object, oracle: Callable[..., tuple[float, float]], table: np.ndarray
) -> None:
    ratings = Ratings.from_matrix(table)
    expected, estimate = loop(ratings, oracle), measure(ratings)
    if np.isnan(expected):
        assert estimate.value is None
        assert estimate.reason in ("no_pairs", "constant_ratings", "too_few_raters", "no_ratings")
    else:
        assert estimate.value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("measure", "pairs", "oracle"), KINDS)
@pytest.mark.parametrize("codes", [4, 40, None])
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_jackknife_is_the_brute_force_one(
    measure: Callable[..., Estimate], pairs: Callable, oracle: Callable, codes: int | None, missing: float
) -> None:
    table = table_with_gaps(np.random.default_rng(8), 10, 5, codes=codes, missing=missing)
    ratings = Ratings.from_matrix(table)
    assert measure(ratings, interval=NONE).value == pytest.approx(loop(ratings, oracle), abs=1e-11)
    brute = delete_one(table, lambda some: loop(some, oracle))
    sums = pairs(ratings, 3, True)
    np.testing.assert_allclose(sums.without_units(), brute["units"], atol=1e-11)
    np.testing.assert_allclose(sums.without_raters(), brute["raters"], atol=1e-11)
    np.testing.assert_allclose(sums.without_ratings(), brute["ratings"], atol=1e-11)


@pytest.mark.parametrize(("measure", "of"), [(mean_pairwise_pearson, pearson), (mean_pairwise_spearman, spearman)])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_few_codes_take_the_same_interval_by_tables_as_pair_by_pair(
    measure: Callable[..., Estimate], of: Any, missing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = table_with_gaps(np.random.default_rng(3), 40, 7, codes=5, missing=missing)
    table[:, 0] = np.where(np.isnan(table[:, 0]), np.nan, 3)  # one constant but for a unit: its pairs come and go
    table[5, 0] = 4
    ratings, results = Ratings.from_matrix(table), []
    for way in (True, False):
        monkeypatch.setattr(of, "tables_pay", lambda ratings, codes, way=way: way)
        results.append(getattr(of, f"{of.__name__.rpartition('.')[2]}_pairs")(ratings, 3, True))
    for name in ("unit_sum", "unit_count", "rating_sum", "rating_count"):
        np.testing.assert_allclose(getattr(results[0], name), getattr(results[1], name), atol=1e-12)
    assert results[0].unit_count.min() < 0  # without unit 5 pairs are gone
    assert measure(ratings).low is not None or measure(ratings).interval_reason == "unstable"


def test_the_interval_is_the_one_documented() -> None:
    """V = max(V_u + V_r - V_ur, V_u, V_r); t with Satterthwaite's degrees of freedom on Fisher's z."""
    rng = np.random.default_rng(1)
    table = rng.normal(size=(12, 1)) + rng.normal(size=(12, 6))
    estimate = mean_pairwise_pearson(Ratings.from_matrix(table))
    brute = delete_one(table, lambda some: loop(some, stats.pearsonr))
    units, raters, ones = (jackknife_variance(brute[part]) for part in ("units", "raters", "ratings"))
    total = max(units + raters - ones, units, raters)
    error = np.sqrt(total) / (1 - estimate.value**2)
    step = stats.t.ppf(0.975, freedom(total, units, raters, 12, 6)) * error
    assert estimate.low == pytest.approx(np.tanh(np.arctanh(estimate.value) - step))
    assert estimate.high == pytest.approx(np.tanh(np.arctanh(estimate.value) + step))


def test_by_hand_and_what_is_left_out_is_counted() -> None:
    """Ana and Bo agree in order but not in size, Cy is constant, Di shares two units: one pair counts.

    Pearson of (1, 2, 3) and (1, 2, 6): covariance 5, sums of squares 2 and 14: 5 / sqrt(28). Spearman: 1."""
    table = np.array([[1, 1, 4, 1], [2, 2, 4, 3], [3, 6, 4, N]])
    pearson = mean_pairwise_pearson(Ratings.from_matrix(table))
    assert pearson.value == pytest.approx(5 / np.sqrt(28))
    assert {name: pearson.extras[name] for name in ("n_pairs", "n_pairs_undefined", "n_pairs_too_few_shared")} == {
        "n_pairs": 1,
        "n_pairs_undefined": 2,
        "n_pairs_too_few_shared": 3,
    }
    rho = mean_pairwise_spearman(Ratings.from_matrix(table))
    assert rho.value == pytest.approx(1)
    assert (pearson.interval_reason, rho.interval_reason) == ("too_few_raters_for_interval",) * 2


def test_fewer_shared_units_can_be_asked_for() -> None:
    ratings = Ratings.from_matrix([[1, 5], [2, 7]])
    assert mean_pairwise_pearson(ratings).reason == "no_pairs"
    assert mean_pairwise_pearson(ratings, min_shared=2).value == pytest.approx(1)
    with pytest.raises(ValueError, match="min_shared must be at least 2, got 1"):
        mean_pairwise_pearson(ratings, min_shared=1)


@pytest.mark.parametrize("measure", [mean_pairwise_pearson, mean_pairwise_spearman])
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (np.empty((0, 0)), "no_ratings"),
        ([[N, N], [N, N], [N, N]], "no_ratings"),
        ([[1], [2], [3]], "too_few_raters"),
        ([[1, N], [2, N], [N, 3]], "no_pairs"),
        ([[4, 1], [4, 2], [4, 3]], "constant_ratings"),
        ([[0.1, 1], [0.1, 2], [0.1, 3]], "constant_ratings"),
    ],
)
def test_undefined_with_its_reason(measure: Callable[..., Estimate], rows: object, reason: str) -> None:
    estimate = measure(Ratings.from_matrix(rows))
    assert (estimate.value, estimate.low, estimate.reason) == (None, None, reason)


def test_a_side_constant_only_on_the_shared_units_is_undefined_too() -> None:
    """Ana's mean is not 0.1, so centring leaves dust; it must not pass for variation."""
    table = [[0.1, 1], [0.1, 2], [0.1, 3], [0.7, N], [12.3, N]]
    assert mean_pairwise_pearson(Ratings.from_matrix(table)).reason == "constant_ratings"


def test_many_shared_scores_take_the_same_interval_to_first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    ratings = Ratings.from_matrix(rng.normal(size=(120, 1)) + rng.normal(size=(120, 6)))
    exact = mean_pairwise_spearman(ratings)
    monkeypatch.setattr(spearman, "EXACT_CODES", 0)
    first_order = mean_pairwise_spearman(ratings)
    assert first_order.value == pytest.approx(exact.value, abs=1e-14)
    assert first_order.low == pytest.approx(exact.low, abs=2e-3)
    assert first_order.low != exact.low  # the other path was taken
