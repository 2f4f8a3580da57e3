"""Places and strengths with bands of resampled raters."""

import numpy as np
import pytest

from evaluation.metrics.ranking_bands import (
    RankedScores,
    RankedSizes,
    compared_groups,
    draw_raters,
    places,
    strength_score,
)


def ranked(*won: float) -> RankedScores:
    """Three raters compare two things twice each; `won` says how often the first one won."""
    first, raters = np.zeros(6, np.int64), np.repeat(["a", "b", "c"], 2)
    sizes = RankedSizes.of(np.concatenate([first, first + 1]), np.zeros(12), np.tile(raters, 2), 2)
    return draw_raters(strength_score(first, first + 1, np.array(won), 2), raters, sizes)


def test_raters_who_differ_leave_a_band_around_place_and_strength() -> None:
    scores = ranked(1, 1, 1, 0, 0, 1)
    place, strength = scores.places()[0], scores.scores("Bradley-Terry")[0]
    assert place.value == 1 and (strength.low or 0) < (strength.value or 0) < (strength.high or 0)
    assert (strength.n_raters, strength.n_ratings, strength.resampled) == (3, 6, "raters")


def test_raters_who_all_say_the_same_leave_a_place_and_no_band_of_a_strength() -> None:
    scores = ranked(1, 0, 1, 0, 1, 0)
    place, strength = scores.places()[0], scores.scores("Bradley-Terry")[0]
    assert (place.low, place.value, place.high) == (1.5, 1.5, 1.5)
    assert (strength.value, strength.low, strength.interval_reason) == (0, None, "no_spread")


def test_a_draw_in_which_a_group_falls_apart_has_no_strengths() -> None:
    """One rater alone compared B with C: without them, nothing says how A and B stand to C and D."""
    first, second = np.array([0, 1, 2]), np.array([1, 2, 3])
    score = strength_score(first, second, np.array([1.0, 1.0, 1.0]), 4)
    assert np.isfinite(score(np.ones(3))).all()
    assert np.isnan(score(np.array([1.0, 0.0, 1.0]))).all(), "connected as a whole, and not in this draw"
    assert np.isnan(score(np.array([1.0, 1.0, 0.0]))).tolist() == [False, False, False, True], "only D was not compared"


def test_groups_that_no_pair_connects_have_strengths_and_places_of_their_own() -> None:
    first, second = np.array([0, 2, 2]), np.array([1, 3, 3])
    groups = compared_groups(first, second, 4)
    strengths = strength_score(first, second, np.array([1.0, 0.0, 0.0]), 4)(np.ones(3))
    assert strengths[0] + strengths[1] == pytest.approx(0) == strengths[2] + strengths[3]
    assert places(strengths, groups).tolist() == [1, 2, 2, 1]
