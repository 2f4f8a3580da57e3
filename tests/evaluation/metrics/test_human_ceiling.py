"""People against people, as a ceiling for a judge."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import human_ceiling
from evaluation.metrics.counts import Ratings
from evaluation.metrics.human_ceiling import leave_one_annotator_out
from evaluation.metrics.intervals import Interval
from evaluation.metrics.leave_one_out import rater_against_others
from tests.evaluation.metrics.tables import table_with_gaps

ORACLE = {"pearson": stats.pearsonr, "spearman": stats.spearmanr}
KINDS = ("pearson", "spearman")


def _brute(table: np.ndarray, kind: str, how: str) -> float:
    xs, ys = [], []
    for rater in range(table.shape[1]):
        others = np.delete(table, rater, axis=1)
        rows = ~np.isnan(table[:, rater]) & ~np.isnan(others).all(axis=1)
        xs.append(table[rows, rater])
        ys.append(np.nanmean(others[rows], axis=1))
    if how == "pooling":
        return float(ORACLE[kind](np.concatenate(xs), np.concatenate(ys)).statistic)
    return float(np.mean([ORACLE[kind](x, y).statistic for x, y in zip(xs, ys, strict=True)]))


def test_a_worked_example() -> None:
    # Rater 0: 1 2 3 4 against means 1.5 2 4 5: rho 1. Rater 1: 1 2 4 5 against 1.5 2 3.5 4.5: rho 1.
    # Rater 2: 2 2 4 5 (ranks 1.5 1.5 3 4) against 1 2 3.5 4.5 (1 2 3 4): products 4.5, squares 4.5 and 5.
    people = Ratings.from_matrix([[1, 1, 2], [2, 2, 2], [3, 4, 4], [4, 5, 5]])
    estimate = leave_one_annotator_out(people, "spearman")
    assert estimate.value == pytest.approx((1 + 1 + 4.5 / (4.5 * 5) ** 0.5) / 3)
    each = [rater_against_others(people, rater).value for rater in range(3)]
    assert estimate.value == pytest.approx(np.mean(each))
    assert (estimate.extras["n_annotators"], estimate.resampled) == (3, "units and raters")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["averaging", "pooling"])
def test_scipy_says_the_same_where_ratings_are_missing(kind: str, how: str) -> None:
    rng = np.random.default_rng(3)
    table = table_with_gaps(rng, 36, 4, codes=3, missing=0.2)
    found = leave_one_annotator_out(Ratings.from_matrix(table), kind, how)
    assert found.value == pytest.approx(_brute(table, kind, how), abs=1e-12)


def test_averaging_and_pooling_differ_where_annotators_differ_in_level() -> None:
    rng = np.random.default_rng(5)
    table = rng.normal(size=(40, 1)) + rng.normal(size=(40, 4)) * 0.4 + np.array([0, 0, 0, 30])
    people = Ratings.from_matrix(table)
    assert (leave_one_annotator_out(people, "pearson").value or 0) > 0.85
    assert (leave_one_annotator_out(people, "pearson", "pooling").value or 0) < 0  # who is high meets a low mean


def test_the_interval_is_two_way_by_one_method_at_all_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """With groups of ratings the rating term stays and the width with it; without that term it would be wider."""
    rng = np.random.default_rng(6)
    people = Ratings.from_matrix(rng.normal(size=(36, 1)) + rng.normal(size=(36, 12)))
    exact = leave_one_annotator_out(people, "pearson")
    units = leave_one_annotator_out(people, "pearson", interval=Interval(over="units"))
    monkeypatch.setattr("evaluation.metrics.human_ceiling.GROUPS", 200)
    grouped, again = (leave_one_annotator_out(people, "pearson") for _ in range(2))
    widths = [(one.high or 0) - (one.low or 0) for one in (units, exact, grouped)]
    assert widths[0] < widths[1]
    assert widths[2] == pytest.approx(widths[1], rel=0.03)
    assert (grouped.low, grouped.high) == (again.low, again.high)


@pytest.mark.parametrize("count", [7, 10, 23])
def test_groups_hold_every_rating_once_and_are_of_nearly_equal_size(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evaluation.metrics.human_ceiling.GROUPS", 10)
    groups = human_ceiling._groups(count)
    assert sorted(np.concatenate(groups).tolist()) == list(range(count))
    assert len(groups) == min(count, 10) and {one.size for one in groups} <= {count // 10, count // 10 + 1, 1}


def test_why_there_is_none() -> None:
    assert leave_one_annotator_out(Ratings.from_matrix(np.full((3, 2), np.nan)), "pearson").reason == "no_ratings"
    one = Ratings.from_matrix([[1, np.nan], [2, np.nan], [3, np.nan]])
    assert leave_one_annotator_out(one, "pearson").reason == "too_few_raters"
    assert leave_one_annotator_out(Ratings.from_matrix([[1, 1], [2, 2]]), "pearson").reason == "no_pairs"
    flat = Ratings.from_matrix([[1, 1], [1, 1], [1, 1]])
    assert leave_one_annotator_out(flat, "spearman").reason == "constant_ratings"
    two = Ratings.from_matrix([[1, 2], [2, 1], [3, 3], [4, 4]])
    assert leave_one_annotator_out(two, "pearson").interval_reason == "too_few_raters_for_interval"
