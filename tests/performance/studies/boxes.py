"""Boxes of people who each draw in a style of their own.

Unit u has a box of side 1 (IoU has no unit of length) and a difficulty d_u, log-normal. Rater r draws its corners moved
by a style (each of four sides normal with `style`) and by noise (each side normal with `noise` x d_u). Units and raters
are drawn anew for every study; the truth is the mean IoU of two fresh raters on a fresh unit.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluation.metrics.boxes import iou_of_pairs
from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.pair_means import Answers, mean_over_pairs
from tests.performance.studies.rows import Design

UNITS = 200
STYLES = {"mild": (0.03, 0.08), "strong": (0.12, 0.05)}  # of a style, of the noise
RATERS = {20: (0.90, 0.98), 8: (0.90, 0.98), 5: (0.90, 0.98), 3: (0.88, 1.0)}
DRAWS = 2_000_000
CORNERS = np.array([0.0, 0.0, 1.0, 1.0])


def drawn(rng: np.random.Generator, style: Floats, difficulty: Floats, noise: float) -> Floats:
    """(..., 4) boxes. Sides never cross: a box is at least a twentieth of the true one wide and high."""
    corners = CORNERS + style + noise * difficulty[..., None] * rng.normal(size=(*difficulty.shape, 4))
    low, high = corners[..., :2], corners[..., 2:]
    return np.concatenate([low, np.maximum(high, low + 0.05)], axis=-1)


def truth(style: float, noise: float, rng: np.random.Generator) -> float:
    difficulty = np.exp(0.4 * rng.normal(size=DRAWS))
    one, other = (drawn(rng, style * rng.normal(size=(DRAWS, 4)), difficulty, noise) for _ in range(2))
    return float(iou_of_pairs(one, other).mean())


def study(style: float, noise: float, raters: int, missing: float, rng: np.random.Generator) -> Estimate:
    styles = style * rng.normal(size=(raters, 4))
    difficulty = np.exp(0.4 * rng.normal(size=(UNITS, 1)))
    boxes = drawn(rng, styles, np.broadcast_to(difficulty, (UNITS, raters)), noise)
    unit, rater = np.nonzero(rng.random((UNITS, raters)) >= missing)
    boxes_of_unit = boxes[unit, rater]
    return mean_over_pairs(
        Answers(unit, rater, UNITS, raters),
        lambda one, other: iou_of_pairs(boxes_of_unit[one], boxes_of_unit[other]),
        method="mean pairwise IoU",
    )


def designs(rng: np.random.Generator) -> list[Design]:
    study_designs = []
    for name, (style, noise) in STYLES.items():
        true = truth(style, noise, rng)
        for raters, band in RATERS.items():
            study_designs.append(
                Design(
                    f"{UNITS} units x {raters}, {name} styles", partial(study, style, noise, raters, 0.0), true, band
                )
            )
        study_designs.append(
            Design(
                f"{UNITS} units x 8, {name} styles, 30 % missing", partial(study, style, noise, 8, 0.3), true, RATERS[8]
            )
        )
    return study_designs
