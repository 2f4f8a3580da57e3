"""A model beside people, against a plain loop over scipy: the values, and each of them without a unit or a rater."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import model_human
from evaluation.metrics.intervals import Interval, jackknife_variance
from evaluation.metrics.model_human import (
    RatedScores,
    concept_averaged,
    global_averaged,
    image_wise,
    per_annotator,
    per_cohort,
)
from tests.evaluation.metrics.tables import freedom

NONE = Interval("none")
N = np.nan
Rows = list[tuple[int, int, int, float, float]]  # image, cohort, rater, value, score


def rated_scores(rows: Rows) -> RatedScores:
    parts = list(zip(*rows, strict=True)) if rows else [()] * 5
    return RatedScores(*(np.array(part, kind) for part, kind in zip(parts, (int, int, int, float, float), strict=True)))


def study(seed: int = 0, images: int = 6, cohorts: int = 5, raters: int = 4, missing: float = 0.25) -> Rows:
    """Every cohort has raters of its own; codes 1 to 5; some ratings and some scores are missing."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(images, cohorts))
    score = np.clip(np.rint(3 + truth + 0.5 * rng.normal(size=truth.shape)), 1, 5)
    score[rng.random(score.shape) < 0.1] = N
    rows = []
    for i in range(images):
        for c in range(cohorts):
            for r in range(raters):
                if rng.random() >= missing and not np.isnan(score[i, c]):
                    value = float(np.clip(np.rint(3 + truth[i, c] + rng.normal()), 1, 5))
                    rows.append((i, c, c * raters + r, value, float(score[i, c])))
    return rows


def loop(rows: Rows, row: Callable, column: Callable) -> float:
    """Mean over rows of r over columns. A cell is the mean of its things, a thing's people's side the raters' mean."""
    scores_by_group: Any = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for one in rows:
        scores_by_group[row(one)][column(one)][one[0], one[1]].append((one[3], one[4]))
    correlations = []
    for cells in scores_by_group.values():
        people = [
            np.mean([np.mean([v for v, _s in scores]) for scores in things.values()]) for things in cells.values()
        ]
        model = [np.mean([scores[0][1] for scores in things.values()]) for things in cells.values()]
        if len(cells) >= 3 and np.ptp(people) > 1e-9 and np.ptp(model) > 1e-9:
            correlations.append(stats.pearsonr(people, model)[0])
    return float(np.mean(correlations)) if correlations else N


