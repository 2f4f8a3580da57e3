"""From the counts of a survey to a country's label."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from papers.valueground.survey_labels import (
    Pair,
    adjust,
    label,
    match_options,
    prefix,
    propose,
    resolve,
)

WVS = Path(__file__).parents[4] / "shared" / "data" / "wvs7"
counted = st.dictionaries(st.integers(1, 10), st.integers(0, 500), min_size=1)


def _wvs() -> tuple[dict, dict]:
    """The codebook's options by question, and the adjustment table."""
    if not WVS.is_dir():
        pytest.skip("NO WORLD VALUES SURVEY HERE: ../shared/data/wvs7 is missing, its questions were not tried")
    codebook = json.loads((WVS / "wvs7_codebook.json").read_text())
    options = {
        key: {int(code): text for code, text in one["choices"].items() if code.lstrip("-").isdigit()}
        for key, one in codebook.items()
    }
    raw = json.loads((WVS / "wvs7_answer_adjustment.json").read_text())
    return options, {q: {int(a): int(b) if b else None for a, b in codes.items()} for q, codes in raw.items()}


def test_a_worked_example() -> None:
    # 30 x 1 + 30 x 2 + 20 x 3 + 20 x 4 = 230 of 100: mean 2.3; 1.3 from code 1, 1.7 from code 4: A.
    # u = (2.3 - 1) / 3 = 0.4333; margin 0.0667. The 9 who did not know are not counted.
    found = label({1: 30, 2: 30, 3: 20, 4: 20, -1: 9}, Pair(1, 4, "metadata"))
    assert (found.side, found.why, found.n, found.n_not_valid) == ("a", None, 100, 9)
    assert (found.mean, found.u, found.margin) == pytest.approx((2.3, 1.3 / 3, 0.5 - 1.3 / 3))


def test_why_an_instance_cannot_be_scored() -> None:
    pair = Pair(1, 4, "metadata")
    tie = label({1: 50, 4: 50}, pair)
    assert (tie.side, tie.why, tie.margin) == (None, "tie", 0)
    # Weighted counts may be no whole numbers; the sums are exact all the same.
    assert label({1: 0.1, 4: 0.1}, pair).why == "tie"
    for nothing in (None, {}, {1: 0, 4: 0}, {-1: 40, 0: 3}):
        assert label(nothing, pair).why == "no_counts"
    assert label({1: 3}, None).why == "codes_unresolved"
    assert label({1: 3}, Pair(2, 2, "metadata")).why == "codes_unresolved"
    with pytest.raises(ValueError, match="not be negative"):
        label({1: -2, 2: 5}, pair)


def test_a_mean_outside_the_two_codes_is_flagged() -> None:
    found = label({1: 10, 2: 10, 5: 80}, Pair(1, 2, "metadata"))
    assert (found.side, found.out_of_range) == ("b", True)
    assert found.margin == pytest.approx(found.u - 0.5)
    assert not label({1: 10, 2: 10}, Pair(1, 2, "metadata")).out_of_range


@given(counted, st.integers(1, 9))
def test_weights_common_to_all_and_the_order_of_the_options_change_nothing(counts: dict[int, int], times: int) -> None:
    pair, swapped = Pair(1, 10, "metadata"), Pair(10, 1, "metadata")
    first_label = label(counts, pair)
    assert label({code: n * times for code, n in counts.items()}, pair).side == first_label.side
    other = label(counts, swapped)
    assert other.margin == first_label.margin
    assert {first_label.side, other.side} in ({"a", "b"}, {None})
    turned = label({11 - code: n for code, n in counts.items()}, pair)
    assert turned.why == first_label.why
    if first_label.side:
        assert turned.side != first_label.side
        mean = np.average(list(counts), weights=list(counts.values()))
        assert first_label.side == ("a" if abs(mean - 1) < abs(mean - 10) else "b")


def test_where_the_codes_of_the_options_come_from() -> None:
    assert resolve((4, 1), ("1. Yes", "2. No")) == Pair(4, 1, "metadata")
    assert resolve(None, ("1. Very important", "4) Not at all")) == Pair(1, 4, "prefix")
    assert resolve(None, ("10 A great deal", "1 None at all")) == Pair(10, 1, "prefix")
    assert resolve(None, ("Agree", "Disagree"), [-2, 0, 2, 3, 5]) == Pair(2, 5, "extremes")
    assert resolve(None, ("1. Agree", "Disagree"), [1, 2]) == Pair(1, 2, "extremes")
    assert resolve(None, None, [3, 3]) is None
    assert resolve(None, ("Agree", "Disagree"), []) is None
    assert resolve((2, 2), None, [1, 5]) is None
    assert [prefix(one) for one in ("7", " 3: x", "-1 Don't know", "2nd", "Very")] == [7, 3, -1, None, None]


