"""How far people put the same pictures together, and keep and drop the same ones.

An answer is a partition of an item's pictures into groups of duplicates, with some kept and some dropped. Two people's
groupings of an item are compared over the pictures that both put into a group and that neither was unsure about; T is
the number of pairs of those pictures, n11 of pairs together in both groupings, A and B of pairs together in the one and
in the other. Items and pairs of people are pooled: sums first, then one quotient, so a large concept counts more.

    pairwise F1 = 2 sum n11 / sum (A + B)
    adjusted Rand index = sum (n11 - E) / sum ((A + B) / 2 - E),  E = A B / T

E is what n11 is by chance, with the sizes of both people's groups held fixed within each item. For one item and two
people this is Hubert & Arabie's index exactly. Keep or drop is Krippendorff's alpha, nominal, with a picture as the
unit; a picture somebody was unsure about has no rating by them.

Intervals: delete-one jackknife over items and people (`intervals.py`). Pictures of one item are not independent, so the
item is left out as a whole, for alpha too.
Undefined: no answers; fewer than two people; no item answered by two; no two pictures together in anybody's groups (F1:
0 / 0); groupings that chance could not tell apart, all single or all one (ARI: 0 / 0); everything kept or everything
dropped (alpha: 0 / 0).
Source: Hubert & Arabie (1985), Comparing Partitions, J. Classification 2; Krippendorff (2011) as in `alpha.py`;
pairwise F1 as in entity resolution, e.g. Menestrina et al. (2010), Evaluating Entity Resolution Results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from evaluation.metrics.counts import Floats, Sizes
from evaluation.metrics.estimate import Estimate, Extra
from evaluation.metrics.intervals import Ends, Interval, Scale, jackknife_interval

TWO_WAY = Interval()


@dataclass(frozen=True)
class Partition:
    """One person's answer to one item. `block`: the group of each picture that was put into one, by picture.

    `kept`: True or False for each picture. Pictures the person was unsure about are in neither.
    """

    block: Mapping[str, int]
    kept: Mapping[str, bool]

    @classmethod
    def of(cls, answer: Mapping[str, Any]) -> Partition:
        """From a stored answer of a grouping field: groups with images and kept, dropped, unsure."""
        unsure = set(answer["unsure"])
        block = {n: at for at, group in enumerate(answer["groups"]) for n in group["images"] if n not in unsure}
        kept = {n: n in group["kept"] for group in answer["groups"] for n in group["images"] if n not in unsure}
        return cls(block, kept | {name: False for name in answer["dropped"] if name not in unsure})


@dataclass(frozen=True, eq=False)
class Partitions:
    """Answers of people to items: `answers[i]` is what rater `rater[i]` said of unit `unit[i]`, numbered from 0."""

    unit: Sequence[int]
    rater: Sequence[int]
    answers: Sequence[Partition] = field(repr=False)
    n_units: int = 0
    n_raters: int = 0

    @classmethod
    def from_rows(cls, rows: Iterable[tuple[Any, Any, Partition]]) -> Partitions:
        """From (unit label, rater label, partition); labels are numbered in the order they appear."""
        units: dict[Any, int] = {}
        raters: dict[Any, int] = {}
        made = [(units.setdefault(u, len(units)), raters.setdefault(r, len(raters)), p) for u, r, p in rows]
        unit, rater, answers = zip(*made, strict=True) if made else ((), (), ())
        return cls(unit, rater, answers, len(units), len(raters))

    @property
    def n_ratings(self) -> int:
        return len(self.answers)

    @property
    def missing_share(self) -> float | None:
        """1 - answers / (units x raters); None for an empty table."""
        cells = self.n_units * self.n_raters
        return 1 - self.n_ratings / cells if cells else None

    def by_unit(self) -> dict[int, dict[int, Partition]]:
        """Unit to rater to answer."""
        items: dict[int, dict[int, Partition]] = {}
        for unit, rater, answer in zip(self.unit, self.rater, self.answers, strict=True):
            items.setdefault(unit, {})[rater] = answer
        return items


def pairwise_f1(partitions: Partitions, *, interval: Interval = TWO_WAY) -> Estimate:
    """Pairwise F1 of the groupings, 0 to 1; pairs of people and items pooled. The interval stands on the logit.

    >>> a = Partition({"1": 0, "2": 0, "3": 0, "4": 1}, {})  # 1, 2, 3 together: A = 3
    >>> b = Partition({"1": 0, "2": 0, "3": 1, "4": 1}, {})  # 1, 2 and 3, 4 together: B = 2, n11 = 1
    >>> pairwise_f1(Partitions.from_rows([("u", "a", a), ("u", "b", b)])).value  # 2 x 1 / (3 + 2)
    0.4
    """
    return _pooled_estimate(
        partitions, "pairwise F1 of groupings", _f1_parts, _quotient, interval, Scale("logit"), "no_pairs_joined"
    )


def adjusted_rand(partitions: Partitions, *, interval: Interval = TWO_WAY) -> Estimate:
    """The adjusted Rand index of the groupings, 1 for the same ones, 0 by chance. Interval on log(1 - x).

    With the example of `pairwise_f1`: T = 6, E = 3 x 2 / 6 = 1, so (1 - 1) / (2.5 - 1) = 0.
    """
    parts, scale = _rand_parts, Scale("log(1 - x)")
    return _pooled_estimate(
        partitions, "adjusted Rand index of groupings", parts, _quotient, interval, scale, "no_variation"
    )


def keep_alpha(partitions: Partitions, *, interval: Interval = TWO_WAY) -> Estimate:
    """Krippendorff's alpha of keep or drop, nominal, a picture being the unit. Interval on log(1 - x).

    Two people, four pictures, keep (1) or not (0): 1,1 / 1,0 / 0,0 / 0,0. D_o = 2 / 8; marginals 3 and 5, so
    D_e = 2 x 3 x 5 / (8 x 7) = 30 / 56; alpha = 1 - (2 / 8) / (30 / 56) = 0.5333.
    """
    scale = Scale("log(1 - x)")
    estimate = _pooled_estimate(
        partitions, "alpha of keep or drop (nominal)", _keep_parts, _alpha, interval, scale, "no_variation"
    )
    if estimate.reason == "no_variation" and estimate.extras["n_pictures"] == 1:
        decisions = [kept for item in partitions.by_unit().values() for kept in _iter_decisions(item)]
        return replace(estimate, reason="one_unit") if len(set(decisions)) > 1 else estimate
    return estimate


def _iter_decisions(item: Item) -> Iterator[bool]:
    """Every keep or drop of the pictures that two people decided on."""
    for name in {name for partition in item.values() for name in partition.kept}:
        decisions = [partition.kept[name] for partition in item.values() if name in partition.kept]
        yield from decisions if len(decisions) > 1 else ()


# ---- sums of one item -----------------------------------------------------------------------------------------------

Item = Mapping[int, Partition]


def pair_counts(a: Partition, b: Partition) -> tuple[float, float, float, float]:
    """n11, A, B and T of two people's groupings of one item, over the pictures both put into a group."""
    both = [name for name in a.block if name in b.block]
    joint: dict[tuple[int, int], int] = {}
    first: dict[int, int] = {}
    second: dict[int, int] = {}
    for name in both:
        i, j = a.block[name], b.block[name]
        joint[i, j] = joint.get((i, j), 0) + 1
        first[i] = first.get(i, 0) + 1
        second[j] = second.get(j, 0) + 1
    return _pairs(joint.values()), _pairs(first.values()), _pairs(second.values()), _pairs([len(both)])


