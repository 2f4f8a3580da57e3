"""Alpha with any distance: the literature's numbers, a second implementation by brute force, and exact replicates."""

from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest

from evaluation.metrics import box_alpha as box_module
from evaluation.metrics import distance_alpha as module
from evaluation.metrics.alpha import alpha
from evaluation.metrics.box_agreement import mean_pairwise_overlap
from evaluation.metrics.box_alpha import box_alpha, box_f1, found_f1
from evaluation.metrics.boxes import overlap
from evaluation.metrics.counts import Floats, Ints, Ratings, count_table
from evaluation.metrics.distance_alpha import AnswerTable, distance_alpha
from evaluation.metrics.intervals import Interval, Scale, jackknife_interval
from evaluation.metrics.sets import jaccard_distance, masi_distance, option_alpha, set_alpha
from evaluation.metrics.texts import exact_match, normal_form, text_alpha
from tests.evaluation.metrics.tables import KRIPPENDORFF_2011

Row = tuple[Any, Any, Any]  # unit, rater, answer
NONE = Interval(over="none")


def rows_of(matrix: Any) -> list[Row]:
    ratings = Ratings.from_matrix(matrix)
    return list(zip(ratings.unit.tolist(), ratings.rater.tolist(), ratings.value.tolist(), strict=True))


def brute_force(rows: list[Row], distance: Callable[[Any, Any], float]) -> float | None:
    """The definition, pair by pair. None where it is 0 / 0 or nothing can be paired."""
    by_unit: dict[Any, list[Any]] = {}
    for unit, _rater, answer in rows:
        by_unit.setdefault(unit, []).append(answer)
    units = [answers for answers in by_unit.values() if len(answers) > 1]
    every = [answer for answers in units for answer in answers]
    n = len(every)
    expected = sum(distance(a, b) for a, b in permutations(every, 2))
    if not expected:
        return None
    observed = sum(sum(distance(a, b) for a, b in permutations(one, 2)) / (len(one) - 1) for one in units)
    return 1 - (observed / n) / (expected / (n * (n - 1)))


def sets(seed: int, units: int = 9, raters: int = 4) -> list[Row]:
    """Sets of four options, a third of the answers missing; an empty set is among them."""
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(units):
        common = rng.random(4) < 0.5
        for rater in range(raters):
            if rng.random() < 0.67:
                chosen = common ^ (rng.random(4) < 0.25)
                rows.append((unit, rater, tuple(np.flatnonzero(chosen).tolist())))
    return rows


DISTANCES: dict[str, tuple[Callable[[float, float], float], float]] = {
    "nominal": (lambda a, b: float(a != b), 0.743),
    "interval": (lambda a, b: (a - b) ** 2 / 16, 0.849),
    "ratio": (lambda a, b: ((a - b) / (a + b)) ** 2, 0.797),
}


@pytest.mark.parametrize("level", list(DISTANCES))
def test_krippendorffs_own_table_by_its_distances(level: Any) -> None:
    """The values that he prints; interval and n are those of alpha at that level."""
    distance, printed = DISTANCES[level]
    table = AnswerTable.from_rows(rows_of(KRIPPENDORFF_2011))

    def between(first: Ints, second: Ints) -> Floats:
        return np.array([distance(table.distinct[i], table.distinct[j]) for i, j in zip(first, second, strict=True)])

    estimate = distance_alpha(table, between, method="test")
    known = alpha(Ratings.from_matrix(KRIPPENDORFF_2011), level)
    assert estimate.value == pytest.approx(printed, abs=5e-4)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx(
        (known.value, known.low, known.high), abs=1e-10
    )
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (known.n_units, known.n_raters, known.n_ratings)


