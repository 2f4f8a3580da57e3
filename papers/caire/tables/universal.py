"""CAIRE's tables of its universal set; those of the specific set are in `caire_specific.py`.

Cohorts are never resampled within a number; an average over cohorts takes the cohorts as drawn. The paper's ratings are
not public, so what it prints stands beside ours without being a target.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from evaluation.metrics.alpha import Level, alpha
from evaluation.metrics.averages import mean_over_countries
from evaluation.metrics.correlation import mean_pairwise_pearson, mean_pairwise_spearman
from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.metrics.distributions import coverage, pairwise_distance
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.model_human import (
    RaterCorrelations,
    concept_averaged,
    global_averaged,
    image_wise,
    per_annotator,
    per_cohort,
)
from evaluation.queries.observations import Observations, ObservedRater
from evaluation.rendering.report import Cell, PrintedValue, Rounding, Row, Words
from evaluation.tables.known_models import about_models
from evaluation.tables.model_scores import (
    RatedAndScored,
    by_condition,
    conditions_of,
    join_ratings_and_scores,
    model_label,
    target_positions,
)
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.caire.printed_values import PRINTED, printed
from papers.caire.tables.specific import SPECIFIC_TABLES

STAGE = FIELD = "relevance"
NEEDS = gettext_lazy("Ratings by people of several countries, and scores of a model for the same pictures.")
NO_MODELS = gettext_lazy("No model has scored these pictures yet. Import its scores as answers of a model.")
NO_PEOPLE = gettext_lazy("These pictures have no ratings yet. Open a campaign, or import ratings.")
BLOCKS: dict[str, Words] = {
    "cosine": gettext_lazy("Vision-language encoders (baseline 1)"),
    "no_retrieval": gettext_lazy("Vision-language models (baseline 2)"),
    "caire": gettext_lazy("CAIRE"),
}
OTHER_PEOPLE = gettext_lazy("The paper's ratings are not public; this benchmark uses ratings of other people.")
NOT_ITS_ROW = gettext_lazy("The mean of the paper's own row is %(mean)s.")
DISTANCES: dict[str, Words] = {
    "ordinal": gettext_lazy("ordinal distance"),
    "interval": gettext_lazy("interval distance"),
    "nominal": gettext_lazy("nominal distance"),
}
ALPHA = TableOption("alpha", gettext_lazy("Krippendorff's alpha"), DISTANCES)
WEIGHTED = TableOption(
    "weighted", gettext_lazy("Weighted alpha"), {key: DISTANCES[key] for key in ("interval", "ordinal", "nominal")}
)
READING = TableOption(
    "reading",
    gettext_lazy("Correlated"),
    {
        "image": gettext_lazy("over the countries, for each picture; mean over the pictures made for a country"),
        "country": gettext_lazy("over the pictures, for each country"),
    },
)
ONLY_THESE = gettext_lazy(
    "Intervals within a country or concept leave out pictures and people in turn; the countries stay, so they speak of "
    "these countries only."
)
OF_COHORTS = gettext_lazy(
    "The average is the plain mean over the countries that have a value. Interval over countries."
)
LEFT_OUT = gettext_lazy(
    "A picture without both numbers for three countries, or with one side the same throughout, has no correlation and "
    "is left out; n counts the pictures that are in."
)
ALPHAS, CORRELATIONS = Scale("log(1 - x)"), Scale("Fisher z")


def block_of(rater: ObservedRater) -> str:
    return rater.setting if rater.setting in BLOCKS else "caire"


def _models(observations: Observations) -> list[tuple[int, ObservedRater, str]]:
    """Place, model and block, in the paper's order of blocks. Raises MissingData without any."""
    order = list(BLOCKS)
    models = [(place, rater, block_of(rater)) for place, rater in observations.models()]
    if not models:
        raise MissingData(NO_MODELS)
    return sorted(models, key=lambda one: order.index(one[2]))


def _name(rater: ObservedRater) -> str:
    return model_label(rater, silent=("cosine", "no_retrieval"))


def _all_observations(inputs: TableInputs) -> Observations:
    observations = inputs.observed(STAGE, FIELD)
    if not observations.people.n:
        raise MissingData(NO_PEOPLE, by_people=True)
    return observations


