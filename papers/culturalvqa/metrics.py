"""LAVE: a judge model rates an answer against reference answers; accuracy is the mean of what it gave.

    scale 1-2    1 wrong, 2 correct and precise      scores 0, 1        (CulturalVQA)
    scale 1-3    1 wrong, 2 partly, 3 correct        scores 0, 0.5, 1   (the original)

A reply that cannot be read has no code. It is left out and counted ("n_unreadable"), and beside the value stand what it
would be were all of them wrong ("worst") or right ("best"): never half right.
Intervals: by questions, several answers to a question are left out together; Wilson's where each question has one
answer, or all are right or wrong (``proportions.py``; scores between 0 and 1 vary less than right and wrong).
Undefined: no readable reply.
Sources: Manas, Krojer & Agrawal (2024), Improving automatic VQA evaluation using large language models; Nayak et al.
(2024), section 5 and Appendix L.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share_of_sums
from evaluation.metrics.resampling import LEVEL, cluster_sums, number_clusters

Scale = Literal["1-2", "1-3"]
SCORES: dict[Scale, dict[str, float]] = {"1-2": {"1": 0.0, "2": 1.0}, "1-3": {"1": 0.0, "2": 0.5, "3": 1.0}}
Average = Literal["answers", "questions"]


def scores_of(codes: Sequence[str | None], scale: Scale) -> Floats:
    """(n,) 0 to 1 for each code, NaN for one that is not of the scale: unreadable.

    >>> scores_of(["1", "3", None], "1-3").tolist()
    [0.0, 1.0, nan]
    """
    if scale not in SCORES:
        raise ValueError(f"scale must be one of {', '.join(SCORES)}, got {scale!r}")
    return np.array([SCORES[scale].get(code, np.nan) if code is not None else np.nan for code in codes], np.float64)


def lave_accuracy(
    scores: npt.ArrayLike, questions: npt.ArrayLike, *, level: float = LEVEL, method: str = "LAVE accuracy"
) -> Estimate:
    """Mean of the readable scores (n,), 0 to 1; ``questions`` (n,) name what each answer answers.

    >>> found = lave_accuracy([1, 0, np.nan, 1], ["a", "b", "c", "d"])
    >>> found.value, found.extras["worst"], found.extras["best"]
    (0.6666666666666666, 0.5, 0.75)
    """
    values, label = _check_scores(scores, questions)
    read = np.isfinite(values)
    sums = cluster_sums(label[read], values[read], np.ones(int(read.sum())))
    extras = _unreadable(values)
    return _by_question(sums, level, method, int(read.sum()), extras)


def human_ceiling(
    scores: npt.ArrayLike,
    questions: npt.ArrayLike,
    *,
    least_answers: int = 3,
    average: Average = "answers",
    level: float = LEVEL,
) -> Estimate:
    """How well people do by the same judge: each of a question's answers (n,) judged against the others.

    Only questions with at least ``least_answers`` answers count, unreadable ones included in that number
    ("n_questions", "n_too_few"). "answers": the mean over all their answers, as the paper words it; "questions": the
    mean of the questions' own means, so that a question with many answers counts no more. Undefined, too, where no
    question has enough answers.
    """
    if average not in ("answers", "questions"):
        raise ValueError(f"average must be 'answers' or 'questions', got {average!r}")
    values, label = _check_scores(scores, questions)
    count, place = number_clusters(label)
    enough = np.bincount(place, minlength=count) >= least_answers
    keep = enough[place]
    read = keep & np.isfinite(values)
    sums = cluster_sums(label[read], values[read], np.ones(int(read.sum())))
    if average == "questions" and sums.size:
        sums = np.stack([sums[:, 0] / sums[:, 1], np.ones(sums.shape[0])], axis=1)
    extras = {
        **_unreadable(values[keep]), "n_questions": int(enough.sum()), "n_too_few": int(count - enough.sum()),
        "average": average,
    }  # fmt: skip
    estimate = _by_question(sums, level, "LAVE accuracy of people", int(read.sum()), extras)
    return replace(estimate, reason="too_few_answers") if np.isfinite(values).any() and not enough.any() else estimate


def _check_scores(scores: npt.ArrayLike, questions: npt.ArrayLike) -> tuple[Floats, npt.NDArray[Any]]:
    values, label = np.asarray(scores, np.float64), np.asarray(questions)
    if values.shape != label.shape or values.ndim != 1:
        raise ValueError(f"scores and questions must be of one length, got shapes {values.shape} and {label.shape}")
    known = values[np.isfinite(values)]
    if known.size and not ((known >= 0) & (known <= 1)).all():
        raise ValueError("scores must lie in 0..1; map the judge's codes with scores_of first")
    return values, label


def _unreadable(given: Floats) -> dict[str, int | float | None]:
    missing, n = int(np.isnan(given).sum()), given.size
    total = float(np.nansum(given))
    return {
        "n_unreadable": missing, "worst": total / n if n else None, "best": (total + missing) / n if n else None,
    }  # fmt: skip


def _by_question(sums: Floats, level: float, method: str, n: int, extras: dict[str, Any]) -> Estimate:
    estimate = share_of_sums(sums, level=level, method=method, n_units=int(sums.shape[0]), n_ratings=n, extras=extras)
    return replace(estimate, resampled="questions")
