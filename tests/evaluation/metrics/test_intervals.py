"""Intervals: exact delete-one replicates, honest refusals, and resampling that says what it resampled."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import distances, ordinal_distance
from evaluation.metrics.alpha import LEVELS, Interval, Level, _deletions, _values, alpha, percent_agreement
from evaluation.metrics.bootstrap import bootstrap_sums
from evaluation.metrics.counts import Ratings, count_table
from evaluation.metrics.intervals import (
    Scale,
    jackknife_interval,
    jackknife_variance,
    percentile_interval,
    resample_weights,
)
from evaluation.metrics.kappa import cohen_kappa
from evaluation.rendering.reason_text import interval_sentence
from tests.evaluation.metrics.tables import KRIPPENDORFF_2011, delete_one, freedom, table_with_gaps

NONE = Interval("none")
PARTS = ("units", "raters", "ratings")


def pairable(table: np.ndarray) -> np.ndarray:
    return table[(~np.isnan(table)).sum(axis=1) >= 2]


def value(ratings: Ratings, level: Level) -> float:
    found = alpha(ratings, level, interval=NONE).value
    return np.nan if found is None else found


@pytest.mark.parametrize("codes", [2, 5, None])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_jackknife_is_the_brute_force_one(level: Level, codes: int | None, seed: int) -> None:
    table = pairable(table_with_gaps(np.random.default_rng(seed), 10, 6, codes=codes, missing=0.45))
    brute = delete_one(table, lambda ratings: value(ratings, level))
    without = _deletions(level, count_table(Ratings.from_matrix(table), None, None))
    for part in PARTS:
        ours = _values(getattr(without, part), "alpha", without.whole)
        np.testing.assert_allclose(ours, brute[part], atol=1e-11, err_msg=part)


@pytest.mark.parametrize("level", LEVELS)
def test_the_jackknife_with_weights_is_the_brute_force_one(level: Level) -> None:
    rng = np.random.default_rng(11)
    table = pairable(table_with_gaps(rng, 9, 6, codes=4, missing=0.4))
    w, v = rng.uniform(0.5, 2, table.shape[0]), rng.uniform(0.5, 2, table.shape[1])
    ratings = Ratings.from_matrix(table)
    without = _deletions(level, count_table(ratings, w, v))

    def weighted(w: np.ndarray, v: np.ndarray) -> float | None:
        return alpha(ratings, level, unit_weights=w, rater_weights=v, interval=NONE).value

    for u, replicate in enumerate(_values(without.units, "alpha", without.whole)):
        assert replicate == pytest.approx(weighted(np.where(np.arange(w.size) == u, 0, w), v), abs=1e-11)
    for r, replicate in enumerate(_values(without.raters, "alpha", without.whole)):
        assert replicate == pytest.approx(weighted(w, np.where(np.arange(v.size) == r, 0, v)), abs=1e-11)


def test_the_interval_is_the_one_documented() -> None:
    """V = max(V_u + V_r - V_ur, V_u, V_r); t with Satterthwaite's degrees of freedom on log(1 - alpha)."""
    estimate = alpha(Ratings.from_matrix(KRIPPENDORFF_2011), "ordinal")
    table = pairable(KRIPPENDORFF_2011)
    brute = delete_one(table, lambda ratings: value(ratings, "ordinal"))
    units, raters, ones = (jackknife_variance(brute[part]) for part in PARTS)
    total = max(units + raters - ones, units, raters)
    step = stats.t.ppf(0.975, freedom(total, units, raters, 11, 4)) * np.sqrt(total) / (1 - estimate.value)
    assert estimate.low == pytest.approx(1 - (1 - estimate.value) * np.exp(step), rel=1e-9)
    assert estimate.high == pytest.approx(1 - (1 - estimate.value) * np.exp(-step), rel=1e-9)
    assert estimate.resampled == "units and raters"


def test_jackknife_variance_by_hand() -> None:
    """Of a mean it is the usual squared standard error: 1, 2, 6 has variance 7, so 7 / 3."""
    left_out = np.array([(2 + 6) / 2, (1 + 6) / 2, (1 + 2) / 2])
    assert jackknife_variance(left_out) == pytest.approx(7 / 3)