def build_agreement(inputs: TableInputs) -> Table:
    """Table 14: agreement within each country."""
    observations = inputs.observed(STAGE, FIELD, ("person",))
    first, second = inputs.chosen["alpha"], inputs.chosen["weighted"]
    measures: list[tuple[str, str, Callable[[Ratings, Interval], Estimate]]] = [
        ("Kripp Alpha", _("Krippendorff's alpha, %(distance)s") % {"distance": DISTANCES[first]}, _alpha(first)),
        ("Weighted Alpha", _("Weighted alpha, %(distance)s") % {"distance": DISTANCES[second]}, _alpha(second)),
        ("Avg Spearman", _("Mean pairwise Spearman"), lambda r, i: mean_pairwise_spearman(r, interval=i)),
        ("Avg Pearson", _("Mean pairwise Pearson"), lambda r, i: mean_pairwise_pearson(r, interval=i)),
    ]
    parts = list(by_condition(inputs, observations))
    targets = target_positions(observations)
    tables = {(at, key): part.where(part.target == at).ratings for at, _label in targets for key, _title, part in parts}
    rows = []
    for theirs, label, measure in measures:
        cells, means = [], []
        scale = ALPHAS if "Alpha" in theirs else CORRELATIONS
        for key, _title, _part in parts:
            estimates = [measure(tables[at, key], inputs.interval) for at, _label in targets]
            means.append(
                _cell(mean_over_countries(estimates, scale), "table_14", key, 100, metric=theirs, country="Avg.")
            )
            cells.append([
                _cell(estimate, "table_14", key, 100, metric=theirs, country=country)
                for estimate, (_at, country) in zip(estimates, targets, strict=True)
            ])  # fmt: skip
        rows.append(Row(label, (*_interleave(cells), *means)))
    words: list[Words] = [
        _("Times 100."),
        _("The paper prints two alphas without naming their distances."),
        OF_COHORTS,
    ]
    return inputs.table(corner=_("Measure"), columns=_columns(inputs, observations), rows=rows, words=words)


def _alpha(distance: str) -> Callable[[Ratings, Interval], Estimate]:
    level: Level = "nominal" if distance == "nominal" else "ordinal" if distance == "ordinal" else "interval"
    return lambda ratings, interval: alpha(ratings, level, interval=interval)


def _interleave(by_condition: Sequence[Sequence[Cell]]) -> list[Cell]:
    """Country by country, each with its conditions."""
    return [cell for country in zip(*by_condition, strict=True) for cell in country]


def _columns(inputs: TableInputs, observations: Observations) -> list[Words]:
    names = [name for _key, name in conditions_of(inputs, observations)]
    return [
        f"{one}, {name}"
        for one in (*(label for _place, label in target_positions(observations)), _("Average"))
        for name in names
    ]


def _cell(
    estimate: Estimate, table: str, column: str, scale: float = 1, decimals: int = 0, known: Words = "", **where: str
) -> Cell:
    theirs: PrintedValue | None = printed(table, column, known or OTHER_PEOPLE, **where)
    return Cell(estimate, rounding=Rounding(decimals, scale), printed=theirs)


def build_by_country(inputs: TableInputs) -> Table:
    """Table 2: a model and people, by the country a picture was made for."""
    observations = _all_observations(inputs)
    parts = list(by_condition(inputs, observations))
    targets = target_positions(observations)
    rows = []
    for place, rater, block in _models(observations):
        cells, means = [], []
        for key, _title, part in parts:
            estimates = _by_place(
                inputs, join_ratings_and_scores(part.people, part.of_rater(place)), [label for _place, label in targets]
            )
            where = {"block": block, "model": rater.name}
            cells.append([
                _cell(estimate, "table_2", key, 1, 2, country=label, **where)
                for estimate, (_place, label) in zip(estimates, targets, strict=True)
            ])  # fmt: skip
            mean = PRINTED.in_text("row_mean", f"{rater.name}, {key}") if block != "caire" else None
            known = str(NOT_ITS_ROW) % {"mean": mean.text} if mean else ""
            means.append(
                _cell(
                    mean_over_countries(estimates, CORRELATIONS),
                    "table_2",
                    key,
                    1,
                    2,
                    known,
                    country="Avg.",
                    **where,
                )
            )
        rows.append(Row(_name(rater), (*_interleave(cells), *means), str(BLOCKS[block])))
    return inputs.table(
        corner=_("Model"), columns=_columns(inputs, observations), rows=rows, words=[LEFT_OUT, ONLY_THESE, OF_COHORTS]
    )


