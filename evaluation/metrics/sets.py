"""How far two sets of chosen options agree: Jaccard and MASI.

    J(A, B) = |A and B| / |A or B|                Jaccard distance = 1 - J
    MASI distance = 1 - J M,  M = 1 for equal sets, 2/3 where one contains the other, 1/3 where they overlap, 0 apart

Two empty sets are at distance 0, an empty set and another at distance 1. "None of these" is an option of its own, not
an empty set. MASI charges a subset less than a mere overlap: whoever chose "food" and "rite" agrees more with "food"
than with "food" and "dress".
Source: Jaccard (1912); Passonneau, R. (2006), Measuring agreement on set-valued items (MASI).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Literal

import numpy as np

from evaluation.metrics.alpha import alpha
from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.metrics.distance_alpha import AnswerTable, Distance, distance_alpha
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval

TWO_WAY = Interval()
Kind = Literal["jaccard", "masi"]
NAMES: dict[Kind, str] = {"jaccard": "Jaccard", "masi": "MASI"}


def jaccard_distance(ours: Collection[Hashable], theirs: Collection[Hashable]) -> float:
    """0 for the same set, 1 for sets without a common member.

    >>> round(jaccard_distance({"food", "rite"}, {"food"}), 3)
    0.5
    """
    return float(_distances([frozenset(ours), frozenset(theirs)], "jaccard")(np.array([0]), np.array([1]))[0])


def masi_distance(ours: Collection[Hashable], theirs: Collection[Hashable]) -> float:
    """0 for the same set, 1 for sets without a common member; see above.

    >>> round(masi_distance({"food", "rite"}, {"food"}), 4)  # 1 - 1/2 x 2/3
    0.6667
    """
    return float(_distances([frozenset(ours), frozenset(theirs)], "masi")(np.array([0]), np.array([1]))[0])


def set_alpha(table: AnswerTable, kind: Kind = "masi", *, interval: Interval = TWO_WAY) -> Estimate:
    """Krippendorff's alpha of sets (``distance_alpha.py``); the answers of the table are collections of options.

    >>> a, b = ("food",), ("food", "rite")
    >>> table = AnswerTable.from_rows([("u", 1, a), ("u", 2, a), ("v", 1, b), ("v", 2, b)])
    >>> set_alpha(table).value
    1.0
    """
    method = f"Krippendorff's alpha ({NAMES[kind]} distance)"
    return distance_alpha(table, _distances(table.distinct, kind), method=method, interval=interval)


def option_ratings(table: AnswerTable, option: Hashable) -> Ratings:
    """1 where the rater chose the option, 0 where the rater answered without it."""
    chosen = np.array([option in one for one in table.distinct], np.float64)
    value = chosen[table.answer] if table.n_ratings else np.zeros(0)
    return Ratings(table.unit, table.rater, value, table.n_units, table.n_raters)


def option_alpha(table: AnswerTable, option: Hashable, *, interval: Interval = TWO_WAY) -> Estimate:
    """Krippendorff's alpha, nominal, of choosing one option or not."""
    return alpha(option_ratings(table, option), "nominal", interval=interval)


def _distances(sets: Sequence[Collection[Hashable]], kind: Kind) -> Distance:
    """Between the sets at two places, for (p,) pairs of them."""
    options = {option: place for place, option in enumerate({option: None for each in sets for option in each})}
    members = np.zeros((len(sets), max(len(options), 1)), np.uint8)
    for row, each in enumerate(sets):
        members[row, [options[option] for option in each]] = 1
    sizes = members.sum(axis=1, dtype=np.int64)

    def distance(first: Ints, second: Ints) -> Floats:
        both = (members[first] & members[second]).sum(axis=1, dtype=np.int64)
        either = sizes[first] + sizes[second] - both
        share = np.divide(both, either, out=np.ones(first.size), where=either > 0)
        if kind == "jaccard":
            return np.asarray(1 - share)
        smaller, larger = np.minimum(sizes[first], sizes[second]), np.maximum(sizes[first], sizes[second])
        weight = np.select([both == larger, both == smaller, both > 0], [1.0, 2 / 3, 1 / 3], 0.0)
        return np.asarray(1 - share * weight)

    return distance
