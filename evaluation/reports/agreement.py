"""Agreement per cohort and condition, in the form of CAIRE's Table 14; or per question, version or week besides. Pages
and files render it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from django.utils.translation import gettext as _

from annotation.queries.answers import watermark
from evaluation.metrics.counts import Ratings
from evaluation.metrics.distance_alpha import AnswerTable
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.partitions import Partitions
from evaluation.metrics.texts import LONG
from evaluation.queries.answer_tables import answer_tables, cohort_answer_tables, weekly_answer_tables
from evaluation.queries.hidden_places import Hidden
from evaluation.queries.own_places import without_other_cultures
from evaluation.queries.rating_rows import Rows, rating_rows
from evaluation.queries.ratings import RatingTables, asked_units, by_cohort, cohorts_of, ratings, weekly
from evaluation.selections.catalogue import POOLED, CampaignEntry, Catalogue
from evaluation.selections.measures import CODED, Measure
from evaluation.selections.questions import of_question
from evaluation.selections.selection import Selection
from people.models import Cohort

SameEstimates = Mapping[int, tuple[Estimate, ...]]


@dataclass(frozen=True)
class Cell:
    """One cohort under one condition: an estimate for each measure of the report.

    `n_asked` counts the units the cohort was asked for, `n_units` those that somebody has rated, `n_pairable` those
    that two have: the rest can agree with nobody (None in a report that was kept before these were counted).
    `n_hidden` places and, of all cohorts together, `n_others` are asked of nobody: the question was not shown, or the
    unit is of another cohort. `n_others` is of units that have a rating, `n_others_asked` of all that were asked for.
    """

    condition: str
    estimates: tuple[Estimate, ...]
    n_units: int
    n_raters: int
    n_ratings: int
    n_asked: int
    n_pairable: int | None = None
    n_hidden: int = 0
    n_hidden_units: int = 0
    n_others: int = 0
    n_others_asked: int = 0

    @property
    def n_asked_or_rated(self) -> int:
        """Units; a file may have answers to some that nobody was asked for."""
        return max(self.n_asked, self.n_units)

    @property
    def missing_share(self) -> float | None:
        """1 - ratings / (units x raters), of those that have any; where the question was not shown, none is missing."""
        places = self.n_units * self.n_raters - self.n_others
        return 1 - self.n_ratings / places if places else None


@dataclass(frozen=True)
class Row:
    """`part`: of what else the row is, besides its cohort: a question's key, a version, the last day of a week."""

    cohort: Cohort
    cells: tuple[Cell, ...]
    n_raters: int
    field: str
    level: str
    measures: tuple[Measure, ...]
    part: str = ""

    @property
    def not_answered_share(self) -> float | None:
        """1 - ratings / (units asked x raters of the cohort), over the row's conditions together."""
        places = sum(cell.n_asked_or_rated for cell in self.cells) * self.n_raters
        places -= sum(cell.n_hidden + cell.n_others_asked for cell in self.cells)
        return 1 - sum(cell.n_ratings for cell in self.cells) / places if places else None


@dataclass(frozen=True)
class QuestionRow:
    """One question of the sheet in one cohort, under all conditions together: an estimate for each of `measures`.

    `asked_as`: the choice behind the measures. `n_hidden_units`: units of which nobody saw the question.
    """

    field: str
    level: str
    asked_as: str
    cohort: Cohort
    measures: tuple[Measure, ...]
    estimates: tuple[Estimate, ...]
    n_ratings: int
    n_hidden_units: int = 0

    @property
    def warnings(self) -> list[str]:
        """Where long texts are compared by their words."""
        words = [float(e.extras.get("median_words") or 0) for e in self.estimates if e.value is not None]
        if not any(count > LONG for count in words):
            return []
        return [_("Most of these texts are longer than five words: the same content can be worded in many ways.")]


