"""Tables that every benchmark has, one composed in the browser too: of each question that its stages ask.

They are the reports of the pages "Agreement", "Models", "Judge" and "People" in the form of tables, so that they have
the same files and addresses as tables of papers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from annotation.sheets.sheet import localise
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.medians import median_of_raters
from evaluation.queries.observations import ObservedRater
from evaluation.queries.ratings import counted_annotations
from evaluation.rendering.report import Cell, Rounding, Row, Words
from evaluation.reports.agreement import entry_of, question_rows
from evaluation.reports.judge_report import JudgeRow, judge_report
from evaluation.reports.models_report import ModelsReport, models_report
from evaluation.selections.catalogue import StageEntry
from evaluation.selections.measures import CODED
from evaluation.selections.selection import Selection, with_all_cohorts
from evaluation.tables.mean_ranking import rank_by_mean
from evaluation.tables.model_scores import author_label
from evaluation.tables.requirements import answers_of
from evaluation.tables.spec import TableSpec
from evaluation.tables.table import MissingData, Table
from evaluation.tables.table_inputs import EVERYBODY, TableInputs

PEOPLE = ("person",)
WITH_POINTS = ("ordinal", "interval", "ratio")
TWO, SECONDS = Rounding(2), Rounding(1)
NOT_ASKED = Cell(Estimate.undefined(reason="cohort_not_asked", method="none"))


def _label(entry: StageEntry, selection: Selection, field: str, inputs: TableInputs) -> str:
    """The stage and the question, as a reader knows them."""
    sheet = entry_of(inputs.catalogue, selection).sheet
    text = localise(sheet.field(field).label, get_language() or "en").replace("{target}", "…")
    return text if len(inputs.catalogue.stages) < 2 else f"{entry.name}: {text}"


def _each_stage(inputs: TableInputs, read: Callable[[StageEntry], Iterable[Row]]) -> list[Row]:
    """The rows of every stage that has any. Raises what the last stage lacks if none has."""
    rows: list[Row] = []
    missing = MissingData(_("No campaign has been opened yet. Open one, or import answers."))
    for entry in inputs.catalogue.stages:
        try:
            rows += read(entry)
        except MissingData as lacking:
            missing = lacking
    if not rows:
        raise missing
    return rows


def _answered(entry: StageEntry, inputs: TableInputs) -> Selection:
    """Of the first question of the stage that people have answered: a sheet may begin with one that nobody has to, or
    that few are shown. Raises MissingData if there is none."""
    for field in inputs.campaigns_of(entry)[0].sheet.fields:
        if next(inputs.answers(entry.key, field.key, PEOPLE), None) is not None:
            return inputs.used_selections[-1]
        inputs.used_selections.pop()
    raise inputs.no_ratings(entry.key, PEOPLE)


def _cohorts(inputs: TableInputs) -> list[str]:
    return [cohort.label for cohort in inputs.catalogue.cohorts.values()]


def _cells(labels: Iterable[str], by_cohort: Mapping[str, Estimate]) -> Iterator[Cell]:
    """A number or a reason for each cohort."""
    for label in labels:
        yield Cell(by_cohort[label], rounding=TWO) if label in by_cohort else NOT_ASKED


# ---- agreement of each question -------------------------------------------------------------------------------------


def build_agreement(inputs: TableInputs) -> Table:
    """Agreement of people by cohort and of all cohorts together, as on the overview; each question by the measure of
    its own level."""
    catalogue = inputs.catalogue
    if is_pooled := len(catalogue.cohorts) > 1:
        catalogue = catalogue.with_pooled()
    labels: list[str] = [cohort.label for cohort in catalogue.cohorts.values()]

    def read(entry: StageEntry) -> Iterator[Row]:
        selection = with_all_cohorts(_answered(entry, inputs))
        estimates: dict[tuple[str, str], dict[str, Estimate]] = {}
        for row in question_rows(catalogue, selection):
            for measure, estimate in zip(row.measures, row.estimates, strict=True):
                estimates.setdefault((row.field, str(measure.label)), {})[row.cohort.label] = estimate
        for (field, measure_label), by_cohort in estimates.items():
            if is_pooled and labels[0] not in by_cohort:
                [by_cohort[labels[0]]] = by_cohort.values()  # the only cohort is all of them
            yield Row(measure_label, tuple(_cells(labels, by_cohort)), _label(entry, selection, field, inputs))

    rows = _each_stage(inputs, read)
    return inputs.table(corner=_("Question and measure"), columns=list(labels), rows=rows)


# ---- models ---------------------------------------------------------------------------------------------------------


def _reports(inputs: TableInputs, entry: StageEntry) -> Iterator[tuple[Selection, ModelsReport]]:
    """Of each question with codes that models and people both answered. Raises what the last of them lacks if none."""
    sheet = inputs.campaigns_of(entry)[0].sheet
    missing, any_report = inputs.no_ratings(entry.key, ("model",)), False
    for field in sheet.fields:
        if sheet.level(field.key) not in CODED:
            continue
        try:
            inputs.observed(entry.key, field.key, ("model",))
            inputs.observed(entry.key, field.key, PEOPLE)
        except MissingData as lacking:
            missing = lacking
            continue
        any_report = True
        selection = inputs.selection(entry.key, field.key, EVERYBODY)
        yield selection, models_report(inputs.catalogue, selection, {}, inputs.at)
    if not any_report:
        raise missing


STATISTICS: dict[str, Words] = {
    "accuracy": gettext_lazy("share of answers that agree with the majority"),
    "spearman": gettext_lazy("Spearman's correlation with the mean of people"),
    "pearson": gettext_lazy("Pearson's correlation with the mean of people"),
}


def _name(who: ObservedRater) -> str:
    return f"{who.name} ({who.setting.replace('_', ' ')})" if who.setting else who.name


def build_models(inputs: TableInputs) -> Table:
    """Each model against people, over all cohorts and in each."""

    def read(entry: StageEntry) -> Iterator[Row]:
        for selection, report in _reports(inputs, entry):
            group = f"{_label(entry, selection, selection.field, inputs)} ({STATISTICS[report.statistic]})"
            for line in report.lines:
                labels = [cohort.label for cohort in report.cohorts]
                by_cohort = dict(zip(labels, line.by_cohort, strict=True))
                cells = (Cell(line.overall, rounding=TWO), *_cells(_cohorts(inputs), by_cohort))
                yield Row(_name(line.rater), cells, group)

    rows = _each_stage(inputs, read)
    return inputs.table(corner=_("Model"), columns=[_("All cohorts"), *_cohorts(inputs)], rows=rows)


def build_ranking(inputs: TableInputs) -> Table:
    """Models from the nearest to people to the farthest, with the places that each may have. Of a stage that judges
    answers, the authors of these by the mean of people's ratings: its judges have a table of their own."""

    def read(entry: StageEntry) -> Iterator[Row]:
        yield from _ranked_authors(inputs, entry) if entry.judges else _ranked_models(inputs, entry)

    words: list[Words] = [
        _(
            "Ranks are the range that tests leave open: another model is ahead only where a test "
            "is significant (Holm's correction)."
        )
    ]
    if any(entry.judges for entry in inputs.catalogue.stages):
        words.append(_("Authors of judged answers are ranked by the mean of people's ratings, the highest first."))
        words.append(_("Judges are not ranked here: see the table “Judges against people”."))
    columns: list[Words] = [_("Ranks"), _("Value"), _("Answered, %")]
    return inputs.table(corner=_("Model"), columns=columns, rows=_each_stage(inputs, read), words=words)


