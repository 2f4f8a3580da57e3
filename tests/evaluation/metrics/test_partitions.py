"""Agreement of groupings: worked by hand, against a second way of counting, invariances, undefined cases."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Ratings
from evaluation.metrics.intervals import Interval
from evaluation.metrics.partitions import Partition, Partitions, adjusted_rand, keep_alpha, pairwise_f1
from tests.evaluation.metrics.tables import freedom

MEASURES = [pairwise_f1, adjusted_rand, keep_alpha]
each = pytest.mark.parametrize("measure", MEASURES, ids=lambda one: one.__name__)


def partition_of(blocks: str, keep_marks: str = "") -> Partition:
    """ "aab" with "1 0": pictures 0 and 1 together, 2 alone; "?" in `keep_marks` and "-" in `blocks`: not sure, out."""
    block = {str(at): ord(letter) for at, letter in enumerate(blocks) if letter not in "-?"}
    return Partition(block, {str(at): letter == "1" for at, letter in enumerate(keep_marks) if letter in "01"})


def partitions_of(*items: tuple[Partition, ...]) -> Partitions:
    return Partitions.from_rows((unit, rater, one) for unit, item in enumerate(items) for rater, one in enumerate(item))


def test_a_stored_answer_is_taken_apart() -> None:
    answer = {
        "groups": [{"images": ["a", "b"], "kept": ["a"], "roles": {}}, {"images": ["c"], "kept": [], "roles": {}}],
        "dropped": ["d"], "unsure": ["c"],
    }  # fmt: skip
    assert Partition.of(answer) == Partition({"a": 0, "b": 0}, {"a": True, "b": False, "d": False})


def test_a_dropped_picture_that_the_person_was_unsure_about_is_no_decision() -> None:
    answer = {"groups": [{"images": ["a"], "kept": ["a"], "roles": {}}], "dropped": ["b", "c"], "unsure": ["b"]}
    assert Partition.of(answer) == Partition({"a": 0}, {"a": True, "c": False})


def test_worked_by_hand() -> None:
    """123 together and 4 alone, against 12 and 34: n11 = 1, A = 3, B = 2, T = 6."""
    pair = partitions_of((partition_of("aaab"), partition_of("aabb")))
    assert pairwise_f1(pair).value == pytest.approx(2 * 1 / 5)
    assert adjusted_rand(pair).value == pytest.approx((1 - 3 * 2 / 6) / (2.5 - 1))
    # Hubert & Arabie: 6 pictures, abc|def against abcd|ef: n11 = 3 + 1 = 4, A = 6, B = 7, T = 15
    pair = partitions_of((partition_of("aaabbb"), partition_of("aaaabb")))
    assert pairwise_f1(pair).value == pytest.approx(8 / 13)
    assert adjusted_rand(pair).value == pytest.approx((4 - 42 / 15) / (6.5 - 42 / 15))
    kept = partitions_of((partition_of("", "1100"), partition_of("", "1000")))
    assert keep_alpha(kept).value == pytest.approx(1 - (2 / 8) / (30 / 56))


def test_items_are_pooled_before_the_quotient() -> None:
    first, second = (partition_of("aaab"), partition_of("aabb")), (partition_of("aa"), partition_of("aa"))
    assert pairwise_f1(partitions_of(first, second)).value == pytest.approx((2 + 2) / (5 + 2))
    assert adjusted_rand(partitions_of(first, second)).value == pytest.approx((0 + 0) / (1.5 + 0))


def test_what_is_dropped_or_unsure_for_one_is_left_out_of_the_pairs() -> None:
    assert (
        pairwise_f1(partitions_of((partition_of("aaa-"), partition_of("aabb")))).value
        == pairwise_f1(partitions_of((partition_of("aaa"), partition_of("aab")))).value
    )
    assert keep_alpha(partitions_of((partition_of("", "1?00"), partition_of("", "1100")))).extras["n_pictures"] == 3


@each
def test_undefined_cases_say_why(measure: Any) -> None:
    partition = partition_of("aabb", "1010")
    assert measure(partitions_of()).reason == "no_ratings"
    assert measure(partitions_of((partition,), (partition,))).reason == "too_few_raters"
    apart = Partitions.from_rows([(0, 0, partition), (1, 1, partition)])
    assert measure(apart).reason == "no_pairable_units"
    same = {pairwise_f1: "abcd", adjusted_rand: "aaaa", keep_alpha: "abcd"}[measure]
    reason = "no_pairs_joined" if measure is pairwise_f1 else "no_variation"
    assert measure(partitions_of((partition_of(same, "1111"), partition_of(same, "1111")))).reason == reason


@each
def test_intervals_need_three_of_what_they_speak_of(measure: Any) -> None:
    items = [
        (partition_of("aaab", "1001"), partition_of("aabb", "1010")),
        (partition_of("aabb", "1010"), partition_of("aabb", "1010")),
    ] * 2
    assert measure(partitions_of(*items)).interval_reason == "too_few_raters_for_interval"
    units = measure(partitions_of(*items, *items), interval=Interval(over="units"))
    assert units.low < units.value < units.high
    assert (
        measure(partitions_of(*items[:2]), interval=Interval(over="units")).interval_reason
        == "too_few_units_for_interval"
    )


@each
def test_jackknife_equals_deletion_and_recount(measure: Any) -> None:
    rng = np.random.default_rng(4)
    items = [tuple(_random(rng, 8) for _rater in range(4)) for _item in range(6)]
    given_all = partitions_of(*items)
    both = measure(given_all)
    rows = [(u, r, one) for u, item in enumerate(items) for r, one in enumerate(item)]

    def without(keep: Any) -> float:
        value = measure(
            Partitions.from_rows(row for row in rows if keep(*row[:2])), interval=Interval(over="none")
        ).value
        assert value is not None
        return float(value)

    units = np.array([without(lambda u, _r, out=out: u != out) for out in range(6)])
    raters = np.array([without(lambda _u, r, out=out: r != out) for out in range(4)])
    ones = np.array([without(lambda u, r, out=(u1, r1): (u, r) != out) for u1 in range(6) for r1 in range(4)])
    variance = [float((one.size - 1) / one.size * np.sum((one - one.mean()) ** 2)) for one in (units, raters, ones)]
    total = max(variance[0] + variance[1] - variance[2], *variance[:2])
    from scipy import stats

    step = stats.t.ppf(0.975, freedom(total, *variance[:2], 6, 4)) * np.sqrt(total)
    if measure is pairwise_f1:
        centre, wide = np.log(both.value / (1 - both.value)), step / (both.value * (1 - both.value))
        assert both.low == pytest.approx(1 / (1 + np.exp(-(centre - wide))))
    else:
        assert both.low == pytest.approx(1 - (1 - both.value) * np.exp(step / (1 - both.value)))


def _random(rng: np.random.Generator, count: int) -> Partition:
    blocks = rng.integers(3, size=count)
    return Partition(
        {str(at): int(b) for at, b in enumerate(blocks)}, {str(at): bool(b % 2) for at, b in enumerate(blocks)}
    )


blocks = st.lists(st.integers(0, 3), min_size=2, max_size=9)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=9))
@settings(max_examples=200, deadline=None)
def test_pairs_counted_one_by_one_give_the_same(labels: list[tuple[int, int]]) -> None:
    a, b = ({str(at): pair[side] for at, pair in enumerate(labels)} for side in (0, 1))
    n11 = n10 = n01 = n00 = 0
    for i, j in combinations(range(len(labels)), 2):
        in_a, in_b = labels[i][0] == labels[j][0], labels[i][1] == labels[j][1]
        n11, n10, n01, n00 = (
            n11 + (in_a and in_b),
            n10 + (in_a > in_b),
            n01 + (in_b > in_a),
            n00 + (not in_a and not in_b),
        )
    pair = partitions_of((Partition(a, {}), Partition(b, {})))
    f1 = pairwise_f1(pair)
    assert f1.value == (pytest.approx(2 * n11 / (2 * n11 + n10 + n01)) if n11 + n10 + n01 else None)
    rand = adjusted_rand(pair)
    below = (n11 + n10) * (n10 + n00) + (n11 + n01) * (n01 + n00)  # the form in the four counts of pairs
    assert rand.value == (pytest.approx(2 * (n11 * n00 - n10 * n01) / below) if below else None)
    swapped = partitions_of(
        (Partition(b, {}), Partition({k: 9 - v for k, v in a.items()}, {}))
    )  # other names, other order
    assert pairwise_f1(swapped).value == (None if f1.value is None else pytest.approx(f1.value))


@given(st.lists(st.lists(st.sampled_from("01?"), min_size=3, max_size=3), min_size=1, max_size=12))
@settings(max_examples=100, deadline=None)
def test_keep_or_drop_is_alpha_of_the_pictures(rows: list[list[str]]) -> None:
    """Against the alpha of the other pages, with a picture as the unit."""
    people = [partition_of("", "".join(row[rater] for row in rows)) for rater in range(3)]
    table = np.array([[np.nan if one == "?" else float(one) for one in row] for row in rows])
    plain = alpha(Ratings.from_matrix(table), "nominal", interval=Interval(over="none"))
    assert keep_alpha(partitions_of(tuple(people))).value == (
        None if plain.value is None else pytest.approx(plain.value)
    )


def test_the_same_groupings_agree_fully_and_independent_ones_by_chance() -> None:
    rng = np.random.default_rng(1)
    one = _random(rng, 30)
    assert pairwise_f1(partitions_of((one, one))).value == adjusted_rand(partitions_of((one, one))).value == 1
    many = partitions_of(*[(_random(rng, 30), _random(rng, 30)) for _item in range(60)])
    assert adjusted_rand(many).value == pytest.approx(0, abs=0.03)