@dataclass(frozen=True)
class AgreementReport:
    """`questions`: every question of the sheet, in its order, for each cohort. `rows`: the chosen one by condition, or
    what `selection.by` says."""

    catalogue: Catalogue = field(repr=False)
    selection: Selection
    conditions: tuple[str, ...]
    rows: tuple[Row, ...]
    watermark: int
    computed_at: datetime
    questions: tuple[QuestionRow, ...] = ()

    @property
    def entry(self) -> CampaignEntry:
        """The newest of the campaigns, whose sheet the questions are of."""
        return entry_of(self.catalogue, self.selection)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Of all rows; each row says which are its own."""
        found = {measure.key: measure for row in self.rows for measure in row.measures}
        return tuple(found.values()) or self.selection.measures

    @property
    def n_ratings(self) -> int:
        """Weeks hold what was there before, so the last of them holds all. So does the row of all cohorts together."""
        last = max((row.part for row in self.rows), default="") if self.selection.by == "time" else None
        rows = [row for row in self.rows if last in (None, row.part)]
        if self.selection.by == "all":
            rows = [row for row in rows if row.cohort.pk == POOLED]
        return sum(cell.n_ratings for row in rows for cell in row.cells)

    @property
    def warnings(self) -> list[str]:
        """Where a statistic does not quite fit the scale."""
        levels = {(m.key, row.level): m for row in self.rows for m in row.measures}
        found = ((m.label, m.warning(level)) for (_key, level), m in levels.items())
        return [f"{label}: {warning}" for label, warning in found if warning]


def agreement(catalogue: Catalogue, selection: Selection, at: datetime) -> AgreementReport:
    """The watermark is read first: what comes in while we read is found again by the next look."""
    mark = watermark(catalogue.benchmark)
    asked, catalogue = asked_units(selection), catalogue_for(catalogue, selection)
    read = rating_rows(selection) if selection.by == "cohort" and selection.level in CODED else None
    parts = row_groups(catalogue, selection, read)
    rows = [_row(catalogue, part, cohort, asked) for part in parts for cohort in cohorts_of(selection)]
    if selection.by == "all" and _asks_own_culture(catalogue, selection):
        rows = [_less_others(rows[0], rows[1:]), *rows[1:]]
    if selection.by in ("version", "time"):  # one cohort's are compared with each other
        rows.sort(key=lambda row: selection.cohorts.index(row.cohort.pk))
    alone = rows if selection.by == "cohort" and len(selection.conditions) == 1 else []
    same = {row.cohort.pk: row.cells[0].estimates for row in alone}
    questions = tuple(question_rows(catalogue, selection, read, same))
    return AgreementReport(catalogue, selection, selection.conditions, tuple(rows), mark, at, questions)


def catalogue_for(catalogue: Catalogue, selection: Selection) -> Catalogue:
    """The catalogue with what the rows of the report are of."""
    return catalogue.with_pooled() if selection.by == "all" else catalogue


def entry_of(catalogue: Catalogue, selection: Selection) -> CampaignEntry:
    stage = next(stage_entry for stage_entry in catalogue.stages if stage_entry.key == selection.stage)
    return next(campaign for campaign in stage.campaigns if campaign.id in selection.campaigns)


def _asks_own_culture(catalogue: Catalogue, selection: Selection) -> bool:
    return any(stage.asks_own_culture for stage in catalogue.stages if stage.key == selection.stage)


def _less_others(pooled: Row, rows: Sequence[Row]) -> Row:
    """The row of all cohorts together, with the places that each cohort was not asked for, under each condition."""
    cells = []
    for place, cell in enumerate(pooled.cells):
        own = sum(row.cells[place].n_asked_or_rated * row.n_raters for row in rows)
        cells.append(replace(cell, n_others_asked=max(0, cell.n_asked_or_rated * pooled.n_raters - own)))
    return replace(pooled, cells=tuple(cells))


def question_rows(
    catalogue: Catalogue, selection: Selection, rows: Rows | None = None, same: SameEstimates | None = None
) -> Iterator[QuestionRow]:
    """Each question by its own level, as what it is asked as. `rows`: those of the selection, if they have been read;
    `same`: its estimates by cohort, where it has one condition."""
    entry = entry_of(catalogue, selection)
    asks_own = _asks_own_culture(catalogue, selection)
    for field_ in entry.sheet.fields:
        question = of_question(selection, entry, field_.key)
        chosen = question.field == selection.field
        read = (
            by_cohort(question, rows if chosen else None) if question.level in CODED else cohort_answer_tables(question)
        )
        read = without_other_cultures(read) if asks_own else read
        known = same if same and chosen and question.measure == selection.measure else {}
        for cohort in cohorts_of(question):
            table, hidden = read.cells[cohort, ""], read.hidden[cohort, ""]
            yield QuestionRow(
                field_.key, question.level, question.measure, catalogue.cohorts[cohort], question.measures,
                known.get(cohort) or _estimates(table, question, hidden), table.n_ratings, hidden.n_units,
            )  # fmt: skip


def cohort_estimates(question: Selection, rows: Rows | None = None) -> dict[int, tuple[Estimate, ...]]:
    """One question in each cohort, under all conditions together: an estimate for each of its measures."""
    tables = by_cohort(question, rows) if question.level in CODED else cohort_answer_tables(question)
    keys = [(cohort, "") for cohort in cohorts_of(question)]
    return {key[0]: _estimates(tables.cells[key], question, tables.hidden[key]) for key in keys}


def _estimates(given: Ratings | Partitions | AnswerTable, selection: Selection, hidden: Hidden) -> tuple[Estimate, ...]:
    interval = selection.interval_spec
    estimates = (_less_hidden(measure.compute(given, interval), hidden) for measure in selection.measures)
    if selection.level != "box" or not selection.label_rule:
        return tuple(estimates)
    return tuple(replace(one, extras={**one.extras, "label_rule": selection.label_rule}) for one in estimates)


def _less_hidden(estimate: Estimate, hidden: Hidden) -> Estimate:
    """Nothing is missing where the question was not shown, or another cohort was asked. Without a value it is not known
    which items were compared, so no share is missing."""
    if estimate.value is None and (hidden.n_all or hidden.n_others):
        return replace(estimate, missing_share=None)
    if hidden.n_others and (estimate.n_units, estimate.n_raters) != hidden.compared:
        return replace(estimate, missing_share=None)  # it rests on other answers than those of units that two rated
    places = estimate.n_units * estimate.n_raters - hidden.n_compared
    if not hidden.n_compared or estimate.value is None or places < estimate.n_ratings:
        return estimate
    return replace(estimate, missing_share=1 - estimate.n_ratings / places)


@dataclass(frozen=True)
class RowGroup:
    """What one row of each cohort is made from."""

    key: str
    selection: Selection
    read: RatingTables


def row_groups(catalogue: Catalogue, selection: Selection, rows: Rows | None = None) -> list[RowGroup]:
    """The whole as one part, of `rows` where they have been read; or each question of the stage, each version, each
    week up to its end."""
    if rows is not None:
        return [RowGroup("", selection, ratings(selection, rows))]
    if selection.by == "all" and _asks_own_culture(catalogue, selection):
        return [RowGroup("", selection, without_other_cultures(_load_tables(selection)))]
    if selection.by == "time":
        read = weekly if selection.level in CODED else weekly_answer_tables
        return [RowGroup(day.isoformat(), selection, rating_tables) for day, rating_tables in read(selection)]
    return [RowGroup(key, one, _load_tables(one)) for key, one in _split_selection(catalogue, selection)]


def _split_selection(catalogue: Catalogue, selection: Selection) -> list[tuple[str, Selection]]:
    stage = next(stage_entry for stage_entry in catalogue.stages if stage_entry.key == selection.stage)
    if selection.by == "field":
        entry = entry_of(catalogue, selection)
        return [(one.key, of_question(selection, entry, one.key)) for one in entry.sheet.fields]
    if selection.by == "version":
        known = stage.versions_of(selection.campaigns)
        wanted = [(name, pk) for name, pk in known.items() if pk in selection.versions or not selection.versions]
        return [(name, replace(selection, versions=(pk,))) for name, pk in wanted]
    return [("", selection)]


def _load_tables(selection: Selection) -> RatingTables:
    return ratings(selection) if selection.level in CODED else answer_tables(selection)


def _row(catalogue: Catalogue, part: RowGroup, cohort: int, asked: dict[tuple[int, str], int]) -> Row:
    selection, read = part.selection, part.read
    keys = [(cohort, condition) for condition in selection.conditions]
    cells = tuple(_cell(key[1], read.cells[key], asked.get(key, 0), selection, read.hidden[key]) for key in keys)
    return Row(
        catalogue.cohorts[cohort],
        cells,
        read.raters[cohort],
        selection.field,
        selection.level,
        selection.measures,
        part.key,
    )


def _cell(
    condition: str, table: Ratings | Partitions | AnswerTable, n_asked: int, selection: Selection, hidden: Hidden
) -> Cell:
    estimates = _estimates(table, selection, hidden)
    pairable = int(np.count_nonzero(np.bincount(np.asarray(table.unit, np.int64)) > 1))
    return Cell(
        condition, estimates, table.n_units, table.n_raters, table.n_ratings, n_asked, pairable, hidden.n_all,
        hidden.n_units, hidden.n_others,
    )  # fmt: skip
