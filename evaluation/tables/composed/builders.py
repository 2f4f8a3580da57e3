"""How a table that a researcher composed is made, by its kind. Each cell with a number is an Estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from annotation.queries.board_counts import chain_counts
from annotation.sheets.sheet import localise
from evaluation.metrics.counts import Ints
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.proportions import share, share_of
from evaluation.metrics.ranking_bands import (
    RankedSizes,
    compared_groups,
    draw_raters,
    strength_score,
    win_score,
)
from evaluation.metrics.resampling import LOGIT
from evaluation.models import BenchmarkTable
from evaluation.queries.observations import Observations
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.reports.agreement import catalogue_for, entry_of, question_rows
from evaluation.reports.judge_report import judge_report
from evaluation.reports.models_report import models_report
from evaluation.selections.selection import with_all_cohorts
from evaluation.tables.mean_ranking import mean_of_thing, rank_by_mean
from evaluation.tables.model_scores import model_label
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_inputs import EVERYBODY, TableInputs

Kind = BenchmarkTable.Kind
PEOPLE = ("person",)
TWO, PLACE = Rounding(2), Rounding(1)
PERCENT = Rounding(1, 100)
COHORT, ITEM = "cohort", "item"
MEAN, WINS, STRENGTH = "mean", "win_share", "bradley_terry"
MOST_ROWS = 500


def build(row: BenchmarkTable, inputs: TableInputs) -> Table:
    """The table of a row. Raises MissingData, SelectionError."""
    return BUILDERS[Kind(row.kind)](row, inputs)


def _question(row: BenchmarkTable, inputs: TableInputs) -> str:
    """The question as its readers know it."""
    entry = next(stage for stage in inputs.catalogue.stages if stage.key == row.stage)
    return localise(entry.current[0].sheet.field(row.field).label, get_language() or "en").replace("{target}", "…")


# ---- agreement -------------------------------------------------------------------------------------------------------


def build_agreement(row: BenchmarkTable, inputs: TableInputs) -> Table:
    """Of all cohorts together and of each: every measure that fits the question."""
    if next(inputs.answers(row.stage, row.field, PEOPLE), None) is None:
        raise inputs.no_ratings(row.stage, PEOPLE)
    selection = with_all_cohorts(inputs.selection(row.stage, row.field, PEOPLE))
    questions = question_rows(catalogue_for(inputs.catalogue, selection), selection)
    of_question = [question for question in questions if question.field == row.field]
    rows = [
        Row(question.cohort.label, tuple(Cell(estimate, rounding=TWO) for estimate in question.estimates))
        for question in of_question
    ]
    columns: list[Words] = [measure.label for measure in of_question[0].measures]
    return inputs.table(corner=_("Cohort"), columns=columns, rows=rows, words=[_question(row, inputs)])


# ---- models against people -------------------------------------------------------------------------------------------


def build_models(row: BenchmarkTable, inputs: TableInputs) -> Table:
    """Each model's agreement or correlation with people; or its place among them, each rater left out in turn."""
    for raters in (("model",), PEOPLE):
        inputs.observed(row.stage, row.field, raters)
    selection = inputs.selection(row.stage, row.field, EVERYBODY)
    asked = {"statistic": row.measure} if row.measure else {}
    report = models_report(inputs.catalogue, selection, asked, inputs.at)
    if row.measure == "leave_one_out":
        return _places_among_people(row, inputs)
    rows = [
        Row(model_label(line.rater), tuple(Cell(each, rounding=TWO) for each in (line.overall, *line.by_cohort)))
        for line in report.lines
    ]
    columns: list[Words] = [_("All cohorts"), *(cohort.label for cohort in report.cohorts)]
    names = {
        "accuracy": _("Share of answers that agree with the majority of people."),
        "spearman": _("Spearman's correlation with the mean of people."),
        "pearson": _("Pearson's correlation with the mean of people."),
    }
    words: list[Words] = [_question(row, inputs), names[report.statistic]]
    return inputs.table(corner=_("Model"), columns=columns, rows=rows, words=words)


