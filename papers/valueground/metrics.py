"""Does the same question get another answer when the options are pictures instead of words?

Over the instances that have a gold label and an answer in both settings (n):

    reversal    answer in words differs from answer in pictures
    harmful     right in words, wrong in pictures
    beneficial  wrong in words, right in pictures

With two options every reversal is one of the two, so harmful + beneficial = reversal; and always harmful - beneficial =
accuracy in words less accuracy in pictures, over the same instances. Both hold here exactly, as counts.
Interval: Wilson's, or by clusters (``proportions.py``). Undefined: no such instance.
Source: ValueGround, appendix D.1, equations 11 to 13.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluation.metrics.classification import MISSING
from evaluation.metrics.counts import Bools, Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.paired_tests import mcnemar
from evaluation.metrics.proportions import share
from evaluation.metrics.resampling import LEVEL, SHARES_APART, mean


@dataclass(frozen=True)
class Reversals:
    """All over the same n instances; ``drop`` is the accuracy in words less the accuracy in pictures."""

    reversal: Estimate
    harmful: Estimate
    beneficial: Estimate
    in_words: Estimate
    in_pictures: Estimate
    drop: Estimate


def instances(words: npt.ArrayLike, pictures: npt.ArrayLike, gold: npt.ArrayLike) -> Bools:
    """(n,) which instances have both answers and a gold label (none of the codes is MISSING)."""
    sides = [np.asarray(one, np.int64) for one in (words, pictures, gold)]
    if len({side.shape for side in sides}) != 1 or sides[0].ndim != 1:
        raise ValueError(f"words, pictures and gold must have one length, got {[side.shape for side in sides]}")
    return np.asarray(np.all([side != MISSING for side in sides], axis=0))


def reversals(
    words: npt.ArrayLike,
    pictures: npt.ArrayLike,
    gold: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    level: float = LEVEL,
) -> Reversals:
    """``words``, ``pictures``, ``gold`` (n,): codes of the option, MISSING where there is none.

    >>> found = reversals([0, 0, 1, 1, 0], [1, 0, 0, 1, 1], [0, 0, 0, 0, 1])
    >>> found.reversal.value, found.harmful.value, found.beneficial.value
    (0.6, 0.2, 0.4)
    """
    answered = instances(words, pictures, gold)
    first, second, truth = (np.asarray(one, np.int64)[answered] for one in (words, pictures, gold))
    labels = None if clusters is None else np.asarray(clusters)[answered]
    before, after = first == truth, second == truth

    def of(true: Bools, method: str) -> Estimate:
        extras = {"n_left_out": int(answered.size - answered.sum())}
        return share(true, labels, level=level, method=method, extras=extras)

    return Reversals(
        reversal=of(np.asarray(first != second), "cross-modal reversal"),
        harmful=of(np.asarray(before & ~after), "harmful reversal"),
        beneficial=of(np.asarray(~before & after), "beneficial reversal"),
        in_words=of(np.asarray(before), "accuracy"),
        in_pictures=of(np.asarray(after), "accuracy"),
        drop=_accuracy_drop(before, after, labels, level),
    )


def _accuracy_drop(before: Bools, after: Bools, labels: npt.ArrayLike | None, level: float) -> Estimate:
    if labels is None:
        return mcnemar(before, after, level=level)
    change = before.astype(np.float64) - after
    return mean(change, labels, scale=SHARES_APART, level=level, method="difference of paired shares")


@dataclass(frozen=True, eq=False)
class Bins:
    """``bin`` (n,) 0..k-1; ``edges`` (k + 1,): bin i holds edges[i] <= value < edges[i + 1], the last its upper end
    too; ``sizes`` (k,)."""

    bin: Ints
    edges: Floats
    sizes: Ints


def equal_frequency(values: npt.ArrayLike, bins: int) -> Bins:
    """Cut values (n,) into bins of as equal size as ties allow: equal values stay together, in the upper bin.

    Raises ValueError where a bin would be empty: too few distinct values, or too many equal ones.

    >>> equal_frequency([0.1, 0.4, 0.2, 0.3], 2).bin.tolist()
    [0, 1, 0, 1]
    """
    numbers = np.asarray(values, np.float64)
    ordered = np.sort(numbers)
    places = [round(numbers.size * k / bins) for k in range(1, bins)]
    inner = ordered[places] if numbers.size >= bins else ordered[:0]
    place = np.searchsorted(inner, numbers, side="right")
    if bins < 1 or np.unique(place).size < bins:
        raise ValueError(f"{np.unique(ordered).size} distinct value(s) cannot be cut into {bins} bins")
    edges = np.concatenate([ordered[:1], inner, ordered[-1:]])
    return Bins(place, edges, np.bincount(place, minlength=bins))
