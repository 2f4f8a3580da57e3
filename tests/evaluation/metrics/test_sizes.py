"""n counts what entered the value: units that cannot be compared are left out of it, and counted beside it."""

from collections.abc import Callable

import numpy as np
import pytest

from evaluation.metrics.alpha import alpha, percent_agreement
from evaluation.metrics.correlation import mean_pairwise_pearson, mean_pairwise_spearman
from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.human_ceiling import leave_one_annotator_out
from evaluation.metrics.kappa import cohen_kappa
from evaluation.metrics.leave_one_out import mean_rater_against_others
from evaluation.metrics.partitions import Partition, Partitions, pairwise_f1

N = np.nan
# Five units that three people rated, one that two rated, one that one rated, and a fourth person who rated that alone.
TABLE = Ratings.from_matrix(
    [[1, 1, 2, N], [2, 2, 2, N], [3, 4, 4, N], [4, 5, 5, N], [5, 4, 3, N], [2, 3, N, N], [N, N, N, 4]]
)
MEASURES: dict[str, Callable[[Ratings], Estimate]] = {
    "alpha": lambda ratings: alpha(ratings, "ordinal"),
    "percent": percent_agreement,
    "spearman": mean_pairwise_spearman,
    "pearson": mean_pairwise_pearson,
    "kappa": cohen_kappa,
    "rest": mean_rater_against_others,
    "ceiling": lambda ratings: leave_one_annotator_out(ratings, "spearman"),
}


@pytest.mark.parametrize("key", list(MEASURES))
def test_n_counts_what_entered_the_value(key: str) -> None:
    estimate = MEASURES[key](TABLE)
    assert estimate.value is not None
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (6, 3, 17)
    assert estimate.missing_share == pytest.approx(1 - 17 / 18)
    assert estimate.extras["n_units_not_pairable"] == 1


def test_units_of_pairs_without_a_value_are_left_out_and_counted() -> None:
    """The fourth person shares one unit with the others: too few for a correlation of any pair."""
    table = Ratings.from_matrix([[1, 1, N, N], [2, 2, N, N], [3, 4, N, N], [4, 5, N, N], [N, N, 1, 2]])
    found = mean_pairwise_spearman(table)
    assert (found.n_units, found.n_raters, found.n_ratings) == (4, 2, 8)
    assert (found.extras["n_units_not_pairable"], found.extras["n_units_not_compared"]) == (0, 1)


def test_groupings_count_items_that_two_people_answered() -> None:
    one = Partition({"1": 0, "2": 0, "3": 1}, {})
    found = pairwise_f1(Partitions.from_rows([("u", "a", one), ("u", "b", one), ("v", "c", one)]))
    assert (found.n_units, found.n_raters, found.n_ratings) == (1, 2, 2)
    assert found.extras["n_units_not_pairable"] == 1


def test_without_a_value_everybody_who_rated_is_counted() -> None:
    found = alpha(Ratings.from_matrix([[1], [2]]), "ordinal")
    assert (found.reason, found.n_units, found.n_raters) == ("too_few_raters", 2, 1)