def _places_among_people(row: BenchmarkTable, inputs: TableInputs) -> Table:
    selection = inputs.selection(row.stage, row.field, EVERYBODY)
    models = inputs.observed(row.stage, row.field, ("model",)).models()
    rows = []
    for _place, rater in models:
        report = judge_report(inputs.catalogue, selection, [str(rater.pk)], inputs.at)
        for line in report.lines:
            standing = line.standing
            cells = [Cell(estimate, rounding=TWO) for estimate in (standing.judge, standing.ceiling)]
            rows.append(Row(line.cohort.label, tuple(cells), model_label(rater)))
    columns: list[Words] = [_("Model with the others"), _("A person with the others")]
    words: list[Words] = [_question(row, inputs), _("Agreement with the majority of people, each left out in turn.")]
    return inputs.table(corner=_("Model and cohort"), columns=columns, rows=rows, words=words)


# ---- ranking ---------------------------------------------------------------------------------------------------------


def build_ranking(row: BenchmarkTable, inputs: TableInputs) -> Table:
    """What is rated, from the first place on, each with the places that resampled raters leave open."""
    observed = inputs.observed(row.stage, row.field, PEOPLE)
    if row.measure == MEAN:
        return _mean_ranking(row, inputs, observed)
    first, second = str(row.options.get("first", "")), str(row.options.get("second", ""))
    names, sides = _sides(observed)
    codes = {first: 1.0, second: 0.0}
    won = np.array([codes.get(code, 0.5) for code in observed.codes])[observed.code]
    a, b = sides[observed.item, 0], sides[observed.item, 1]
    make = win_score if row.measure == WINS else strength_score
    both, twice = np.concatenate([a, b]), np.tile(np.stack([observed.item, observed.rater]), 2)
    sizes = RankedSizes.of(both, twice[0], twice[1], len(names))
    groups = compared_groups(a, b, len(names)) if row.measure == STRENGTH else None
    ranked = draw_raters(make(a, b, won, len(names)), observed.rater, sizes, groups=groups)
    strengths = ranked.scores("Bradley-Terry") if row.measure == STRENGTH else []

    def number(k: int) -> Estimate:
        if row.measure == WINS:
            wins = np.concatenate([won[a == k], 1 - won[b == k]])
            raters = np.concatenate([observed.rater[a == k], observed.rater[b == k]])
            return mean_of_thing(sizes, k, wins, raters, LOGIT, "win share")
        return strengths[k]

    label = _("Share won") if row.measure == WINS else _("Strength (log)")
    return _ranking(row, inputs, names, ranked.places(), number, label, groups)


def _mean_ranking(row: BenchmarkTable, inputs: TableInputs, observed: Observations) -> Table:
    names, group = _groups(observed, row.rows)
    ranked = rank_by_mean(observed, names, group, inputs.scale(row.stage, row.field))
    places = [thing.place for thing in ranked]
    return _ranking(row, inputs, names, places, lambda k: ranked[k].mean, _("Mean"))


def _ranking(
    row: BenchmarkTable,
    inputs: TableInputs,
    names: list[str],
    bands: list[Estimate],
    number: Callable[[int], Estimate],
    label: str,
    groups: Ints | None = None,
) -> Table:
    """`groups` (names,): which things can be compared with each other; None where all can."""
    group = [0] * len(names) if groups is None else groups.tolist()
    apart = any(group)  # the first is 0
    order = sorted(range(len(names)), key=lambda k: (group[k], bands[k].value is None, bands[k].value or 0, names[k]))
    rows = [
        Row(
            names[k],
            (Cell(bands[k], rounding=PLACE), Cell(number(k), rounding=TWO), Cell(text=str(bands[k].n_ratings))),
            _("Group %(n)s") % {"n": group[k] + 1} if apart else "",
        )
        for k in order[:MOST_ROWS]
    ]
    words: list[Words] = [
        _question(row, inputs),
        _("Brackets after a place: in 95 of 100 draws of raters, with replacement, it lies there."),
    ]
    if apart:
        words.append(_("No pair connects the groups, so that nothing says how things of two groups compare."))
    columns: list[Words] = [_("Place"), label, _("Answers")]
    return inputs.table(corner=_("Ranked"), columns=columns, rows=rows, words=words)


