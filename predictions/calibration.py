"""How well a score tells what people call right: precision and recall against the threshold. Pure.

Kept is what scores at least the threshold. Precision: of the kept, the share that people call right; none where nothing
is kept. Recall: of what people call right, the share that is kept; none where there is nothing right.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Point:
    threshold: float
    kept: int
    right: int
    precision: float | None
    recall: float | None

    @property
    def f1(self) -> float | None:
        if not self.precision or not self.recall:
            return None
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def point(scores: Sequence[float], right: Sequence[bool], threshold: float) -> Point:
    """`right[i]`: what people say of the item that has `scores[i]`."""
    values, labels = np.asarray(scores, float), np.asarray(right, bool)
    kept = values >= threshold
    both, relevant = int((kept & labels).sum()), int(labels.sum())
    n = int(kept.sum())
    return Point(float(threshold), n, both, both / n if n else None, both / relevant if relevant else None)


def curve(scores: Sequence[float], right: Sequence[bool], most: int = 41) -> list[Point]:
    """At every score there is, the lowest first; of more than `most`, so many at even steps of rank."""
    edges = np.unique(np.asarray(scores, float))
    if edges.size > most:
        edges = edges[np.unique(np.linspace(0, edges.size - 1, most).round().astype(int))]
    return [point(scores, right, float(edge)) for edge in edges]


def best(scores: Sequence[float], right: Sequence[bool]) -> Point | None:
    """Of all scores as thresholds the one of highest F1; of several the highest."""
    values, labels = np.asarray(scores, float), np.asarray(right, bool)
    if not labels.any():
        return None
    order = np.argsort(-values, kind="stable")
    kept, both = np.arange(1, values.size + 1), np.cumsum(labels[order])
    last = np.append(values[order][1:] != values[order][:-1], True)  # equal scores are kept together
    f1 = np.where(last, 2 * both / (kept + labels.sum()), -1.0)
    return point(scores, right, float(values[order][int(np.argmax(f1))]))


def exactly(threshold: float) -> str:
    """As short as it can be without being another number: what is kept is what was shown."""
    return repr(float(threshold)).removesuffix(".0")