def _pairs(sizes: Iterable[int]) -> float:
    return float(sum(size * (size - 1) // 2 for size in sizes))


def _f1_parts(item: Item) -> Floats:
    total = np.zeros(2)
    for a, b in combinations(item.values(), 2):
        n11, in_a, in_b, _all = pair_counts(a, b)
        total += (2 * n11, in_a + in_b)
    return total


def _rand_parts(item: Item) -> Floats:
    total = np.zeros(2)
    for a, b in combinations(item.values(), 2):
        n11, in_a, in_b, pairs = pair_counts(a, b)
        chance = in_a * in_b / pairs if pairs else 0.0
        total += (n11 - chance, (in_a + in_b) / 2 - chance)
    return total


def _keep_parts(item: Item) -> Floats:
    """Disagreement, ratings kept, ratings not kept, pictures, over the pictures that two people decided on."""
    total = np.zeros(4)
    for name in {name for partition in item.values() for name in partition.kept}:
        decisions = [partition.kept[name] for partition in item.values() if name in partition.kept]
        if len(decisions) > 1:
            kept = sum(decisions)
            total += (2 * kept * (len(decisions) - kept) / (len(decisions) - 1), kept, len(decisions) - kept, 1)
    return total


def _quotient(total: Floats) -> float | None:
    return float(total[0] / total[1]) if total[1] > 1e-12 else None


def _alpha(total: Floats) -> float | None:
    count = total[1] + total[2]
    expected = 2 * total[1] * total[2]
    return float(1 - total[0] * (count - 1) / expected) if expected > 0 and total[3] > 1.5 else None


# ---- the estimate ---------------------------------------------------------------------------------------------------

Parts = Callable[[Item], Floats]
Value = Callable[[Floats], float | None]


def _pooled_estimate(
    partitions: Partitions, method: str, parts: Parts, value: Value, wanted: Interval, scale: Scale, undefined: str
) -> Estimate:
    items = {unit: item for unit, item in partitions.by_unit().items() if len(item) > 1}
    sums = {unit: parts(item) for unit, item in items.items()}
    whole = np.sum(list(sums.values()), axis=0) if sums else np.zeros(3)
    pooled = value(whole) if sums else None
    common: dict[str, Any] = {
        "method": method, "n_units": partitions.n_units, "n_raters": partitions.n_raters,
        "n_ratings": partitions.n_ratings,
        "level": wanted.level, "resampled": wanted.resampled, "missing_share": partitions.missing_share,
        "extras": _extras(items, partitions.n_units),
    }  # fmt: skip
    if pooled is None:
        return Estimate.undefined(reason=_reason(partitions, items, undefined), **common)
    raters = {rater for item in items.values() for rater in item}
    common |= Sizes(len(items), len(raters), sum(map(len, items.values()))).to_fields()
    ends = _ends(pooled, items, sums, whole, parts, value, wanted, scale)
    if isinstance(ends, str):
        return Estimate.of(pooled, interval_reason=ends, **common)
    return Estimate.of(pooled, interval=ends, **common)


def _reason(partitions: Partitions, items: Mapping[int, Item], undefined: str) -> str:
    if not partitions.n_ratings:
        return "no_ratings"
    if len(set(partitions.rater)) < 2:
        return "too_few_raters"
    return undefined if items else "no_pairable_units"


def _extras(items: Mapping[int, Item], n_units: int) -> dict[str, Extra]:
    """Items that two people answered, and pictures of them that two people decided on."""
    pictures = 0
    for item in items.values():
        keeps = Counter(name for partition in item.values() for name in partition.kept)
        pictures += sum(count > 1 for count in keeps.values())
    return {
        "n_units_pairable": len(items),
        "n_units_not_pairable": n_units - len(items),
        "n_pictures": pictures,
        "n_ratings_pairable": pictures,
    }


def _ends(
    pooled: float,
    items: Mapping[int, Item],
    sums: Mapping[int, Floats],
    whole: Floats,
    parts: Parts,
    value: Value,
    wanted: Interval,
    scale: Scale,
) -> Ends | str:
    """Every replicate is a difference of sums: without an item, without a person, without one person's answer."""
    if wanted.over == "none":
        return "not_asked"

    def values(replicates: Iterable[Floats]) -> Floats:
        numbers = [value(replicate) for replicate in replicates]
        return np.array([np.nan if number is None else number for number in numbers], dtype=np.float64)

    lost: list[tuple[int, Floats]] = []  # what goes with one person's answer to one item
    for unit, item in items.items():
        for rater in item:
            rest = {other: answer for other, answer in item.items() if other != rater}
            lost.append((rater, sums[unit] - (parts(rest) if len(rest) > 1 else np.zeros_like(whole))))
    people = sorted({rater for rater, _change in lost})
    by_person = [whole - np.sum([change for rater, change in lost if rater == one], axis=0) for one in people]
    units = values(whole - one for one in sums.values())
    return jackknife_interval(pooled, units, values(by_person), values(whole - one for _r, one in lost), wanted, scale)
