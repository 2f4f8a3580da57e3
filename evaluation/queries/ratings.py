"""Ratings of the database as measures take them: by cohort and condition, by week, of one cohort, all in one."""

from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from django.db import connection
from django.db.models import Q, QuerySet

from annotation.models import Annotation
from annotation.queries.consent_withdrawal import NEVER_SELECTED
from evaluation.metrics.counts import Floats, Ints, Ratings
from evaluation.queries.hidden_places import Hidden, hidden_places
from evaluation.queries.rater_order import RaterOrder
from evaluation.queries.rating_rows import Rows, params_of, rating_rows
from evaluation.selections.catalogue import POOLED
from evaluation.selections.selection import Selection
from people.models import Rater

Cell = tuple[int, str]  # cohort, condition

WEEKS = 26
MONDAY = date(1969, 12, 29).toordinal()


_ASKED = """
  SELECT coalesce(cc.cohort_id, 0), i.condition, count(DISTINCT s.unit_id)
  FROM annotation_slot s
  JOIN annotation_campaigncohort cc ON cc.id = s.cohort_id
  JOIN annotation_unit u ON u.id = s.unit_id
  JOIN benchmarks_item i ON i.id = u.item_id
  WHERE cc.campaign_id = ANY(%(campaigns)s) AND cc.cohort_id = ANY(%(cohorts)s) AND i.condition = ANY(%(conditions)s)
    AND i.withdrawn_at IS NULL AND (%(all_concepts)s OR i.concept = ANY(%(concepts)s))
  GROUP BY GROUPING SETS ((cc.cohort_id, i.condition), (i.condition))
"""


@dataclass(frozen=True)
class RatingTables:
    """`cells`: Ratings, Partitions or an AnswerTable of every (cohort, condition) selected, also those without any yet;
    `raters`: how many, by cohort. `hidden`: of the same cells, where the question was not shown. Where the selection
    asks for all cohorts together, they have a cohort of their own, POOLED."""

    cells: dict[Cell, Any]
    raters: dict[int, int]
    hidden: dict[Cell, Hidden]


def ratings(selection: Selection, rows: Rows | None = None) -> RatingTables:
    """`rows`: those of the selection, where they have been read already."""
    return _build_tables(_read_rows(selection) if rows is None else rows, selection)


def cohorts_of(selection: Selection) -> tuple[int, ...]:
    """What the rows of a report are of: all cohorts together first, where the selection asks for that."""
    return (POOLED, *selection.cohorts) if selection.by == "all" else selection.cohorts


def _read_rows(selection: Selection) -> Rows:
    """With moments where cohorts are pooled: a model's rating is there once for each cohort, and a person may be in
    two."""
    return rating_rows(selection, dated=selection.by == "all")


def _of_cohort(rows: Rows, cohort: int) -> Rows:
    of_cohort: Rows = rows if cohort == POOLED else rows[rows["cohort"] == cohort]
    return of_cohort


def weekly(selection: Selection) -> list[tuple[date, RatingTables]]:
    """What had been said by the end of each week in which answers came: the week's Sunday, and all up to it. Of many
    weeks the latest; the first of them holds what was before."""
    rows = rating_rows(selection, dated=True)
    weeks = weeks_of(rows["at"], selection.zone)
    last = np.unique(weeks)[-WEEKS:]
    return [
        (week_end(int(week)), _build_tables(rows[weeks <= week], until_week(selection, week_end(int(week)))))
        for week in last
    ]


def until_week(selection: Selection, day: date) -> Selection:
    """The same up to the end of a day."""
    end = datetime.combine(day + timedelta(days=1), time.min, ZoneInfo(selection.zone))
    return replace(selection, until=min(end, selection.until or end))