def test_masi_and_jaccard_as_passonneau_defines_them() -> None:
    """Equal, one contains the other, overlapping, apart; two empty sets and an empty one beside another."""
    a, b = {"x", "y"}, {"y", "z"}
    assert [masi_distance(*pair) for pair in ((a, a), (a, {"x"}), (a, b), (a, {"z"}), ((), ()), ((), a))] == (
        pytest.approx([0, 1 - 1 / 2 * 2 / 3, 1 - 1 / 3 * 1 / 3, 1, 0, 1])
    )
    assert [jaccard_distance(*pair) for pair in ((a, a), (a, {"x"}), (a, b), (a, {"z"}), ((), ()), ((), a))] == (
        pytest.approx([0, 1 / 2, 2 / 3, 1, 0, 1])
    )


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["masi", "jaccard"])
def test_sets_equal_the_definition(kind: Any, seed: int) -> None:
    rows, distance = sets(seed), {"masi": masi_distance, "jaccard": jaccard_distance}[kind]
    found = set_alpha(AnswerTable.from_rows(rows), kind)
    assert found.value == pytest.approx(brute_force(rows, distance), abs=1e-12)


def test_the_interval_is_the_jackknife_of_tables_with_one_deletion_each() -> None:
    rows = sets(3)
    table = AnswerTable.from_rows(rows)
    paired = [row for row in rows if sum(other[0] == row[0] for other in rows) > 1]

    def without(keep: Callable[[Row], bool]) -> float:
        value = brute_force([row for row in rows if keep(row)], masi_distance)
        assert value is not None
        return value

    value = brute_force(rows, masi_distance)
    assert value is not None
    units = [without(lambda row, u=u: row[0] != u) for u in sorted({row[0] for row in paired})]
    raters = [without(lambda row, r=r: row[1] != r) for r in sorted({row[1] for row in paired})]
    ones = [without(lambda row, one=one: row is not one) for one in paired]
    parts = (np.array(units), np.array(raters), np.array(ones))
    ends = jackknife_interval(value, *parts, Interval(), Scale("log(1 - x)"))
    estimate = set_alpha(table)
    assert (estimate.low, estimate.high) == pytest.approx(ends, abs=1e-10)
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (len(units), len(raters), len(paired))
    assert estimate.extras["n_units_not_pairable"] == len({row[0] for row in rows}) - len(units)


def test_many_groups_at_once_give_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = set_alpha(AnswerTable.from_rows(sets(5, units=40)))
    monkeypatch.setattr(module, "_BLOCK", 60)
    again = set_alpha(AnswerTable.from_rows(sets(5, units=40)))
    assert (again.value, again.low, again.high) == pytest.approx((whole.value, whole.low, whole.high), abs=1e-12)


def test_drawn_pairs_come_close_to_all_and_say_so() -> None:
    rows = sets(7, units=60, raters=5)
    table = AnswerTable.from_rows(rows)

    def between(first: Ints, second: Ints) -> Floats:
        pairs = zip(first, second, strict=True)
        return np.array([jaccard_distance(table.distinct[i], table.distinct[j]) for i, j in pairs])

    exact = distance_alpha(table, between, method="test")
    drawn = distance_alpha(table, between, method="test", most_distinct=3, pairs=20_000, seed=11)
    assert exact.value is not None and exact.low is not None and exact.high is not None
    assert drawn.value == pytest.approx(exact.value, abs=0.01)
    assert (drawn.low, drawn.high) == pytest.approx((exact.low, exact.high), abs=0.02)
    assert (drawn.extras["n_pairs_drawn"], drawn.extras["seed"]) == (20_000, 11)
    assert "n_pairs_drawn" not in exact.extras
    again = distance_alpha(table, between, method="test", most_distinct=3, pairs=20_000, seed=11)
    assert (again.value, again.low, again.high) == (drawn.value, drawn.low, drawn.high)


def test_pairs_are_drawn_only_above_the_number_of_distinct_answers_that_is_compared_in_full() -> None:
    table = AnswerTable.from_rows(rows_of([[1, 1], [2, 2], [1, 3], [3, 2]]))

    def apart(first: Ints, second: Ints) -> Floats:
        return (first != second) * 1.0

    whole = distance_alpha(table, apart, method="test")
    at_limit = distance_alpha(table, apart, method="test", most_distinct=3, pairs=5)
    assert at_limit == whole and "n_pairs_drawn" not in at_limit.extras
    assert distance_alpha(table, apart, method="test", most_distinct=2, pairs=5).extras["n_pairs_drawn"] == 5


