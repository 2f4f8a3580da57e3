"""Three judges beside people: unit u has a truth t, a person says t + level + noise, a judge t + an error of its own
and one that the judges share; all normal. r is the share of what they share.

`levels` is the spread of people's own levels (lenient or strict), 0 where they only have noise of size 1.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from evaluation.metrics.counts import Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.judge_errors import error_correlation
from tests.performance.studies.rows import Design

UNITS, JUDGES = 500, 3
PEOPLE = (3, 5, 20)
BAND = (0.92, 1.0)


def study(people: int, r: float, levels: float, missing: float, rng: np.random.Generator) -> Estimate:
    truth = rng.normal(size=(UNITS, 1))
    ratings = truth + levels * rng.normal(size=people) + rng.normal(size=(UNITS, people))
    ratings[rng.random(ratings.shape) < missing] = np.nan
    own, shared = rng.normal(size=(UNITS, JUDGES)), rng.normal(size=(UNITS, 1))
    scores = truth + np.sqrt(1 - r) * own + np.sqrt(r) * shared
    return error_correlation(Ratings.from_matrix(ratings), Ratings.from_matrix(scores))


def designs() -> list[Design]:
    study_designs = []
    for r in (0.0, 0.5):
        for people in PEOPLE:
            name = f"{UNITS} units, {people} people, r = {r:g}"
            study_designs.append(Design(name, partial(study, people, r, 0.0, 0.0), r, BAND, 0.05))
        name = f"{UNITS} units, 5 people, r = {r:g}, 40 % missing"
        study_designs.append(Design(name, partial(study, 5, r, 0.0, 0.4), r, BAND, 0.05))
        name = f"{UNITS} units, 5 people with levels, r = {r:g}"  # levels count as noise: a known bias, not asked for
        study_designs.append(Design(name, partial(study, 5, r, 0.5, 0.0), r, BAND))
    return study_designs
