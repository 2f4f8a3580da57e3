"""Krippendorff's alpha with any distance between two answers: sets, boxes, and whatever else has no code.

    alpha = 1 - D_o / D_e
    D_o = 1/n sum over units u of 1/(m_u - 1) sum over i != j in u of D(x_ui, x_uj)
    D_e = 1/(n (n - 1)) sum over all i != j of D(x_i, x_j)

D, from 0 to 1, stands where the other levels have delta^2 (``alpha.py``); m_u ratings of unit u, of units with at
least two only, n of them in all. Distinct answers are numbered first, so that n answers with C distinct ones cost C^2
distances. Above ``MOST_DISTINCT`` of them D_e, and D_e of every replicate, comes from ``PAIRS`` random pairs of answers
with a stored seed: the extras "n_pairs_drawn" and "seed" say so.
Interval: t interval on log(1 - alpha) around the two-way jackknife; all replicates come from sums.
Undefined: no answers; one rater; no unit with two answers; all answers at distance 0 (D_e = 0); one unit.
Source: Krippendorff, K. (2019), Content Analysis, 4th ed., chapter 12.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.metrics.counts import CountTable, Floats, Ints, Ratings, Sizes, count_table
from evaluation.metrics.deletions import Deletions, DistanceSums, Removal, Sums, alpha_values, distance_deletions
from evaluation.metrics.estimate import Estimate, Extra
from evaluation.metrics.intervals import Interval, Scale, jackknife_interval
from evaluation.metrics.pair_means import Answers

TWO_WAY = Interval()
MOST_DISTINCT = 5_000
PAIRS = 2_000_000
SEED = 20_190_512
_BLOCK = 1_000_000  # pairs or cells held at once
# places of both answers of p pairs among the distinct ones, (p,) and (p,), to their distances (p,), 0 to 1
Distance = Callable[[Ints, Ints], Floats]


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """n answers without a code: ``distinct[answer[i]]`` is what rater ``rater[i]`` gave unit ``unit[i]``.

    ``unit`` (n,) in 0..n_units-1, ``rater`` (n,) in 0..n_raters-1, at most one answer of a rater to a unit.
    """

    unit: Ints
    rater: Ints
    answer: Ints
    distinct: tuple[Any, ...]
    n_units: int
    n_raters: int

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Hashable, Hashable, Hashable]]) -> AnswerTable:
        """From (unit label, rater label, answer) rows; all three are numbered in the order they appear."""
        numbers: tuple[dict[Hashable, int], ...] = ({}, {}, {})
        numbered = [[of.setdefault(option, len(of)) for of, option in zip(numbers, row, strict=True)] for row in rows]
        unit, rater, answer = np.array(numbered, np.int64).reshape(-1, 3).T
        return cls(unit, rater, answer, tuple(numbers[2]), len(numbers[0]), len(numbers[1]))

    @property
    def n_ratings(self) -> int:
        return int(self.unit.size)

    @property
    def ratings(self) -> Ratings:
        """With the place of each answer among the distinct ones for a code."""
        return Ratings(self.unit, self.rater, self.answer.astype(np.float64), self.n_units, self.n_raters)

    @property
    def answers(self) -> Answers:
        """As means over pairs of raters take them."""
        return Answers(self.unit, self.rater, self.n_units, self.n_raters)

    def codes(self, code_of: Callable[[Any], Hashable]) -> Ratings:
        """Nominal ratings: answers with the same ``code_of`` get the same number."""
        numbers: dict[Hashable, int] = {}
        code = np.array([numbers.setdefault(code_of(one), len(numbers)) for one in self.distinct], np.float64)
        value = code[self.answer] if self.n_ratings else np.zeros(0)
        return Ratings(self.unit, self.rater, value, self.n_units, self.n_raters)


def distance_alpha(
    table: AnswerTable,
    distance: Distance,
    *,
    method: str,
    interval: Interval = TWO_WAY,
    most_distinct: int = MOST_DISTINCT,
    pairs: int = PAIRS,
    seed: int = SEED,
) -> Estimate:
    """1 for the same answers, 0 for as far apart as answers to different units are; below 0 where further.

    ``pairs`` are drawn, with ``seed``, where there are more than ``most_distinct`` distinct answers.
    Raises ValueError for a distance outside 0..1 and for a bootstrap interval.

    >>> rows = [("u", "a", 1), ("u", "b", 1), ("v", "a", 2), ("v", "b", 2), ("w", "a", 1), ("w", "b", 2)]
    >>> apart = distance_alpha(AnswerTable.from_rows(rows), lambda i, j: (i != j) * 1.0, method="nominal")
    >>> round(apart.value, 4)  # as nominal alpha: 1 - (2/6) / (18/30)
    0.4444
    """
    if interval.method == "bootstrap":
        raise ValueError("this alpha has a jackknife interval only, got method='bootstrap'")
    ratings = table.ratings
    counted = count_table(ratings, None, None)
    extras: dict[str, Extra] = {
        "n_units_pairable": counted.n_units,
        "n_units_not_pairable": ratings.n_units - counted.n_units,
        "n_ratings_pairable": int(counted.unit.size),
        "n_distinct": counted.n_codes,
    }
    common: dict[str, Any] = {
        "method": method,
        "level": interval.level,
        "resampled": interval.resampled,
        "extras": extras,
    }
    reason = _reason(ratings, counted)
    without = None
    if reason is None:
        if counted.n_codes > most_distinct:
            extras |= {"n_pairs_drawn": pairs, "seed": seed}
        without = _deletions(counted, distance, most_distinct, pairs, seed)
        if without.whole.expected[0] <= 0:
            reason, extras["percent_agreement"] = "no_variation", 1.0
        elif counted.n_units == 1:
            reason = "one_unit"
    if reason is not None or without is None:
        return Estimate.undefined(reason=reason or "no_ratings", **ratings.sizes.to_fields(), **common)
    value = float(alpha_values(without.whole, without.whole)[0])
    ends = _ends(value, without, interval)
    sizes = Sizes(counted.n_units, counted.n_raters, int(counted.unit.size)).to_fields()
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **sizes, **common)
    return Estimate.of(value, interval=ends, **sizes, **common)


def _reason(ratings: Ratings, counted: CountTable) -> str | None:
    if not ratings.n_ratings:
        return "no_ratings"
    if ratings.n_raters_present < 2:
        return "too_few_raters"
    return None if counted.n_units else "no_pairable_units"


def _ends(value: float, without: Deletions, wanted: Interval) -> tuple[float, float] | str:
    if wanted.over == "none":
        return "not_asked"
    parts = (alpha_values(part, without.whole) for part in (without.units, without.raters, without.ratings))
    units, raters, ones = parts
    return jackknife_interval(value, units, raters, ones, wanted, Scale("log(1 - x)"))


def _deletions(table: CountTable, distance: Distance, most: int, pairs: int, seed: int) -> Deletions:
    places = table.codes.astype(np.int64)  # of the pairable answers among the distinct ones
    if table.n_codes <= most:
        return distance_deletions(matrix_sums(distance_matrix(places, distance)), table)
    return _sampled_deletions(table, lambda i, j: _checked_distances(distance, places[i], places[j]), pairs, seed)


def distance_matrix(places: Ints, distance: Distance) -> Floats:
    """(C, C) distances of every two of the answers at ``places`` (C,), computed once for each pair."""
    count = places.size
    matrix: Floats = np.zeros((count, count))
    first, second = np.triu_indices(count, 1)
    for begin in range(0, first.size, _BLOCK):
        i, j = first[begin : begin + _BLOCK], second[begin : begin + _BLOCK]
        matrix[i, j] = matrix[j, i] = _checked_distances(distance, places[i], places[j])
    return matrix


def _checked_distances(distance: Distance, first: Ints, second: Ints) -> Floats:
    distances = np.asarray(distance(first, second), np.float64)
    if distances.shape != first.shape or not ((distances >= 0) & (distances <= 1 + 1e-12)).all():
        raise ValueError("distance must give a number from 0 to 1 for each pair")
    return distances


def matrix_sums(matrix: Floats) -> DistanceSums:
    """Sums over groups of answers, by a matrix (C, C) of the distances of their codes."""

    def sums(code: Ints, group: Ints, weight: Floats, n_groups: int) -> Floats:
        order = np.argsort(group, kind="stable")
        length = np.bincount(group, minlength=n_groups)
        begin = np.concatenate([[0], np.cumsum(length)])
        totals: Floats = np.zeros(code.size)
        rows = max(1, _BLOCK // max(matrix.shape[0], 1))
        for first in range(0, n_groups, rows):
            last = min(first + rows, n_groups)
            mine = order[begin[first] : begin[last]]
            if int(length[first:last] @ length[first:last]) <= _BLOCK:
                totals[mine] = _by_pairs(matrix, code[mine], length[first:last], weight[mine])
            else:
                counts = np.zeros((last - first, matrix.shape[0]))
                np.add.at(counts, (group[mine] - first, code[mine]), weight[mine])
                totals[mine] = (counts @ matrix)[group[mine] - first, code[mine]]
        return totals

    return sums


def _by_pairs(matrix: Floats, code: Ints, length: Ints, weight: Floats) -> Floats:
    """Answers in the order of their groups of ``length``: each against its whole group."""
    rows = np.repeat(length, length)
    start = np.repeat(np.cumsum(length) - length, length)
    each = np.repeat(np.arange(code.size), rows)
    partner = np.arange(each.size) - np.repeat(np.cumsum(rows) - rows - start, rows)
    return np.bincount(each, matrix[code[each], code[partner]] * weight[partner], code.size).astype(np.float64)


# ---- many distinct answers: D_e from random pairs --------------------------------------------------------------------


def _sampled_deletions(table: CountTable, distance: Distance, pairs: int, seed: int) -> Deletions:
    """D_o from all pairs within units; D_e of each replicate from the drawn pairs that are left in it."""
    near = _within_sums(table, distance)
    within = table.by_unit(near)
    n, u = table.unit.size, table.unit
    rng = np.random.default_rng(seed)
    first = rng.integers(n, size=pairs)
    second = (first + rng.integers(1, n, size=pairs)) % n
    apart = np.concatenate(
        [
            distance(table.code[first[b : b + _BLOCK]], table.code[second[b : b + _BLOCK]])
            for b in range(0, pairs, _BLOCK)
        ]
    )
    partner = _partners(table)

    def expected(touched: Sequence[Ints], count: int, total: Floats) -> Floats:
        lost, gone = _sum_touching(touched, apart, count)
        left = pairs - gone
        mean = np.divide(apart.sum() - lost, left, out=np.full(count, np.nan), where=left > 0)
        return np.asarray(mean * (total**2 - total))

    gone = Removal.of(table)
    whole_total = np.array([table.total])
    observed = np.array([table.factor @ within])
    whole = Sums(observed, apart.mean() * (whole_total**2 - whole_total), whole_total, whole_total)

    def part(less: Floats, mass: Floats, touched: Sequence[Ints], count: int) -> Sums:
        total = table.total - mass
        return Sums(np.maximum(observed[0] - less, 0), expected(touched, count, total), total, total)

    lost = np.where(gone.lonely, table.factor[u] * within[u],
                    table.factor[u] * within[u] - gone.factor * (within[u] - 2 * near))  # fmt: skip
    lost_of, mass_of = (np.bincount(table.rater, one, table.n_raters).astype(np.float64) for one in (lost, gone.mass))
    ends = (first, second)
    by_rating = [np.where(partner[e] < 0, e, partner[e]) for e in ends]
    by_rater = [table.rater[one] for one in (*ends, *by_rating)]
    return Deletions(
        whole,
        part(table.factor * within, table.mass, [u[e] for e in ends], table.n_units),
        part(lost_of, mass_of, by_rater, table.n_raters),
        part(lost, gone.mass, [*ends, *by_rating], n),
    )  # fmt: skip


def _within_sums(table: CountTable, distance: Distance) -> Floats:
    """(n,) the distance of each answer to the others of its unit."""
    first, second = Answers(table.unit, table.rater, table.n_units, table.n_raters).pairs()
    apart = distance(table.code[first], table.code[second])
    place, both = np.concatenate([first, second]), np.concatenate([apart, apart])
    return np.bincount(place, both, table.unit.size).astype(np.float64)


def _partners(table: CountTable) -> Ints:
    """(n,) the other answer of a unit with two, which leaves with it; -1 elsewhere."""
    partner: Ints = np.full(table.unit.size, -1)
    lonely = np.flatnonzero(table.size[table.unit] == 2)
    pair = lonely[np.argsort(table.unit[lonely], kind="stable")].reshape(-1, 2)
    partner[pair[:, 0]], partner[pair[:, 1]] = pair[:, 1], pair[:, 0]
    return partner


def _sum_touching(touched: Sequence[Ints], apart: Floats, count: int) -> tuple[Floats, Floats]:
    """Sum and number of the pairs that leave with each of ``count``; a pair that it has several times leaves once."""
    lost, gone = np.zeros(count), np.zeros(count)
    for place, column in enumerate(touched):
        new = np.ones(column.size, bool)
        for earlier in touched[:place]:
            new &= column != earlier
        lost += np.bincount(column[new], apart[new], count)
        gone += np.bincount(column[new], minlength=count)
    return lost, gone