def _ranked_models(inputs: TableInputs, entry: StageEntry) -> Iterator[Row]:
    for selection, report in _reports(inputs, entry):
        group = f"{_label(entry, selection, selection.field, inputs)} ({STATISTICS[report.statistic]})"
        lines = sorted(report.lines, key=lambda line: (line.overall.value is None, -(line.overall.value or 0)))
        for line in lines:
            best, worst = line.band or (0, 0)
            places = "–" if not best else str(best) if best == worst else f"{best}–{worst}"
            cells = (
                Cell(text=places),
                Cell(line.overall, rounding=TWO),
                Cell(line.answered, rounding=Rounding(0, 100)),
            )
            yield Row(_name(line.rater), cells, group)


def _ranked_authors(inputs: TableInputs, entry: StageEntry) -> Iterator[Row]:
    """Of each question of a judging stage whose answers are numbers. Raises what the last of them lacks if none."""
    sheet = inputs.campaigns_of(entry)[0].sheet
    missing = MissingData(_("No question of the stage “%(stage)s” has points.") % {"stage": entry.name})
    any_ranked = False
    for field in sheet.fields:
        if sheet.level(field.key) not in WITH_POINTS:
            continue
        try:
            observed = inputs.observed(entry.key, field.key, PEOPLE)
        except MissingData as lacking:
            missing = lacking
            continue
        any_ranked = True
        authors = [author_label(item) for item in observed.items]
        names, group = np.unique(np.array(authors, dtype=object).astype(str), return_inverse=True)
        ranked = rank_by_mean(observed, names.tolist(), group.reshape(-1), inputs.scale(entry.key, field.key))
        label = _label(entry, inputs.used_selections[-1], field.key, inputs)
        title = _("%(question)s (authors of judged answers, mean of people's ratings)") % {"question": label}
        for thing in sorted(ranked, key=lambda one: (one.place.value is None, one.place.value or 0, one.name)):
            cells = (Cell(thing.place, rounding=SECONDS), Cell(thing.mean, rounding=TWO), Cell(text="–"))
            yield Row(thing.name, cells, title)
    if not any_ranked:
        raise missing


