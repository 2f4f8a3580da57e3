"""Errors that judges share, without the people's own noise: by hand, by brute force, and where there is no number."""

from itertools import combinations

import numpy as np
import pytest

from evaluation.metrics.counts import Ratings
from evaluation.metrics.intervals import Interval, Scale, jackknife_interval
from evaluation.metrics.judge_errors import effective_panel, error_correlation, least_panel, mistake_correlation
from tests.evaluation.metrics.tables import N

UNITS = Interval(over="units")
Tables = tuple[np.ndarray, np.ndarray]


def ratings_of(people: np.ndarray, judges: np.ndarray) -> tuple[Ratings, Ratings]:
    return Ratings.from_matrix(people), Ratings.from_matrix(judges)


def study(seed: int, units: int = 200, people: int = 3, shared: float = 0.0, missing: float = 0.0) -> Tables:
    """People and three judges near a truth; judges' errors correlate by ``shared``."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(units, 1))
    ratings = truth + rng.normal(size=(units, people))
    own, together = rng.normal(size=(units, 3)), rng.normal(size=(units, 1))
    scores = truth + np.sqrt(1 - shared) * own + np.sqrt(shared) * together
    ratings[rng.random(ratings.shape) < missing] = N
    scores[rng.random(scores.shape) < missing / 2] = N
    return ratings, scores


def brute(people: np.ndarray, judges: np.ndarray) -> float:
    """The formulas as they are written, pair by pair."""
    keep = ~np.isnan(people).all(axis=1) & ~np.isnan(judges).all(axis=1)
    people, judges = people[keep], judges[keep]
    m = (~np.isnan(people)).sum(axis=1)
    mean = np.nanmean(people, axis=1)
    within = np.nansum((people - mean[:, None]) ** 2) / np.sum(np.maximum(m - 1, 0))
    v = within * np.mean(1 / m)
    errors = judges - mean[:, None]
    off = []
    for a, b in combinations(range(errors.shape[1]), 2):
        both = np.isfinite(errors[:, [a, b]]).all(axis=1)
        off.append(np.cov(errors[both][:, [a, b]].T)[0, 1])
    own = [np.nanvar(errors[:, a], ddof=1) for a in range(errors.shape[1])]
    return float((np.mean(off) - v) / (np.mean(own) - v))


def test_by_hand() -> None:
    """Means 2, 4, 6; errors of one judge 1, 0, -1, of the other 1, -2, 1: variances 1 and 3, covariance 0. People
    differ by 2, 0, 2: s^2 = (2 + 0 + 2) / 3, v = 2 / 3. r = (0 - 2/3) / (2 - 2/3) = -1/2."""
    estimate = error_correlation(*ratings_of(np.array([[1, 3], [4, 4], [5, 7]]), np.array([[3, 3], [4, 2], [5, 7]])))
    assert estimate.value == pytest.approx(-1 / 2)
    assert estimate.extras["noise_variance"] == pytest.approx(2 / 3) and estimate.extras["r_uncorrected"] == 0
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings, estimate.extras["k"]) == (3, 2, 6, 2)
    assert (
        effective_panel(*ratings_of(*study(1))).extras["error_correlation"]
        == error_correlation(*ratings_of(*study(1))).value
    )


@pytest.mark.parametrize("people", [3, 20])
def test_independent_judges_are_not_made_dependent_by_the_peoples_noise(people: int) -> None:
    """Three judges, independent: without the correction 1.6 to 2.3 judges, with it three."""
    studies = [ratings_of(*study(seed, 500, people)) for seed in range(40)]
    r = [error_correlation(*one, interval=Interval(over="none")) for one in studies]
    assert np.mean([one.value for one in r]) == pytest.approx(0, abs=0.03)
    assert np.mean([one.extras["r_uncorrected"] for one in r]) == pytest.approx(1 / (people + 1), abs=0.03)
    panels = [effective_panel(*one, interval=Interval(over="none")).value for one in studies]
    assert np.median(panels) == pytest.approx(3, abs=0.25)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("missing", [0.0, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_interval_deletes_units_and_people_and_recomputes(seed: int, missing: float) -> None:
    people, judges = study(seed, units=30, people=5, shared=0.4, missing=missing)
    estimate = error_correlation(*ratings_of(people, judges))
    assert estimate.value == pytest.approx(brute(people, judges), abs=1e-10)
    rated = ~np.isnan(people).all(axis=1) & ~np.isnan(judges).all(axis=1)
    units = np.array([brute(np.delete(people, u, 0), np.delete(judges, u, 0)) for u in np.flatnonzero(rated)])
    raters = np.array([brute(np.delete(people, r, 1), judges) for r in range(5)])
    ones = []
    for u, r in np.argwhere(~np.isnan(people) & rated[:, None]):
        less = people.copy()
        less[u, r] = N
        ones.append(brute(less, judges))
    expected = jackknife_interval(estimate.value, units, raters, np.array(ones), Interval(), Scale("Fisher z"))
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-8)
    assert estimate.resampled == "units and raters"


def test_names_order_and_the_unit_of_the_scale_do_not_matter() -> None:
    people, judges = study(4, units=40, missing=0.3)
    order = np.random.default_rng(1).permutation(40)
    first = error_correlation(*ratings_of(people, judges))
    other = error_correlation(*ratings_of(10 * people[order][:, ::-1] + 3, 10 * judges[order][:, [2, 0, 1]] + 3))
    assert (other.value, other.low, other.high) == pytest.approx((first.value, first.low, first.high))
    assert other.extras["noise_variance"] == pytest.approx(100 * (first.extras["noise_variance"] or 0))


def test_a_panels_interval_is_that_of_r_turned_round() -> None:
    panel_ratings = ratings_of(*study(7, people=6, shared=0.5))
    r, size = error_correlation(*panel_ratings), effective_panel(*panel_ratings)
    assert size.value == pytest.approx(3 / (1 + 2 * r.value))
    assert size.low == pytest.approx(3 / (1 + 2 * r.high)) and size.high == pytest.approx(3 / (1 + 2 * r.low))
    assert size.method == "effective number of judges"
    assert effective_panel(*panel_ratings, interval=UNITS).resampled == "units"


@pytest.mark.parametrize(
    ("people", "judges", "reason"),
    [
        ([[1, 2], [2, 1], [N, N]], [[N, N], [N, N], [1, 1]], "no_ratings"),
        ([[1, N], [2, N], [N, 3], [4, N]], [[1, 2], [2, 2], [3, 1], [3, 3]], "no_pairable_units"),
        ([[1, 2], [2, 1], [3, 3]], [[1], [2], [3]], "no_pairs"),
        ([[1, 2], [2, 1], [3, 3]], [[1, N], [2, N], [N, 3]], "no_pairs"),
        ([[1, 5], [5, 1], [2, 4], [1, 5]], [[3, 3], [3, 3], [3, 3], [3, 3.1]], "judges_as_good_as_people"),
    ],
)
def test_what_has_no_value_says_why(people: list, judges: list, reason: str) -> None:
    for measure in (error_correlation, effective_panel):
        found = measure(*ratings_of(np.array(people, float), np.array(judges, float)))
        assert (found.value, found.reason) == (None, reason)
    assert (
        effective_panel(*ratings_of(np.array(people, float), np.array(judges, float))).method
        == "effective number of judges"
    )


def test_one_person_a_unit_gives_no_number_and_never_the_uncorrected_one() -> None:
    people, judges = study(2, units=30, people=1)
    found = error_correlation(*ratings_of(people, judges))
    assert (found.value, found.reason) == (None, "no_pairable_units")


def test_a_value_outside_the_scale_is_kept_without_an_interval() -> None:
    """As by hand, but people differ by sqrt(6) everywhere: v = 3/2, and r = (0 - 3/2) / (2 - 3/2) = -3."""
    means, half = np.array([[2.0], [4], [6]]), np.sqrt(6) / 2
    estimate = error_correlation(
        *ratings_of(np.hstack([means - half, means + half]), np.array([[3.0, 3], [4, 2], [5, 7]]))
    )
    assert estimate.value == pytest.approx(-3)
    assert (estimate.low, estimate.interval_reason) == (None, "out_of_range")


def test_two_people_have_no_spread_between_people() -> None:
    found = error_correlation(*ratings_of(*study(3, people=2)))
    assert found.value is not None and found.interval_reason == "too_few_raters_for_interval"
    assert error_correlation(*ratings_of(*study(3, people=2)), interval=UNITS).low is not None


def test_errors_that_cancel_have_no_panel() -> None:
    """Two judges, one errs up where the other errs down."""
    people, judges = study(5, people=8)
    judges[:, 1] = 2 * people.mean(axis=1) - judges[:, 0]
    r, size = error_correlation(*ratings_of(people, judges[:, :2])), effective_panel(*ratings_of(people, judges[:, :2]))
    assert r.value is not None and r.value <= -1
    assert (size.value, size.reason) == (None, "errors_cancel")


def test_codes_without_order_have_bounds() -> None:
    """Two judges mistaken on the same 2 of 4 units: r at most 1, worth one judge at least. On crossed halves: r at most
    0, worth at least two."""
    same, crossed = [[1, 1], [1, 1], [0, 0], [0, 0]], [[1, 1], [1, 0], [0, 1], [0, 0]]
    assert mistake_correlation(Ratings.from_matrix(same)).value == 1
    assert least_panel(Ratings.from_matrix(same)).value == 1
    assert mistake_correlation(Ratings.from_matrix(crossed)).value == 0
    assert least_panel(Ratings.from_matrix(crossed)).value == 2
    assert mistake_correlation(Ratings.from_matrix(crossed)).method.startswith("upper bound")
    assert least_panel(Ratings.from_matrix(crossed)).method.startswith("lower bound")
    assert least_panel(Ratings.from_matrix(crossed)).resampled == "units"


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        ([[1], [0]], "too_few_raters"),
        (np.zeros((0, 2)), "no_ratings"),
        ([[0, 1], [0, 0], [0, 1]], "constant_ratings"),
        ([[1, 0], [0, 1], [1, 0], [0, 1]], "errors_cancel"),
    ],
)
def test_a_bound_without_a_value_says_why(matrix: list, reason: str) -> None:
    found = least_panel(Ratings.from_matrix(matrix))
    assert (found.value, found.reason) == (None, reason)


def test_an_interval_in_which_errors_may_cancel_is_not_turned_round() -> None:
    errors = np.random.default_rng(1).normal(size=(12, 3))
    errors -= 0.9 * errors.mean(axis=1, keepdims=True)
    r, size = (measure(Ratings.from_matrix(errors)) for measure in (mistake_correlation, least_panel))
    assert r.low is not None and r.low < -1 / 2 < r.value
    assert (size.value is not None, size.low, size.interval_reason) == (True, None, "errors_may_cancel")


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(ValueError, match="same units, got 2 and 1"):
        error_correlation(Ratings.from_matrix([[1], [2]]), Ratings.from_matrix([[1, 2]]))
    with pytest.raises(ValueError, match="jackknife interval only"):
        bootstrap = Interval("units", "bootstrap", rng=np.random.default_rng(0))
        error_correlation(*ratings_of(*study(1)), interval=bootstrap)
