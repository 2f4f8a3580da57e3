"""Alpha: the published examples, a second opinion, the undefined cases, and what must not change it."""

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evaluation.metrics.alpha import LEVELS, Interval, Level, alpha, percent_agreement
from evaluation.metrics.counts import Ratings
from tests.evaluation.metrics.tables import KRIPPENDORFF_2011, N, table_with_gaps, tables

NONE = Interval("none")


def value(table: np.ndarray, level: Level, **options: object) -> float | None:
    return alpha(Ratings.from_matrix(table), level, interval=NONE, **options).value  # type: ignore[arg-type]


def test_krippendorff_2011_binary_two_observers() -> None:
    """Section A. o_01 = 4 mismatches in both directions, n_0 = 14, n_1 = 6, n = 20: 1 - 19 * 4 / (14 * 6) = 8 / 84."""
    meg = [0, 1, 0, 0, 0, 0, 0, 0, 1, 0]
    owen = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]
    assert value(np.array([meg, owen]).T, "nominal") == pytest.approx(8 / 84, abs=1e-14)  # printed: 0.095


def test_krippendorff_2011_nominal_two_observers() -> None:
    """Section B. Sum of o_cc = 18, n_c = 4, 6, 6, 6, 2, so (23 * 18 - 104) / (24 * 23 - 104) = 310 / 448."""
    rows = zip("aabbdcccedda", "babbbcccdddd".replace("cccd", "ccce", 1), strict=True)
    ratings = Ratings.from_labels(
        (unit, who, ord(code))
        for unit, pair in enumerate(rows)
        for who, code in zip(("Ben", "Gerry"), pair, strict=True)
    )
    assert alpha(ratings, "nominal").value == pytest.approx(310 / 448, abs=1e-14)  # printed: 0.692


@pytest.mark.parametrize(
    ("level", "printed"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_krippendorff_2011_four_observers_with_gaps(level: Level, printed: float) -> None:
    """Sections C and D. Nominal: n = 40, sum of o_cc = 32, n_c = 9, 13, 10, 5, 3: (39 * 32 - 346) / (40 * 39 - 346)."""
    estimate = alpha(Ratings.from_matrix(KRIPPENDORFF_2011), level)
    assert estimate.value == pytest.approx(printed, abs=0.0005)
    if level == "nominal":
        assert estimate.value == pytest.approx(113 / 152, abs=1e-14)
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (11, 4, 40), "one unit has one rating"
    assert estimate.extras["n_units_not_pairable"] == 1
    assert estimate.missing_share == pytest.approx(4 / 44)
    assert (estimate.extras["n_units_pairable"], estimate.extras["n_units_not_pairable"]) == (11, 1)


def test_a_small_interval_table_by_hand() -> None:
    """Units (1, 2), (3, 3). D_o = (1 + 1 + 0 + 0) / 4 = 1/2. D_e = 2 * (1 + 4 + 4 + 1 + 1 + 0) / 12 = 11/6."""
    assert value(np.array([[1, 2], [3, 3]]), "interval") == pytest.approx(1 - (1 / 2) / (11 / 6), abs=1e-14)


def test_percent_agreement_by_hand() -> None:
    """Unit 1 has 1 agreeing pair of 3 and weighs 3 ratings, unit 2 agrees and weighs 2: (3 * 1/3 + 2 * 1) / 5."""
    estimate = percent_agreement(Ratings.from_matrix([[1, 1, 2], [4, 4, N]]))
    assert estimate.value == pytest.approx(3 / 5)


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from(LEVELS))
def test_agrees_with_an_independent_library(table: np.ndarray, level: Level) -> None:
    ours = value(table, level)
    assume(ours is not None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it divides 0 by 0 for ratio codes 0, 0 and sets it right afterwards
        theirs = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)
    assert ours == pytest.approx(theirs, abs=1e-10)


@pytest.mark.parametrize("level", LEVELS)
def test_agrees_with_an_independent_library_on_continuous_scores(level: Level) -> None:
    table = table_with_gaps(np.random.default_rng(7), 60, 9, codes=None, missing=0.4)
    assert value(table, level) == pytest.approx(
        krippendorff.alpha(reliability_data=table.T, level_of_measurement=level), abs=1e-10
    )


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from(LEVELS), st.randoms(use_true_random=False))
def test_order_and_renaming_do_not_matter(table: np.ndarray, level: Level, random: object) -> None:
    before = value(table, level)
    assume(before is not None)
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    units, raters = rng.permutation(table.shape[0]), rng.permutation(table.shape[1])
    assert value(table[units][:, raters], level) == pytest.approx(before, abs=1e-12)
    if level == "nominal":
        renamed = rng.permutation(5) * 10.0
        table = np.where(np.isnan(table), N, renamed[np.nan_to_num(table).astype(int)])
    elif level == "ordinal":
        table = np.exp(3 * table) - 2  # any monotone map
    elif level == "interval":
        table = -3 * table + 11  # any affine map
    else:
        table = 250 * table  # any positive factor
    assert value(table, level) == pytest.approx(before, abs=1e-11)


