"""Figures of models beside people: how far they go together, by cohort and point by point."""

from __future__ import annotations

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.figures.drawing import heat, scatter
from evaluation.figures.drawing.axis import agreement_ticks
from evaluation.figures.figure import Figure
from evaluation.figures.general import by_cohort
from evaluation.figures.said import in_words, listed, model_name, number_columns, numbers, value_of
from evaluation.figures.spec import FigureSpec, Ground
from evaluation.metrics.counts import Floats, Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share
from evaluation.metrics.rater_means import with_rater_means
from evaluation.observations import Observed
from evaluation.tables.spec import Missing

CLOUDS = 12  # panels of a scatter; more models are in the heat map


def cohorts_by_models(ground: Ground) -> Figure:
    """Correlation with the mean of the cohort's people; without an order, the share of people's answers given too."""
    seen = ground.everybody
    models = _models(seen)
    cohorts = by_cohort(ground, seen.people)
    if not cohorts:
        raise Missing(_("No person of a cohort has answered yet."))
    ordered = seen.level != "nominal"
    of = _correlation if ordered else _same
    found = [[of(part, seen.of_rater(place), ground) for place, _name in models] for _cohort, part in cohorts]
    every = [value_of(e) for row in found for e in row]
    low = agreement_ticks(every)[0] if ordered else 0.0
    measure = _("Spearman's rho with the mean of the cohort") if ordered else _("Share of people's answers given too")
    drawing = heat.HeatMap(
        tuple(name for name, _part in cohorts),
        tuple(name for _place, name in models),
        tuple(tuple(value_of(e) for e in row) for row in found),
        low,
        1.0,
        measure,
        _("No value; the reason is in the table"),
    )
    flat = [
        (cohort, model, e)
        for (cohort, _part), row in zip(cohorts, found, strict=True)
        for (_place, model), e in zip(models, row, strict=True)
    ]
    return Figure(
        key="cohorts-models",
        title=_("Models and people, by cohort"),
        alt=listed([(f"{cohort}, {model}", in_words(e)) for cohort, model, e in flat], f"{measure}:"),
        columns=(_("cohort"), _("model"), *number_columns()),
        rows=tuple((cohort, model, *numbers(e)) for cohort, model, e in flat),
        draw=lambda width: heat.draw(drawing, width),
        words=ground.words(),
    )


def _models(seen: Observed) -> list[tuple[int, str]]:
    models = [(place, model_name(who)) for place, who in seen.models()]
    if not models:
        raise Missing(_("No model has answered this question yet. Import its answers as those of a model."))
    return models


def _correlation(people: Observed, model: Observed, ground: Ground) -> Estimate:
    ratings = people.ratings
    units = np.unique(people.unit)
    return with_rater_means(_scores(model, units), ratings, "spearman", interval=ground.interval)


def _scores(model: Observed, units: Ints) -> Floats:
    """(units,) the model's scores of these units, NaN where it gave none."""
    score: Floats = np.full(units.size, np.nan)
    place = np.searchsorted(units, model.unit)
    there = (place < units.size) & (units[np.minimum(place, units.size - 1)] == model.unit)
    score[place[there]] = model.value[there]
    return score


def _same(people: Observed, model: Observed, ground: Ground) -> Estimate:
    """Over people's answers to units the model answered too; whole units are drawn for the interval."""
    said = dict(zip(model.unit.tolist(), model.code.tolist(), strict=True))
    pairs = [
        (code == said[unit], unit)
        for unit, code in zip(people.unit.tolist(), people.code.tolist(), strict=True)
        if unit in said
    ]
    same, units = np.array([hit for hit, _unit in pairs], bool), np.array([unit for _hit, unit in pairs], np.int64)
    raters = int(np.unique(people.rater).size)
    return share(same, units, method="share of people's answers that the model gave too", n_raters=raters)


def point_by_point(ground: Ground) -> Figure:
    """Every unit: the mean of its people across, the model's score upwards."""
    seen = ground.everybody
    if seen.level == "nominal":
        raise Missing(_("Points need codes with an order; this question has none."))
    models, people = _models(seen)[:CLOUDS], seen.people
    if not people.n:
        raise Missing(_("No person has answered yet."))
    units, unit = np.unique(people.unit, return_inverse=True)
    mean = np.bincount(unit, people.value) / np.bincount(unit)
    names = _unit_names(seen, units)
    clouds, rows, found = [], [], []
    for place, name in models:
        score = _scores(seen.of_rater(place), units)
        estimate = with_rater_means(score, people.ratings, "pearson", interval=ground.interval)
        there = np.flatnonzero(np.isfinite(score)).tolist()
        dots = tuple(scatter.Dot(names[i], float(mean[i]), float(score[i])) for i in there)
        r = scatter.correlation_words("r", value_of(estimate))
        clouds.append(scatter.Cloud(name, dots, r, scatter.least_squares(dots)))
        rows += [(name, d.name, d.x, d.y) for d in dots]
        found.append((name, "r = " + in_words(estimate) if estimate.value is not None else in_words(estimate)))
    low, high = float(np.nanmin(seen.value)), float(np.nanmax(seen.value))
    drawing = scatter.Scatter(tuple(clouds), _("Mean of people"), _("Model"), low, high, diagonal=True)
    return Figure(
        key="models-people",
        title=_("Models against people"),
        alt=listed(found, _("Model's score against the mean of people, Pearson:")),
        columns=(_("model"), _("unit"), _("mean of people"), _("model's score")),
        rows=tuple(rows),
        draw=lambda width: scatter.draw(drawing, width),
        words=(
            _("A point is a unit; larger points are several in one place. Dotted: y = x. Dashed: least squares."),
            *ground.words(),
        ),
    )


def _unit_names(seen: Observed, units: Ints) -> list[str]:
    width = max(len(seen.targets), 1)
    several = len(seen.targets) > 1
    named = []
    for unit in units.tolist():
        thing, target = seen.items[unit // width], seen.targets[unit % width] if seen.targets else ""
        named.append(f"{thing.key}, {target}" if several and target else thing.key)
    return named


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
