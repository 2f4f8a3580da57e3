"""Figures of models beside people: how far they go together, by cohort and point by point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import heat_map, scatter
from evaluation.figures.drawing.axis import agreement_ticks
from evaluation.figures.estimate_text import (
    estimate_text,
    list_text,
    missing_reasons,
    number_columns,
    numbers,
    value_of,
)
from evaluation.figures.figure import Figure
from evaluation.figures.spec import FigureData, FigureSpec
from evaluation.metrics.association import Kind
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval
from evaluation.metrics.proportions import share
from evaluation.metrics.rater_means import with_rater_means
from evaluation.queries.observations import Observations, rater_label
from evaluation.reports.model_comparison import MAJORITY, ModelComparison
from evaluation.reports.models_report import MOST, MOST_WITH_INTERVALS
from evaluation.tables.table import MissingData

CLOUDS = 12  # panels of a scatter; more models are in the heat map


def cohorts_by_models(ground: FigureData) -> Figure:
    """The numbers of the page of models: correlation with the cohort's mean; without an order, accuracy against the
    code that most of its people gave."""
    against = ModelComparison.of(ground.everybody)
    models, cohorts = _models(against.observed), _cohorts(ground, against)
    ordered = against.observed.level != "nominal"
    wanted, fewer = _affordable_interval(against, len(models), ground)
    estimates = [[_of_cohort(against, place, model, wanted) for model, _name in models] for place, _cohort in cohorts]
    low = agreement_ticks(value_of(e) for row in estimates for e in row)[0] if ordered else 0.0
    measure = _measure(against.observed.level)
    drawing = heat_map.HeatMap(
        tuple(name for _place, name in cohorts),
        tuple(name for _place, name in models),
        tuple(tuple(value_of(e) for e in row) for row in estimates),
        low,
        1.0,
        measure,
        _("No value: see the table"),
        _("n: items of each value"),
        _("n = {n} where none is shown"),
    )
    if all(e.value is None for row in estimates for e in row):
        raise missing_reasons([e for row in estimates for e in row])
    flat = [
        (cohort, model, e)
        for (_place, cohort), row in zip(cohorts, estimates, strict=True)
        for (_model, model), e in zip(models, row, strict=True)
    ]
    return Figure(
        key="cohorts-models",
        title=_("Models and people, by cohort"),
        alt=list_text([(f"{cohort}, {model}", estimate_text(e)) for cohort, model, e in flat], f"{measure}:"),
        columns=(_("cohort"), _("model"), *number_columns()),
        rows=tuple((cohort, model, *numbers(e)) for cohort, model, e in flat),
        draw=lambda width: heat_map.draw(drawing, width),
        words=(*fewer, *ground.words()),
    )


def _affordable_interval(against: ModelComparison, models: int, ground: FigureData) -> tuple[Interval, list[str]]:
    """The interval, none where there is too much for it, as on the page of models; and what is said of it. Raises
    MissingData where there is too much for numbers alone."""
    work, wanted = models * against.value.size, ground.asked.interval_spec
    if work > MOST:
        raise MissingData(
            _("There are too many models and ratings to show at once. Choose one campaign, cohort or concept.")
        )
    if work <= MOST_WITH_INTERVALS or wanted.over == "none":
        return wanted, []
    note = _("Without intervals: there are too many models and ratings for them. Choose one campaign or cohort.")
    return replace(wanted, over="none"), [note]


def _models(seen: Observations) -> list[tuple[int, str]]:
    models = [(place, rater_label(who)) for place, who in seen.models()]
    if not models:
        raise MissingData(_("No model has answered this question yet. Import its answers as those of a model."))
    return models


def _cohorts(ground: FigureData, against: ModelComparison) -> list[tuple[int, str]]:
    """Places and names of the cohorts whose people answered, by name."""
    names = {cohort.label: cohort.name for cohort in ground.catalogue.cohorts.values()}
    cohort_places = np.unique(against.cohort).tolist()
    if not cohort_places:
        raise MissingData(_("No person of a cohort has answered yet."))
    labels = against.observed.cohorts
    return sorted(
        ((place, names.get(labels[place], labels[place])) for place in cohort_places), key=lambda pair: pair[1]
    )


def _measure(level: str) -> str:
    if level == "nominal":
        return _("Accuracy against the majority of each cohort")
    if level == "ordinal":
        return _("Spearman's rho with the cohort mean")
    return _("Pearson's r with the cohort mean")


def _of_cohort(against: ModelComparison, cohort: int, model: int, wanted: Interval) -> Estimate:
    scores, level = against.scores(model), against.observed.level
    if level != "nominal":
        kind: Kind = "spearman" if level == "ordinal" else "pearson"
        return with_rater_means(scores, against.for_cohort(cohort), kind, interval=wanted)
    right = against.truth(MAJORITY)
    both = np.isfinite(scores) & np.isfinite(right) & (against.cohort_of == cohort)
    people = int(np.unique(against.rater[both[against.thing]]).size)
    return share((scores == right)[both], method="accuracy", n_raters=people)


def point_by_point(ground: FigureData) -> Figure:
    """Every unit of a cohort: the mean of its people across, the model's score upwards."""
    against = ModelComparison.of(ground.everybody)
    observations = against.observed
    if observations.level == "nominal":
        raise MissingData(_("Points need codes with an order; this question has none."))
    models, _there = _models(observations)[:CLOUDS], _cohorts(ground, against)
    wanted, fewer = _affordable_interval(against, len(models), ground)
    mean, names = against.means, _names(against)
    clouds, rows, correlations = [], [], []
    for place, name in models:
        score = against.scores(place)
        estimate = with_rater_means(score, against.ratings, "pearson", interval=wanted)
        there = np.flatnonzero(np.isfinite(score)).tolist()
        dots = tuple(scatter.Dot(names[i], float(mean[i]), float(score[i])) for i in there)
        r = scatter.correlation_words("r", value_of(estimate))
        clouds.append(scatter.Cloud(name, dots, r, scatter.fit_line(dots)))
        rows += [(name, d.name, d.x, d.y) for d in dots]
        correlations.append(
            (name, "r = " + estimate_text(estimate) if estimate.value is not None else estimate_text(estimate))
        )
    low, high = float(np.nanmin(observations.value)), float(np.nanmax(observations.value))
    drawing = scatter.Scatter(tuple(clouds), _("Mean of people"), _("Model"), low, high, diagonal=True)
    return Figure(
        key="models-people",
        title=_("Models against people"),
        alt=list_text(correlations, _("Model's score against the mean of people, Pearson:")),
        columns=(_("model"), _("item"), _("mean of people"), _("model's score")),
        rows=tuple(rows),
        draw=lambda width: scatter.draw(drawing, width),
        words=(
            _("Each point is one item as one cohort rated it. A larger point is several at the same position."),
            _("Dotted: y = x. Dashed: least squares, of four points or more."),
            _("Of more than %(few)s points, the %(n)s furthest from y = x have their names; all are in the table.")
            % {"few": scatter.FEW, "n": scatter.NAMED},
            *fewer,
            *ground.words(),
        ),
    )


def _names(against: ModelComparison) -> list[str]:
    """Of each thing: the item, and whom it was shown to where there are several."""
    observations = against.observed
    several = len(observations.cohorts) > 1
    return [
        f"{observations.items[item].key}, {observations.cohorts[cohort]}" if several else observations.items[item].key
        for item, cohort in zip(against.item_of.tolist(), against.cohort_of.tolist(), strict=True)
    ]


MODELS = (
    FigureSpec(
        "cohorts-models",
        "",
        gettext_lazy("Models and people, by cohort"),
        gettext_lazy("Answers of people and of models to the same question."),
        cohorts_by_models,
    ),
    FigureSpec(
        "models-people",
        "",
        gettext_lazy("Models against people"),
        gettext_lazy("Answers of people and of models on an ordered scale."),
        point_by_point,
    ),
)
