"""Cohen's kappa against scikit-learn, pair by pair, and against the arithmetic of its own formula."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.metrics import cohen_kappa_score

from evaluation.metrics.counts import Ratings
from evaluation.metrics.intervals import Interval
from evaluation.metrics.kappa import WEIGHTS, cohen_kappa, kappa_pairs
from tests.evaluation.metrics.tables import N, delete_one, table_with_gaps, tables

NONE = Interval("none")
WORDS = {"none": None, "linear": "linear", "quadratic": "quadratic"}


def by_sklearn(ratings: Ratings, weights: str) -> float:
    """Mean over the pairs with a shared unit and a value; all codes are named, so that steps are those of the codes."""
    table, kappas = ratings.to_matrix(), []
    codes = np.arange(np.nanmin(table), np.nanmax(table) + 1) if ratings.n_ratings else np.zeros(0)
    for i, j in combinations(range(table.shape[1]), 2):
        x, y = table[~np.isnan(table[:, i] + table[:, j])][:, [i, j]].T
        if x.size and not (np.ptp(x) == np.ptp(y) == 0 and x[0] == y[0]):
            kappas.append(cohen_kappa_score(x, y, labels=codes, weights=WORDS[weights]))
    return float(np.mean(kappas)) if kappas else N


def test_the_arithmetic_of_cohens_formula() -> None:
    """50 grants, two readers, yes/no as 20 5 / 10 15: p_o = 35/50 = .7; p_e = (25 x 30 + 25 x 20) / 2500 = .5; so
    kappa = (.7 - .5) / (1 - .5) = .4."""
    rows = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    estimate = cohen_kappa(Ratings.from_matrix(rows))
    assert estimate.value == pytest.approx(0.4)
    assert estimate.resampled == "units", "two raters have no spread between raters"
    assert estimate.low is not None and estimate.low < 0.4 < estimate.high
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings, estimate.extras["n_pairs"]) == (50, 2, 100, 1)


def test_weights_by_hand() -> None:
    """Codes (1,1), (2,3), (3,3): D = 1; one gave 1 2 3, the other 1 3 3, so that E, linear, is 0 + 2 + 2 and 1 + 1 + 1
    and 2 + 0 + 0 = 9: kappa = 1 - 3 x 1 / 9; quadratic 0 + 4 + 4 and 1 + 1 + 1 and 4 = 15: kappa = 1 - 3 / 15."""
    ratings = Ratings.from_matrix([[1, 1], [2, 3], [3, 3]])
    assert cohen_kappa(ratings, weights="linear").value == pytest.approx(1 - 3 / 9)
    assert cohen_kappa(ratings, weights="quadratic").value == pytest.approx(1 - 3 / 15)


@pytest.mark.parametrize("weights", WEIGHTS)
@settings(max_examples=60, deadline=None)
@given(table=tables(codes=4))
def test_is_scikit_learns_mean_over_pairs(weights: str, table: np.ndarray) -> None:
    ratings = Ratings.from_matrix(table)
    expected, estimate = by_sklearn(ratings, weights), cohen_kappa(ratings, weights=weights, interval=NONE)
    if np.isnan(expected):
        assert estimate.reason in ("no_ratings", "too_few_raters", "no_pairs", "no_variation")
    else:
        assert estimate.value == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_jackknife_is_the_brute_force_one(weights: str, missing: float) -> None:
    table = table_with_gaps(np.random.default_rng(4), 12, 5, codes=3, missing=missing)
    sums = kappa_pairs(Ratings.from_matrix(table), weights, 1, True)
    brute = delete_one(table, lambda some: by_sklearn(some, weights))
    np.testing.assert_allclose(sums.without_units(), brute["units"], atol=1e-11)
    np.testing.assert_allclose(sums.without_raters(), brute["raters"], atol=1e-11)
    np.testing.assert_allclose(sums.without_ratings(), brute["ratings"], atol=1e-11)


@settings(max_examples=30, deadline=None)
@given(table=tables(codes=4))
def test_the_order_of_units_and_raters_and_the_names_of_codes_do_not_matter(table: np.ndarray) -> None:
    renamed = np.where(np.isnan(table), N, np.choose(np.nan_to_num(table).astype(int), [7, 3, 9, 0]))
    first, second = (cohen_kappa(Ratings.from_matrix(one), interval=NONE) for one in (table, renamed[::-1, ::-1]))
    assert first.reason == second.reason
    assert first.value == pytest.approx(second.value, abs=1e-10) if first.value is not None else second.value is None


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (np.zeros((0, 2)), "no_ratings"),
        ([[N, N], [N, N]], "no_ratings"),
        ([[1, N], [2, N]], "too_few_raters"),
        ([[1, N], [N, 2]], "no_pairs"),
        ([[2, 2], [2, 2]], "no_variation"),
        ([[2, 2]], "no_variation"),
    ],
)
def test_undefined_has_a_reason_and_is_not_zero(matrix: list, reason: str) -> None:
    found = cohen_kappa(Ratings.from_matrix(matrix))
    assert (found.value, found.reason) == (None, reason)


def test_constant_at_different_codes_is_no_better_than_chance() -> None:
    assert cohen_kappa(Ratings.from_matrix([[1, 2], [1, 2], [1, 2]])).value == 0


def test_a_pair_that_cannot_disagree_is_left_out_and_counted() -> None:
    found = cohen_kappa(Ratings.from_matrix([[1, 1, 1], [1, 1, 2], [1, 1, 1]]))
    assert found.extras["n_pairs_undefined"] == 1 and found.extras["n_pairs"] == 2
    assert found.value == 0  # D = 1, E = 3 x 1: 1 - 3 x 1 / 3


def test_what_cannot_be_asked_is_refused() -> None:
    ratings = Ratings.from_matrix([[1, 1], [2, 1]])
    with pytest.raises(ValueError, match="weights must be one of"):
        cohen_kappa(ratings, weights="cubic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="min_shared"):
        cohen_kappa(ratings, min_shared=0)
