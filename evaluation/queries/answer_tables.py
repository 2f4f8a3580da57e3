"""Answers without a single code out of the database: groupings, boxes, sets of options, texts, each compared whole."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from datetime import date, datetime
from functools import partial
from typing import Any

import numpy as np

from evaluation.metrics.boxes import LabelRule, corners_of
from evaluation.metrics.distance_alpha import AnswerTable
from evaluation.metrics.partitions import Partition, Partitions
from evaluation.queries.hidden_places import hidden_places
from evaluation.queries.rater_order import RaterOrder
from evaluation.queries.rating_rows import asked_by_cohort, units_of
from evaluation.queries.ratings import (
    WEEKS,
    Cell,
    RatingTables,
    cohorts_of,
    counted_annotations,
    until_week,
    week_end,
    weeks_of,
)
from evaluation.selections.catalogue import POOLED
from evaluation.selections.selection import Selection
from people.models import Rater

Row = tuple[int, str, int, int, datetime, Any]  # cohort, condition, unit, rater, submitted, answer


def answer_tables(selection: Selection) -> RatingTables:
    """As `readers.ratings`: a table for every cohort and condition selected, also those without answers yet."""
    return _build_tables(answer_rows(selection), selection)


def weekly_answer_tables(selection: Selection) -> list[tuple[date, RatingTables]]:
    """As `readers.weekly`."""
    rows = answer_rows(selection)
    weeks = weeks_of(np.array([int(row[4].timestamp() * 1e6) for row in rows], np.int64), selection.zone)
    return [
        (
            day,
            _build_tables([row for row, at in zip(rows, weeks, strict=True) if at <= week], until_week(selection, day)),
        )
        for week, day in ((week, week_end(int(week))) for week in np.unique(weeks)[-WEEKS:])
    ]


def _build_tables(rows: list[Row], selection: Selection) -> RatingTables:
    cells: dict[Cell, list[Row]] = defaultdict(list)
    for row in rows:
        for cohort in {row[0], POOLED}:
            cells[cohort, row[1]].append(row)
    cohorts = cohorts_of(selection)
    every = [(cohort, condition) for cohort in cohorts for condition in selection.conditions]
    raters = {cohort: len({row[3] for row in rows if cohort in (row[0], POOLED)}) for cohort in cohorts}
    hidden = hidden_places(selection, counted_annotations(selection))
    order = _places_of(rows, selection)
    tables = {cell: _table(cells[cell], order, selection) for cell in every}
    return RatingTables(tables, raters, {cell: hidden.within(*cell, partial(_places, cells[cell])) for cell in every})


def cohort_answer_tables(selection: Selection) -> RatingTables:
    """Each cohort's answers under all conditions together, by (cohort, "")."""
    rows: dict[int, list[Row]] = defaultdict(list)
    every = answer_rows(selection)
    for row in every:
        for cohort in {row[0], POOLED}:
            rows[cohort].append(row)
    order = _places_of(every, selection)
    hidden, cohorts = hidden_places(selection, counted_annotations(selection)), cohorts_of(selection)
    return RatingTables(
        {(cohort, ""): _table(rows[cohort], order, selection) for cohort in cohorts},
        {cohort: len({row[3] for row in rows[cohort]}) for cohort in cohorts},
        {(cohort, ""): hidden.within(cohort, None, partial(_places, rows[cohort])) for cohort in cohorts},
    )


def _places(rows: Iterable[Row]) -> set[tuple[int, int]]:
    return {(row[2], row[3]) for row in rows}


def answer_rows(selection: Selection) -> list[Row]:
    """`field_answers` by cohort: a model's is of every cohort that was asked for the unit."""
    rows = field_answers(selection)
    if "model" not in selection.raters:
        return rows
    models = set(
        Rater.objects.filter(pk__in={row[3] for row in rows}, kind=Rater.Kind.MODEL).values_list("pk", flat=True)
    )
    units = units_of(selection)
    place = dict(zip((row[2] for row in rows), units.place(np.array([row[2] for row in rows], np.int64)), strict=True))
    rating_rows = [row for row in rows if row[3] not in models]
    for cohort, asked in asked_by_cohort(selection, units):
        rating_rows += [(cohort, *row[1:]) for row in rows if row[3] in models and asked[place[row[2]]]]
    return rating_rows


def field_answers(selection: Selection) -> list[Row]:
    """Whole answers of the selection's field, in the order they were given. A model's is of no cohort."""
    rows = counted_annotations(selection).values_list(
        "cohort_id",
        "assignment__unit__item__condition",
        "assignment__unit_id",
        "rater_id",
        "submitted_at",
        f"answers__{selection.field}",
    )
    return [row for row in rows.iterator() if row[5] is not None]


def one_per_rater(rows: Iterable[Row], repeats: str) -> dict[tuple[int, int], Row]:
    """By unit and rater, one answer where somebody gave several in different campaigns."""
    latest: dict[tuple[int, int], Row] = {}
    for row in rows:
        if repeats == "latest" or row[2:4] not in latest:
            latest[row[2], row[3]] = row
    return latest


def _places_of(rows: list[Row], selection: Selection) -> dict[int, int]:
    """Each rater's place in sums."""
    order = RaterOrder(selection.benchmark_id, np.array([row[3] for row in rows], np.int64))
    return {rater: place for place, rater in enumerate(order.sorted_ids)}


def _table(rows: list[Row], order: Mapping[int, int], selection: Selection) -> Partitions | AnswerTable:
    latest = sorted(one_per_rater(rows, selection.repeats).items(), key=lambda pair: (pair[0][0], order[pair[0][1]]))
    if selection.level == "partition":
        return Partitions.from_rows((unit, rater, Partition.of(row[5])) for (unit, rater), row in latest)
    return AnswerTable.from_rows(
        (unit, rater, comparable_answer(row[5], selection.level, selection.box_rule)) for (unit, rater), row in latest
    )


def comparable_answer(answer: Any, level: str, label_rule: LabelRule = "must_match") -> Hashable:
    """An answer as the measures of its level take it: a list of codes as a tuple, a text as it is, else its JSON. Boxes
    have their labels unless these are ignored.

    >>> comparable_answer(["b", "a"], "rank"), comparable_answer("food", "set"), comparable_answer("food", "text")
    (('b', 'a'), ('food',), 'food')
    """
    if level == "box":
        return corners_of(answer, label_rule)
    if isinstance(answer, list) and all(isinstance(code, str) for code in answer):
        return tuple(answer)
    if level == "set":
        return (answer,)
    return answer if isinstance(answer, str) else json.dumps(answer, sort_keys=True)
