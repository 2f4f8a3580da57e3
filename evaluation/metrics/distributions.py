"""How scores are spread over labels: Jensen-Shannon distance and coverage of a set of images.

    distance(p, q) = sqrt((KL(p, m) + KL(q, m)) / 2),   m = (p + q) / 2

in the base given: with base 2 it lies between 0 (the same) and 1 (nothing in common). It is the square root of the
divergence, which is a metric. Scores of an image over the labels are divided by their sum first.
Undefined: an image whose scores are all 0, or that lacks one, is left out and counted ("n_left_out"); fewer than two
images have no pair.
Interval: t interval on the logit around the delete-one jackknife over images (``intervals.py``).
Sources: Endres & Schindelin (2003), A new metric for probability distributions; CAIRE's released code takes both for
sets of images, the paper prints neither.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Bools, Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval, Scale, jackknife_interval

UNITS = Interval(over="units")
_BLOCK_NUMBERS = 4_000_000


def normalise_scores(scores: npt.ArrayLike) -> tuple[Floats, Bools]:
    """(images, labels) scores divided by their sum, and (images,) which rows could be: no gap, a positive sum."""
    shares = np.asarray(scores, np.float64)
    if shares.ndim != 2:
        raise ValueError(f"scores must be images x labels, got shape {shares.shape}")
    if np.any(shares < 0):
        raise ValueError("scores must not be negative: they are shares of a whole")
    total = shares.sum(axis=1)
    kept: Bools = np.asarray(np.isfinite(total) & (total > 0))
    return shares[kept] / total[kept, None], kept


def jensen_shannon(first: npt.ArrayLike, second: npt.ArrayLike, base: float = 2.0) -> Floats:
    """(n,) distances between the rows of two (n, labels) tables of shares, each summing to 1.

    >>> jensen_shannon([[1, 0], [0.5, 0.5]], [[0, 1], [0.5, 0.5]]).tolist()
    [1.0, 0.0]
    """
    p, q = np.asarray(first, np.float64), np.asarray(second, np.float64)
    divergence = _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2
    return np.asarray(np.sqrt(np.clip(divergence, 0, None) / np.log(base)))


def _entropy(p: Floats) -> Floats:
    return np.asarray(-np.sum(p * np.log(np.where(p > 0, p, 1)), axis=-1))


def pairwise_distance(scores: npt.ArrayLike, *, base: float = 2.0, interval: Interval = UNITS) -> Estimate:
    """Mean Jensen-Shannon distance over all pairs of images; ``scores`` (images, labels), NaN where there is none.

    0: every image speaks to the labels in the same proportions; higher: the set is more varied.
    """
    shares, defined = normalise_scores(scores)
    k = shares.shape[0]
    common: dict[str, Any] = _common_fields(
        "mean pairwise Jensen-Shannon distance", k, interval, np.asarray(scores), defined
    )
    common["extras"] |= {"base": base, "n_pairs": k * (k - 1) // 2}
    if k < 2:
        return Estimate.undefined(reason="no_pairs" if k else "nothing_counted", **common)
    of_image = np.zeros(k)  # sum of its distances to all others
    step = max(1, _BLOCK_NUMBERS // max(shares.size, 1))
    for first in range(0, k, step):
        some = shares[first : first + step]
        of_image[first : first + step] = jensen_shannon(some[:, None, :], shares[None, :, :], base).sum(axis=1)
    total = of_image.sum() / 2
    value = float(total / (k * (k - 1) / 2))
    without = (total - of_image) / ((k - 1) * (k - 2) / 2) if k > 2 else np.zeros(0)
    return _with_interval(value, without, interval, common)


def coverage(scores: npt.ArrayLike, *, threshold: float = 4.0, interval: Interval = UNITS) -> Estimate:
    """Share of the labels that at least one image scores at or above ``threshold``; ``scores`` as above, gaps allowed.

    Undefined: no label; no score at all. Without an interval: a single image suffices to reach a label, so the
    share has no smooth dependence on the images ("one_image_suffices").
    """
    label_scores = np.asarray(scores, np.float64)
    if label_scores.ndim != 2:
        raise ValueError(f"scores must be images x labels, got shape {label_scores.shape}")
    known: Bools = np.asarray(np.isfinite(label_scores).any(axis=1))
    common = _common_fields("coverage", int(known.sum()), interval, label_scores, known)
    common["extras"] |= {"threshold": threshold, "n_labels": int(label_scores.shape[1])}
    if not known.any():
        return Estimate.undefined(reason="nothing_counted", **common)
    reached = (np.nan_to_num(label_scores, nan=-np.inf) >= threshold).any(axis=0)
    common["resampled"] = "nothing"
    common["extras"]["n_reached"] = int(reached.sum())
    return Estimate.of(float(reached.mean()), interval_reason="one_image_suffices", **common)


def _common_fields(method: str, images: int, wanted: Interval, shares: Floats, defined: Bools) -> dict[str, Any]:
    if wanted.over not in ("units", "none") or wanted.method != "jackknife":
        raise ValueError(f"only images are left out here, by the jackknife, got over={wanted.over!r}")
    return {
        "method": method, "n_units": images, "n_raters": 1, "n_ratings": int(np.isfinite(shares[defined]).sum()),
        "level": wanted.level, "resampled": wanted.resampled, "extras": {"n_left_out": int((~defined).sum())},
    }  # fmt: skip


def _with_interval(value: float, without: Floats, wanted: Interval, common: dict[str, Any]) -> Estimate:
    if wanted.over == "none":
        return Estimate.of(value, interval_reason="not_asked", **common)
    none = np.zeros(0)
    ends = jackknife_interval(value, without, none, none, wanted, Scale("logit"))
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)