@pytest.mark.parametrize("most_distinct", [3, 100], ids=["drawn", "all"])
def test_without_one_of_two_answers_their_unit_is_left_out_whole(most_distinct: int) -> None:
    table = AnswerTable.from_rows(sets(7, units=30, raters=2))
    counted = count_table(table.ratings, None, None)

    def between(first: Ints, second: Ints) -> Floats:
        pairs = zip(first, second, strict=True)
        return np.array([jaccard_distance(table.distinct[i], table.distinct[j]) for i, j in pairs])

    without = module._deletions(counted, between, most_distinct, 4000, 11)
    units = without.units.take(counted.unit)
    assert without.ratings.observed == pytest.approx(units.observed)
    assert without.ratings.expected == pytest.approx(units.expected)
    assert without.ratings.total == pytest.approx(units.total)


def test_why_there_is_no_value() -> None:
    a, b = ("x",), ("y",)
    cases: dict[str, list[Row]] = {
        "no_ratings": [],
        "too_few_raters": [("u", 1, a), ("v", 1, b)],
        "no_pairable_units": [("u", 1, a), ("v", 2, b)],
        "no_variation": [("u", 1, a), ("u", 2, a), ("v", 1, a), ("v", 2, a)],
        "one_unit": [("u", 1, a), ("u", 2, b)],
    }
    for reason, rows in cases.items():
        found = set_alpha(AnswerTable.from_rows(rows))
        assert (found.value, found.reason) == (None, reason)
    with pytest.raises(ValueError, match="bootstrap"):
        bootstrap = Interval(over="units", method="bootstrap", rng=np.random.default_rng(1))
        set_alpha(AnswerTable.from_rows([]), interval=bootstrap)
    with pytest.raises(ValueError, match="from 0 to 1"):
        table = AnswerTable.from_rows([("u", 1, a), ("u", 2, b), ("v", 1, a), ("v", 2, b)])
        distance_alpha(table, lambda i, _j: np.full(i.size, 2.0), method="test")


def test_what_has_no_value_says_of_how_many_answers() -> None:
    """Three units, two raters, four answers: those that could not be paired are among them."""
    a = ("x",)
    estimate = set_alpha(AnswerTable.from_rows([("u", 1, a), ("u", 2, a), ("v", 1, a), ("w", 2, a)]))
    assert (estimate.reason, estimate.extras["percent_agreement"]) == ("no_variation", 1.0)
    assert (estimate.n_units, estimate.n_raters, estimate.n_ratings) == (3, 2, 4)
    assert (estimate.extras["n_units_pairable"], estimate.extras["n_units_not_pairable"]) == (1, 2)


def test_raters_without_an_answer_make_no_second_one() -> None:
    units, first = np.array([0, 1]), np.array([0, 0])
    table = AnswerTable(units, first, np.array([0, 1]), (("x",), ("y",)), n_units=2, n_raters=3)
    assert set_alpha(table).reason == "too_few_raters"
    assert box_f1(table).reason == "too_few_raters"


def test_each_option_alone_is_nominal_alpha_of_choosing_it() -> None:
    rows = [("u", 1, ("x", "y")), ("u", 2, ("x",)), ("v", 1, ("y",)), ("v", 2, ("y",)), ("w", 1, ("x",))]
    table = AnswerTable.from_rows(rows)
    assert option_alpha(table, "x").value == 1.0
    known = alpha(Ratings.from_matrix([[1, 0], [1, 1], [0, np.nan]]), "nominal")
    found = option_alpha(table, "y")
    assert (found.value, found.n_units, found.n_ratings) == (known.value, 2, 4)
    assert option_alpha(table, "z").reason == "no_variation"


# ---- boxes ----------------------------------------------------------------------------------------------------------

LEFT, RIGHT, ALL = (0.0, 0.0, 0.5, 1.0), (0.5, 0.0, 1.0, 1.0), (0.0, 0.0, 1.0, 1.0)


