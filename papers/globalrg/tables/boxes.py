"""GlobalRG's tables of boxes: what was collected (Table 4), and where models see it (Figures 3 and 4).

The gold box is the one that settled a dispute, else that of the first person in the stage "boxes"; models answer the
same stage. An item of which people say that it cannot be decided has none. A verifier's box is measured against the
first box, which stands with the item: what was settled does not change how far people agree.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.queries.resolutions import resolved_answers
from annotation.services.review.outcomes import facts_of
from benchmarks.models import Benchmark
from benchmarks.rules.filters.contract import is_number
from benchmarks.rules.label_sets.countries import country_code
from benchmarks.rules.label_sets.globalrg import GROUNDING
from evaluation.metrics import boxes, proportions, resampling
from evaluation.metrics.counts import Floats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.intervals import Scale
from evaluation.queries.call_statistics import UNSENT
from evaluation.queries.observations import ObservedRater, RawAnswer, rater_label
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.known_models import about_models
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.globalrg.printed_values import PRINTED, printed
from papers.globalrg.printed_values import rows as rows_printed
from predictions.models import Call, Run

Box = list[float]
THRESHOLD = TableOption("threshold", gettext_lazy("IoU threshold"), {"0.5": "0.5", "0.25": "0.25", "0.75": "0.75"})
STRICT = TableOption(
    "strict",
    gettext_lazy("IoU equal to the threshold"),
    {"strict": gettext_lazy("wrong: the IoU has to be greater"), "reached": gettext_lazy("right")},
)
NO_BOX = TableOption(
    "no_box",
    gettext_lazy("An item for which a model gave no box"),
    {"wrong": gettext_lazy("counts as wrong, with an IoU of 0"), "left_out": gettext_lazy("is left out")},
)
AVERAGE = TableOption(
    "average",
    gettext_lazy("Region value"),
    {"countries": gettext_lazy("the plain mean of its countries"), "pooled": gettext_lazy("all its items together")},
)
PAIRS = TableOption(
    "pairs",
    gettext_lazy("Pair of people"),
    {"finder": gettext_lazy("the first box and a verifier's"), "verifiers": gettext_lazy("two verifiers of one item")},
)
NEEDS = gettext_lazy("Boxes of people in the stage “Box drawing”, and boxes of a model for the same items.")
SPREAD = gettext_lazy("No whole number of 591 or 592 items gives 47.99; the paper does not say what it averages.")


@dataclass(frozen=True, eq=False)
class BoxedItem:
    """One item: the country it is of, the gold box, each model's (absent: it gave none), and the models that were not
    asked about it."""

    pk: int
    country: str
    gold: Box
    by_model: Mapping[int, Box]
    not_asked: frozenset[int] = frozenset()


def no_models_text() -> str:
    return _("No model has answered yet. Import its boxes for the stage “Box drawing”.")


def read_boxes(answer: Any) -> list[Box]:
    """Boxes as stored, objects or lists of four numbers."""
    rows = [[row["x0"], row["y0"], row["x1"], row["y1"]] if isinstance(row, Mapping) else row for row in answer or ()]
    return [[float(side) for side in row] for row in rows]


def _settle(benchmark: Benchmark, gold: dict[int, tuple[str, Box]]) -> list[Words]:
    """Put the boxes that settled a dispute in place of the first person's. Returns what the table says of it."""
    settled = {pk: row for pk, row in resolved_answers(benchmark, "boxes", "box").items() if pk in gold}
    undecided = [pk for pk, row in settled.items() if row.answer is None]
    for pk, row in settled.items():
        if row.answer is not None:
            gold[pk] = gold[pk][0], read_boxes(row.answer)[0]
    for pk in undecided:
        del gold[pk]
    words: list[Words] = []
    if settled:
        count = len(settled) - len(undecided)
        words.append(
            ngettext(
                "%(n)s gold box was settled by a third person.",
                "%(n)s gold boxes were settled by a third person.",
                count,
            )
            % {"n": count}
        )
    if undecided:
        words.append(
            ngettext(
                "%(n)s item is left out: its box cannot be decided.",
                "%(n)s items are left out: their boxes cannot be decided.",
                len(undecided),
            )
            % {"n": len(undecided)}
        )
    return words


def _country(answer: RawAnswer) -> str:
    return answer.thing.origin or answer.target


