"""Right or wrong: accuracy over what could be scored, with what could not be beside it.

    accuracy = right / readable, or right / all where an unreadable answer counts as wrong

An answer nobody could read (no letter, invalid JSON, "A" twice) is left out by default; extras then say how many there
were, and what the accuracy would be had they all been wrong ("worst") or right ("best").
Interval: Wilson's, or by clusters (``proportions.py``). Undefined: nothing to score.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Bools, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share
from evaluation.metrics.resampling import LEVEL

Unreadable = Literal["left out", "wrong"]
MISSING = -1  # the code of an answer, or of a gold label, that is not there


def accuracy(
    predicted: npt.ArrayLike,
    gold: npt.ArrayLike,
    clusters: npt.ArrayLike | None = None,
    *,
    unreadable: Unreadable = "left out",
    level: float = LEVEL,
) -> Estimate:
    """Share of answers that are the gold label; both codes (n,), MISSING where there is none.

    An instance without a gold label never counts ("n_without_gold").

    >>> found = accuracy([0, 1, 1, -1], [0, 1, 0, 0])
    >>> round(found.value, 4), found.extras["worst"], found.extras["best"]
    (0.6667, 0.5, 0.75)
    """
    codes, truth = np.asarray(predicted, np.int64), np.asarray(gold, np.int64)
    if codes.shape != truth.shape or codes.ndim != 1:
        raise ValueError(f"answers and gold labels must have one length, got {codes.shape} and {truth.shape}")
    known = truth != MISSING
    readable = known & (codes != MISSING)
    right, n = int((codes == truth)[readable].sum()), int(known.sum())
    counted: Bools = known if unreadable == "wrong" else readable
    unread = n - int(readable.sum())
    return share(
        np.asarray((codes == truth)[counted]),
        None if clusters is None else np.asarray(clusters)[counted],
        level=level,
        method="accuracy",
        extras={
            "unreadable": unreadable,
            "n_unreadable": unread,
            "n_without_gold": int(truth.size) - n,
            "worst": right / n if n else None,
            "best": (right + unread) / n if n else None,
        },
    )


def alignment_codes(matched: npt.ArrayLike, *, both: Unreadable = "left out") -> Ints:
    """Which picture shows which option: 1 right (both pictures), 0 wrong, MISSING unscorable; from the codes "aligned",
    "swapped", "both_a", "both_b".

    A model that gives both pictures the same option did not answer with an assignment: unscorable, as the paper has it,
    or ``both="wrong"``. Anything else is unscorable. Source: ValueGround, appendix C.3.
    """
    meaning = {"aligned": 1, "swapped": 0}
    if both == "wrong":
        meaning |= {"both_a": 0, "both_b": 0}
    return np.array([meaning.get(str(one), MISSING) for one in np.asarray(matched)], np.int64)