def _by_place(inputs: TableInputs, joined: RatedAndScored, labels: Sequence[str]) -> list[Estimate]:
    """For each country: over the pictures made for it, or over all pictures as its people see them."""
    if inputs.chosen["reading"] == "country":
        by_target = per_cohort(joined.scored, interval=inputs.interval)
        named = {joined.seen.targets[place]: estimate for place, estimate in by_target.items()}
    else:
        number, names = joined.of("origin")
        named = _of_blocks(joined, number, names, inputs.interval)
    return [named.get(label) or _undefined_estimate("Pearson") for label in labels]


def _of_blocks(
    rated_and_scored: RatedAndScored, number: Ints, names: Sequence[str], interval: Interval
) -> dict[str, Estimate]:
    estimates = (
        image_wise(rated_and_scored.scored, number, interval=interval) if rated_and_scored.scored.image.size else []
    )
    return dict(zip(names, estimates, strict=False))


def _undefined_estimate(method: str) -> Estimate:
    return Estimate.undefined(reason="no_ratings", method=method)


def build_by_concept(inputs: TableInputs) -> Table:
    """Table 15: image-wise, by concept."""
    observations = _all_observations(inputs)
    models, parts = _models(observations), list(by_condition(inputs, observations))
    concepts = sorted({item.concept for item in observations.items})
    estimates: dict[tuple[int, str], dict[str, Estimate]] = {}
    for place, _who, _block in models:
        for key, _title, part in parts:
            rated_and_scored = join_ratings_and_scores(part.people, part.of_rater(place))
            estimates[place, key] = _of_blocks(rated_and_scored, *rated_and_scored.of("concept"), inputs.interval)
    rows = []
    for concept in concepts:
        cells = [
            _cell(
                estimates[place, key].get(concept) or _undefined_estimate("image-wise Pearson"), "table_15", key, 100,
                concept=concept, model=rater.name if block == "caire" else "",
            )
            for place, rater, block in models
            for key, _title, _part in parts
        ]  # fmt: skip
        rows.append(Row(concept, tuple(cells)))
    columns: list[Words] = [
        f"{_name(rater)}, {BLOCKS[block]}, {title}" for _place, rater, block in models for _key, title, _part in parts
    ]
    return inputs.table(corner=_("Concept"), columns=columns, rows=rows, words=[_("Times 100."), LEFT_OUT, ONLY_THESE])


def build_averaged(inputs: TableInputs) -> Table:
    """Table 16: averaged first, correlated then."""
    observations = _all_observations(inputs)
    parts = list(by_condition(inputs, observations))
    rows = []
    for place, rater, block in _models(observations):
        cells = []
        for name in ("concept", "global"):
            for key, _title, part in parts:
                joined = join_ratings_and_scores(part.people, part.of_rater(place))
                estimate = (
                    concept_averaged(joined.scored, joined.of("concept")[0], interval=inputs.interval)
                    if name == "concept"
                    else global_averaged(joined.scored, interval=inputs.interval)
                )
                cells.append(_cell(estimate, "table_16", f"{name}_{key}", 100, 1, block=block, model=rater.name))
        rows.append(Row(_name(rater), tuple(cells), str(BLOCKS[block])))
    heads = (_("Averaged by concept"), _("Averaged over all pictures"))
    columns: list[Words] = [f"{head}, {title}" for head in heads for _key, title, _part in parts]
    words: list[Words] = [
        _("Times 100."),
        _("Our reading: each country's scores and ratings are averaged over pictures, then correlated over countries."),
        ONLY_THESE,
    ]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


STATISTICS: dict[str, Words] = {
    "mean": gettext_lazy("Mean"),
    "most": gettext_lazy("Largest"),
    "least": gettext_lazy("Smallest"),
    "median": gettext_lazy("Median"),
    "deviation": gettext_lazy("Standard deviation"),
    "average": gettext_lazy("With the average"),
}


