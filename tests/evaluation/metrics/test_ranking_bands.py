"""Places and strengths with bands of resampled raters."""

import numpy as np

from evaluation.metrics.ranking_bands import RankedScores, draw_raters, strength_score


def ranked(*won: float) -> RankedScores:
    """Three raters compare two things twice each; `won` says how often the first one won."""
    first, raters = np.zeros(6, np.int64), np.repeat(["a", "b", "c"], 2)
    return draw_raters(strength_score(first, first + 1, np.array(won), 2), raters, np.array([6, 6]))


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