def boxed_items(inputs: TableInputs) -> tuple[list[BoxedItem], list[ObservedRater], list[Words]]:
    """Every item with a gold box, the models by name, and remarks on gold boxes. Raises MissingData without either."""
    gold: dict[int, tuple[str, Box]] = {}
    answers: dict[int, dict[int, Box]] = defaultdict(dict)
    models: dict[int, ObservedRater] = {}
    for answer in inputs.answers("boxes", "box"):
        drawn = read_boxes(answer.answer)
        if answer.rater.is_model:
            models[answer.rater.pk] = answer.rater
            if drawn:
                answers[answer.thing.pk][answer.rater.pk] = drawn[0]
        elif drawn:
            gold.setdefault(answer.thing.pk, (_country(answer), drawn[0]))
    if not gold:
        text = _("There are no boxes yet. Open a campaign of the stage “Box drawing”, or import boxes.")
        raise MissingData(text, by_people=True)
    if not models:
        raise MissingData(no_models_text())
    words = _settle(inputs.benchmark, gold)
    asked = _asked_items(inputs)
    items = [
        BoxedItem(pk, country, box, answers[pk], _not_asked(pk, answers[pk], asked))
        for pk, (country, box) in sorted(gold.items())
    ]
    words += [_asked_text(rater, items) for rater in models.values() if _is_sampled(rater, items)]
    by_family = sorted(
        models.values(), key=lambda rater: (str(rater.about.get("family") or ""), rater.name, rater.setting)
    )
    return items, by_family, words


def _asked_items(inputs: TableInputs) -> dict[int, set[int]]:
    """By model rater the items that its runs asked about. Answers of a file do not say what else was asked: their
    raters are absent."""
    calls = Call.objects.filter(
        run__task=Run.Task.ANSWERS,
        run__withdrawn_at=None,
        run__endpoint__isnull=False,
        run__campaign__in=inputs.used_selections[-1].campaigns,
    )
    asked: dict[int, set[int]] = defaultdict(set)
    ended = calls.exclude(UNSENT).exclude(state__in=(Call.State.PENDING, Call.State.RUNNING))
    for rater, item in ended.values_list("run__rater", "item").iterator():
        asked[rater].add(item)
    return dict(asked)


def _not_asked(item: int, answers: Mapping[int, Box], asked: Mapping[int, set[int]]) -> frozenset[int]:
    return frozenset(rater for rater, items in asked.items() if item not in items and rater not in answers)


def _is_sampled(rater: ObservedRater, items: Sequence[BoxedItem]) -> bool:
    return any(rater.pk in boxed_item.not_asked for boxed_item in items)


def _asked_text(rater: ObservedRater, items: Sequence[BoxedItem]) -> str:
    asked = sum(rater.pk not in boxed_item.not_asked for boxed_item in items)
    values = {"model": rater_label(rater), "n": asked, "all": len(items)}
    return _("%(model)s was asked about %(n)s of the %(all)s items; the others are left out.") % values


def overlaps(items: Sequence[BoxedItem], model: int, *, left_out: bool) -> Floats:
    """(n,) IoU with the gold box; for an item without a box 0, or NaN where these are left out. NaN also where the
    model was not asked."""
    none = float("nan") if left_out else 0.0
    return np.array([_overlap(boxed_item, model, none) for boxed_item in items])


def _overlap(boxed_item: BoxedItem, model: int, none: float) -> float:
    if model in boxed_item.by_model:
        return boxes.overlap([boxed_item.gold], [boxed_item.by_model[model]])
    return float("nan") if model in boxed_item.not_asked else none


def without_box(items: Sequence[BoxedItem], model: int) -> tuple[int, int]:
    """Of the items that the model was asked about: those without a box, and all."""
    asked = [boxed_item for boxed_item in items if model not in boxed_item.not_asked]
    return sum(model not in boxed_item.by_model for boxed_item in asked), len(asked)


def _is_correct(inputs: TableInputs, iou: Floats) -> Floats:
    """(n,) 1 where the box is right, NaN where the item is left out."""
    limit = float(inputs.chosen["threshold"])
    hit = iou > limit if inputs.chosen["strict"] == "strict" else iou >= limit
    return np.where(np.isnan(iou), np.nan, hit)


def accuracy(inputs: TableInputs, items: Sequence[BoxedItem], model: int) -> Estimate:
    """Share of items whose IoU passes the threshold; Wilson's interval. "no_box": asked items without one."""
    right = _is_correct(inputs, overlaps(items, model, left_out=inputs.chosen["no_box"] == "left_out"))
    counted = right[~np.isnan(right)] > 0
    extras = {"no_box": without_box(items, model)[0]}
    return proportions.share(counted, method="accuracy at IoU", extras=extras)