def _judge(row: JudgeRow) -> tuple[Cell, ...]:
    estimates = (row.standing.judge, row.standing.ceiling, row.alpha.people, row.alpha.everybody)
    return tuple(Cell(estimate, rounding=TWO) for estimate in estimates)


def build_judges(inputs: TableInputs) -> Table:
    """Each model as a judge beside the people of a cohort."""

    def read(entry: StageEntry) -> Iterator[Row]:
        for selection, models in _reports(inputs, entry):
            group = _label(entry, selection, selection.field, inputs)
            for line in models.lines:
                if line.overall.n_units:
                    report = judge_report(inputs.catalogue, selection, [str(line.rater.pk)], inputs.at)
                    yield from (
                        Row(f"{_name(line.rater)}, {row.cohort.label}", _judge(row), group) for row in report.lines
                    )

    columns: list[Words] = [
        _("Judge with the others"), _("A person with the others"), _("Alpha of people"), _("Alpha with the judge"),
    ]  # fmt: skip
    return inputs.table(corner=_("Judge and cohort"), columns=columns, rows=_each_stage(inputs, read))


# ---- pace -----------------------------------------------------------------------------------------------------------


def build_pace(inputs: TableInputs) -> Table:
    """Active seconds per answer of people, by cohort."""

    def read(entry: StageEntry) -> Iterator[Row]:
        selection = _answered(entry, inputs)
        timed = counted_annotations(selection).filter(active_seconds__isnull=False, rater__kind="person")
        seconds_of: dict[str, list[tuple[float, int]]] = {
            inputs.catalogue.cohorts[pk].label: [] for pk in selection.cohorts
        }
        for label, rater, seconds in timed.values_list("cohort__label", "rater", "active_seconds"):
            seconds_of.setdefault(label or "", []).append((float(seconds or 0), rater))
        for label, answers in seconds_of.items():
            estimate = median_of_raters([seconds for seconds, _rater in answers], [rater for _s, rater in answers])
            people = len({rater for _s, rater in answers})
            cells = (Cell(estimate, rounding=SECONDS), Cell(text=str(len(answers))), Cell(text=str(people)))
            yield Row(label, cells, entry.name)

    words: list[Words] = [_("Each person counts once, by their own median. Imported answers have no time.")]
    columns: list[Words] = [_("Median time per answer (s)"), _("Timed answers"), _("People")]
    return inputs.table(corner=_("Cohort"), columns=columns, rows=_each_stage(inputs, read), words=words)


def _require_both(inputs: TableInputs) -> None:
    """That people and a model answered one question. A few queries that stop at the first row."""
    for entry in inputs.catalogue.stages:
        sheet = inputs.campaigns_of(entry)[0].sheet
        for field in sheet.fields:
            kinds = ("model", "person") if sheet.level(field.key) in CODED else ()
            if kinds and all(answers_of(inputs, entry.key, field.key, kind).exists() for kind in kinds):
                return
    raise MissingData(_("No question has answers of people and of a model yet."))


def _require_both_or_judged(inputs: TableInputs) -> None:
    if not any(entry.judges for entry in inputs.catalogue.stages):
        _require_both(inputs)


BY_PEOPLE = gettext_lazy("Answers of people in any stage.")
BY_BOTH = gettext_lazy("Answers of people and of a model to one question with options or a scale.")
BOTH = (_require_both,)
GENERAL_TABLES: tuple[TableSpec, ...] = (
    TableSpec("all-questions", "", gettext_lazy("Agreement of each question, by cohort"), BY_PEOPLE, build_agreement),
    TableSpec(
        "models-people", "", gettext_lazy("Models against people"), BY_BOTH, build_models, requirements=BOTH
    ),
    TableSpec(
        "ranking", "", gettext_lazy("Ranking of models"), BY_BOTH, build_ranking,
        requirements=(_require_both_or_judged,),
    ),
    TableSpec(
        "judges-people", "", gettext_lazy("Judges against people"), BY_BOTH, build_judges, requirements=BOTH
    ),
    TableSpec("pace", "", gettext_lazy("Median time per answer"), BY_PEOPLE, build_pace),
)  # fmt: skip
