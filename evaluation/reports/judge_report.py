"""A model as one more annotator, cohort by cohort: what it does to agreement, where it stands among the people, and how
far several judges err together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

import numpy as np
from django.utils.translation import gettext as _

from annotation.queries.answers import watermark
from evaluation.metrics.alpha import Level
from evaluation.metrics.association import FISHER
from evaluation.metrics.counts import Floats, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.judge_errors import effective_panel, error_correlation, least_panel, mistake_correlation
from evaluation.metrics.judges import (
    AgainstMajority,
    WithJudge,
    against_majority,
    alpha_with_judge,
    judge_position,
    select_ratings,
)
from evaluation.metrics.resampling import LOGIT, mean
from evaluation.queries.call_statistics import CallStatistics, MissingAnswers, missing_answers
from evaluation.queries.call_statistics import call_statistics as asked_of
from evaluation.queries.observations import Observations, ObservedRater, observe
from evaluation.reports.model_comparison import MAJORITY, ModelComparison
from evaluation.selections.catalogue import Catalogue
from evaluation.selections.selection import Selection, SelectionError, refuse_unknown
from people.models import Cohort
from predictions.pages.variant_names import VariantNames
from predictions.queries.code_mass import CodeMass

NO_INTERVAL = Interval(over="none")


@dataclass(frozen=True)
class Standing:
    """The judge's value, each person's, their mean, and the share of the people it does at least as well as (None where
    that is not asked: agreement with a majority)."""

    judge: Estimate
    people: tuple[Estimate, ...]
    ceiling: Estimate
    at_least_as_good: Estimate | None


@dataclass(frozen=True)
class JudgeRow:
    """`n_unanswered`: units that people rated and the judge did not. `left_out`: those of them whose call ended without
    a value, and what the agreement with the majority would be were all of them wrong or right; `n_unasked`: those it
    was not asked about, None where nobody knows."""

    cohort: Cohort
    alpha: WithJudge
    standing: Standing
    majority: AgainstMajority | None
    n_unanswered: int
    n_unasked: int | None
    left_out: MissingAnswers


@dataclass(frozen=True)
class JudgeReport:
    """`panel`: correlation of errors and effective number of all judges, where there are at least two. `mean_of`: whom
    the judge is the mean of, where several are averaged: such a mean has no code, and agrees with no majority."""

    catalogue: Catalogue = field(repr=False)
    selection: Selection
    judges: tuple[tuple[int, ObservedRater], ...]  # by the id of the rater
    judge: ObservedRater | None
    mean_of: tuple[ObservedRater, ...]
    lines: tuple[JudgeRow, ...]
    n_things: int  # that people rated
    panel: tuple[Estimate, Estimate] | None
    ways: Mapping[str, int]
    covered: CodeMass | None
    watermark: int
    computed_at: datetime

    @cached_property
    def variants(self) -> VariantNames:
        return VariantNames(self.catalogue.benchmark)

    def variant_of(self, who: ObservedRater) -> str:
        """How the judge was asked, as pages call it; files have its key."""
        return self.variants.name_of(who.setting, self.selection.stage)


def judge_report(catalogue: Catalogue, selection: Selection, asked: Sequence[str], at: datetime) -> JudgeReport:
    """`asked`: ids of model raters; of several, the mean judges; of none, the first by name. `selection` counts both
    kinds. Raises SelectionError where one of them said nothing here, or where codes have no mean."""
    mark = watermark(catalogue.benchmark)
    observed = observe(selection)
    models = observed.models()
    judges = tuple((who.pk, who) for _place, who in models)
    against, calls = ModelComparison.of(observed), asked_of(selection)
    seat = _judge_scores(against, asked, models, selection, calls)
    lines: tuple[JudgeRow, ...] = ()
    if seat is not None:
        places = {label: place for place, label in enumerate(observed.cohorts)}
        cohorts = [catalogue.cohorts[pk] for pk in selection.cohorts]
        lines = tuple(_line(against, seat, cohort, places.get(cohort.label, -1), selection) for cohort in cohorts)
    panel = _panel(against, observed, selection) if len(models) > 1 else None
    rater, of, calls_of = (seat.rater, seat.of, seat.calls) if seat else (None, (), CallStatistics())
    return JudgeReport(
        catalogue, selection, judges, rater, of, lines, against.n_things, panel, calls_of.ways, calls_of.covered,
        mark, at,
    )  # fmt: skip


@dataclass(frozen=True)
class _JudgeScores:
    """Who judges: one model rater, or the mean `of` several, computed here: there is no such rater. `number`: in the
    ratings; `scores`: of every thing."""

    rater: ObservedRater
    of: tuple[ObservedRater, ...]
    number: int
    scores: Floats
    calls: CallStatistics


def _judge_scores(
    against: ModelComparison,
    asked: Sequence[str],
    models: Sequence[tuple[int, ObservedRater]],
    selection: Selection,
    calls: Mapping[int, CallStatistics],
) -> _JudgeScores | None:
    for one in asked:
        refuse_unknown("judge", one, [str(who.pk) for _place, who in models])
    chosen = [pair for pair in models if str(pair[1].pk) in asked] or list(models[:1])
    if not chosen:
        return None
    if len(chosen) == 1:
        [(place, rater)] = chosen
        return _JudgeScores(rater, (), place, against.scores(place), calls.get(rater.pk, CallStatistics()))
    if selection.level == "nominal":
        raise SelectionError("judge", _("Codes without an order have no mean. Choose one judge."))
    several = tuple(who for _place, who in chosen)
    name = " + ".join(f"{who.name}, {who.setting}" if who.setting else who.name for who in several)
    mean_of = ObservedRater(0, several[0].kind, name)
    scores = against.mean_scores([place for place, _who in chosen])
    return _JudgeScores(mean_of, several, len(against.observed.raters), scores, _of_all(several, calls))


def _of_all(several: Sequence[ObservedRater], calls: Mapping[int, CallStatistics]) -> CallStatistics:
    """A unit that one of them failed at has no mean."""
    parts = [calls.get(rater.pk, CallStatistics()) for rater in several]
    ways: Counter[str] = Counter()
    for part in parts:
        ways.update(part.ways)
    failed = {unit: state for part in parts for unit, state in part.failed.items()}
    return CallStatistics(dict(ways), failed, known=all(part.known for part in parts))


def _line(against: ModelComparison, seat: _JudgeScores, cohort: Cohort, place: int, selection: Selection) -> JudgeRow:
    everybody, model = _renumber(against.with_scores([(seat.number, seat.scores)], place), seat.number)
    majority = None if seat.of else against_majority(everybody, model)
    in_cohort = against.cohort_of == place
    right = None if seat.of else against.truth(MAJORITY)[in_cohort]
    gone = missing_answers(seat.calls, against.unit_pks[in_cohort], seat.scores[in_cohort], right)
    n_unanswered = int(np.isnan(seat.scores[in_cohort]).sum())
    return JudgeRow(
        cohort,
        alpha_with_judge(everybody, model, _level(selection), interval=selection.interval_spec),
        _judge_standing(everybody, model, majority, selection),
        majority,
        n_unanswered,
        n_unanswered - gone.n if seat.calls.known else None,
        gone,
    )


def _renumber(ratings: Ratings, model: int) -> tuple[Ratings, int]:
    """Only the units and raters that are there, and the model, whether it is or not; and the model's new number."""
    units, unit = np.unique(ratings.unit, return_inverse=True)
    raters = np.unique(np.append(ratings.rater, model))
    rater = np.searchsorted(raters, ratings.rater)
    made = Ratings(unit, rater, ratings.value, int(units.size), int(raters.size))
    return made, int(np.searchsorted(raters, model))


