"""Ratings come from labels or from a table with gaps; a repeat is refused, not averaged in silence."""

import numpy as np
import pytest

from evaluation.metrics.counts import Ratings, count_table

N = np.nan


def test_labels_and_matrix_give_the_same_ratings() -> None:
    labelled = Ratings.from_labels([("fig", "ana", 3), ("fig", "bo", 4), ("owl", "bo", 1)])
    matrix = Ratings.from_matrix([[3, 4], [N, 1]])
    np.testing.assert_array_equal(labelled.to_matrix(), matrix.to_matrix())
    assert matrix.missing_share == 0.25
    assert Ratings.from_labels([]).missing_share is None


def test_a_repeat_is_refused_with_who_and_what() -> None:
    with pytest.raises(ValueError, match="rater 1 rated unit 0 more than once"):
        Ratings.from_labels([("fig", "ana", 3), ("fig", "bo", 4), ("fig", "bo", 5)])


def test_what_cannot_be_a_rating_is_refused() -> None:
    index = np.array([0, 1])
    with pytest.raises(ValueError, match="value must be finite"):
        Ratings(index, index, np.array([1, N]), 2, 2)
    with pytest.raises(ValueError, match=r"unit must lie in 0\.\.0"):
        Ratings(index, index, np.array([1.0, 2.0]), 1, 2)
    with pytest.raises(ValueError, match="differ in length"):
        Ratings(index, index, np.array([1.0]), 2, 2)


def test_the_ratings_cannot_be_changed_afterwards() -> None:
    value = np.array([1.0, 2.0])
    ratings = Ratings(np.array([0, 0]), np.array([0, 1]), value, 1, 2)
    value[0] = 9
    assert ratings.value[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        ratings.value[0] = 5


def test_the_count_table_keeps_what_can_be_paired() -> None:
    table = count_table(Ratings.from_matrix([[1, 2, 2], [N, 2, N], [5, 5, N]]), None, None)
    np.testing.assert_array_equal(table.codes, [1, 2, 5])
    np.testing.assert_array_equal(table.counts.toarray(), [[1, 2, 0], [0, 0, 2]])
    np.testing.assert_array_equal(table.marginals, [1, 2, 2])


@pytest.mark.parametrize("codes", [[0.5, -1.25], [-3.0, 7.0], [1e9, 1e9 + 1e6], [0.1, 0.3], [1.0, 1.5]])
def test_any_finite_numbers_serve_as_codes(codes: list[float]) -> None:
    table = count_table(Ratings.from_matrix([codes, codes[::-1]]), None, None)
    np.testing.assert_array_equal(table.codes, sorted(codes))
    np.testing.assert_array_equal(table.codes[table.code].reshape(2, 2), [codes, codes[::-1]])


def test_weights_of_the_wrong_shape_or_sign_are_refused() -> None:
    ratings = Ratings.from_matrix([[1, 2], [2, 2]])
    with pytest.raises(ValueError, match=r"unit_weights must have shape \(2,\), got \(3,\)"):
        count_table(ratings, [1, 1, 1], None)
    with pytest.raises(ValueError, match="rater_weights must be finite and not negative"):
        count_table(ratings, None, [1, -1])


def test_places_and_counts_of_raters_and_units_are_those_of_the_arrays() -> None:
    ratings = Ratings.from_labels([("u", "a", 1), ("v", "b", 2), ("u", "b", 1), ("w", "a", 4), ("u", "c", 2)])
    assert [ratings.places_of(rater).tolist() for rater in range(3)] == [[0, 3], [1, 2], [4]]
    assert ratings.unit_counts.tolist() == [3, 1, 1] and ratings.unit_sums.tolist() == [4, 2, 4]
    assert ratings.same_counts.tolist() == [2, 1, 2, 1, 1], "u: 1 by a and b, 2 by c"
    nobody = Ratings.from_matrix(np.full((2, 2), np.nan))
    assert nobody.places_of(1).size == nobody.same_counts.size == 0 and nobody.unit_counts.tolist() == [0, 0]