def boxes(seed: int, most: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows = []
    for unit in range(8):
        corner = rng.random(2) * 0.4
        for rater in range(3):
            drawn = []
            for _box in range(int(rng.integers(1, most + 1))):
                x, y = (corner + rng.random(2) * 0.2).tolist()
                drawn.append((x, y, x + 0.3, y + 0.3))
            rows.append((unit, rater, tuple(drawn)))
    return rows


@pytest.mark.parametrize("most", [1, 3])
def test_alpha_of_boxes_equals_the_definition(most: int) -> None:
    rows = boxes(1, most)
    found = box_alpha(AnswerTable.from_rows(rows))
    assert found.value == pytest.approx(brute_force(rows, lambda a, b: 1 - overlap(a, b)), abs=1e-12)


def test_alpha_of_boxes_that_never_meet_elsewhere_is_their_overlap() -> None:
    """Boxes of different pictures lie apart, so D_e is 1: alpha is the mean overlap, each unit by its answers."""
    rows = [(unit, rater, ((unit, 0.0, unit + (1.0 if rater else 0.5), 1.0),)) for unit in range(4) for rater in (0, 1)]
    estimate = box_alpha(AnswerTable.from_rows(rows), interval=NONE)
    within = mean_pairwise_overlap([{rater: one for u, rater, one in rows if u == unit} for unit in range(4)])
    assert within.value == 0.5
    # half of the pairs within a picture are no pairs of different pictures: 7 - 1 of 7 expected pairs are apart by 1
    assert estimate.value == pytest.approx(1 - 0.5 / ((6 + 0.5) / 7))


def test_pairs_of_boxes_are_drawn_earlier_where_an_answer_has_several(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each pair of such answers is an assignment of its own."""
    monkeypatch.setattr(box_module, "MOST_MATCHED", 5)
    monkeypatch.setattr(box_module, "MATCHED_PAIRS", 60)
    single, mixed = boxes(2, 1), boxes(2, 1)
    mixed[0] = (*mixed[0][:2], (LEFT, RIGHT))
    assert "n_pairs_drawn" not in box_alpha(AnswerTable.from_rows(single)).extras
    assert box_alpha(AnswerTable.from_rows(mixed)).extras["n_pairs_drawn"] == 60


def test_found_boxes_are_those_that_overlap_by_half() -> None:
    assert found_f1([LEFT], [LEFT]) == 1 and found_f1([LEFT], [RIGHT]) == 0 and found_f1([LEFT], [ALL]) == 1
    assert found_f1([], []) == 1 and found_f1([LEFT], []) == 0
    assert found_f1([LEFT, RIGHT], [ALL]) == pytest.approx(2 / 3), "one box is found once"
    small = [[(side / 100 for side in box)] for box in (LEFT, ALL)]
    assert found_f1(*[[tuple(box) for box in one] for one in small]) == 1, "a half is a half in any unit"
    rows = boxes(4, 3)
    estimate = box_f1(AnswerTable.from_rows(rows))
    units = [[one for u, _rater, one in rows if u == unit] for unit in range(8)]
    expected = np.mean([np.mean([found_f1(a, b) for a, b in combinations(one, 2)]) for one in units])
    assert estimate.value == pytest.approx(expected) and (estimate.n_units, estimate.n_raters) == (8, 3)


# ---- texts ----------------------------------------------------------------------------------------------------------


def test_texts_are_the_same_once_case_punctuation_and_form_are_set_aside() -> None:
    same = ("Straße", "STRASSE!", " strasse ", "ｓｔｒａｓｓｅ")
    assert {normal_form(one) for one in same} == {"strasse"}
    assert normal_form("pita-bread\u200f") == "pita bread" and normal_form("شاي، بالنعناع") == "شاي بالنعناع"
    assert normal_form("cafe\u0301") == normal_form("café") != normal_form("cafe")


def test_exact_match_and_alpha_stand_on_the_normal_form() -> None:
    rows = [("u", 1, "Pita"), ("u", 2, "pita."), ("v", 1, "Ful"), ("v", 2, "Koshari"), ("w", 1, "a b c d e f g")]
    table = AnswerTable.from_rows(rows)
    found = exact_match(table)
    assert (found.value, found.n_units, found.extras["median_words"]) == (0.5, 2, 1)
    assert "NFKC" in str(found.extras["normal_form"])
    known = alpha(Ratings.from_matrix([[1, 1], [2, 3]]), "nominal")
    assert text_alpha(table).value == known.value
    assert exact_match(AnswerTable.from_rows([])).reason == "no_ratings"