def _level(selection: Selection) -> Level:
    level: Level = selection.level  # type: ignore[assignment]  # the page offers no other question
    return level


def _judge_standing(everybody: Ratings, model: int, majority: AgainstMajority | None, selection: Selection) -> Standing:
    """By order where the codes have one, else by how often the majority of the others says the same."""
    people = select_ratings(everybody, everybody.rater != model)
    are_shared = bool((np.bincount(people.unit) > 1).any())
    if majority is not None and selection.level == "nominal":
        each = tuple(against_majority(people, person).agreement for person in range(people.n_raters))
        return Standing(majority.agreement, each, _mean_of(each, nominal=True, are_shared=are_shared), None)
    position = judge_position(
        everybody, model, interval=NO_INTERVAL if selection.interval == "none" else Interval(over="units")
    )
    each = tuple(estimate for _number, estimate in position.people)
    ceiling = _mean_of(each, nominal=False, are_shared=are_shared)
    return Standing(position.judge, each, ceiling, position.at_least_as_good)


def _mean_of(people: tuple[Estimate, ...], *, nominal: bool, are_shared: bool) -> Estimate:
    """The human ceiling: how a person agrees with the other people, on average; other people would give another.
    `are_shared`: whether any unit was rated by two of them."""
    values: Floats = np.array([one.value for one in people if one.value is not None], np.float64)
    units = max((one.n_units for one in people), default=0)
    estimate = mean(values, np.arange(values.size), scale=LOGIT if nominal else FISHER, method="mean of the people")
    few = estimate.interval_reason == "too_few_clusters_for_interval"
    estimate = replace(estimate, n_units=units, n_raters=int(values.size), resampled="raters")
    if estimate.value is None:
        reasons = [one.reason for one in people if one.reason] if are_shared else ["no_pairable_units"]
        return replace(
            estimate, reason=reasons[0] if len(people) > 1 and reasons else "too_few_raters", n_raters=len(people)
        )
    return replace(estimate, interval_reason="too_few_raters_for_interval") if few else estimate


def _panel(against: ModelComparison, observed: Observations, selection: Selection) -> tuple[Estimate, Estimate]:
    """Over the things of all chosen cohorts. An error is the score less the people's mean, corrected for its noise; for
    codes without an order being wrong, where both numbers are bounds."""
    nominal, wanted = selection.level == "nominal", selection.interval_spec
    truth = against.truth("people") if nominal else against.means
    things, judges, values = [], [], []
    models = observed.models()
    for number, (place, _who) in enumerate(models):
        score = against.scores(place)
        both = np.flatnonzero(np.isfinite(score) & np.isfinite(truth))
        things.append(both)
        judges.append(np.full(both.size, number))
        values.append((score[both] != truth[both]).astype(np.float64) if nominal else score[both])
    thing, judge, value = (np.concatenate(part) for part in (things, judges, values))
    model_ratings = Ratings(thing, judge, value, against.n_things, len(models))
    if nominal:
        return mistake_correlation(model_ratings, interval=wanted), least_panel(model_ratings, interval=wanted)
    people = against.ratings
    return error_correlation(people, model_ratings, interval=wanted), effective_panel(
        people, model_ratings, interval=wanted
    )
