"""ValueGround: scores of the pairs of pictures by the rubric, and the automatic judge against people.

A judge is a model rater of the stage `pair-review`. Several make an ensemble: their scores of a pair are averaged, as
the paper does. What made a pair stands in its item's context: `backbone` and `configuration`; without them its source
stands for both. The total is computed on each rater's sheet by the recipe's own expression.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from django.db.models import Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Annotation
from benchmarks.models import Benchmark
from benchmarks.rules.acceptance import Rule
from evaluation.metrics.association import KINDS
from evaluation.metrics.counts import Bools, Floats, Ints, Ratings
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.human_ceiling import How, leave_one_annotator_out
from evaluation.metrics.intervals import Interval, Scale
from evaluation.metrics.judges import judge_position
from evaluation.metrics.rater_means import with_rater_means
from evaluation.metrics.resampling import mean
from evaluation.queries.observations import ObservedItem
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table, TableOption
from evaluation.tables.table_inputs import TableInputs
from papers.valueground.builder.models import BuildPlan
from papers.valueground.printed_values import printed
from papers.valueground.recipe import RULE
from papers.valueground.tables.accepted_pairs import accepted_pairs_note
from papers.valueground.tables.costs import COSTS, backend_and_configuration, paper_order
from people.models import Rater

Strings = npt.NDArray[np.str_]
STAGE = "pair-review"
FIELDS = ("match_a", "match_b", "pair_match", "no_cue")
TOTAL = "total"
TOTAL_SCALE = Scale("identity", limits=(0.0, 1.0))
NAMES: Mapping[str, Words] = {
    "match_a": gettext_lazy("Match A"),
    "match_b": gettext_lazy("Match B"),
    "pair_match": gettext_lazy("Pair match"),
    "no_cue": gettext_lazy("No cue"),
    TOTAL: gettext_lazy("Total"),
}
THREE, PERCENT = Rounding(3), Rounding(0, 100)
CEILING = TableOption(
    "people",
    gettext_lazy("Annotators against the mean of the others"),
    {"averaging": gettext_lazy("each alone, then the mean"), "pooling": gettext_lazy("all in one correlation")},
)


def _preferred_scores(benchmark: Benchmark) -> str:
    """The judges', or people's where only people have scored pairs."""
    stage = Q(assignment__campaign__stage__benchmark=benchmark, assignment__campaign__stage__key=STAGE)
    sheets = Annotation.objects.filter(stage, live=True)
    judged = sheets.filter(rater__kind=Rater.Kind.MODEL).exists()
    return "person" if not judged and sheets.exists() else "model"


SCORED_BY = TableOption(
    "scored_by",
    gettext_lazy("Scores of"),
    {"model": gettext_lazy("the automatic judges, averaged"), "person": gettext_lazy("people, averaged")},
    preferred=_preferred_scores,
)


@dataclass(frozen=True, eq=False)
class RubricScores:
    """``scores``: by field, {(item, rater): score} with places in ``items``; raters by their number in the database."""

    items: tuple[ObservedItem, ...]
    scores: Mapping[str, Mapping[tuple[int, int], float]]

    def ratings(self, field: str, keep: Callable[[int], bool]) -> Ratings:
        """Units are the places of all items; only items that ``keep`` wants have ratings."""
        rows = [(item, rater, value) for (item, rater), value in self.scores[field].items() if keep(item)]
        number = {rater: n for n, rater in enumerate(dict.fromkeys(rater for _item, rater, _value in rows))}
        unit = np.array([item for item, _rater, _value in rows], np.int64)
        who = np.array([number[rater] for _item, rater, _value in rows], np.int64)
        return Ratings(unit, who, np.array([value for *_row, value in rows]), len(self.items), len(number))

    def means(self, field: str, *, of_all: bool = False) -> Floats:
        """(items,) the mean over raters, NaN without one; `of_all`: NaN, too, where one of them gave no score."""
        total, count = np.zeros(len(self.items)), np.zeros(len(self.items))
        for (item, _rater), value in self.scores[field].items():
            total[item] += value
            count[item] += 1
        least = len({rater for _item, rater in self.scores[field]}) if of_all else 1
        means: Floats = np.divide(total, count, out=np.full(total.shape, np.nan), where=count >= max(least, 1))
        return means


def rubric_scores(inputs: TableInputs, kind: str) -> RubricScores:
    """By people ("person") or by judges ("model"). Raises MissingData without any rating."""
    scores: dict[str, dict[tuple[int, int], float]] = {}
    places: dict[int, int] = {}
    items: list[ObservedItem] = []
    for field in FIELDS:
        observations = inputs.observed(STAGE, field, (kind,))
        for item, rater, value in zip(observations.item, observations.rater, observations.value, strict=True):
            thing = observations.items[item]
            if thing.pk not in places:
                places[thing.pk] = len(items)
                items.append(thing)
            if np.isfinite(value):
                scores.setdefault(field, {})[places[thing.pk], observations.raters[rater].pk] = float(value)
    return RubricScores(tuple(items), {**scores, TOTAL: _totals(scores)})


def _totals(scores: Mapping[str, Mapping[tuple[int, int], float]]) -> dict[tuple[int, int], float]:
    """Of the sheets on which all four points were given."""
    score = Rule.from_json(RULE).score
    assert score is not None
    totals = {}
    for key in scores.get(FIELDS[0], {}):
        total = score.expression.evaluate({field: scores[field].get(key) for field in FIELDS if field in scores})
        if isinstance(total, float):
            totals[key] = total
    return totals


def build_scores(inputs: TableInputs) -> Table:
    """Mean scores by what made the pairs."""
    of = rubric_scores(inputs, inputs.chosen["scored_by"])
    configurations = [backend_and_configuration(item) for item in of.items]
    questions = np.array([item.concept or item.key for item in of.items])
    scales = {field: inputs.scale(STAGE, field) for field in FIELDS} | {TOTAL: TOTAL_SCALE}
    table_rows = []
    for backbone, configuration in sorted(set(configurations), key=paper_order):
        mask = np.array([one == (backbone, configuration) for one in configurations])
        cells = [
            Cell(
                _mean(of, field, mask, questions, scales[field]),
                rounding=THREE,
                printed=printed("table_1", field, backbone=backbone, configuration=configuration),
            )
            for field in (*FIELDS, TOTAL)
        ]
        table_rows.append(Row(configuration or backbone, tuple(cells), backbone if configuration else ""))
    words: list[Words] = [
        _("Each pair counts once, with the mean of its raters' scores. Intervals over questions (jackknife)."),
        _total_words(),
    ]
    columns = [NAMES[field] for field in (*FIELDS, TOTAL)]
    words += accepted_pairs_note(inputs)
    return inputs.table(corner=_("How it was made"), columns=columns, rows=table_rows, words=words)


def _mean(of: RubricScores, field: str, here: Bools, questions: Strings, scale: Scale | None) -> Estimate:
    scores = of.means(field)
    there = here & np.isfinite(scores)
    raters = {rater for (item, rater) in of.scores[field] if there[item]}
    return mean(scores[there], questions[there], scale=scale, method="mean score", n_raters=len(raters))


def _total_words() -> str:
    return _("Total: (match A / 2 + match B / 2 + pair match / 2 + no cue) / 4, on each sheet.")


def build_judge(inputs: TableInputs) -> Table:
    people = rubric_scores(inputs, "person")
    judge, judges = _judge_scores(inputs, people)
    how: How = "pooling" if inputs.chosen["people"] == "pooling" else "averaging"
    table_rows = []
    for field in (*FIELDS, TOTAL):
        scores = judge[field]
        ratings = people.ratings(field, partial(_has_score, scores))
        estimates = [with_rater_means(scores, ratings, kind, interval=inputs.interval) for kind in KINDS]
        alone = _rated_units_only(ratings)
        estimates += [leave_one_annotator_out(alone, kind, how, interval=inputs.interval) for kind in KINDS]
        names = (*(f"judge_{kind}" for kind in KINDS), *(f"people_{kind}" for kind in KINDS))
        cells = [
            Cell(estimate, rounding=THREE, printed=printed("table_4", name, field=field))
            for name, estimate in zip(names, estimates, strict=True)
        ]
        cells.append(_matched_people(alone, scores[np.unique(ratings.unit)]))
        table_rows.append(Row(str(NAMES[field]), tuple(cells)))
    columns: list[Words] = [
        _("Judge, Pearson"), _("Judge, Spearman"), _("People, Pearson"), _("People, Spearman"),
        _("People whom the judge matches, in percent"),
    ]  # fmt: skip
    words: list[Words] = [
        _("Judge: the mean of the judges, against the mean of all people. People: each annotator against the mean of "
          "the other people, so the judge has a reference of one person more."),
        _("Last column: each annotator and the judge against the mean of the same other people, by Spearman; the share "
          "of annotators whom the judge equals or exceeds."),
        _("Judges averaged: %(names)s. A pair that one of them did not score is left out.") % {"names": judges},
        _("Over the pairs that both judged. Intervals: other pairs and other people."),
        _total_words(),
    ]  # fmt: skip
    words += accepted_pairs_note(inputs)
    return inputs.table(corner=_("Question"), columns=columns, rows=table_rows, words=words)


def _matched_people(people: Ratings, scores: Floats) -> Cell:
    """How many people the judge equals or exceeds against the same others, as on the judge page.

    ``people``: units are numbered as ``scores`` (units,), the judge's.
    """
    judge = people.n_raters
    units = np.arange(scores.size)
    everybody = Ratings(
        np.concatenate([people.unit, units]), np.concatenate([people.rater, np.full(units.size, judge)]),
        np.concatenate([people.value, scores]), people.n_units, judge + 1,
    )  # fmt: skip
    return Cell(judge_position(everybody, judge, interval=Interval(over="none")).at_least_as_good, rounding=PERCENT)


def _has_score(scores: Floats, item: int) -> bool:
    return bool(np.isfinite(scores[item]))


def _rated_units_only(ratings: Ratings) -> Ratings:
    """Units without a rating do not count as missing."""
    units, unit = np.unique(ratings.unit, return_inverse=True)
    return Ratings(unit, ratings.rater, ratings.value, units.size, ratings.n_raters)


def _judge_scores(inputs: TableInputs, people: RubricScores) -> tuple[dict[str, Floats], str]:
    """By field, the ensemble's score of each of the people's items, NaN where one of the judges gave none; and who they
    are."""
    try:
        judges = rubric_scores(inputs, "model")
    except MissingData as problem:
        text = _("No automatic judge has scored pairs yet. Import a model's answers to this stage.")
        raise MissingData(text) from problem
    place = {item.pk: n for n, item in enumerate(judges.items)}
    at: Ints = np.array([place.get(item.pk, -1) for item in people.items], np.int64)
    scores = {field: np.where(at < 0, np.nan, judges.means(field, of_all=True)[at]) for field in (*FIELDS, TOTAL)}
    raters = Rater.objects.filter(pk__in={rater for by in judges.scores.values() for _item, rater in by})
    names = [
        f"{rater.name} ({rater.setting})" if rater.setting else rater.name
        for rater in raters.order_by("name", "setting")
    ]
    return scores, ", ".join(names)


NEEDS = gettext_lazy("Sheets of people or of automatic judges in the stage “Pair review”.")
RUBRIC_TABLES: tuple[TableSpec, ...] = (
    TableSpec(
        "table-1",
        "Table 1",
        gettext_lazy("Scores of the pairs by how they were made"),
        NEEDS,
        build_scores,
        (SCORED_BY,),
        code_texts=dict(BuildPlan.Configuration.choices),
    ),
    COSTS,
    TableSpec(
        "table-4",
        "Table 4",
        gettext_lazy("The automatic judge against people"),
        gettext_lazy("Sheets of people and of automatic judges about the same pairs."),
        build_judge,
        (CEILING,),
    ),
)