def test_the_options_that_are_shown_are_found_by_their_text() -> None:
    options = {1: "Better off", 2: "Worse  off.", 3: "Or about the same", -1: "Don't know"}
    assert match_options(("better off", "2. Worse off"), options) == Pair(1, 2, "options")
    assert match_options(("Worse off", "Better off"), options) == Pair(2, 1, "options")
    assert match_options(("Worse off", "Better off"), options, {2: 3, 3: 2}) == Pair(3, 1, "options")
    for shown in (("Better", "Worse off"), ("Better off", "better off"), ("Better off", "")):
        assert match_options(shown, options) is None
    assert match_options(("Yes", "No"), {1: "Yes", 2: "Yes", 3: "No"}) is None, "two options of one text"
    assert match_options(("Better off", "Worse off"), options, {2: None}) is None, "the adjustment leaves it out"
    assert label({0: 40, 1: 60}, Pair(0, 1, "options")).why == "not_positive"


def test_the_pair_is_proposed_from_the_ends() -> None:
    two = propose({1: "Most people can be trusted", 2: "Need to be very careful", -1: "Don't know"})
    assert two is not None
    assert (two.a, two.b, two.rule, two.doubts) == (1, 2, "the two options", ())
    four = propose({4: "Not at all", 1: "Very", 2: "Rather", 3: "Not very"})
    assert four is not None
    assert (four.a, four.b, four.rule) == (1, 4, "first and last")
    assert propose({1: "Yes", -1: "No answer"}) is None


def test_adjusted_counts_move_at_once() -> None:
    # Q119: "Hard to say" (0) becomes the middle, 3 becomes 4, 4 becomes 5; a chain of moves would give 5 everything.
    assert adjust({0: 5, 1: 7, 3: 2, 4: 1}, {0: 3, 3: 4, 4: 5}) == {3: 5, 1: 7, 4: 2, 5: 1}
    assert adjust({1: 2, 3: 9}, {3: None}) == {1: 2}
    assert adjust({0: 4, 1: 6}, {0: 1}) == {1: 10}


def test_a_meaningful_zero_is_left_out_only_where_nobody_placed_it() -> None:
    counts, pair = {0: 60, 1: 10, 10: 30}, Pair(1, 10, "metadata")
    # As the formula has it: (10 x 1 + 30 x 10) / 40 = 7.75, so B; with 0 taken for 1: (70 + 300) / 100 = 3.7, so A.
    plain = label(counts, pair)
    assert (plain.side, plain.mean, plain.n_zero) == ("b", 7.75, 60)
    placed = label(counts, pair, {0: 1})
    assert (placed.side, placed.mean, placed.n_zero) == ("a", 3.7, 0)


@pytest.mark.parametrize("question", ["Q56", "Q111", "Q221", "Q222", "Q254"])
def test_questions_whose_last_option_is_no_end_are_doubtful_until_adjusted(question: str) -> None:
    options, adjustments = _wvs()
    plain, adjusted = propose(options[question]), propose(options[question], adjustments[question])
    assert plain is not None
    assert adjusted is not None
    assert plain.doubts
    assert not adjusted.doubts
    assert plain.b == max(options[question])


def test_q56_put_in_order_gives_another_label() -> None:
    options, adjustments = _wvs()
    assert options["Q56"][2] == "Worse off"
    # 30 better, 40 worse, 30 the same. As coded, the mean is 2.0 between "better" (1) and "the same" (3): a tie.
    counts = {1: 30, 2: 40, 3: 30}
    assert label(counts, Pair(1, 3, "extremes")).why == "tie"
    # Adjusted, "the same" is 2 and "worse" is 3: (30 + 60 + 120) / 100 = 2.1, nearer to "worse".
    moved = label(counts, Pair(1, 3, "extremes"), adjustments["Q56"])
    assert (moved.side, moved.mean) == ("b", 2.1)


def test_the_zeros_of_the_survey_are_the_known_ones() -> None:
    options, adjustments = _wvs()
    with_zero = {question for question, codes in adjustments.items() if 0 in codes}
    assert with_zero == {"Q119", *(f"Q{number}" for number in range(241, 250))}
    assert all(0 in options[question] for question in with_zero)
    for question in sorted(with_zero):
        proposal = propose(options[question], adjustments[question])
        assert proposal is not None
        assert (proposal.a, proposal.b) == ((1, 5) if question == "Q119" else (1, 10))


def test_every_adjusted_scale_is_gapless() -> None:
    options, adjustments = _wvs()
    for question, adjustment in adjustments.items():
        codes = sorted(code for code in adjust(dict.fromkeys(options[question], 1), adjustment) if code > 0)
        assert all(b - a == 1 for a, b in pairwise(codes)), question


def test_most_questions_need_nobody() -> None:
    options, _adjustments = _wvs()
    questions = [key for key in options if key.startswith("Q") and key[1:].isdigit() and int(key[1:]) <= 259]
    doubtful = {q for q in questions if (found := propose(options[q])) is not None and found.doubts}
    assert {"Q56", "Q111", "Q221", "Q222", "Q254"} <= doubtful
    assert len(doubtful) < 25
    assert "Q1" not in doubtful