READINGS: dict[str, tuple[Callable, Callable, Callable, Callable]] = {
    # measure, row, column, unit
    "image": (lambda s, i: image_wise(s, interval=i)[0], lambda r: r[0], lambda r: r[1], lambda r: r[0]),
    "concept": (
        lambda s, i: concept_averaged(s, s.image // 2, interval=i), lambda r: r[0] // 2, lambda r: r[1],
        lambda r: r[0] // 2,
    ),
    "global": (lambda s, i: global_averaged(s, interval=i), lambda r: 0, lambda r: r[1], lambda r: r[0]),
    "cohort": (
        lambda s, i: per_cohort(s.where(s.cohort == 1), interval=i)[1], lambda r: r[1], lambda r: r[0], lambda r: r[0],
    ),
    "annotator": (
        lambda s, i: per_annotator(s.where(s.cohort == 1), interval=i)[1].mean, lambda r: r[2], lambda r: r[0],
        lambda r: r[0],
    ),
}  # fmt: skip
each = pytest.mark.parametrize("reading", READINGS)


@each
@pytest.mark.parametrize("seed", range(6))
def test_the_value_is_the_loops(reading: str, seed: int) -> None:
    measure, row, column, _unit = READINGS[reading]
    rows = [one for one in study(seed) if reading not in ("cohort", "annotator") or one[1] == 1]
    expected, found = loop(rows, row, column), measure(rated_scores(study(seed)), NONE)
    assert found.value == pytest.approx(expected, abs=1e-12) if not np.isnan(expected) else found.value is None


@each
@pytest.mark.parametrize("seed", range(3))
def test_the_interval_is_the_two_way_jackknife_by_brute_force(reading: str, seed: int) -> None:
    """V = max(V_u + V_r - V_ur, V_u, V_r); t with Satterthwaite's degrees of freedom on Fisher's z."""
    measure, row, column, unit = READINGS[reading]
    rows = [one for one in study(seed, images=8, missing=0.1) if reading not in ("cohort", "annotator") or one[1] == 1]
    result = measure(rated_scores(rows), Interval())
    rows = [one for one in rows if not np.isnan(loop([r for r in rows if row(r) == row(one)], row, column))]
    keys: list[Callable] = [unit, lambda r: r[2], lambda r: (unit(r), r[2])]
    without = [
        np.array([loop([r for r in rows if key(r) != gone], row, column) for gone in sorted({key(r) for r in rows})])
        for key in keys
    ]
    if not all(np.isfinite(part).all() for part in without):
        assert result.interval_reason == "unstable"
        return
    units, raters, both = (jackknife_variance(part) for part in without)
    total = max(units + raters - both, units, raters)
    error = np.sqrt(total) / (1 - result.value**2)
    step = stats.t.ppf(0.975, freedom(total, units, raters, without[0].size, without[1].size)) * error
    assert result.low == pytest.approx(np.tanh(np.arctanh(result.value) - step), abs=1e-9)
    assert result.high == pytest.approx(np.tanh(np.arctanh(result.value) + step), abs=1e-9)


def test_two_images_by_hand() -> None:
    """Image 0: model 1 2 3, people's means 1 2 3, r = 1. Image 1: model 1 2 3, people 2 1 3: deviations -1 0 1 and
    0 -1 1, r = (0 + 0 + 1) / 2 = 1/2. The mean is 3/4; averaged first, the people have
    1.5 1.5 3: r = 1.5 / sqrt(2 x 1.5)."""
    rows: Rows = [(0, 0, 0, 1, 1), (0, 1, 1, 2, 2), (0, 2, 2, 3, 3), (1, 0, 0, 2, 1), (1, 1, 1, 1, 2), (1, 2, 2, 3, 3)]
    [mean] = image_wise(rated_scores(rows), interval=NONE)
    assert mean.value == pytest.approx(0.75) and mean.extras["n_rows"] == 2
    assert global_averaged(rated_scores(rows), interval=NONE).value == pytest.approx(1.5 / np.sqrt(3))
    assert concept_averaged(rated_scores(rows), [0] * 6, interval=NONE).value == pytest.approx(1.5 / np.sqrt(3))
    assert [one.value for one in image_wise(rated_scores(rows), [0, 0, 0, 1, 1, 1], interval=NONE)] == [
        pytest.approx(1),
        pytest.approx(0.5),
    ]


def test_each_annotator_by_hand() -> None:
    """Model 1 2 3; annotators 1 2 3 (r = 1), 3 2 1 (r = -1) and 2 1 3 (r = 1/2), and one who always says 3."""
    values_by_rater = {0: (1, 2, 3), 1: (3, 2, 1), 2: (2, 1, 3), 3: (3, 3, 3)}
    rows: Rows = [
        (i, 0, r, float(v), float(i + 1)) for r, values in values_by_rater.items() for i, v in enumerate(values)
    ]
    correlations = per_annotator(rated_scores(rows))[0]
    assert correlations.mean.value == pytest.approx(1 / 6)
    assert (correlations.most.value, correlations.least.value, correlations.median.value) == (
        pytest.approx(1),
        pytest.approx(-1),
        pytest.approx(0.5),
    )
    assert correlations.deviation.value == pytest.approx(np.std([1, -1, 0.5], ddof=1))
    assert correlations.mean.extras["n_rows_constant"] == 1 and correlations.mean.extras["n_rows"] == 3
    assert correlations.most.interval_reason == correlations.deviation.interval_reason == "not_smooth"


def test_a_constant_image_is_left_out_and_counted() -> None:
    rows: Rows = [(0, c, c, float(c), float(c)) for c in range(3)]
    rows += [(1, c, c, float(c), 4.0) for c in range(3)]
    rows += [(2, c, c, float(c), float(c)) for c in range(2)]
    [estimate] = image_wise(rated_scores(rows))
    assert estimate.value == pytest.approx(1) and estimate.interval_reason == "too_few_units_for_interval"
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (1, 3, 3), "n is what the mean is over"
    assert (estimate.extras["n_left_out"], estimate.extras["n_all"]) == (2, 3)
    assert (estimate.extras["n_rows"], estimate.extras["n_rows_constant"], estimate.extras["n_rows_few"]) == (1, 1, 1)


def test_an_image_that_is_left_out_says_nothing_of_the_spread() -> None:
    """Five images have an r; thirty more, rated in two cohorts only, change neither the value nor the interval."""
    rows = study(4, images=5, missing=0)
    before = image_wise(rated_scores(rows))[0]
    apart = [
        (5 + i, c, c * 4 + r, float(1 + (i + r) % 5), float(1 + i % 5))
        for i in range(30)
        for c in range(2)
        for r in range(4)
    ]
    after = image_wise(rated_scores(rows + apart))[0]
    assert before.low is not None and after.extras["n_left_out"] == 30
    assert (after.value, after.low, after.high) == pytest.approx((before.value, before.low, before.high), abs=1e-12)
    two = image_wise(rated_scores([r for r in rows if r[0] < 2] + apart))[0]
    assert two.interval_reason == "too_few_units_for_interval", "two images in the mean are too few, whatever is beside"


def test_more_raters_do_not_make_an_image_count_more() -> None:
    rows = study(3, missing=0)
    doubled = rows + [(i, c, r + 100, v, s) for i, c, r, v, s in rows if c == 0]
    for measure in (READINGS["image"][0], READINGS["global"][0]):
        assert measure(rated_scores(doubled), NONE).value == pytest.approx(
            measure(rated_scores(rows), NONE).value, abs=1e-12
        )


@each
def test_scores_may_be_stretched_and_everything_shuffled(reading: str) -> None:
    measure, rows = READINGS[reading][0], study(2)
    before = measure(rated_scores(rows), Interval())
    moved = [(i, c, r, 7 + 2 * v, 1e6 + 3 * s) for i, c, r, v, s in rows]
    after = measure(rated_scores([moved[k] for k in np.random.default_rng(1).permutation(len(moved))]), Interval())
    assert after.value == pytest.approx(before.value, abs=1e-7)
    assert after.low == pytest.approx(before.low, abs=1e-6)


@each
@pytest.mark.parametrize("rows", [[], [(0, 1, 0, 1.0, 1.0)]], ids=["none", "one"])
def test_none_and_one_rating_have_no_value(reading: str, rows: Rows) -> None:
    if not rows and reading in ("cohort", "annotator"):
        assert per_cohort(rated_scores([])) == {} and per_annotator(rated_scores([])) == {}
        return
    found = READINGS[reading][0](rated_scores(rows), Interval())
    few = "too_few_points" if reading in ("cohort", "annotator") else "too_few_cohorts"
    assert (found.value, found.reason) == (None, few if rows else "no_ratings")


def test_one_rater_has_no_spread() -> None:
    rows: Rows = [(i, 1, 0, float(i), float(i % 3)) for i in range(6)]
    found = per_annotator(rated_scores(rows))[1]
    assert found.mean.interval_reason == "too_few_raters_for_interval"
    assert found.deviation.reason == "too_few_raters" and found.most.value == found.least.value == found.mean.value


def test_a_model_that_says_one_thing_has_no_correlation() -> None:
    rows: Rows = [(i, c, r, v, 3.0) for i, c, r, v, _s in study(1)]
    for measure, *_rest in READINGS.values():
        assert measure(rated_scores(rows), Interval()).reason == "constant_side"


def test_what_is_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        rated_scores([(0, 0, 0, N, 1.0)])
    with pytest.raises(ValueError, match="jackknife interval only"):
        image_wise(rated_scores(study()), interval=Interval("units", "bootstrap", rng=np.random.default_rng(0)))


def test_note_states_that_cohorts_are_not_resampled() -> None:
    assert "these cohorts only" in str(model_human.__doc__)
    assert concept_averaged(rated_scores(study()), np.zeros(len(study()), int)).resampled == "concepts and raters"