def mean_of_countries(right: Floats, country: Sequence[str]) -> Estimate:
    """The plain mean of countries' accuracies, from (n, m) columns of m models, over whom it is the mean."""
    names = sorted(set(country))
    where = [np.array(country) == name for name in names]
    columns = [part for column in right.T for there in where for part in _sums(column, there)]

    def mean(sums: Floats) -> Floats:
        ratios = np.divide(
            sums[:, 0::2], sums[:, 1::2], out=np.full(sums[:, 0::2].shape, np.nan), where=sums[:, 1::2] > 0
        )
        return np.asarray(ratios.mean(axis=1))

    sums = resampling.cluster_sums(np.arange(len(right)), *columns)
    extras = {"n_countries": len(names)}
    return proportions.share_of_sums(sums, mean, method="mean of countries", n_units=len(right), extras=extras)


def _sums(column: Floats, there: Any) -> tuple[Floats, Floats]:
    counted = there & ~np.isnan(column)
    return np.where(counted, np.nan_to_num(column), 0), counted.astype(np.float64)


def build_models(inputs: TableInputs) -> Table:
    items, models, words = boxed_items(inputs)
    rows = []
    for rater in models:
        right = accuracy(inputs, items, rater.pk)
        iou = overlaps(items, rater.pk, left_out=inputs.chosen["no_box"] == "left_out")
        known = iou[~np.isnan(iou)]
        mean = resampling.mean(known, np.arange(known.size), scale=resampling.LOGIT, method="mean IoU")
        without = proportions.share_of(*without_box(items, rater.pk), method="without a box")
        theirs = PRINTED.in_text("accuracy", rater.name, SPREAD)
        cells = (
            Cell(right, rounding=Rounding(2, 100), printed=theirs),
            Cell(mean, rounding=Rounding(3)),
            Cell(without, rounding=Rounding(2, 100)),
        )
        rows.append(Row(rater_label(rater), cells, str(rater.about.get("family") or "")))
    columns: list[Words] = [_("Accuracy, %"), _("Mean IoU"), _("Without a box, %")]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def build_countries(inputs: TableInputs) -> Table:
    items, models, words = boxed_items(inputs)
    rows = []
    for country in sorted({boxed_item.country for boxed_item in items}, key=_by_region):
        part = [boxed_item for boxed_item in items if boxed_item.country == country]
        cells = tuple(Cell(accuracy(inputs, part, model.pk), rounding=Rounding(2, 100)) for model in models)
        rows.append(Row(country, cells, GROUNDING.of(country) or ""))
    return inputs.table(
        corner=_("Country"),
        columns=[rater_label(model) for model in models],
        rows=rows,
        words=[_("In percent."), *words],
    )


def _by_region(country: str) -> tuple[int, int, str]:
    """The order of Table 4; what it does not name comes last."""
    code = country_code(country)
    for number, codes in enumerate(GROUNDING.countries.values()):
        if code in codes:
            return number, codes.index(code), country
    return len(GROUNDING.countries), 0, country


def build_regions(inputs: TableInputs) -> Table:
    items, models, settled = boxed_items(inputs)
    left_out = inputs.chosen["no_box"] == "left_out"
    right = np.stack([_is_correct(inputs, overlaps(items, model.pk, left_out=left_out)) for model in models], axis=1)
    rows = []
    for region in GROUNDING.countries:
        places = [n for n, boxed_item in enumerate(items) if GROUNDING.of(boxed_item.country) == region]
        if not places:
            continue
        pooled = inputs.chosen["average"] == "pooled"
        country = [region if pooled else items[n].country for n in places]
        cells = [_cell(right[places][:, [n]], country, region, rater.name) for n, rater in enumerate(models)]
        rows.append(Row(region, (*cells, _cell(right[places], country, region, "")), ""))
    columns: list[Words] = [*(rater_label(model) for model in models), _("Mean of these models")]
    words: list[Words] = [_("In percent. Regions by GlobalRG's Table 4, version 1."), *settled]
    return inputs.table(corner=_("Region"), columns=columns, rows=rows, words=words)


def _cell(right: Floats, country: Sequence[str], region: str, model: str) -> Cell:
    theirs = PRINTED.in_text("accuracy_of_region", f"{region}, {model}" if model else region)
    return Cell(mean_of_countries(right, country), rounding=Rounding(2, 100), printed=theirs)


