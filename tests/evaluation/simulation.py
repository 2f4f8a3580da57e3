"""Studies in the form of CAIRE's, drawn from a model whose true values are known: to see whether intervals hold what
they promise, and to try a page or an import at its real size.

    opinion of rater k of cohort c on image i:  own x [i is from c] + a_i + t_ic + b_k + s_k e_ik
    score of a model m for image i and cohort c:  the same without b and s, mixed with noise of its own so that its
    correlation with the signal (own + a + t) is ``skills[m]`` before both are cut

a image effect, t what an image means to a cohort, b a rater's bias, s a rater's care (log-normal), e noise; all normal,
with the spreads of ``StudyDesign``. Both are cut at ``cuts`` into the codes 1 to 5. Each rating is missing with
probability ``missing``. Images and raters are drawn anew for every study: they are what intervals speak of; cohorts
are fixed.

There is no closed form for cut scores, so true values are those of large draws (``truth``): means over many studies of
the same number of raters, since a mean of few raters goes together with a score less well than that of many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evaluation.metrics.alpha import alpha
from evaluation.metrics.correlation import mean_pairwise_pearson, mean_pairwise_spearman
from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.model_human import RatedScores, image_wise, per_annotator, per_cohort

NONE = Interval("none")
TWO_WAY = Interval()


@dataclass(frozen=True)
class StudyDesign:
    """What is drawn: spreads in units of the noise of a middling rater."""

    images: int = 400
    cohorts: int = 10
    raters: int = 20  # of each cohort
    missing: float = 0.1
    own: float = 1.5
    image: float = 0.4
    taste: float = 0.7
    bias: float = 0.5
    care: float = 0.3
    cuts: tuple[float, ...] = (-1.2, -0.2, 0.8, 1.8)
    skills: tuple[float, ...] = (0.9, 0.6, 0.3)


@dataclass(frozen=True, eq=False)
class Study:
    """n ratings: ``image``, ``cohort``, ``rater`` (numbered through all cohorts), ``value`` (n,); ``origin`` (images,)
    is each image's cohort; ``scores`` (models, images, cohorts)."""

    recipe: StudyDesign
    image: Ints
    cohort: Ints
    rater: Ints
    value: Floats
    origin: Ints
    scores: Floats

    def of_cohort(self, cohort: int) -> Ratings:
        mine = self.cohort == cohort
        rater = self.rater[mine] - cohort * self.recipe.raters
        return Ratings(self.image[mine], rater, self.value[mine], self.recipe.images, self.recipe.raters)

    def scored(self, model: int, cohort: int | None = None) -> RatedScores:
        rows = slice(None) if cohort is None else self.cohort == cohort
        image, of = self.image[rows], self.cohort[rows]
        return RatedScores(image, of, self.rater[rows], self.value[rows], self.scores[model][image, of])


def draw(recipe: StudyDesign, rng: np.random.Generator) -> Study:
    """One study; the same ``rng`` state gives the same."""
    images, cohorts, raters = recipe.images, recipe.cohorts, recipe.raters
    origin = np.arange(images) % cohorts
    signal = recipe.own * (origin[:, None] == np.arange(cohorts)) + recipe.taste * rng.normal(size=(images, cohorts))
    signal = signal + recipe.image * rng.normal(size=(images, 1))
    bias = recipe.bias * rng.normal(size=(cohorts, raters))
    care = np.exp(recipe.care * rng.normal(size=(cohorts, raters)))
    opinion = signal[:, :, None] + bias + care * rng.normal(size=(images, cohorts, raters))
    image, cohort, seat = np.nonzero(rng.random(opinion.shape) >= recipe.missing)
    value = cut(opinion[image, cohort, seat], recipe)
    share = recipe.own**2 * (1 / cohorts) * (1 - 1 / cohorts)
    spread, middle = np.sqrt(share + recipe.taste**2 + recipe.image**2), recipe.own / cohorts
    scores = [
        cut(middle + skill * (signal - middle) + np.sqrt(1 - skill**2) * spread * rng.normal(size=signal.shape), recipe)
        for skill in recipe.skills
    ]
    return Study(recipe, image, cohort, cohort * raters + seat, value, origin, np.array(scores))


def cut(opinion: Floats, recipe: StudyDesign) -> Floats:
    """Codes 1 to 5."""
    return np.asarray(np.digitize(opinion, recipe.cuts) + 1, np.float64)


Measured = Callable[[Study, Interval], Estimate]
MEASURED: dict[str, Measured] = {
    "alpha, ordinal": lambda study, wanted: alpha(study.of_cohort(0), "ordinal", interval=wanted),
    "alpha, nominal": lambda study, wanted: alpha(study.of_cohort(0), "nominal", interval=wanted),
    "pairwise Pearson": lambda study, wanted: mean_pairwise_pearson(study.of_cohort(0), interval=wanted),
    "pairwise Spearman": lambda study, wanted: mean_pairwise_spearman(study.of_cohort(0), interval=wanted),
    "model, image-wise": lambda study, wanted: image_wise(study.scored(1), interval=wanted)[0],
    "model, with the mean": lambda study, wanted: per_cohort(study.scored(1, 0), interval=wanted)[0],
    "model, each rater": lambda study, wanted: per_annotator(study.scored(1, 0), interval=wanted)[0].mean,
}


def truth(recipe: StudyDesign, draws: int, rng: np.random.Generator) -> dict[str, float]:
    """True values: means over many drawn studies with as many raters. An estimate without a value is left out."""
    values: dict[str, list[float]] = {name: [] for name in MEASURED}
    for _ in range(draws):
        study = draw(recipe, rng)
        for name, measured in MEASURED.items():
            value = measured(study, NONE).value
            if value is not None:
                values[name].append(value)
    return {name: float(np.mean(values)) for name, values in values.items()}


def covers(recipe: StudyDesign, true: dict[str, float], rng: np.random.Generator) -> dict[str, tuple[float, float]]:
    """One study: for each number whether its interval holds the truth (1 or 0), and the interval's width; NaN where
    there is no interval."""
    study, intervals = draw(recipe, rng), {}
    for name, measured in MEASURED.items():
        estimate = measured(study, TWO_WAY)
        value_and_se = (
            None
            if estimate.low is None or estimate.high is None
            else (estimate.low <= true[name] <= estimate.high, estimate.high - estimate.low)
        )
        intervals[name] = (np.nan, np.nan) if value_and_se is None else (float(value_and_se[0]), value_and_se[1])
    return intervals
