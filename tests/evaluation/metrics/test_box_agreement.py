"""Agreement of boxes: worked examples, brute-force replicates, invariances, and no interval without its reason."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evaluation.metrics.box_agreement import mean_overlap_with_people, mean_pairwise_overlap
from evaluation.metrics.boxes import overlap
from evaluation.metrics.intervals import Interval, Scale, jackknife_interval
from evaluation.metrics.pair_means import Answers, mean_over_pairs

HALF, WHOLE, RIGHT = [[0.0, 0.0, 1.0, 2.0]], [[0.0, 0.0, 2.0, 2.0]], [[1.0, 0.0, 2.0, 2.0]]
Drawn = list[dict[Any, Any]]


def draw_answers(seed: int, units: int = 9, raters: int = 5, missing: float = 0.35, most: int = 2) -> Drawn:
    """Each person draws near the true box of a unit, in a style of their own; some draw a second box, some none."""
    rng = np.random.default_rng(seed)
    true, style = rng.uniform(0, 5, (units, 2)), rng.normal(0, 0.4, (raters, 2))
    boxes_by_unit: Drawn = []
    for unit in range(units):
        boxes_by_rater = {}
        for rater in np.flatnonzero(rng.random(raters) >= missing):
            corners = true[unit] + style[rater] + rng.normal(0, 0.1, (int(rng.integers(0, most + 1)), 2))
            boxes_by_rater[int(rater)] = [[x, y, x + 2, y + 2] for x, y in corners]
        boxes_by_unit.append(boxes_by_rater)
    return boxes_by_unit


def value(rows: Drawn) -> float:
    """Pair by pair."""
    means = [np.mean([overlap(of[a], of[b]) for a, b in combinations(of, 2)]) for of in rows if len(of) > 1]
    return float(np.mean(means)) if means else np.nan


def without_answer(rows: Drawn, unit: int | None, rater: int | None) -> Drawn:
    """Without one answer; with None for the rater without the unit, with None for the unit without the rater."""
    return [
        {who: one for who, one in of.items() if not (unit in (None, place) and rater in (None, who))}
        for place, of in enumerate(rows)
    ]


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_replicates_equal_deletion_and_recomputation(seed: int, most: int) -> None:
    rows = [of for of in draw_answers(seed, most=most) if len(of) > 1]
    raters = sorted({who for of in rows for who in of})
    estimate = mean_pairwise_overlap(rows)
    assert estimate.value == pytest.approx(value(rows), abs=1e-12)
    units = np.array([value(without_answer(rows, unit, None)) for unit in range(len(rows))])
    people = np.array([value(without_answer(rows, None, who)) for who in raters])
    ones = np.array([value(without_answer(rows, unit, who)) for unit, of in enumerate(rows) for who in of])
    expected = jackknife_interval(value(rows), units, people, ones, Interval(), Scale("logit"))
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-10)
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (len(rows), len(raters), sum(map(len, rows)))


def test_other_people_count_and_not_only_other_units() -> None:
    """Six people with styles of their own over 60 units: units alone give an interval much too narrow."""
    rows = draw_answers(1, units=60, raters=6, missing=0, most=1)
    rows = [{who: one or WHOLE for who, one in of.items()} for of in rows]
    both, units = mean_pairwise_overlap(rows), mean_pairwise_overlap(rows, interval=Interval("units"))
    assert both.low is not None and both.high is not None and units.low is not None and units.high is not None
    assert (both.high - both.low) > 2 * (units.high - units.low)
    assert (both.resampled, units.resampled) == ("units and raters", "units")


def test_names_order_and_the_unit_of_length_do_not_matter() -> None:
    rows = draw_answers(5)
    estimate = mean_pairwise_overlap(rows)
    other = [
        {f"p{who}": [[3 * side for side in box] for box in reversed(one)] for who, one in reversed(of.items())}
        for of in reversed(rows)
    ]
    again = mean_pairwise_overlap(other)
    assert (again.value, again.low, again.high) == pytest.approx((estimate.value, estimate.low, estimate.high))
    assert again.n_ratings == estimate.n_ratings


def test_nothing_to_box_is_an_answer() -> None:
    """Both say that there is nothing: 1. One does: 0. Mean over the two units: 1/2."""
    found = mean_pairwise_overlap([{"a": [], "b": []}, {"a": [], "b": HALF}])
    assert found.value == 0.5
    assert found.extras["n_pairs"] == 2


def test_units_of_one_person_are_listed_with_n() -> None:
    found = mean_pairwise_overlap([{1: HALF, 2: WHOLE}, {1: HALF}, {3: HALF}, {}])
    assert (found.value, found.n_units, found.n_raters, found.n_ratings) == (0.5, 1, 2, 2)
    assert found.extras["n_units_not_pairable"] == 2 and found.missing_share == 0


def test_pairs_without_a_score_are_left_out_and_counted() -> None:
    """Unit 1: pairs 1-2, 1-3 and 2-3 with scores 1, none and 0. Unit 2: none."""
    answers = Answers(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1]), 2, 3)

    def score(first: Any, second: Any) -> Any:
        by_pair = {(0, 1): 1.0, (0, 2): np.nan, (1, 2): 0.0, (3, 4): np.nan}
        return np.array([by_pair[pair] for pair in zip(first.tolist(), second.tolist(), strict=True)])

    estimate = mean_over_pairs(answers, score, method="test")
    assert (estimate.value, estimate.n_units, estimate.n_ratings) == (0.5, 1, 3)
    assert (estimate.extras["n_pairs"], estimate.extras["n_pairs_undefined"]) == (2, 2)
    assert estimate.extras["n_units_not_pairable"] == 1
    nothing = mean_over_pairs(answers, lambda first, _second: np.full(first.size, np.nan), method="test")
    assert (nothing.value, nothing.reason) == (None, "no_pairs")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no_ratings"),
        ([{}], "no_ratings"),
        ([{1: HALF}, {1: WHOLE}], "too_few_raters"),
        ([{1: HALF}, {2: WHOLE}], "no_pairable_units"),
    ],
)
def test_what_has_no_value_says_why(rows: Drawn, reason: str) -> None:
    found = mean_pairwise_overlap(rows)
    assert (found.value, found.reason) == (None, reason)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{1: HALF, 2: WHOLE}] * 5, "too_few_raters_for_interval"),
        ([{1: HALF, 2: WHOLE, 3: HALF}] * 2, "too_few_units_for_interval"),
        ([{1: HALF, 2: HALF, 3: HALF}] * 5, "no_spread"),
        ([{1: HALF, 2: RIGHT, 3: [[2.0, 0.0, 3.0, 2.0]]}] * 5, "no_spread"),
        ([{1: HALF, 2: WHOLE}, {1: HALF, 2: WHOLE}, {1: HALF, 3: HALF}], "unstable"),
    ],
)
def test_what_has_no_interval_says_why(rows: Drawn, reason: str) -> None:
    found = mean_pairwise_overlap(rows)
    assert found.value is not None and (found.low, found.interval_reason) == (None, reason)


def test_a_model_is_compared_with_each_person() -> None:
    """Unit 1: (1 + 1/2) / 2. Unit 2: 1/2. The third has no answer of the model, the fourth none of people."""
    people: Drawn = [{1: HALF, 2: WHOLE}, {1: WHOLE}, {1: HALF}, {}]
    estimate = mean_overlap_with_people([HALF, HALF, None, HALF], people)
    assert estimate.value == pytest.approx((0.75 + 0.5) / 2)
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (2, 2, 3)
    assert estimate.extras["n_left_out"] == 2
    assert mean_overlap_with_people([None], [{1: HALF}]).reason == "no_ratings"
    with pytest.raises(ValueError, match="same units, got 1 and 2"):
        mean_overlap_with_people([HALF], [{}, {}])


def test_a_model_that_boxes_nothing_is_compared_too() -> None:
    """Unit 1: nothing against a box and against nothing, (0 + 1) / 2. Unit 2: 1. An answer of no box is an answer."""
    estimate = mean_overlap_with_people([[], HALF], [{1: HALF, 2: []}, {1: HALF}])
    assert estimate.value == pytest.approx((0.5 + 1) / 2)
    assert (estimate.n_units, estimate.n_ratings, estimate.extras["n_left_out"]) == (2, 3, 0)


def test_the_missing_share_of_a_models_overlap_is_of_the_units_that_were_compared() -> None:
    """Of two people and two units three of four answers are there; a unit without an answer of the model adds none."""
    estimate = mean_overlap_with_people([HALF, WHOLE, None], [{1: HALF, 2: WHOLE}, {1: HALF}, {1: HALF}])
    assert estimate.missing_share == 0.25
    assert mean_overlap_with_people([None], [{1: HALF}]).missing_share is None


def overlap_with_people(model: list[Any], rows: Drawn) -> float:
    means = [np.mean([overlap(own, one) for one in of.values()]) for own, of in zip(model, rows, strict=True) if of]
    return float(np.mean(means)) if means else np.nan


@pytest.mark.parametrize("seed", range(3))
def test_a_models_interval_is_that_of_other_units_and_other_people(seed: int) -> None:
    rows = [of for of in draw_answers(seed, units=12, missing=0.5) if of]
    model = [next(iter(of.values())) or WHOLE for of in rows]
    raters = sorted({who for of in rows for who in of})
    estimate = mean_overlap_with_people(model, rows)
    units = np.array([overlap_with_people(model, without_answer(rows, unit, None)) for unit in range(len(rows))])
    people = np.array([overlap_with_people(model, without_answer(rows, None, who)) for who in raters])
    ones = np.array(
        [overlap_with_people(model, without_answer(rows, unit, who)) for unit, of in enumerate(rows) for who in of]
    )
    expected = jackknife_interval(overlap_with_people(model, rows), units, people, ones, Interval(), Scale("logit"))
    assert (estimate.low, estimate.high) == pytest.approx(expected, abs=1e-10)
    assert estimate.resampled == "units and raters"


def test_what_is_no_box_and_what_cannot_be_drawn_are_refused() -> None:
    with pytest.raises(ValueError, match="x0 < x1"):
        mean_pairwise_overlap([{1: [[1, 0, 0, 1]], 2: HALF}])
    with pytest.raises(ValueError, match="jackknife interval only"):
        mean_pairwise_overlap([{1: HALF}], interval=Interval("units", "bootstrap", rng=np.random.default_rng(0)))