@settings(max_examples=40, deadline=None)
@given(tables(), st.sampled_from(LEVELS), st.data())
def test_whole_weights_are_copies_and_zero_is_absence(table: np.ndarray, level: Level, data: st.DataObject) -> None:
    copies = data.draw(st.lists(st.integers(0, 3), min_size=table.shape[0], max_size=table.shape[0]))
    assert value(table, level, unit_weights=copies) == pytest.approx(
        value(np.repeat(table, copies, 0), level), abs=1e-11
    )
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=table.shape[1], max_size=table.shape[1])))
    assert value(table, level, rater_weights=keep) == pytest.approx(value(table[:, keep], level), abs=1e-11)


def test_a_rater_counted_twice_is_not_paired_with_itself() -> None:
    """Raters disagree in every unit; doubling one must not create agreement: D_o stays 1."""
    ratings = Ratings.from_matrix([[0, 1], [1, 0], [0, 1]])
    assert percent_agreement(ratings, rater_weights=[2, 1], interval=NONE).value == pytest.approx(0, abs=1e-15)


def ratings_of(rows: list[list[float]]) -> Ratings:
    return Ratings.from_matrix(np.array(rows, dtype=float) if rows else np.empty((0, 0)))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no_ratings"),
        ([[N, N], [N, N]], "no_ratings"),
        ([[1], [2], [3]], "too_few_raters"),
        ([[1, N], [2, N]], "too_few_raters"),
        ([[1, N], [N, 2]], "no_pairable_units"),
        ([[3, 3]], "no_variation"),
        ([[3, 3], [3, 3], [1, N]], "no_variation"),  # the 1 has no partner
        ([[0, 0], [0, 0]], "no_variation"),
    ],
)
def test_undefined_with_its_reason(rows: list[list[float]], reason: str, level: Level) -> None:
    estimate = alpha(ratings_of(rows), level)
    assert (estimate.value, estimate.low, estimate.high) == (None, None, None)
    assert estimate.reason == reason
    assert estimate.extras.get("percent_agreement") == (1.0 if reason == "no_variation" else None)


@pytest.mark.parametrize("row", [[1, 2], [1, 1, 1, 2, 5, 5]])
@pytest.mark.parametrize("level", LEVELS)
def test_one_unit_has_no_alpha(row: list[float], level: Level) -> None:
    """D_o = D_e whatever was said, so 0 would be no finding. A second unit makes it one; agreement has a value."""
    estimate = alpha(ratings_of([row]), level)
    assert (estimate.value, estimate.reason) == (None, "one_unit")
    assert alpha(ratings_of([row, row]), level).value is not None
    assert percent_agreement(ratings_of([row])).value is not None


def test_an_interval_that_would_span_the_whole_scale_is_none() -> None:
    found = alpha(ratings_of([[1, 2, 2], [2, 2, 2], [1, 1, 3]]), "nominal")
    assert found.value is not None and found.interval_reason == "too_wide"


def test_all_the_same_has_percent_agreement_one_without_interval() -> None:
    estimate = percent_agreement(ratings_of([[3, 3, 3], [3, 3, 3], [3, 3, 3]]))
    assert estimate.value == 1.0 and estimate.interval_reason == "no_spread"


def test_ratio_refuses_negative_codes_and_levels_are_named() -> None:
    with pytest.raises(ValueError, match="ratio level needs codes of at least 0, got -1"):
        alpha(ratings_of([[-1, 2], [2, 2]]), "ratio")
    with pytest.raises(ValueError, match="level must be one of nominal, ordinal, interval, ratio, got 'likert'"):
        alpha(ratings_of([[1, 2]]), "likert")  # type: ignore[arg-type]
