"""Ranked lists: worked examples, second implementations, invariances, what is undefined."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.metrics import ndcg_score

from evaluation.metrics import retrieval as r

LABELS = st.integers(1, 12).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=1, max_size=6)
)


def test_precision_and_accuracy_count_the_right_places() -> None:
    hits = np.array([[True, False, True, True, False], [False] * 5])
    assert r.precision(hits).tolist() == [3 / 5, 0]
    assert r.accuracy(hits).tolist() == [1, 0]
    assert r.accuracy(hits[:, 1:2]).tolist() == [0, 0]


def test_ndcg_by_hand() -> None:
    """Right at ranks 2 and 3 of k = 3, three right ones exist: (1/log2 3 + 1/log2 4) / (1 + 1/log2 3 + 1/log2 4)."""
    gain = 1 / math.log2(3) + 1 / 2
    gains = np.array([[0, 1, 1]])
    assert r.ndcg(gains, [[1, 1, 1, 0]])[0] == pytest.approx(gain / (1 + gain))
    # the authors' ideal list is the list's own gains, put in order: two right ones on top
    assert r.ndcg(gains)[0] == pytest.approx(gain / (1 + 1 / math.log2(3)))
    # one right one on top of the list: the authors' variant is content, whatever was missed
    assert r.ndcg([[1, 0, 0]], [[1, 1, 1]])[0] == pytest.approx(1 / (1 + gain))
    assert r.ndcg([[1, 0, 0]])[0] == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(2, 15))
@settings(max_examples=60, deadline=None)
def test_scikit_learn_gives_the_same_ndcg(seed: int, k: int, entries: int) -> None:
    """Graded gains; scikit-learn ranks all entries itself and ideals over all of them."""
    rng = np.random.default_rng(seed)
    gains, scores = rng.integers(0, 4, (3, entries)), rng.permuted(np.arange(3 * entries).reshape(3, entries), axis=1)
    k = min(k, entries)
    order = np.argsort(-scores, axis=1)
    ours = r.ndcg(np.take_along_axis(gains, order, axis=1)[:, :k], gains)
    defined = gains.any(axis=1)
    assert np.isnan(ours[~defined]).all()  # scikit-learn says 0 there
    for row in np.flatnonzero(defined):
        assert ours[row] == pytest.approx(ndcg_score(gains[row : row + 1], scores[row : row + 1], k=k))


def test_ndcg_without_anything_right_is_undefined() -> None:
    assert np.isnan(r.ndcg([[0, 0]], [[0, 0, 0]])[0])
    assert np.isnan(r.ndcg([[0, 0]])[0])
    assert r.ndcg([[0, 0]], [[1, 0, 0]])[0] == 0  # there was something to find
    with pytest.raises(ValueError, match="negative"):
        r.ndcg([[-1, 0]])
    with pytest.raises(ValueError, match="one for each query"):
        r.ndcg([[1, 0]], [[1, 0], [1, 0]])


def test_ndcg_never_exceeds_1_because_unknown_gains_are_refused() -> None:
    with pytest.raises(ValueError, match="gains of query 1 have 3 1 times, and available has it 0 times"):
        r.ndcg([[1, 0], [3, 0]], [[1, 0], [1, 1]])
    with pytest.raises(ValueError, match="gains of query 0 have 1 2 times, and available has it 1 times"):
        r.ndcg([[1, 1]], [[1, 0, 0]])
    assert r.ndcg([[1, 3, 0]], [[3, 1, 1]])[0] < 1


def test_ties_go_by_key_however_the_file_has_them() -> None:
    keys, scores = ["d", "a", "c", "b"], [0.5, 0.5, 0.9, 0.5]
    assert [keys[n] for n in r.rank_order(scores, keys)] == ["c", "a", "b", "d"]
    turned = r.rank_order(scores[::-1], keys[::-1])
    assert [keys[::-1][n] for n in turned] == ["c", "a", "b", "d"]
    assert r.rank_order([], []).tolist() == []
    with pytest.raises(ValueError, match="NaN"):
        r.rank_order([float("nan")], ["a"])


def test_a_list_shorter_than_k_is_an_error_and_no_lists_are_none() -> None:
    with pytest.raises(ValueError, match="list 1 has 2 places, and k is 3"):
        r.first_places([[1, 2, 3], [1, 2]], 3)
    with pytest.raises(ValueError, match="at least 1"):
        r.first_places([[1]], 0)
    assert r.first_places([[3, 2, 1], "abc"], 2) == [[3, 2], "ab"]
    assert r.first_places([], 5) == []
    none = np.zeros((0, 5), np.int64)
    assert r.precision(none.astype(bool)).size == r.diversity(none).size == r.shares(none, 3).size == 0


def test_diversity_by_hand() -> None:
    """1, 2 and 2 of five: entropy -(0.2 ln 0.2 + 2 x 0.4 ln 0.4) = 0.3219 + 0.7330 = 1.0549."""
    cultures = [[4, 0, 0, 2, 2]]
    assert r.diversity(cultures)[0] == pytest.approx(1.0549 / math.log(5), abs=1e-4)
    assert r.diversity(cultures, normaliser="ln_m")[0] == pytest.approx(1.0549 / math.log(3), abs=1e-4)
    assert r.diversity([[0, 1, 2, 3, 4], [1, 1, 1, 1, 1]]).tolist() == pytest.approx([1, 0])


def test_diversity_where_it_says_nothing() -> None:
    assert np.isnan(r.diversity([[3]])[0])  # k = 1
    assert np.isnan(r.diversity([[2, 2, 2]], normaliser="ln_m")[0])  # ln 1
    assert np.isnan(r.diversity([[0, -1, 1], [0, 0, 1]])).tolist() == [True, False]  # a picture from nowhere
    with pytest.raises(ValueError, match="normaliser"):
        r.diversity([[0, 1]], normaliser="ln_n")  # type: ignore[arg-type]


@given(LABELS, st.permutations(range(6)), st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_diversity_against_scipy_and_blind_to_names_and_order(
    rows: list[list[int]], names: list[int], seed: int
) -> None:
    labels = np.array(rows)
    ours = r.diversity(labels)
    k = labels.shape[1]
    if k == 1:
        assert np.isnan(ours).all()
        return
    theirs = [stats.entropy(np.bincount(row)) / math.log(k) for row in labels]
    assert ours == pytest.approx(np.array(theirs))
    shuffled = np.random.default_rng(seed).permuted(np.array(names)[labels], axis=1)
    assert r.diversity(shuffled) == pytest.approx(ours)
    assert ((ours >= 0) & (ours <= 1 + 1e-12)).all()


def test_shares_plain_and_discounted() -> None:
    """Weights 1, 0.6309, 0.5; A stands at ranks 1 and 3."""
    assert r.shares([[0, 1, 0]], 2).tolist() == [[2 / 3, 1 / 3]]
    whole = 1 + 1 / math.log2(3) + 0.5
    assert r.shares([[0, 1, 0]], 2, discounted=True)[0] == pytest.approx([1.5 / whole, 1 / math.log2(3) / whole])
    assert np.isnan(r.shares([[0, -1]], 2)).all()
    with pytest.raises(ValueError, match="labels"):
        r.shares([[2]], 2)


def test_divergence_of_two_languages_by_hand() -> None:
    """Equation 1: P 0.5 and 0.5, Q 0.75 and 0.25: 0.5 ln(2/3) + 0.5 ln 2 = -0.2027 + 0.3466."""
    assert r.divergence(r.shares([[0, 0, 1, 0]], 2))[0] == pytest.approx(0.1438, abs=1e-4)
    assert r.divergence(r.shares([[0, 0, 1, 0]], 2), [0.75, 0.25])[0] == pytest.approx(0)
    # nothing of B: epsilon in its place, 0.5 ln(0.5) + 0.5 ln(0.5 / 1e-9)
    assert r.divergence(r.shares([[0, 0]], 2))[0] == pytest.approx(0.5 * math.log(0.5) + 0.5 * math.log(0.5e9))
    assert r.divergence(r.shares([[0, 0]], 2), [1, 0])[0] == 0  # a language that is not in the pool is not missed


@given(LABELS)
@settings(max_examples=60, deadline=None)
def test_divergence_against_scipy(rows: list[list[int]]) -> None:
    observed = r.shares(np.array(rows), 6)
    theirs = [np.sum(special.rel_entr(np.full(6, 1 / 6), np.where(q, q, 1e-9))) for q in observed]
    assert r.divergence(observed) == pytest.approx(np.array(theirs))


@given(LABELS, st.booleans())
@settings(max_examples=80, deadline=None)
def test_no_list_goes_below_the_floor(rows: list[list[int]], discounted: bool) -> None:
    labels = np.array(rows)
    floor = r.divergence_floor(labels.shape[1], 6, discounted=discounted)
    if discounted and labels.shape[1] > 6:
        assert math.isnan(floor)
    else:
        assert (r.divergence(r.shares(labels, 6, discounted=discounted)) >= floor - 1e-12).all()


def test_the_floor_by_hand() -> None:
    """5 of 36: 5/36 ln(5/36) + 31/36 ln(1 / (36 x 1e-9)) = -0.2742 + 14.7593; 72 of 36 can be even: 0."""
    assert r.divergence_floor(5, 36) == pytest.approx(14.485, abs=5e-4)
    assert r.divergence_floor(72, 36) == pytest.approx(0, abs=1e-12)
    assert r.divergence_floor(5, 36, discounted=True) > r.divergence_floor(5, 36)
    with pytest.raises(ValueError, match="at least 1"):
        r.divergence_floor(0, 36)


def test_what_is_no_distribution_is_refused() -> None:
    with pytest.raises(ValueError, match="sum to 1"):
        r.divergence(np.array([[0.5, 0.5]]), [0.5, 0.4])
    with pytest.raises(ValueError, match="epsilon"):
        r.divergence(np.array([[0.5, 0.5]]), epsilon=0)
    with pytest.raises(ValueError, match="shape"):
        r.precision(np.array([True]))