def build_by_annotator(inputs: TableInputs) -> Table:
    """Table 17: a model with each annotator of a country, and with their average; over pictures."""
    observations = _all_observations(inputs)
    parts = list(by_condition(inputs, observations))
    rows = []
    for place, rater, block in _models(observations):
        each: dict[str, dict[int, RaterCorrelations]] = {}
        average: dict[str, dict[int, Estimate]] = {}
        for key, _title, part in parts:
            scored = join_ratings_and_scores(part.people, part.of_rater(place)).scored
            each[key] = per_annotator(scored, interval=inputs.interval)
            average[key] = per_cohort(scored, interval=inputs.interval)
        theirs = "table_17" if (rater.name, block) == ("Qwen2.5-VL-7B-Ins.", "caire") else "table_16"
        for target, label in target_positions(observations):
            cells = [
                _cell(_statistic(name, each[key], average[key], target), theirs, f"{name}_{key}", 100, country=label)
                for name in STATISTICS
                for key, _title, _part in parts
            ]
            rows.append(Row(label, tuple(cells), f"{_name(rater)}, {BLOCKS[block]}"))
    columns: list[Words] = [f"{STATISTICS[name]}, {title}" for name in STATISTICS for _key, title, _part in parts]
    words: list[Words] = [
        _("Times 100. Pearson over pictures; the standard deviation divides by one less than the annotators."),
        ONLY_THESE,
    ]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


def _statistic(name: str, each: dict[int, RaterCorrelations], average: dict[int, Estimate], target: int) -> Estimate:
    if name == "average":
        return average.get(target) or _undefined_estimate("Pearson")
    estimate: Estimate = getattr(each[target], name) if target in each else _undefined_estimate("Pearson")
    return estimate


def build_spread(inputs: TableInputs) -> Table:
    """Not in the paper: how varied a set of pictures is, by its scores over the countries."""
    observations = _all_observations(inputs)
    parts = list(by_condition(inputs, observations))
    threshold = float(inputs.chosen["threshold"])
    raters = [(_("People, mean"), observations.people)] + [
        (f"{_name(rater)}, {BLOCKS[block]}", observations.of_rater(place))
        for place, rater, block in _models(observations)
    ]
    rows = []
    for label, rows_of in raters:
        tables = [_grid(rows_of.where(rows_of.of_item({"condition": key}))) for key, _title, _part in parts]
        cells = [Cell(pairwise_distance(table), rounding=Rounding(3)) for table in tables]
        cells += [Cell(coverage(table, threshold=threshold), rounding=Rounding(0, 100)) for table in tables]
        rows.append(Row(label, tuple(cells)))
    heads = (_("Jensen-Shannon distance"), _("Coverage in percent"))
    columns: list[Words] = [f"{head}, {title}" for head in heads for _key, title, _part in parts]
    words: list[Words] = [
        _("A picture's scores over countries are divided by their sum; the distance, base 2, is a mean over pairs."),
        _("Coverage: countries that at least one picture reaches the threshold for."),
    ]
    return inputs.table(corner=_("Rated by"), columns=columns, rows=rows, words=words)


def _grid(observations: Observations) -> Floats:
    """(items, targets) means, NaN where there is no rating; items and targets without any are left out."""
    keep = np.isfinite(observations.value)
    items, item = np.unique(observations.item[keep], return_inverse=True)
    targets, target = np.unique(observations.target[keep], return_inverse=True)
    place, size = item * max(targets.size, 1) + target, items.size * targets.size
    count = np.bincount(place, minlength=size)
    total = np.bincount(place, observations.value[keep], size)
    mean = np.divide(total, count, out=np.full(size, np.nan), where=count > 0)
    return np.asarray(mean.reshape(items.size, targets.size), np.float64)


THRESHOLD = TableOption("threshold", gettext_lazy("A picture reaches a country from"), {"4": "4", "5": "5", "3": "3"})

_UNIVERSAL: tuple[TableSpec, ...] = (
    *SPECIFIC_TABLES,
    TableSpec(
        "table-2", "Table 2", gettext_lazy("Correlation of models with people, by country"), NEEDS, build_by_country,
        (READING,),
    ),
    TableSpec(
        "table-14", "Table 14", gettext_lazy("Agreement between annotators of a country"),
        gettext_lazy("Ratings by two people of a country."), build_agreement, (ALPHA, WEIGHTED),
    ),
    TableSpec(
        "table-15", "Table 15", gettext_lazy("Correlation of models with people, by concept"), NEEDS, build_by_concept
    ),
    TableSpec("table-16", "Table 16", gettext_lazy("Averaged correlations"), NEEDS, build_averaged),
    TableSpec("table-17", "Table 17", gettext_lazy("A model with each annotator"), NEEDS, build_by_annotator),
    TableSpec("spread", "", gettext_lazy("How varied a set of pictures is"), NEEDS, build_spread, (THRESHOLD,)),
    about_models(stage=(STAGE, FIELD)),
)  # fmt: skip
TABLES = {"caire-universal": _UNIVERSAL}