def weeks_of(micros: Ints, zone: str) -> Ints:
    """The number of the week of each moment, counted from the Monday before 1970, by the days of the zone."""
    quarters, place = np.unique(micros // 900_000_000, return_inverse=True)  # zones differ by quarters of an hour
    local = [datetime.fromtimestamp(int(quarter) * 900, ZoneInfo(zone)).date() for quarter in quarters]
    numbers = np.array([(day.toordinal() - MONDAY) // 7 for day in local], np.int64)
    return numbers[place] if micros.size else np.zeros(0, np.int64)


def week_end(week: int) -> date:
    return date.fromordinal(MONDAY + 7 * week + 6)


def by_cohort(selection: Selection, rows: Rows | None = None) -> RatingTables:
    """Each cohort's ratings under all conditions together, by (cohort, "")."""
    rows = _read_rows(selection) if rows is None else rows
    read = RatingTables({}, {}, {})
    hidden, order = hidden_places(selection, counted_annotations(selection)), _rater_order(selection, rows)
    for cohort in cohorts_of(selection):
        of_cohort = _of_cohort(rows, cohort)
        read.raters[cohort] = int(np.unique(of_cohort["rater"]).size)
        read.cells[cohort, ""] = _renumber(of_cohort, order, selection.repeats)
        read.hidden[cohort, ""] = hidden.within(cohort, None, partial(_places, of_cohort))
    return read


def _build_tables(rows: Rows, selection: Selection) -> RatingTables:
    read = RatingTables({}, {}, {})
    hidden, order = hidden_places(selection, counted_annotations(selection)), _rater_order(selection, rows)
    for cohort in cohorts_of(selection):
        of_cohort = _of_cohort(rows, cohort)
        read.raters[cohort] = int(np.unique(of_cohort["rater"]).size)
        for place, condition in enumerate(selection.conditions):
            of_cell = of_cohort[of_cohort["condition"] == place]
            read.cells[cohort, condition] = _renumber(of_cell, order, selection.repeats)
            read.hidden[cohort, condition] = hidden.within(cohort, condition, partial(_places, of_cell))
    return read


def _rater_order(selection: Selection, rows: Rows) -> RaterOrder:
    return RaterOrder(selection.benchmark_id, rows["rater"])


def _places(rows: Rows) -> set[tuple[int, int]]:
    return set(zip(rows["unit"].tolist(), rows["rater"].tolist(), strict=True))


@dataclass(frozen=True)
class CohortRatings:
    """One cohort's ratings under all conditions together. `raters`: ids, in the order of their numbers; `at` (n,): when
    each rating was given, in microseconds."""

    ratings: Ratings
    raters: list[int]
    at: Ints


def cohort_ratings(selection: Selection, cohort: int) -> CohortRatings:
    rows = rating_rows(selection, dated=True)
    of_cohort = rows[rows["cohort"] == cohort]
    raters = _rater_order(selection, of_cohort)
    settled, order = _sort_ratings(of_cohort, raters, selection.repeats)
    return CohortRatings(settled, raters.sorted_ids, of_cohort["at"][order])


def pooled_ratings(selection: Selection) -> tuple[Ratings, list[int]]:
    """The ratings of all cohorts and conditions in one, and the units' ids in the order of their numbers. A model's
    rating, which is there once for each cohort that was asked, counts once."""
    rows = rating_rows(selection, dated="model" in selection.raters)
    order = _rater_order(selection, rows)
    return _renumber(rows, order, selection.repeats), [int(u) for u in np.unique(rows["unit"])]


def asked_units(selection: Selection) -> dict[Cell, int]:
    """How many units each cohort was asked to answer under each condition."""
    with connection.cursor() as cursor:
        cursor.execute(_ASKED, params_of(selection))
        return {(cohort, condition): count for cohort, condition, count in cursor.fetchall()}


def counted_annotations(selection: Selection) -> QuerySet[Annotation]:
    """Whole answers, of the same rows that the ratings of the selection are read from, in the order they were given."""
    annotations = Annotation.objects.filter(
        inclusion_filter(selection),
        assignment__campaign_id__in=selection.campaigns,
        assignment__unit__item__condition__in=selection.conditions,
        assignment__unit__item__withdrawn_at=None,
    )
    if selection.concepts:
        annotations = annotations.filter(assignment__unit__item__concept__in=selection.concepts)
    return annotations.order_by("submitted_at", "pk")


def inclusion_filter(selection: Selection, annotation: str = "") -> Q:
    """Whose answers count, whether they do, and when and to which sheet they were given: of rows of annotations, or of
    others (ratings) that have these columns themselves and the rest behind the path `annotation`."""
    wanted = Q(cohort_id__in=selection.cohorts) | Q(rater__kind=Rater.Kind.MODEL)
    wanted &= Q(rater__kind__in=selection.raters, live=True)
    if selection.counted == "counted":
        wanted &= Q(counted=True)
    else:
        wanted &= ~Q(**{f"{annotation}uncounted_because__in": NEVER_SELECTED})
    if selection.since:
        wanted &= Q(**{f"{annotation}submitted_at__gte": selection.since})
    if selection.until:
        wanted &= Q(**{f"{annotation}submitted_at__lt": selection.until})
    if selection.versions:
        wanted &= Q(**{f"{annotation}sheet_version__in": selection.versions})
    return wanted


def _renumber(rows: Rows, order: RaterOrder, repeats: str) -> Ratings:
    """Units and raters renumbered from 0, with one answer of each person to each unit."""
    return _sort_ratings(rows, order, repeats)[0]


def _sort_ratings(rows: Rows, rater_order: RaterOrder, repeats: str) -> tuple[Ratings, Ints]:
    """The ratings by unit, then by rater, so that every sum over them is made in one order; and each one's row.

    Of several answers of a person to a unit, in different campaigns, the one that was given first or last.
    """
    units, unit = renumber(rows["unit"])
    raters, rater = renumber(rater_order.places(rows["rater"]))
    order = _select_counted(unit * max(raters, 1) + rater, units * raters, rows, repeats)
    value: Floats = rows["value"]
    return Ratings(unit[order], rater[order], value[order], units, raters), order


def _select_counted(pair: Ints, places: int, rows: Rows, repeats: str) -> Ints:
    """The rows that count, by their pair of unit and rater; a place for each pair is cheaper than sorting, unless most
    are empty."""
    if places <= 8 * pair.size:
        row_of: Ints = np.full(places, -1)
        row_of[pair] = np.arange(pair.size)
        found: Ints = row_of[row_of >= 0]
        if found.size == pair.size:  # nobody answered twice
            return found
    return select_repeats(pair, rows, repeats)


def select_repeats(pair: Ints, rows: Rows, repeats: str) -> Ints:
    """The places of `rows` that count, in the order of their pair (of unit and rater): of several answers the one given
    last, or first, by their moment (`at`) and then by the order they were stored in (`annotation`)."""
    order: Ints = np.argsort(pair)
    if not (pair[order][1:] == pair[order][:-1]).any():
        return order
    order = np.lexsort((rows["annotation"], rows["at"], pair))
    pair_sorted = pair[order]
    differs = np.ones(pair_sorted.size + 1, bool)
    differs[1:-1] = pair_sorted[1:] != pair_sorted[:-1]
    return order[differs[1:] if repeats == "latest" else differs[:-1]]


def renumber(ids: Ints) -> tuple[int, Ints]:
    """How many different ids there are, and (n,) the place of each among them; by a lookup where they lie close."""
    if not ids.size:
        return 0, np.zeros(0, np.int64)
    low = ids.min()
    if ids.max() - low < 4 * ids.size:
        there = np.bincount(ids - low) > 0
        return int(there.sum()), (np.cumsum(there) - 1)[ids - low]
    distinct, place = np.unique(ids, return_inverse=True)
    return int(distinct.size), place
