"""Answers of grouping fields out of the database: whole partitions, since they have no single code to compare."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import date, datetime
from operator import itemgetter
from typing import Any

import numpy as np

from evaluation.metrics.partitions import Partition, Partitions
from evaluation.readers import WEEKS, Cell, Read, counted_annotations, sunday, weeks_of
from evaluation.selection import Selection

Row = tuple[int, str, int, int, datetime, Any]  # cohort, condition, unit, rater, submitted, answer


def partitions(selection: Selection) -> Read:
    """As `readers.ratings`: a table for every cohort and condition selected, also those without answers yet."""
    return _read(field_answers(selection), selection)


def weekly_partitions(selection: Selection) -> list[tuple[date, Read]]:
    """As `readers.weekly`."""
    rows = field_answers(selection)
    weeks = weeks_of(np.array([int(row[4].timestamp() * 1e6) for row in rows], np.int64), selection.zone)
    return [
        (sunday(int(week)), _read([row for row, at in zip(rows, weeks, strict=True) if at <= week], selection))
        for week in np.unique(weeks)[-WEEKS:]
    ]


def _read(rows: list[Row], selection: Selection) -> Read:
    cells: dict[Cell, list[Row]] = defaultdict(list)
    for row in rows:
        cells[row[0], row[1]].append(row)
    every = [(cohort, condition) for cohort in selection.cohorts for condition in selection.conditions]
    raters = {cohort: len({row[3] for row in rows if row[0] == cohort}) for cohort in selection.cohorts}
    return Read({cell: _table(cells[cell], selection.repeats) for cell in every}, raters)


def cohort_partitions(selection: Selection, cohort: int) -> Partitions:
    """One cohort's answers under all conditions together."""
    return _table([row for row in field_answers(selection) if row[0] == cohort], selection.repeats)


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


def one_each(rows: Iterable[Row], repeats: str) -> dict[tuple[int, int], Row]:
    """By unit and rater, one answer where somebody gave several in different campaigns."""
    kept: dict[tuple[int, int], Row] = {}
    for row in rows:
        if repeats == "latest" or row[2:4] not in kept:
            kept[row[2], row[3]] = row
    return kept


def _table(rows: list[Row], repeats: str) -> Partitions:
    kept = sorted(one_each(rows, repeats).items(), key=itemgetter(0))
    return Partitions.from_rows((unit, rater, Partition.of(row[5])) for (unit, rater), row in kept)
