"""Models beside people: how much each answered, how far it agrees with them, and which may be better than which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from annotation.queries.answers import watermark
from evaluation.metrics.alpha import Level
from evaluation.metrics.association import Kind
from evaluation.metrics.counts import Bools, Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.model_human import image_wise
from evaluation.metrics.model_ranks import ModelRanking, closeness, rank_models
from evaluation.metrics.proportions import share, share_of
from evaluation.metrics.rater_means import with_rater_means
from evaluation.metrics.self_agreement import SelfAgreement, self_agreement
from evaluation.queries.call_statistics import CallStatistics, MissingAnswers, missing_answers, repeated_answers
from evaluation.queries.call_statistics import call_statistics as asked_of
from evaluation.queries.observations import Observations, ObservedRater, observe, observed_raters
from evaluation.reports.model_comparison import GOLD, MAJORITY, ModelComparison, has_gold
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.selection import Selection, SelectionError, refuse_unknown
from people.models import Cohort
from predictions.queries.code_mass import CodeMass

NOWHERE, NOTHING = -1, CallStatistics()
FEW_COHORTS = 3  # an image has a correlation over cohorts from here on
# Models times people's ratings. A look takes some ten seconds at most: see docs/reference/measurements.md
MOST_WITH_INTERVALS, MOST = 4_000_000, 40_000_000


@dataclass(frozen=True)
class ModelRow:
    """`answered`: of the things it was asked about, and `asked` how many of all these are; None where nobody knows, and
    `answered` is of all. `overall` over the things of all cohorts together; `image_wise` only where there are enough
    cohorts. `left_out`: calls without a value; `again`: of one that was asked more than once."""

    rater: ObservedRater
    answered: Estimate
    asked: Estimate | None
    overall: Estimate
    image_wise: Estimate | None
    by_cohort: tuple[Estimate, ...]
    band: tuple[int, int] | None  # best and worst place; None without a value
    ways: Mapping[str, int]
    covered: CodeMass | None
    left_out: MissingAnswers
    again: SelfAgreement | None
    samples: tuple[Mapping[str, Any], ...] = ()  # the stored selections of runs that asked a sample only
    incomplete: int = 0  # replies with readable answers to some questions only


@dataclass(frozen=True)
class ModelsReport:
    catalogue: Catalogue = field(repr=False)
    selection: Selection
    statistic: str
    statistics: tuple[str, ...]  # that this question allows
    truth: str
    truths: tuple[str, ...]
    cohorts: tuple[Cohort, ...]
    lines: tuple[ModelRow, ...]
    n_things: int
    n_tied: int
    n_tests: int
    n_untested: int  # models that have a value but no place: there are too many to test every two of
    too_many: bool  # for intervals
    watermark: int
    computed_at: datetime

    @property
    def is_pooled(self) -> bool:
        """Whether people of all cohorts answer together, for no cohort is asked about itself."""
        return is_pooled(self.catalogue, self.selection)


def is_pooled(catalogue: Catalogue, selection: Selection) -> bool:
    stage = next(stage for stage in catalogue.stages if stage.key == selection.stage)
    return not stage.has_target and len(selection.cohorts) > 1


def models_report(catalogue: Catalogue, selection: Selection, asked: dict[str, str], at: datetime) -> ModelsReport:
    """`asked`: "statistic" and "truth", each one this question allows, or absent. `selection` counts both kinds.

    Raises SelectionError where there is more to compute than a page can wait for.
    """
    mark = watermark(catalogue.benchmark)
    observed = observe(selection)
    statistics = statistics_for(selection.level)
    truths = (GOLD, MAJORITY) if has_gold(observed) else (MAJORITY,)
    statistic = asked["statistic"] if asked.get("statistic") in statistics else statistics[0]
    truth = asked["truth"] if asked.get("truth") in truths else truths[0]
    cohorts = tuple(catalogue.cohorts[pk] for pk in selection.cohorts)
    calls = asked_of(selection)
    builder = _ReportBuilder(_comparisons(catalogue, observed, selection), selection, statistic, truth, cohorts)
    lines = builder.lines([*observed.models(), *_without_an_answer(catalogue, observed, calls)], calls)
    return ModelsReport(
        catalogue, selection, statistic, statistics, truth, truths, cohorts, lines, builder.whole.n_things,
        builder.n_tied, builder.ranks.n_tests, builder.n_untested, builder.too_many, mark, at,
    )  # fmt: skip


def check_options(report: ModelsReport, asked: Mapping[str, str]) -> None:
    """Raises SelectionError for a statistic or a truth that the question of the report does not allow."""
    refuse_unknown("statistic", asked.get("statistic", ""), report.statistics)
    refuse_unknown("truth", asked.get("truth", ""), report.truths)


def _comparisons(
    catalogue: Catalogue, observed: Observations, selection: Selection
) -> tuple[ModelComparison, ModelComparison]:
    """Of each cohort, and of all together. Where no cohort is asked about itself, people of all cohorts make one
    majority."""
    by_cohort = ModelComparison.of(observed)
    return by_cohort, ModelComparison.of(observed, pooled=True) if is_pooled(catalogue, selection) else by_cohort


def _without_an_answer(
    catalogue: Catalogue, observed: Observations, calls: Mapping[int, CallStatistics]
) -> list[tuple[int, ObservedRater]]:
    """Models that were asked and gave nothing readable: to leave them out would be to say that all is well."""
    there = {rater.pk for _place, rater in observed.models()}
    return [(NOWHERE, rater) for rater in observed_raters(catalogue.benchmark, sorted(set(calls) - there))]


def statistics_for(level: str) -> tuple[str, ...]:
    if level == "nominal":
        return ("accuracy",)
    return ("spearman", "pearson") if level == "ordinal" else ("pearson", "spearman")


class _ReportBuilder:
    """`comparisons`: of each cohort, and of all together."""

    def __init__(
        self, comparisons: tuple[ModelComparison, ModelComparison], selection: Selection, statistic: str, truth: str,
        cohorts: tuple[Cohort, ...],
    ) -> None:  # fmt: skip
        self.against, self.whole = comparisons
        self.wanted, self.statistic = selection.interval_spec, statistic
        self.selection = selection
        against = self.against
        work = len(against.observed.models()) * against.value.size
        if work > MOST:
            message = _(
                "There are too many models and ratings to show at once. Choose one campaign, cohort or concept."
            )
            raise SelectionError("campaign", message)
        self.too_many = statistic != "accuracy" and self.wanted.over != "none" and work > MOST_WITH_INTERVALS
        if self.too_many:
            self.wanted = replace(self.wanted, over="none")
        labels = {label: place for place, label in enumerate(against.observed.cohorts)}
        self.places = [labels.get(cohort.label, -1) for cohort in cohorts]
        self.right = against.truth(truth) if statistic == "accuracy" else against.means
        self.right_of_all = self.whole.truth(truth) if statistic == "accuracy" else self.whole.means
        self.n_tied = int(np.isnan(self.right_of_all).sum())
        self.ranks = ModelRanking([], np.zeros((0, 0)), 0, 0)
        self.n_untested = 0

    def lines(
        self, models: Sequence[tuple[int, ObservedRater]], calls: Mapping[int, CallStatistics]
    ) -> tuple[ModelRow, ...]:
        again = repeated_answers(self.selection)
        score_columns = [self.whole.scores(place) for place, _who in models]
        columns = [self._contribution(scores) for scores in score_columns]
        placed = [number for number, column in enumerate(columns) if np.isfinite(column).any()]
        table = np.column_stack([columns[number] for number in placed]) if placed else np.zeros((0, 0))
        self.ranks = rank_models(table, self.whole.item_of if placed else [])
        if self.ranks.n_permutations:
            bands = dict(zip(placed, self.ranks.bands, strict=True))
        else:
            bands, self.n_untested = {}, len(placed)
        return tuple(
            ModelRow(
                rater,
                *self._answered(calls.get(rater.pk, NOTHING), scores),
                self._overall(scores),
                self._image_wise(place),
                tuple(self._of_cohort(place, cohort) for cohort in self.places),
                bands.get(number),
                calls.get(rater.pk, NOTHING).ways,
                calls.get(rater.pk, NOTHING).covered,
                self._left_out(calls.get(rater.pk, NOTHING), scores),
                self_agreement(again[rater.pk].ratings, self._level, again[rater.pk].lost)
                if rater.pk in again
                else None,
                calls.get(rater.pk, NOTHING).samples,
                calls.get(rater.pk, NOTHING).incomplete,
            )
            for number, ((place, rater), scores) in enumerate(zip(models, score_columns, strict=True))
        )

    @property
    def _level(self) -> Level:
        level: Level = self.selection.level  # type: ignore[assignment]  # the page offers no other question
        return level

    def _answered(self, calls: CallStatistics, scores: Floats) -> tuple[Estimate, Estimate | None]:
        n, n_things = int(np.isfinite(scores).sum()), self.whole.n_things
        if not calls.known:
            return share_of(n, n_things, method="share answered"), None
        n_asked = n + int(calls.failed_mask(self.whole.unit_pks, scores).sum())
        answered = share_of(n, n_asked, method="share answered of those asked")
        return answered, share_of(n_asked, n_things, method="share asked")

    def _left_out(self, calls: CallStatistics, scores: Floats) -> MissingAnswers:
        right = self.right_of_all if self.statistic == "accuracy" else None
        return missing_answers(calls, self.whole.unit_pks, scores, right)

    def _contribution(self, scores: Floats) -> Floats:
        if self.statistic != "accuracy":
            return closeness(scores, self.right_of_all, ranks=self.statistic == "spearman")
        both = np.isfinite(scores) & np.isfinite(self.right_of_all)
        return np.where(both, scores == self.right_of_all, np.nan)

    def _overall(self, scores: Floats) -> Estimate:
        if self.statistic == "accuracy":
            everything = np.ones(scores.size, bool)
            return self._accuracy(self.whole, scores, self.right_of_all, everything, clustered=self.whole.repeated)
        return with_rater_means(scores, self.whole.ratings, self.kind, interval=self.wanted)

    def _of_cohort(self, model: int, cohort: int) -> Estimate:
        scores = self.against.scores(model)
        if self.statistic == "accuracy":
            of_cohort = self.against.cohort_of == cohort
            return self._accuracy(self.against, scores, self.right, of_cohort, clustered=False)
        return with_rater_means(scores, self.against.for_cohort(cohort), self.kind, interval=self.wanted)

    @property
    def kind(self) -> Kind:
        return "spearman" if self.statistic == "spearman" else "pearson"

    @staticmethod
    def _accuracy(
        against: ModelComparison, scores: Floats, right: Floats, among: Bools, *, clustered: bool
    ) -> Estimate:
        both = np.isfinite(scores) & np.isfinite(right) & among
        people = int(np.unique(against.rater[both[against.thing]]).size)
        clusters = against.item_of[both] if clustered else None
        return share((scores == right)[both], clusters, method="accuracy", n_raters=people)

    def _image_wise(self, model: int) -> Estimate | None:
        if self.statistic == "accuracy" or len(self.places) < FEW_COHORTS:
            return None
        estimate = image_wise(self.against.scored(model), interval=self.wanted)[0]
        n_rows = int(estimate.extras.get("n_rows") or 0)
        n_all = int(np.unique(self.against.item_of).size)  # also those that the model said nothing about
        return replace(estimate, extras={**estimate.extras, "n_all": n_all, "n_left_out": n_all - n_rows})