def build_collected(inputs: TableInputs) -> Table:
    """Table 4. A country without verifiers has no human IoU, and says so."""
    gold: dict[int, tuple[str, Box]] = {}
    for answer in inputs.answers("boxes", "box", ("person",)):
        if drawn := read_boxes(answer.answer):
            gold.setdefault(answer.thing.pk, (_country(answer), drawn[0]))
    if not gold:
        text = _("There are no boxes yet. Open a campaign of the stage “Box drawing”, or import boxes.")
        raise MissingData(text, by_people=True)
    words = _settle(inputs.benchmark, gold)
    facts, human = facts_of(list(gold)), _human(inputs)
    rows = []
    for country in sorted({country for country, _box in gold.values()}, key=_by_region):
        items = {pk: box for pk, (of, box) in gold.items() if of == country}
        area = [(box[2] - box[0]) * (box[3] - box[1]) for box in items.values()]
        objects = [float(count) for pk in items if is_number(count := facts.get(pk, {}).get("objects"))]
        columns_data = (
            (Estimate.of_count(len(items)), "concepts", 0),
            (_mean(area, "box / image"), "ratio", 3),
            (_mean(objects, "objects", resampling.NOT_NEGATIVE), "objects", 3),
            (_mean(human.get(country, []), "human IoU"), "iou", 2),
        )
        canonical = next(
            (row["country"] for row in rows_printed("table_4") if _is_same_country(row["country"], country)), country
        )
        cells = tuple(
            Cell(value, rounding=Rounding(decimals), printed=printed("table_4", name, country=canonical))
            for value, name, decimals in columns_data
        )
        rows.append(Row(country, cells, GROUNDING.of(country) or ""))
    columns: list[Words] = [_("Concepts"), _("Box / image"), _("Objects"), _("Human IoU")]
    return inputs.table(corner=_("Country"), columns=columns, rows=rows, words=words)


def _is_same_country(one: str, other: str) -> bool:
    return country_code(one) == country_code(other)


def _mean(values: Sequence[float], method: str, scale: Scale = resampling.LOGIT) -> Estimate:
    return resampling.mean(values, np.arange(len(values)), scale=scale, method=method)


def _human(inputs: TableInputs) -> dict[str, list[float]]:
    """IoU of two people for each verified item, by country."""
    drawn: dict[tuple[int, str], list[Box]] = defaultdict(list)
    first: dict[tuple[int, str], list[Box]] = {}
    try:
        for answer in inputs.answers("verification", "box", ("person",)):
            place = answer.thing.pk, _country(answer)
            drawn[place] += read_boxes(answer.answer)[:1]
            first[place] = _first_box(answer.thing.context)
    except MissingData:
        return {}
    overlaps_by_country: dict[str, list[float]] = defaultdict(list)
    for place, theirs in drawn.items():
        one, others = (first[place], theirs) if inputs.chosen["pairs"] == "finder" else (theirs[:1], theirs[1:2])
        if one and others:
            overlaps_by_country[place[1]].append(float(np.mean([boxes.overlap(one, [box]) for box in others])))
    return overlaps_by_country


def _first_box(context: Mapping[str, Any]) -> list[Box]:
    """The box that stands with an item, at most one; a column of a file may have it as JSON. What is no box is none."""
    stored = context.get("first_box")
    try:
        [[left, top, right, bottom], *_more] = read_boxes(json.loads(stored) if isinstance(stored, str) else stored)
    except (KeyError, TypeError, ValueError):
        return []
    return [[left, top, right, bottom]] if left < right and top < bottom else []


COUNTED = (THRESHOLD, STRICT, NO_BOX)
GROUNDING_TABLES = (
    TableSpec(
        "collected",
        "Table 4",
        gettext_lazy("What was collected, by country"),
        gettext_lazy("Boxes of people in the stage “Box drawing”; for the human IoU also in “Box verification”."),
        build_collected,
        (PAIRS,),
    ),
    TableSpec("grounding", "", gettext_lazy("Accuracy of each model"), NEEDS, build_models, COUNTED),
    TableSpec("grounding-countries", "Figure 3", gettext_lazy("Accuracy by country"), NEEDS, build_countries, COUNTED),
    TableSpec(
        "grounding-regions", "Figure 4", gettext_lazy("Accuracy by region"), NEEDS, build_regions, (*COUNTED, AVERAGE)
    ),
    about_models(stage=("boxes", "box"), number="Table 5"),
)
