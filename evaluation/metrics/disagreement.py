"""How far the raters of one unit differ: what alpha is made of, unit by unit.

    D_u = sum over pairs of raters i != j of delta2(x_ui, x_uj) / (m_u (m_u - 1))

delta2 is the squared distance of the level (``distances.py``, ``ordinal_distance.py``), m_u the raters of the unit. As
a share of D_e, the disagreement expected by chance (two of all pairable ratings drawn at random), it has the same
meaning at every level: 0 is the same answer by all, 1 as much as chance gives, above 1 more. The average of these
ratios, each unit by its m_u, is exactly 1 - alpha.

    boxes, groupings, texts: the mean over pairs of raters of 1 - IoU, of 1 - adjusted Rand index, of "not the same"

Undefined: fewer than two raters; a grouping whose chance level is its maximum, in all pairs. Without any variation D_e
is 0 and every unit's ratio is 0, for nobody disagrees. Source: Krippendorff (2011), as in ``alpha.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from evaluation.metrics.alpha import Level
from evaluation.metrics.boxes import overlap
from evaluation.metrics.counts import Floats, Ints, Ratings, count_table
from evaluation.metrics.distances import distance_sums
from evaluation.metrics.ordinal_distance import expected_sum, mid_ranks
from evaluation.metrics.partitions import Partition, pair_counts
from evaluation.metrics.texts import normal_form


@dataclass(frozen=True, eq=False)
class ByUnit:
    """(U,) each: ``value`` is D_u / D_e, NaN with fewer than two raters; ``raters`` how many there are."""

    value: Floats
    raters: Ints


def disagreement(ratings: Ratings, level: Level) -> ByUnit:
    """
    >>> disagreement(Ratings.from_matrix([[1, 1], [1, 2]]), "nominal").value  # D_e = 6 / 12
    array([0., 2.])
    """
    table = count_table(ratings, None, None)
    raters = np.bincount(ratings.unit, minlength=ratings.n_units)
    value = np.full(ratings.n_units, np.nan)
    if not table.n_units:
        return ByUnit(value, raters)
    if level == "ordinal":
        ranks = mid_ranks(table.marginals)
        codes, kind = ranks, "interval"
        expected = float(expected_sum(table.marginals))
    else:
        codes, kind = table.codes, level
        everybody = np.zeros(table.code.size, np.int64)
        whole = distance_sums(kind, codes, table.code, everybody, np.ones(table.code.size), 1)
        expected = float(whole.sum())
    ones = np.ones(table.code.size)
    within = table.by_unit(distance_sums(kind, codes, table.code, table.unit, ones, table.n_units))  # type: ignore[arg-type]
    observed = within / (table.mass * (table.mass - 1))
    chance = expected / (table.total * (table.total - 1))
    value[table.units] = observed / chance if chance > 0 else 0.0
    return ByUnit(value, raters)


def between_boxes(answers: Sequence[Any]) -> float | None:
    """1 - IoU, averaged over pairs of people; each answer is a list of (x0, y0, x1, y1), or with a label."""
    return _mean(answers, lambda a, b: 1 - overlap(a, b))


def between_groupings(answers: Sequence[Partition]) -> float | None:
    """1 - adjusted Rand index, averaged over the pairs of people in which chance leaves something to be told."""

    def distance(a: Partition, b: Partition) -> float | None:
        n11, in_a, in_b, pairs = pair_counts(a, b)
        chance = in_a * in_b / pairs if pairs else 0.0
        room = (in_a + in_b) / 2 - chance
        return None if abs(room) < 1e-12 else 1 - (n11 - chance) / room

    return _mean(answers, distance)


def between_texts(answers: Sequence[str]) -> float | None:
    """The share of pairs of people whose texts are not the same in their normal form, as of ``texts.exact_match``.

    >>> between_texts(["Pita bread", "pita-bread.", "flat bread"])  # two of three pairs
    0.6666666666666666
    """
    return _mean([normal_form(text) for text in answers], lambda a, b: float(a != b))


def _mean(answers: Sequence[Any], distance: Callable[[Any, Any], float | None]) -> float | None:
    found = [one for one in (distance(a, b) for a, b in combinations(answers, 2)) if one is not None]
    return sum(found) / len(found) if found else None