def test_the_degrees_of_freedom_are_at_least_those_of_the_scarcer_side() -> None:
    """Six units, four raters, V_u = V_r = V_ur = 0.01: 1 / (1/5 + 1/3) = 1.9 degrees, four raters give 3."""
    units, raters, ones = (np.sqrt(0.01 / (n - 1)) * np.tile([-1.0, 1.0], n // 2) for n in (6, 4, 20))
    assert [jackknife_variance(part) for part in (units, raters, ones)] == pytest.approx([0.01] * 3)
    low, high = jackknife_interval(0.5, units, raters, ones, Interval(), Scale("identity"))
    step = stats.t.ppf(0.975, 3) * 0.1
    assert (low, high) == pytest.approx((0.5 - step, 0.5 + step))


def test_the_two_way_interval_is_at_least_as_wide_as_each_one_way() -> None:
    ratings = Ratings.from_matrix(table_with_gaps(np.random.default_rng(2), 30, 12, codes=5, missing=0.3))
    both, units, raters = (
        alpha(ratings, "interval", interval=Interval(over)) for over in ("units and raters", *PARTS[:2])
    )
    for one in (units, raters):
        assert both.high - both.low >= one.high - one.low
    assert (units.resampled, raters.resampled) == ("units", "raters")


@pytest.mark.parametrize(
    ("rows", "over", "reason"),
    [
        ([[1, 2], [2, 2], [1, 1], [3, 3]], "units and raters", "too_few_raters_for_interval"),
        ([[1, 2, 2], [2, 2, 2]], "units and raters", "too_few_units_for_interval"),
        ([[1, 1, 1], [2, 2, 2], [3, 3, 3]], "units and raters", "no_spread"),
        ([[1, 1, 1], [1, 1, 1], [1, 1, 2]], "units and raters", "unstable"),  # without the 2 nothing varies
        ([[1, 2], [2, 2]], "none", "not_asked"),
    ],
)
def test_no_interval_says_why(rows: list[list[float]], over: str, reason: str) -> None:
    estimate = alpha(Ratings.from_matrix(rows), "nominal", interval=Interval(over))
    assert estimate.value is not None and estimate.low is None
    assert estimate.interval_reason == reason


def test_kappa_with_a_constant_rater_has_no_interval_of_width_zero() -> None:
    """One always says 1: kappa is 0 with and without each unit, which says nothing about other units."""
    found = cohen_kappa(Ratings.from_matrix([[1, 1], [1, 2], [1, 3], [1, 2], [1, 1]]))
    assert (found.value, found.low, found.interval_reason) == (0, None, "no_spread")


def test_the_same_agreement_in_every_unit_has_no_interval_over_units() -> None:
    """Two of three agree in every unit: 1/3, in the middle of the scale, with and without each unit."""
    ratings = Ratings.from_matrix([[1, 1, 2], [2, 3, 3], [1, 2, 1], [3, 3, 1]])
    estimate = percent_agreement(ratings, interval=Interval("units"))
    assert estimate.value == pytest.approx(1 / 3)
    assert (estimate.low, estimate.interval_reason) == (None, "no_spread")
    assert estimate.interval_reason_text is not None and estimate.interval_reason_text.startswith("There is no spread")
    assert "the same without any single" in interval_sentence(estimate)


@pytest.mark.parametrize(
    ("scale", "value"),
    [
        (Scale("log(1 - x)"), 0.0),
        (Scale("logit"), 0.5),
        (Scale("Fisher z"), -0.3),
        (Scale("log"), 40.0),
        (Scale("identity", limits=(-1, 1)), 0.1),
        (Scale("identity", span=100.0), 30.0),
    ],
)
def test_no_scale_gives_an_interval_of_width_zero(scale: Scale, value: float) -> None:
    """At every value: a standard error of a millionth of the scale's width is none, twice as much is one."""
    width = scale.width(value)
    assert scale.interval(value, 0.0, 2.0) is None
    assert scale.interval(value, 0.99e-6 * width, 2.0) is None
    ends = scale.interval(value, 2e-6 * width, 2.0)
    assert ends is not None and ends[0] < value < ends[1]


def test_the_scales_of_scores_and_ratios_by_hand() -> None:
    """Identity: 3 -+ 2 x 0.5, cut at its limits. Log: 4 times and divided by exp(2 x 0.4 / 4)."""
    assert Scale("identity", span=5.0).interval(3, 0.5, 2) == (2, 4)
    assert Scale("identity", limits=(-1, 1)).interval(0.8, 0.2, 2) == (pytest.approx(0.4), 1)
    low, high = Scale("log").interval(4, 0.4, 2) or (0.0, 0.0)
    assert (low, high) == (pytest.approx(4 / np.exp(0.2)), pytest.approx(4 * np.exp(0.2)))
    assert Scale("log").interval(0.0, 0.1, 2) is None


def test_two_raters_have_an_interval_over_units() -> None:
    estimate = alpha(Ratings.from_matrix([[1, 2], [2, 2], [1, 1], [3, 3]] * 3), "nominal", interval=Interval("units"))
    assert estimate.low < estimate.value < estimate.high <= 1


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("side", ["units", "raters"])
@pytest.mark.parametrize("codes", [4, None])
def test_each_resample_is_alpha_with_those_weights(level: Level, side: str, codes: int | None) -> None:
    rng = np.random.default_rng(5)
    ratings = Ratings.from_matrix(table_with_gaps(rng, 14, 7, codes=codes, missing=0.3))
    count = ratings.n_units if side == "units" else ratings.n_raters
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=20).astype(float)
    sums = bootstrap_sums(level, ratings, (None, None), drawn, side)
    for row, found in zip(drawn, _values(sums, "alpha", sums), strict=True):
        weights = {f"{side[:-1]}_weights": row}
        assert found == pytest.approx(alpha(ratings, level, interval=NONE, **weights).value, abs=1e-10)


def test_a_bootstrap_repeats_with_its_seed() -> None:
    ratings = Ratings.from_matrix(table_with_gaps(np.random.default_rng(3), 40, 6, codes=5, missing=0.2))

    def ask(seed: int) -> tuple[float | None, float | None, str]:
        wanted = Interval("units", "bootstrap", resamples=200, rng=np.random.default_rng(seed))
        estimate = alpha(ratings, "ordinal", interval=wanted)
        return estimate.low, estimate.high, estimate.resampled

    assert ask(1) == ask(1) != ask(2)
    assert ask(1)[2] == "units"


def test_a_bootstrap_over_raters_draws_raters_and_counts_draws_without_a_value() -> None:
    """Of four raters one in 64 draws is of one of them alone, who has nobody to agree with."""
    ratings = Ratings.from_matrix(table_with_gaps(np.random.default_rng(3), 20, 4, codes=4, missing=0.1))

    def wanted() -> Interval:
        return Interval("raters", "bootstrap", resamples=200, rng=np.random.default_rng(4))

    estimate = alpha(ratings, "nominal", interval=wanted())
    drawn = resample_weights(wanted(), 4)
    values = [alpha(ratings, "nominal", rater_weights=row, interval=NONE).value for row in drawn]
    replicates = np.array([np.nan if one is None else one for one in values])
    assert (estimate.low, estimate.high) == pytest.approx(percentile_interval(replicates, 0.95))
    assert estimate.resampled == "raters" and estimate.extras["n_resamples"] == 200
    assert estimate.extras["n_resamples_undefined"] == values.count(None) > 0


def test_a_bootstrap_without_rng_or_of_both_sides_is_refused() -> None:
    with pytest.raises(ValueError, match="needs rng"):
        Interval("units", "bootstrap")
    with pytest.raises(ValueError, match="resamples 'units' or 'raters'"):
        Interval("units and raters", "bootstrap", rng=np.random.default_rng(0))


def test_percent_agreement_stays_between_zero_and_one() -> None:
    estimate = percent_agreement(Ratings.from_matrix(KRIPPENDORFF_2011))
    assert 0 < estimate.low < estimate.value < estimate.high < 1


def test_the_interval_of_percent_agreement_stands_on_the_logit() -> None:
    ratings = Ratings.from_matrix(table_with_gaps(np.random.default_rng(6), 12, 4, codes=3, missing=0.2))
    estimate, without = percent_agreement(ratings), _deletions("nominal", count_table(ratings, None, None))
    parts = [_values(getattr(without, part), "agreement", without.whole) for part in PARTS]
    assert estimate.value is not None
    expected = jackknife_interval(estimate.value, *parts, Interval(), Scale("logit"))
    assert (estimate.low, estimate.high) == pytest.approx(expected)


def test_ratio_moments_are_the_sum_over_pairs() -> None:
    """The path for many continuous scores against the one pair by pair, with zeros among the scores."""
    rng = np.random.default_rng(9)
    score = np.exp(3 * rng.normal(size=800))
    score[::40] = 0
    group, weight = rng.integers(0, 6, 800), rng.random(800)
    pairs = distances._ratio_by_pairs(score, group, weight, np.bincount(group))
    moments = distances._ratio_by_moments(score, group, weight, 6)
    np.testing.assert_allclose(moments, pairs, atol=1e-11)


def test_many_ordinal_codes_take_the_same_interval_to_first_order(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = Ratings.from_matrix(table_with_gaps(np.random.default_rng(4), 150, 8, codes=None, missing=0.4))
    over_units = Interval("units")
    exact = alpha(ratings, "ordinal", interval=over_units)
    monkeypatch.setattr(ordinal_distance, "EXACT_CODES", 0)
    first_order = alpha(ratings, "ordinal", interval=over_units)
    assert first_order.value == exact.value
    assert first_order.low == pytest.approx(exact.low, abs=2e-3)
    assert first_order.low != exact.low  # the other path was taken
