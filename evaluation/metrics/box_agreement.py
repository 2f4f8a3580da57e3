"""Agreement of boxes: how far people's boxes overlap pair by pair, and a model's with people's.

An answer is a list of boxes (x0, y0, x1, y1), each with its label as a fifth value where it has one. Two answers are
compared by ``boxes.overlap``: the IoU of the best matching, summed and divided by the larger number of boxes, 0 to 1;
two empty answers 1, one empty 0. Boxes of different labels do not match: their IoU counts as 0.

    people   mean over units of the mean over pairs of people          (``pair_means.py``)
    a model  mean over units of the mean over people of its overlap with each

Interval: t interval on the logit around the two-way jackknife over units and people (``intervals.py``): everybody draws
in a style of their own, tight or wide, so other people would give another number.
Source: METRICS.md; Everingham et al. (2010) for IoU; Efron & Stein (1981) for the jackknife.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluation.metrics.boxes import SIDES, iou_of_pairs, label_of, overlap
from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.jackknife import leave_out
from evaluation.metrics.pair_means import LOGIT, TWO_WAY, Answers, mean_over_pairs
from evaluation.metrics.resampling import ratio

Boxes = Sequence[Sequence[Any]]  # k boxes of four numbers, a fifth value is a label; k = 0 where nothing is to box
Drawn = Sequence[Mapping[Any, Boxes]]  # of each unit: the answer of each rater


def mean_pairwise_overlap(drawn: Drawn, *, interval: Interval = TWO_WAY) -> Estimate:
    """How far people's boxes overlap, 0 to 1: mean over units of the mean over pairs. Counts, extras, undefined: see
    ``pair_means.mean_over_pairs``. Raises ValueError for what is no box.

    >>> half, whole = [[0, 0, 1, 2]], [[0, 0, 2, 2]]
    >>> mean_pairwise_overlap([{"a": half, "b": half}, {"a": half, "b": whole}, {"a": whole}]).value  # (1 + 1/2) / 2
    0.75
    """
    answers, given = _number_raters(drawn)
    return mean_over_pairs(
        answers, lambda one, other: overlap_of_pairs(given, one, other), method="mean pairwise IoU", interval=interval
    )


def overlap_of_pairs(answers: Sequence[Boxes], first: Ints, second: Ints) -> Floats:
    """(p,) ``boxes.overlap`` of the answers at the places ``first`` and ``second`` (p,)."""
    single = np.array([len(answer) == 1 for answer in answers], bool)
    simple = single[first] & single[second]
    overlaps = np.empty(first.size)
    if simple.any():
        corners = np.array([answer[0][:SIDES] if len(answer) == 1 else (0, 0, 1, 1) for answer in answers], np.float64)
        names = np.array([label_of(answer[0]) if len(answer) == 1 else "" for answer in answers])
        ours, theirs = first[simple], second[simple]
        overlaps[simple] = np.where(names[ours] == names[theirs], iou_of_pairs(corners[ours], corners[theirs]), 0.0)
    for place in np.flatnonzero(~simple):
        overlaps[place] = overlap(answers[first[place]], answers[second[place]])
    return overlaps


def mean_overlap_with_people(model: Sequence[Boxes | None], people: Drawn, *, interval: Interval = TWO_WAY) -> Estimate:
    """How far a model's boxes overlap people's, 0 to 1; both sequences are of the same units, in one order.

    A unit without the model's answer (None) or without people is left out ("n_left_out"). The interval speaks of other
    units and other people, and of this model. Undefined: no unit with both ("no_ratings").
    Raises ValueError for lists of different length, for what is no box, and for a bootstrap interval.

    >>> half, whole = [[0, 0, 1, 2]], [[0, 0, 2, 2]]
    >>> mean_overlap_with_people([half, None], [{"a": half, "b": whole}, {"a": half}]).value
    0.75
    """
    if len(model) != len(people):
        raise ValueError(f"model and people must be of the same units, got {len(model)} and {len(people)}")
    if interval.method == "bootstrap":
        raise ValueError("an overlap with people has a jackknife interval only, got method='bootstrap'")
    both = [(own, theirs) for own, theirs in zip(model, people, strict=True) if own is not None and theirs]
    answers, people_answers = _number_raters([theirs for _own, theirs in both])
    every = [*people_answers, *(own for own, _theirs in both)]
    alike = overlap_of_pairs(every, np.arange(len(people_answers)), len(people_answers) + answers.unit)
    common: dict[str, Any] = {
        "method": "mean IoU with people", "n_units": len(both), "n_raters": answers.n_raters,
        "n_ratings": len(people_answers),
        "level": interval.level, "resampled": interval.resampled,
        "missing_share": 1 - len(people_answers) / (len(both) * answers.n_raters) if both else None,
        "extras": {"n_left_out": len(people) - len(both)},
    }  # fmt: skip
    if not both:
        return Estimate.undefined(reason="no_ratings", **common)
    ratings = Ratings(answers.unit, answers.rater, alike, answers.n_units, answers.n_raters)
    without = leave_out(ratings, lambda _unit, mean: np.stack([mean, np.ones(mean.size)], axis=1)).map(ratio)
    value, ends = float(without.whole[0]), without.ends(interval, LOGIT)
    if isinstance(ends, str):
        return Estimate.of(value, interval_reason=ends, **common)
    return Estimate.of(value, interval=ends, **common)


def _number_raters(drawn: Drawn) -> tuple[Answers, list[Boxes]]:
    """Raters are numbered in the order they appear."""
    numbers: dict[Hashable, int] = {}
    rows = [
        (unit, numbers.setdefault(who, len(numbers)), one) for unit, of in enumerate(drawn) for who, one in of.items()
    ]
    unit: npt.NDArray[np.int64] = np.array([row[0] for row in rows], np.int64)
    rater = np.array([row[1] for row in rows], np.int64)
    return Answers(unit, rater, len(drawn), len(numbers)), [row[2] for row in rows]
