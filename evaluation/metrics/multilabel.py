"""Multi-label F1: each image may be relevant to several labels; a score at or above a threshold says that it is.

    F1 = 2 TP / (2 TP + FP + FN)

    micro     over all pairs of image and label together
    macro     the mean of the F1 of each label
    samples   the mean of the F1 of each image

A label (macro) or image (samples) with nothing positive on either side has no F1 (0 / 0): it is left out of the mean
and counted ("n_left_out"). scikit-learn counts it as 0 unless told otherwise.
A pair without a score is left out and counted ("n_unscored"): it is no negative. Whoever wants it as one passes the
lowest score. So a label (macro) or image (samples) none of whose gold pairs has a score has no F1 either: nobody was
asked what would be right, and a wrong yes alone would make it 0. It is left out and counted ("n_not_asked").
CAIRE writes "scores greater than 4 (relevant, highly relevant)": since relevant is 4, at least 4 is meant.
Interval: jackknife over images (``resampling.py``), all pairs of an image left out together, in a difference of both
sides; on the logit, of a difference on its own scale, of a ratio on the log.
Undefined: no gold pair has a score ("no_gold_asked").
Source: Yayavaram et al. (2025), CAIRE, section 5.4, Tables 1, 8, 10, 11; which average it took is not printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Bools, Floats, Ints, divide
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.resampling import (
    LEVEL,
    LOGIT,
    RATIO,
    SHARES_APART,
    Statistic,
    estimate_by_clusters,
    number_clusters,
)

Average = Literal["micro", "macro", "samples"]
AVERAGES: tuple[Average, ...] = ("micro", "macro", "samples")
THRESHOLD = 4.0
METHODS: dict[Average, str] = {
    "micro": "F1, micro-averaged", "macro": "F1, macro-averaged over labels", "samples": "F1, averaged over images",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Pairs:
    """n pairs of an image and a label: ``image`` and ``label`` (n,) are names or numbers, ``gold`` (n,) whether the
    label is a gold one, ``score`` (n,) what the model gave, NaN where it gave nothing."""

    image: npt.NDArray[Any]
    label: npt.NDArray[Any]
    gold: Bools
    score: Floats

    def __post_init__(self) -> None:
        sizes = {np.shape(getattr(self, name)) for name in ("image", "label", "gold", "score")}
        if len(sizes) > 1 or len(next(iter(sizes))) != 1:
            raise ValueError(f"all arrays must be one-dimensional and of one length, got shapes {sorted(sizes)}")

    def where(self, keep: Bools | Ints) -> Pairs:
        return Pairs(self.image[keep], self.label[keep], self.gold[keep], self.score[keep])


def f1(pairs: Pairs, average: Average, *, threshold: float = THRESHOLD, level: float = LEVEL) -> Estimate:
    """F1, 0 to 1, of the scored pairs.

    >>> pairs = Pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([True, False, True]), np.array([5.0, 4, 1]))
    >>> f1(pairs, "micro").value  # TP 1, FP 1, FN 1: 2 / 4
    0.5
    """
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {', '.join(AVERAGES)}, got {average!r}")
    scored = pairs.where(np.isfinite(pairs.score))
    kept, not_asked = _with_gold_asked(pairs, scored, average)
    some = scored.where(kept)
    sums, labels = _columns(some, average, threshold)
    extras = {
        "threshold": threshold,
        "n_unscored": int(pairs.score.size - scored.score.size),
        **_left_out(sums, average),
    }
    extras |= {"n_not_asked": not_asked} if not_asked else {}
    if scored.score.size and not scored.gold.any():
        return _without_gold(METHODS[average], scored, extras)
    estimate = estimate_by_clusters(
        sums, _f1_statistic(average, labels), LOGIT, method=METHODS[average], n_units=int(np.unique(some.image).size),
        n_ratings=int(some.score.size), level=level, extras=extras,
    )  # fmt: skip
    return _state_reason(estimate, bool(some.score.size))


def f1_difference(
    first: Pairs, second: Pairs, average: Average, *, threshold: float = THRESHOLD, level: float = LEVEL
) -> Estimate:
    """F1 of ``first`` less that of ``second``, over the pairs both scored; both of an image are left out together."""
    return _compare(first, second, average, "difference", threshold, level)


def f1_ratio(
    first: Pairs, second: Pairs, average: Average, *, threshold: float = THRESHOLD, level: float = LEVEL
) -> Estimate:
    """F1 of ``first`` over F1 of ``second`` (0.97: it reaches 97 % of it), over the pairs that both scored.

    Undefined also where the second's F1 is 0.
    """
    return _compare(first, second, average, "ratio", threshold, level)


def _compare(
    first: Pairs, second: Pairs, average: Average, how: Literal["difference", "ratio"], threshold: float,
    level: float,
) -> Estimate:  # fmt: skip
    if average not in AVERAGES:
        raise ValueError(f"average must be one of {', '.join(AVERAGES)}, got {average!r}")
    first_pairs, other = _shared_pairs(first, second)
    if first_pairs.score.size and not first_pairs.gold.any():
        return replace(_without_gold(f"{how} of {METHODS[average]}", first_pairs, {"threshold": threshold}), n_raters=2)
    kept, _not_asked = _with_gold_asked(first, first_pairs, average)
    first_pairs, other = first_pairs.where(kept), other.where(kept)
    (left, labels), (right, _same) = (_columns(side, average, threshold) for side in (first_pairs, other))
    width, of = left.shape[1], _f1_statistic(average, labels)

    def statistic(sums: Floats) -> Floats:
        a, b = of(sums[:, :width]), of(sums[:, width:])
        if how == "difference":
            return np.asarray(a - b)
        return np.asarray(np.divide(a, b, out=np.full(a.shape, np.nan), where=b > 0))

    method = f"{how} of {METHODS[average]}"
    extras = {
        "threshold": threshold,
        "n_not_shared": int(first.score.size + second.score.size - 2 * first_pairs.score.size),
    }
    estimate = estimate_by_clusters(
        np.concatenate([left, right], axis=1), statistic, SHARES_APART if how == "difference" else RATIO,
        method=method, n_units=int(np.unique(first_pairs.image).size), n_ratings=int(2 * first_pairs.score.size),
        n_raters=2, level=level, extras=extras,
    )  # fmt: skip
    estimate = _state_reason(estimate, bool(first_pairs.score.size))
    if how == "ratio" and estimate.value is None and of(right.sum(axis=0, keepdims=True))[0] == 0:
        return replace(estimate, reason="zero_below")
    return estimate


def _state_reason(estimate: Estimate, some: bool) -> Estimate:
    """Images are what is left out; and where there are pairs without a value, no gold label was asked."""
    estimate = replace(estimate, resampled="images")
    return replace(estimate, reason="no_gold_asked") if estimate.value is None and some else estimate


def _without_gold(method: str, scored: Pairs, extras: dict[str, Any]) -> Estimate:
    none = Estimate.undefined(reason="no_gold_asked", method=method, n_units=int(np.unique(scored.image).size))
    return replace(none, n_ratings=int(scored.score.size), extras=extras)


def _with_gold_asked(every: Pairs, scored: Pairs, average: Average) -> tuple[Bools, int]:
    """(n,) scored pairs whose image (samples) or label (macro) has a scored gold pair, or no gold pair in ``every``;
    and how many images or labels that leaves out."""
    if average == "micro":
        return np.ones(scored.score.size, bool), 0
    name = "image" if average == "samples" else "label"
    group = getattr(scored, name)
    out = np.isin(group, getattr(every, name)[every.gold]) & ~np.isin(group, group[scored.gold])
    return np.asarray(~out), int(np.unique(group[out]).size)


def _shared_pairs(first: Pairs, second: Pairs) -> tuple[Pairs, Pairs]:
    """The pairs both scored, in one order. A pair stands in each once."""
    image = number_clusters(np.concatenate([first.image, second.image]))[1]
    count, label = number_clusters(np.concatenate([first.label, second.label]))
    key, n = image * max(count, 1) + label, first.image.size
    mine, theirs = (np.flatnonzero(np.isfinite(pairs.score)) for pairs in (first, second))
    _both, a, b = np.intersect1d(key[:n][mine], key[n:][theirs], assume_unique=True, return_indices=True)
    first_places, other = mine[a], theirs[b]
    if not (first.gold[first_places] == second.gold[other]).all():
        raise ValueError("both sides must have the same gold labels")
    return first.where(first_places), second.where(other)


def _columns(pairs: Pairs, average: Average, threshold: float) -> tuple[Floats, int]:
    """(images, k) sums of each image, and the number of labels.

    micro: TP, TP + FP, TP + FN; macro: the same of each label; samples: F1 and 1, or two zeros without one.
    """
    images, image = number_clusters(pairs.image)
    labels, label = number_clusters(pairs.label)
    predicted: Bools = np.asarray(pairs.score >= threshold)
    counts = (pairs.gold & predicted, predicted, pairs.gold)
    if average == "macro":
        place = image * labels + label
        parts = [_sums(place, count, images * labels).reshape(images, labels) for count in counts]
        return np.concatenate(parts, axis=1) if labels else np.zeros((0, 0)), labels
    sums = np.stack([_sums(image, count, images) for count in counts], axis=1)
    if average == "micro":
        return sums, labels
    both = sums[:, 1] + sums[:, 2]
    own = np.divide(2 * sums[:, 0], both, out=np.zeros(images), where=both > 0)
    return np.stack([own, both > 0], axis=1), labels


def _sums(place: Ints, flags: Bools, size: int) -> Floats:
    return np.bincount(place, flags.astype(np.float64), size).astype(np.float64)


def _f1_statistic(average: Average, labels: int) -> Statistic:
    def statistic(sums: Floats) -> Floats:
        if average == "samples":
            return divide(sums[:, 0], sums[:, 1])
        if average == "micro":
            return divide(2 * sums[:, 0], sums[:, 1] + sums[:, 2])
        hits, predicted, gold = (sums[:, k * labels : (k + 1) * labels] for k in range(3))
        each = divide(2 * hits, predicted + gold)
        known = np.isfinite(each)
        return divide(np.where(known, each, 0).sum(axis=1), known.sum(axis=1).astype(np.float64))

    return statistic


def _left_out(sums: Floats, average: Average) -> dict[str, int]:
    if average == "samples":
        return {"n_left_out": int((sums[:, 1] == 0).sum())}
    if average == "macro" and sums.size:
        labels = sums.shape[1] // 3
        whole = sums.sum(axis=0)
        return {"n_left_out": int((whole[labels : 2 * labels] + whole[2 * labels :] == 0).sum())}
    return {}