def _groups(observed: Observations, by: str) -> tuple[list[str], Ints]:
    """Names of what is ranked, and the number of each item's (items,). Items are named by their text."""
    values = [item.text or item.concept or item.key for item in observed.items]
    if by != ITEM:
        values = [str(value if value is not None else "") for value in observed.item_values(_property(by))]
        return _numbered(values)
    keys = [item.key for item in observed.items]
    shown = [value if values.count(value) == 1 else f"{value} ({key})" for value, key in zip(values, keys, strict=True)]
    return _numbered(shown)


def _property(by: str) -> str:
    return by.removeprefix("context.")


def _sides(observed: Observations) -> tuple[list[str], Any]:
    """Names of what is compared, and of each item the numbers of both sides (items, 2)."""
    texts = [[str(item.context.get(side) or "") for side in ("option_a", "option_b")] for item in observed.items]
    if not all(first and second for first, second in texts):
        raise MissingData(_("Some pairs do not say what both sides are. Choose a stage of pairs of texts."))
    names, numbers = _numbered([text for pair in texts for text in pair])
    return names, numbers.reshape(-1, 2)


def _numbered(values: list[str]) -> tuple[list[str], Ints]:
    names, numbers = np.unique(np.array(values, dtype=object).astype(str), return_inverse=True)
    return [str(name) for name in names], numbers.astype(np.int64).reshape(-1)


# ---- distribution, accuracy, coverage --------------------------------------------------------------------------------


def _parts(observed: Observations, by: str) -> Iterator[tuple[str, Observations]]:
    """All together, then each part by itself."""
    yield _("All"), observed
    if by == COHORT:
        for place, label in enumerate(observed.cohorts):
            yield label, observed.where(observed.cohort == place)
        return
    names, group = _groups(observed, by)
    for number, name in enumerate(names):
        yield name, observed.where(group[observed.item] == number)


def _counts(part: Observations) -> tuple[int, int]:
    """How many items and raters, which n is of."""
    return int(np.unique(part.item).size), int(np.unique(part.rater).size)


def build_distribution(row: BenchmarkTable, inputs: TableInputs) -> Table:
    """The share of each answer of people, of all and by what the rows are."""
    observed = inputs.observed(row.stage, row.field, PEOPLE)
    used = sorted(np.unique(observed.code).tolist())
    rows = []
    for label, part in _parts(observed, row.rows):
        n_items, n_raters = _counts(part)
        shares = (
            replace(share(part.code == code, part.rater, n_units=n_items, n_raters=n_raters), resampled="raters")
            for code in used
        )
        rows.append(Row(label, tuple(Cell(each, rounding=PERCENT) for each in shares)))
    labels = _code_labels(row, inputs)
    columns: list[Words] = [f"{labels.get(observed.codes[code], observed.codes[code])}, %" for code in used]
    return inputs.table(corner=_("Answers of"), columns=columns, rows=rows, words=[_question(row, inputs)])


def _code_labels(row: BenchmarkTable, inputs: TableInputs) -> Mapping[str, str]:
    """Codes as people read them."""
    selection = inputs.used_selections[-1]
    definition = entry_of(inputs.catalogue, selection).sheet.to_json()
    [field] = [field for field in definition["fields"] if field["key"] == row.field]
    lists = [rows for rows in field.get("config", {}).values() if isinstance(rows, list)]
    options = [option for rows in lists for option in rows if isinstance(option, Mapping) and option.get("label")]
    return {str(option.get("code")): localise(option["label"], get_language() or "en") for option in options}


