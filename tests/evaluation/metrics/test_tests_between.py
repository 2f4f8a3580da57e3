"""Tests between models on the same items."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests

from evaluation.metrics.paired_tests import (
    adjusted,
    mcnemar,
    permutation_p,
    rank_bands,
)


def _pair(b: int, c: int, same: int = 5) -> tuple[list[bool], list[bool]]:
    return [True] * (b + same) + [False] * c, [True] * same + [False] * b + [True] * c


def test_mcnemar_by_hand() -> None:
    # 6 items only the first has right, 1 only the second: 2 (C(7,0) + C(7,1)) / 2^7 = 16 / 128.
    found = mcnemar(*_pair(6, 1))
    assert found.value == pytest.approx(5 / 12)
    assert (found.extras["p"], found.extras["only_first"], found.extras["only_second"]) == (0.125, 6, 1)
    # (6 - 1)^2 / 7 = 3.571, corrected 16 / 7 = 2.286.
    assert mcnemar(*_pair(6, 1), how="chi-square").extras["p"] == pytest.approx(stats.chi2.sf(25 / 7, 1))
    assert mcnemar(*_pair(6, 1), how="chi-square corrected").extras["p"] == pytest.approx(stats.chi2.sf(16 / 7, 1))


@pytest.mark.parametrize(("b", "c"), [(1, 0), (4, 9), (7, 7), (30, 12), (0, 3)])
def test_statsmodels_says_the_same_of_mcnemar(b: int, c: int) -> None:
    table = [[5, b], [c, 2]]
    exact, plain, corrected = (
        mcnemar(*_pair(b, c), how=how).extras["p"] for how in ("exact", "chi-square", "chi-square corrected")
    )
    assert exact == pytest.approx(their_mcnemar(table, exact=True).pvalue)
    assert plain == pytest.approx(their_mcnemar(table, exact=False, correction=False).pvalue)
    if b != c:  # at b = c they take 1 off a difference of 0
        assert corrected == pytest.approx(their_mcnemar(table, exact=False, correction=True).pvalue)


def test_to_swap_the_two_turns_the_difference_and_leaves_p() -> None:
    one, other = _pair(6, 1)
    forward, back = mcnemar(one, other), mcnemar(other, one)
    assert forward.value == -(back.value or 0)
    assert forward.extras["p"] == back.extras["p"]
    assert forward.low == pytest.approx(-(back.high or 0))


def test_no_item_one_item_and_no_difference() -> None:
    none = mcnemar([], [])
    assert (none.reason, none.extras["p"]) == ("nothing_counted", None)
    one = mcnemar([True], [False])
    assert (one.value, one.extras["p"]) == (1, 1)
    assert one.low is not None
    assert mcnemar([True, False], [True, False], how="chi-square").extras["p"] == 1
    with pytest.raises(ValueError, match="same items"):
        mcnemar([True], [True, False])


def test_all_sign_patterns_by_hand() -> None:
    # Differences 1, 2, 3: the total 6 is reached by +++ and --- only: 2 of 8 patterns.
    assert permutation_p(np.array([1.0, 2.0, 3.0])) == (0.25, 8, True)
    # 1, -1, 2: totals by sign +-4, +-2, +-2 (twice) and 0, 0: at least 2 in absolute value: 6 of 8.
    assert permutation_p(np.array([1.0, -1.0, 2.0]))[0] == 0.75


@pytest.mark.parametrize("seed", range(3))
def test_scipy_says_the_same_of_the_permutation_test(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, other = rng.normal(0.4, 1, 10), rng.normal(size=10)
    p, _used, exact = permutation_p(first - other)
    theirs = stats.permutation_test(
        (first, other), lambda x, y: (x - y).mean(), permutation_type="samples", n_resamples=np.inf
    )
    assert p == pytest.approx(theirs.pvalue) and exact


def test_drawn_patterns_come_near_to_all_of_them() -> None:
    rng = np.random.default_rng(8)
    sums = rng.normal(0.4, 1, 12)
    exact = permutation_p(sums)[0]
    drawn, used, every = permutation_p(sums, seed=1, permutations=4000)
    assert (used, every) == (4000, False)
    assert drawn == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 4000) ** 0.5)


def test_signs_flip_by_cluster() -> None:
    # 40 items of one cluster all say the same: one coin, so nothing can be shown; as 40 items it would be certain.
    rng = np.random.default_rng(0)
    change = rng.normal(5, 0.1, 40)
    assert permutation_p(change.sum(keepdims=True))[0] == 1
    assert permutation_p(change)[0] < 0.001
    assert permutation_p(change.reshape(4, 10).sum(axis=1))[0] == 2 / 16


def test_p_is_uniform_where_there_is_no_difference() -> None:
    rng = np.random.default_rng(4)
    small = [permutation_p(rng.normal(size=20), seed=k, permutations=500)[0] <= 0.1 for k in range(400)]
    assert 0.06 <= np.mean(small) <= 0.15


@pytest.mark.parametrize(("ours", "theirs"), [("holm", "holm"), ("benjamini-hochberg", "fdr_bh")])
def test_statsmodels_says_the_same_of_corrections(ours: str, theirs: str) -> None:
    rng = np.random.default_rng(5)
    for size in (1, 2, 7, 160):
        p = np.round(rng.random(size) ** 3, 2)  # with ties
        np.testing.assert_allclose(adjusted(p, ours), multipletests(p, method=theirs)[1], atol=1e-12)


def test_a_test_that_could_not_be_made_does_not_count() -> None:
    assert adjusted([0.02, None, 0.5], "holm").tolist()[::2] == adjusted([0.02, 0.5], "holm").tolist()
    assert np.isnan(adjusted([None, None], "benjamini-hochberg")).all()
    assert adjusted([], "holm").size == 0
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjusted([1.2], "holm")


def test_bands_say_no_more_than_the_tests() -> None:
    first_is_better = np.array([[False, True, True], [False, False, False], [False, False, False]])
    assert rank_bands(first_is_better) == [(1, 1), (2, 3), (2, 3)]
    assert rank_bands(first_is_better[::-1, ::-1]) == [(2, 3), (2, 3), (1, 1)]
    assert rank_bands(np.zeros((2, 2))) == [(1, 2), (1, 2)]
    assert rank_bands(np.zeros((0, 0))) == []
    with pytest.raises(ValueError, match="square matrix"):
        rank_bands([[False, True], [True, False]])
