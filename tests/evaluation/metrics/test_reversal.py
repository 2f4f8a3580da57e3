"""Cross-modal reversal: its identities, and bins of equal size."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.classification import MISSING
from papers.valueground.metrics import equal_frequency, reversals

codes = st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1), st.integers(-1, 1)), min_size=1, max_size=40)


def test_a_worked_example() -> None:
    # Gold a a a a b; words a a b b a; pictures b a a b b. Reversed: 1, 3, 5; harmful: 1; beneficial: 3 and 5.
    result = reversals([0, 0, 1, 1, 0], [1, 0, 0, 1, 1], [0, 0, 0, 0, 1])
    assert (result.reversal.value, result.harmful.value, result.beneficial.value) == (3 / 5, 1 / 5, 2 / 5)
    assert (result.in_words.value, result.in_pictures.value, result.drop.value) == (2 / 5, 3 / 5, -1 / 5)
    assert result.reversal.n_units == 5
    assert result.drop.extras["p"] == 1  # 1 against 2: McNemar


@given(codes)
def test_the_papers_identities_hold_exactly(rows: list[tuple[int, int, int]]) -> None:
    words, pictures, gold = np.array(rows).T
    result = reversals(words, pictures, gold)
    complete_rows = [row for row in rows if MISSING not in row]
    if not complete_rows:
        assert result.reversal.reason == result.harmful.reason == result.drop.reason == "nothing_counted"
        return
    counts = [one.extras["count"] for one in (result.reversal, result.harmful, result.beneficial)]
    assert counts[0] == counts[1] + counts[2]
    assert result.in_words.extras["count"] - result.in_pictures.extras["count"] == counts[1] - counts[2]
    assert result.drop.value == pytest.approx((counts[1] - counts[2]) / len(complete_rows))
    assert {one.n_units for one in (result.reversal, result.harmful, result.in_words, result.drop)} == {
        len(complete_rows)
    }
    assert result.reversal.extras["n_left_out"] == len(rows) - len(complete_rows)


def test_in_clusters_the_numbers_stay_and_the_intervals_change() -> None:
    rng = np.random.default_rng(3)
    gold = rng.integers(0, 2, 390)
    flips = np.repeat(rng.random(30) < 0.3, 13)  # whole questions turn
    clusters = np.repeat(np.arange(30), 13)
    alone, together = reversals(gold, gold ^ flips, gold), reversals(gold, gold ^ flips, gold, clusters)
    assert alone.drop.value == pytest.approx(together.drop.value)
    for one, other in ((alone.reversal, together.reversal), (alone.drop, together.drop)):
        assert (other.high or 0) - (other.low or 0) > 2 * ((one.high or 0) - (one.low or 0))
        assert (other.resampled, other.n_units) == ("clusters of units", 390)


def test_to_call_the_options_otherwise_changes_nothing() -> None:
    rng = np.random.default_rng(4)
    words, pictures, gold = rng.integers(0, 2, (3, 50))
    first, other = reversals(words, pictures, gold), reversals(1 - words, 1 - pictures, 1 - gold)
    assert (first.harmful.value, first.drop.value) == (other.harmful.value, other.drop.value)
    back = reversals(pictures, words, gold)
    assert (back.harmful.value, back.reversal.value) == (first.beneficial.value, first.reversal.value)
    with pytest.raises(ValueError, match="one length"):
        reversals([1], [1, 0], [1])


def test_bins_of_equal_size() -> None:
    # Table 7: 2,865 pairs in 5 bins of 573.
    values = np.random.default_rng(5).permutation(2865) / 5730
    cut = equal_frequency(values, 5)
    assert cut.sizes.tolist() == [573] * 5
    assert (cut.edges[0], cut.edges[-1]) == (values.min(), values.max())
    theirs = pd.qcut(values, 5, labels=False)
    np.testing.assert_array_equal(cut.bin, theirs)


def test_equal_values_stay_together() -> None:
    cut = equal_frequency([1, 1, 1, 2, 3, 3], 2)
    assert cut.bin.tolist() == [0, 0, 0, 1, 1, 1]
    cut = equal_frequency([1, 2, 2, 2], 2)
    assert (cut.bin.tolist(), cut.sizes.tolist()) == ([0, 1, 1, 1], [1, 3])
    with pytest.raises(ValueError, match=r"2 distinct value\(s\) cannot be cut into 3"):
        equal_frequency([1, 1, 2, 2], 3)
    with pytest.raises(ValueError, match=r"3 distinct value\(s\) cannot be cut into 3"):
        equal_frequency([1, 2, 2, 2, 2, 3], 3)
    with pytest.raises(ValueError, match="0 distinct"):
        equal_frequency([], 2)
