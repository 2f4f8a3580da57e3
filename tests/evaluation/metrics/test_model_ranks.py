"""Rank bands of many models by one set of permutations."""

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.model_ranks import MOST, MOST_SUMS, closeness, rank_models
from evaluation.metrics.paired_tests import adjusted, mcnemar, permutation_p, rank_bands


def test_closeness_adds_up_to_the_correlation() -> None:
    rng = np.random.default_rng(1)
    score, mean = rng.normal(size=50), rng.normal(size=50)
    score[3] = np.nan
    both = np.arange(50) != 3
    assert np.isnan(closeness(score, mean, ranks=False)[3])
    r, rho = stats.pearsonr(score[both], mean[both])[0], stats.spearmanr(score[both], mean[both])[0]
    assert 1 + np.nanmean(closeness(score, mean, ranks=False)) == pytest.approx(r)
    assert 1 + np.nanmean(closeness(score, mean, ranks=True)) == pytest.approx(rho)


@pytest.mark.parametrize("scores", [[2, 2, 2], [np.nan] * 3, []])
def test_a_constant_score_is_close_to_nothing(scores: list[float]) -> None:
    assert np.isnan(closeness(scores, [1, 2, 3][: len(scores)], ranks=False)).all()


def test_right_and_wrong_is_tested_as_mcnemar_does() -> None:
    """9 units only the first has right, 1 only the second: exact p = 2 (1 + 10) / 2^10 = 0.0215."""
    first = np.array([1.0] * 9 + [0.0] + [1.0] * 20)
    second = np.array([0.0] * 9 + [1.0] + [1.0] * 20)
    ranking = rank_models(np.column_stack([first, second]), np.arange(30))
    assert mcnemar(first == 1, second == 1).extras["p"] == pytest.approx(22 / 1024)
    assert ranking.p[0, 1] == pytest.approx(22 / 1024, abs=0.005)
    assert (ranking.bands, ranking.n_tests) == ([(1, 1), (2, 2)], 1)


def test_bands_are_those_of_pair_by_pair_tests() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(60, 4)) + np.array([0, 0.1, 0.9, 1.0])
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    change = [scores[:, i] - scores[:, j] for i, j in pairs]
    p_values = adjusted([permutation_p(one)[0] for one in change], "holm")
    better = np.zeros((4, 4), bool)
    for (i, j), one, p in zip(pairs, change, p_values, strict=True):
        better[(i, j) if one.mean() > 0 else (j, i)] = p <= 0.05
    assert rank_models(scores, np.arange(60)).bands == rank_bands(better) == [(3, 4), (3, 4), (1, 2), (1, 2)]


def test_whole_clusters_change_sides() -> None:
    """Forty units of two questions are two votes: nothing can be shown, though forty units alone would show it."""
    scores = np.column_stack([np.ones(40), np.zeros(40)])
    assert rank_models(scores, np.repeat([0, 1], 20)).bands == [(1, 2), (1, 2)]
    assert permutation_p(np.array([20.0, 20.0]))[0] == 0.5


def test_models_without_a_thing_in_common_are_not_tested() -> None:
    scores = np.full((20, 2), np.nan)
    scores[:10, 0], scores[10:, 1] = 1, 0
    found = rank_models(scores, np.arange(20))
    assert (found.bands, found.n_tests) == ([(1, 2), (1, 2)], 0)
    assert np.isnan(found.p).all()


@pytest.mark.parametrize("n", [0, 5])
@pytest.mark.parametrize("k", [0, 1])
def test_one_model_has_the_first_place(k: int, n: int) -> None:
    assert rank_models(np.zeros((n, k)), np.arange(n)).bands == [(1, 1)][:k]


def test_more_models_than_the_draws_can_tell_apart_are_not_tested() -> None:
    """Of 32 models 496 pairs: 496 / 10,001 < 0.05 < 528 / 10,001. So the best of 32 can be found, of 33 never."""
    scores = np.zeros((60, MOST + 1))
    scores[:, 0] = 1
    held = rank_models(scores[:, :MOST], np.arange(60))
    assert (held.bands[0], held.bands[1], held.n_tests) == ((1, 1), (2, 32), 496)
    many = rank_models(scores, np.arange(60))
    assert (set(many.bands), many.n_tests, many.n_permutations) == ({(1, 33)}, 0, 0)


def test_nor_are_more_numbers_drawn_for_than_a_page_can_wait_for() -> None:
    clusters = MOST_SUMS + 1
    assert rank_models(np.ones((clusters, 2)), np.arange(clusters)).n_permutations == 0