def build_accuracy(row: BenchmarkTable, inputs: TableInputs) -> Table:
    """The share of answers that are what the item's own column says, of people and of each model."""
    observed = inputs.observed(row.stage, row.field, EVERYBODY)
    labels, name = _code_labels(row, inputs), str(row.options.get("key", ""))
    keys = [str(value).strip().casefold() if value is not None else "" for value in observed.item_values(name)]
    answered_words = [{code.casefold(), labels.get(code, code).strip().casefold()} for code in observed.codes]
    right = np.array([[key in words for words in answered_words] for key in keys], bool).reshape(
        len(keys), len(answered_words)
    )
    known = np.array([bool(key) for key in keys], bool)
    if not known.any():
        raise MissingData(_("No item that was answered has “%(name)s”. Choose another column.") % {"name": name})
    observed = observed.where(known[observed.item])
    raters = [
        (_("People"), observed.people),
        *((model_label(who), observed.of_rater(n)) for n, who in observed.models()),
    ]
    rows = []
    parts = [label for label, _part in _parts(observed, row.rows)]
    for label, of_rater in raters:
        cells = []
        for _label, part in _parts(of_rater, row.rows):
            hits, (n_items, n_raters) = right[part.item, part.code], _counts(part)
            accuracy = share(hits, part.item, method="accuracy", n_units=n_items, n_raters=n_raters)
            cells.append(Cell(accuracy, rounding=PERCENT))
        rows.append(Row(label, tuple(cells)))
    words: list[Words] = [_question(row, inputs), _("Right is what the item has under “%(name)s”.") % {"name": name}]
    columns: list[Words] = [f"{part}, %" for part in parts]
    return inputs.table(corner=_("Who answered"), columns=columns, rows=rows, words=words)


def build_coverage(row: BenchmarkTable, inputs: TableInputs) -> Table:
    """Answers of those that are wanted, and what was decided about them, by cohort."""
    none_asked = MissingData(_("The stage has no campaign for people yet. Open one."))
    stage = inputs.benchmark.stages.filter(key=row.stage).first()
    if stage is None:
        raise none_asked
    counts = chain_counts([stage], inputs.at)
    by_cohort = {cohort.label: counts.cells.get((stage.pk, cohort.pk)) for cohort in counts.cohorts}
    asked = {label: cell for label, cell in by_cohort.items() if cell is not None}
    if not asked:
        raise none_asked
    decides = stage.acceptance != stage.Acceptance.ON_SUBMIT
    rows = []
    for label, cell in asked.items():
        decided = cell.accepted + cell.rejected
        cells = [
            Cell(text=str(cell.wanted)),
            Cell(share_of(min(cell.answered, cell.wanted), cell.wanted), rounding=PERCENT),
        ]
        cells += [Cell(share_of(cell.accepted, decided), rounding=PERCENT)] if decides else []
        rows.append(Row(label, tuple(cells)))
    columns: list[Words] = [_("Answers wanted"), _("Answered, %"), *([_("Accepted of decided, %")] if decides else [])]
    return inputs.table(corner=_("Cohort"), columns=columns, rows=rows, words=[stage.name])


BUILDERS: Mapping[BenchmarkTable.Kind, Callable[[BenchmarkTable, TableInputs], Table]] = {
    Kind.AGREEMENT: build_agreement,
    Kind.MODELS: build_models,
    Kind.RANKING: build_ranking,
    Kind.DISTRIBUTION: build_distribution,
    Kind.COVERAGE: build_coverage,
    Kind.ACCURACY: build_accuracy,
}


def builder_of(row: BenchmarkTable) -> Callable[[TableInputs], Table]:
    return partial(build, row)
