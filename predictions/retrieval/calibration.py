"""How well a score tells what people call right: precision and recall against the threshold. Pure.

Kept is what scores at least the threshold. Precision: of the kept, the share that people call right; none where nothing
is kept. Recall: of what people call right, the share that is kept; none where there is nothing right.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
DECIMALS = 2
Z = NormalDist().inv_cdf(0.975)


def wilson(count: int, n: int) -> tuple[float, float] | None:
    """Wilson's interval of 95 % of a share; None of nothing."""
    if not n:
        return None
    share, more = count / n, Z * Z / n
    half = Z * math.sqrt((share * (1 - share) + more / 4) / n)
    low, high = ((share + more / 2 + side * half) / (1 + more) for side in (-1, 1))
    return max(0.0, min(share, low)), min(1.0, max(share, high))


@dataclass(frozen=True)
class CalibrationPoint:
    """`right`: how many of the kept are right; `relevant`: how many are right at all."""

    threshold: float
    kept: int
    right: int
    precision: float | None
    recall: float | None
    relevant: int = 0

    @property
    def precision_ends(self) -> tuple[float, float] | None:
        return wilson(self.right, self.kept)

    @property
    def recall_ends(self) -> tuple[float, float] | None:
        return wilson(self.right, self.relevant)

    @property
    def f1(self) -> float | None:
        if not self.precision or not self.recall:
            return None
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def point(scores: Sequence[float], right: Sequence[bool], threshold: float) -> CalibrationPoint:
    """`right[i]`: what people say of the item that has `scores[i]`."""
    values, labels = np.asarray(scores, float), np.asarray(right, bool)
    kept = values >= threshold
    both, relevant = int((kept & labels).sum()), int(labels.sum())
    n = int(kept.sum())
    return CalibrationPoint(
        float(threshold), n, both, both / n if n else None, both / relevant if relevant else None, relevant
    )


def curve(scores: Sequence[float], right: Sequence[bool], most: int = 41) -> list[CalibrationPoint]:
    """At all `thresholds`; of more than `most`, so many at even steps of rank."""
    edges = thresholds(scores)
    if edges.size > most:
        edges = edges[np.unique(np.linspace(0, edges.size - 1, most).round().astype(int))]
    return [point(scores, right, float(edge)) for edge in edges]


def thresholds(scores: Sequence[float]) -> FloatArray:
    """The scores rounded down to DECIMALS, each once, the lowest first: each keeps the score that it comes from."""
    values = np.asarray(scores, float)
    near = values.round(DECIMALS)
    return np.unique(np.where(near > values, (near - 10.0**-DECIMALS).round(DECIMALS), near))


def best(scores: Sequence[float], right: Sequence[bool]) -> CalibrationPoint | None:
    """Of all `thresholds` the one of highest F1; of several the highest."""
    values, labels = np.asarray(scores, float), np.asarray(right, bool)
    if not labels.any():
        return None
    order = np.argsort(values, kind="stable")
    edges = thresholds(scores)
    first = np.searchsorted(values[order], edges)
    right_from = np.append(np.cumsum(labels[order][::-1])[::-1], 0)[first]
    f1 = 2 * right_from / (values.size - first + labels.sum())
    return point(scores, right, float(edges[np.flatnonzero(f1 == f1.max())[-1]]))


def exact_text(threshold: float) -> str:
    """As short as it can be without being another number: what is kept is what was shown."""
    return repr(float(threshold)).removesuffix(".0")
