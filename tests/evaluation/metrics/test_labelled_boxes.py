"""Agreement of labelled boxes: worked examples, a second implementation, and what is undefined."""

from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from evaluation.metrics.box_agreement import mean_overlap_with_people, mean_pairwise_overlap
from evaluation.metrics.box_alpha import box_alpha, box_f1, found_f1
from evaluation.metrics.boxes import corners_of, overlap
from evaluation.metrics.disagreement import between_boxes
from evaluation.metrics.distance_alpha import AnswerTable
from evaluation.metrics.intervals import Interval

NONE = Interval(over="none")
LEFT, ALL, FAR = (0.0, 0.0, 0.5, 1.0), (0.0, 0.0, 1.0, 1.0), (0.8, 0.8, 0.9, 0.9)
Answer = tuple[Any, ...]


def named(box: tuple[float, ...], label: str) -> Answer:
    return (*box, label)


def draw(seed: int, most: int = 3) -> list[tuple[int, int, Answer]]:
    """Boxes near each other with one of three labels, or none; by unit and rater."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(7):
        for rater in range(4):
            answer = []
            for _box in range(int(rng.integers(1, most + 1))):
                x, y = rng.uniform(0, 0.4, 2)
                label = ["lamp", "stall", "awning", ""][int(rng.integers(0, 4))]
                answer.append(named((x, y, x + 0.5, y + 0.5), label) if label else (x, y, x + 0.5, y + 0.5))
            rows.append((unit, rater, tuple(answer)))
    return rows


def area(box: Any) -> float:
    return float((box[2] - box[0]) * (box[3] - box[1]))


def share(a: Any, b: Any, rule: str) -> float:
    """IoU by its definition; a label is the fifth value, or nothing."""
    if rule == "must_match" and (a[4:] or ("",)) != (b[4:] or ("",)):
        return 0.0
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, 0) * max(height, 0)
    return both / (area(a) + area(b) - both)


def best(a: Answer, b: Answer, rule: str, score: Any) -> float:
    """The largest sum of scores over all matchings, tried one by one."""
    few, many = sorted((a, b), key=len)
    return max(
        sum(score(share(one, other, rule)) for one, other in zip(few, order, strict=True))
        for order in permutations(many, len(few))
    )


def expected_overlap(a: Answer, b: Answer, rule: str) -> float:
    return best(a, b, rule, lambda iou: iou) / max(len(a), len(b))


def expected_f1(a: Answer, b: Answer, rule: str) -> float:
    return 2 * best(a, b, rule, lambda iou: float(iou >= 0.5)) / (len(a) + len(b))


def by_unit(rows: list[tuple[int, int, Answer]]) -> list[dict[int, Answer]]:
    return [{rater: answer for u, rater, answer in rows if u == unit} for unit in range(7)]


def without_labels(rows: list[tuple[int, int, Answer]]) -> list[tuple[int, int, Answer]]:
    return [(unit, rater, tuple(box[:4] for box in answer)) for unit, rater, answer in rows]


def mean_of_pairs(rows: list[tuple[int, int, Answer]], score: Any) -> float:
    pairs = [[score(a, b) for a, b in combinations(of.values(), 2)] for of in by_unit(rows)]
    return float(np.mean([np.mean(one) for one in pairs]))


def test_a_box_of_another_label_overlaps_nothing() -> None:
    """The same box with two labels: 0. With labels ignored: 1. Half of it with the same label: 1/2."""
    assert overlap([named(ALL, "lamp")], [named(ALL, "stall")]) == 0
    assert overlap([named(ALL, "lamp")], [named(LEFT, "lamp")]) == 0.5
    assert overlap([ALL], [named(ALL, "lamp")]) == 0, "no label is not any label"
    assert overlap([ALL], [ALL]) == 1


def test_the_matching_is_made_among_boxes_of_the_same_label() -> None:
    """By place alone both pairs are the same box (1 + 1) / 2; by label each meets the other one: (0.01 + 0.01) / 2."""
    ours, theirs = [named(ALL, "a"), named(FAR, "b")], [named(ALL, "b"), named(FAR, "a")]
    assert overlap(ours, theirs) == pytest.approx(0.01)
    assert found_f1(ours, theirs) == 0
    plain = [[box[:4] for box in side] for side in (ours, theirs)]
    assert (overlap(*plain), found_f1(*plain)) == (1, 1)


def test_f1_counts_the_boxes_of_the_same_label_only() -> None:
    """Of two and two boxes one matches: 2 * 1 / 4."""
    ours, theirs = [named(ALL, "a"), named(FAR, "b")], [named(ALL, "a"), named(FAR, "a")]
    assert found_f1(ours, theirs) == 0.5


def test_a_worked_example_of_the_mean_with_and_without_labels() -> None:
    """Same label: 1; another label: 0, or 1 if ignored; half of it: 1/2. (1 + 0 + 1/2) / 3 and (1 + 1 + 1/2) / 3."""
    units = [
        {"a": [named(ALL, "lamp")], "b": [named(ALL, "lamp")]},
        {"a": [named(ALL, "lamp")], "b": [named(ALL, "stall")]},
        {"a": [named(ALL, "lamp")], "b": [named(LEFT, "lamp")]},
    ]
    plain = [{who: [box[:4] for box in boxes] for who, boxes in of.items()} for of in units]
    assert mean_pairwise_overlap(units).value == 0.5
    assert mean_pairwise_overlap(plain).value == pytest.approx(2.5 / 3)
    model = [of["a"] for of in units]
    people = [{"b": of["b"]} for of in units]
    assert mean_overlap_with_people(model, people).value == 0.5
    assert between_boxes([units[1]["a"], units[1]["b"]]) == 1


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_all_measures_equal_a_second_implementation(seed: int, most: int) -> None:
    labelled = draw(seed, most)
    for rule, rows in (("must_match", labelled), ("ignore", without_labels(labelled))):
        mean = mean_pairwise_overlap(by_unit(rows), interval=NONE)
        assert mean.value == pytest.approx(mean_of_pairs(labelled, partial(expected_overlap, rule=rule)), abs=1e-12)
        table = AnswerTable.from_rows(rows)
        f1 = box_f1(table, interval=NONE).value
        assert f1 == pytest.approx(mean_of_pairs(labelled, partial(expected_f1, rule=rule)), abs=1e-12)
        assert box_alpha(table, interval=NONE).value == pytest.approx(expected_alpha(labelled, rule), abs=1e-12)


def expected_alpha(rows: list[tuple[int, int, Answer]], rule: str) -> float:
    def distance(a: Answer, b: Answer) -> float:
        return 1 - expected_overlap(a, b, rule)

    n = len(rows)
    observed = sum(sum(distance(a, b) for a, b in permutations(of.values(), 2)) / (len(of) - 1) for of in by_unit(rows))
    expected = sum(distance(a, b) for a, b in permutations([row[2] for row in rows], 2))
    return 1 - (observed / n) / (expected / (n * (n - 1)))


def test_names_of_labels_and_the_order_of_boxes_do_not_matter() -> None:
    rows = draw(5)
    other = [
        (unit, rater, tuple((*box[:4], f"x{box[4]}") if len(box) > 4 else box for box in reversed(answer)))
        for unit, rater, answer in rows
    ]
    assert mean_pairwise_overlap(by_unit(other)).value == pytest.approx(mean_pairwise_overlap(by_unit(rows)).value)


def test_the_same_label_everywhere_gives_the_numbers_of_boxes_without_labels() -> None:
    rows = without_labels(draw(2))
    same = [(unit, rater, tuple(named(box, "lamp") for box in answer)) for unit, rater, answer in rows]
    assert mean_pairwise_overlap(by_unit(same)) == mean_pairwise_overlap(by_unit(rows))
    assert box_f1(AnswerTable.from_rows(same)) == box_f1(AnswerTable.from_rows(rows))
    assert box_alpha(AnswerTable.from_rows(same)) == box_alpha(AnswerTable.from_rows(rows))


def test_what_is_undefined_stays_undefined_with_labels() -> None:
    one = AnswerTable.from_rows([(1, 1, (named(ALL, "a"),)), (2, 1, (named(ALL, "b"),))])
    assert (box_alpha(one).reason, box_f1(one).reason) == ("too_few_raters", "too_few_raters")
    same = AnswerTable.from_rows([(unit, rater, (named(ALL, "a"),)) for unit in (1, 2) for rater in (1, 2)])
    assert box_alpha(same).reason == "no_variation"
    apart = AnswerTable.from_rows([(u, r, (named(ALL, "ab"[u]),)) for u in (0, 1) for r in (1, 2)])
    assert box_alpha(apart).value == 1, "the labels are all the variation there is"
    assert overlap([], []) == 1 and overlap([], [named(ALL, "a")]) == 0
    assert found_f1([], []) == 1 and found_f1([named(ALL, "a")], []) == 0


def test_a_stored_answer_is_read_with_or_without_its_labels() -> None:
    stored = [{"x0": 0, "y0": 0, "x1": 1, "y1": 1, "label": "lamp"}, {"x0": 0, "y0": 0, "x1": 1, "y1": 2}]
    assert corners_of(stored) == ((0, 0, 1, 1, "lamp"), (0, 0, 1, 2))
    assert corners_of(stored, "ignore") == ((0, 0, 1, 1), (0, 0, 1, 2))


def test_what_is_no_box_is_refused_with_a_label_too() -> None:
    with pytest.raises(ValueError, match="x0 < x1"):
        overlap([(1.0, 0.0, 0.0, 1.0, "lamp")], [named(ALL, "lamp")])
